"""``python -m intaglio``: the command, a program that lies in this package."""

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).resolve().parent / "bin" / "intaglio"
    if not program.exists():
        sys.exit("intaglio: this build of the package is without the command")
    os.execv(program, ["intaglio", *sys.argv[1:]])


if __name__ == "__main__":
    main()
