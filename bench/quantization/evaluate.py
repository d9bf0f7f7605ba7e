"""The whole evaluation by one command: trains, quantizes, compares, and draws pictures.

    PYTHONPATH=build/release/python python3 bench/quantization/evaluate.py FOLDER [--full]

Runs the other programs of this folder one after the other, and prints their tables. What FOLDER holds already is
not made again. Without --full there are two seeds and few steps, which take some 35 minutes by the times of the
parts (AMD EPYC, Zen 4); with it there are five seeds. peers.py leaves out quantizers whose packages are not
installed.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run(program, *arguments):
    start = time.monotonic()
    print(f"\n## {program} " + " ".join(map(str, arguments)), flush=True)
    subprocess.run([sys.executable, HERE / program, *map(str, arguments)], check=True)
    print(f"## {time.monotonic() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    folder = options.folder
    seeds, steps = (5, 300) if options.full else (2, 100)

    def make(name, program, *arguments):
        """The file has its name only when it is whole: programs write after each of their parts."""
        path = folder / f"{name}.json"
        part = path.with_suffix(".part")
        if not path.exists():
            run(program, folder, *arguments, "--out", part)
            part.rename(path)

    if not (folder / f"lstm.{seeds - 1}.onnx").exists():
        networks = "resnet8,mobilenet,dscnn,lstm"
        run("train_float.py", folder, "--networks", networks, "--seeds", seeds, "--epochs", 1)
    for networks, formats in (("resnet8,mobilenet,dscnn", "."), ("lstm", r"float32|\.onnx|ONNX")):
        name = "peers" if formats == "." else "peers.lstm"
        make(f"{name}.{seeds}", "peers.py", "--networks", networks, "--seeds", seeds, "--only", formats)
    make("grid", "grid.py")
    common = ("--seeds", seeds, "--steps", steps, "--control")
    length = f"{seeds}x{steps}"
    make(f"distill.resnet8.{length}", "distill.py", "--networks", "resnet8", *common)
    for bits in ("w8a8", "w4a8", "w4a4"):
        name = f"distill.mobilenet.{bits}.{length}"
        make(name, "distill.py", "--networks", "mobilenet", "--bits", bits, *common)
    run("pictures.py", folder)


main()
