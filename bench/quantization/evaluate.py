"""The whole evaluation by one command: trains, quantizes, compares, and draws pictures.

    PYTHONPATH=build/release/python python3 bench/quantization/evaluate.py FOLDER [--full | --trial]
        [--peers-python PYTHON]

Runs the other programs of this folder one after the other, and prints their tables. What FOLDER holds already is
not made again. Without --full there are two seeds and fewer steps for 4 bits, which take some 35 minutes by the times
of the parts (AMD EPYC, Zen 4); with it there are five seeds. --trial shows in minutes that every part runs: its
numbers mean nothing. peers.py leaves out quantizers whose packages are not installed, and may run in another Python
that has them.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


# Steps of training that hold accuracy (docs/training.md), by networks and bits. Those of 4 bits are with --full.
STEPS = {
    "resnet8": {"w8a8": 30, "w6a6": 60, "w5a5": 60, "w4a4": 300},
    "mobilenet": {"w8a8": 30, "w6a6": 30, "w5a5": 60, "w4a4": 200},
}
FEWER_STEPS = 100
TRIAL = ("--test", 200)


def run(program, *arguments, python=sys.executable):
    start = time.monotonic()
    print(f"\n## {program} " + " ".join(map(str, arguments)), flush=True)
    subprocess.run([python, HERE / program, *map(str, arguments)], check=True)
    print(f"## {time.monotonic() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peers-python", default=sys.executable, help="the Python that runs peers.py")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_true")
    size.add_argument("--trial", action="store_true")
    options = parser.parse_args()
    folder = options.folder
    seeds = 5 if options.full else 1 if options.trial else 2
    few = TRIAL if options.trial else ()

    def make(name, program, *arguments, python=sys.executable):
        """The file has its name only when it is whole: programs write after each of their parts."""
        path = folder / f"{name}.json"
        part = path.with_suffix(".part")
        if not path.exists():
            run(program, folder, *arguments, "--out", part, python=python)
            part.rename(path)

    if not (folder / f"lstm.{seeds - 1}.onnx").exists():
        networks = "resnet8,mobilenet,dscnn,lstm"
        fewer = ("--train", 2560, *few) if options.trial else ()
        run("train_float.py", folder, "--networks", networks, "--seeds", seeds, "--epochs", 1, *fewer)
    for networks, formats in (("resnet8,mobilenet,dscnn", "."), ("lstm", r"float32|\.onnx|ONNX")):
        name = "peers" if formats == "." else "peers.lstm"
        only = "float32|w8a8$|minmax$" if options.trial and formats == "." else formats
        arguments = ("--networks", networks, "--seeds", seeds, "--only", only)
        make(f"{name}.{seeds}", "peers.py", *arguments, python=options.peers_python)
    make("grid", "grid.py", *few, *(("--cells", "w8a8,w4a4") if options.trial else ()))
    both = ("--networks", "resnet8,mobilenet", "--seeds", seeds)
    make(f"cells.{seeds}", "grid.py", *both, "--cells", "w6a6" if options.trial else "w8a8,w6a6,w4a8", *few)
    for network, steps_of in STEPS.items():
        for bits, steps in steps_of.items():
            if options.trial:
                steps = 3
            elif not options.full:
                steps = min(steps, FEWER_STEPS)
            arguments = ("--networks", network, "--bits", bits, "--seeds", seeds, "--steps", steps, "--control")
            make(f"distill.{network}.{bits}.{seeds}x{steps}", "distill.py", *arguments, *few)
    run("pictures.py", folder)


main()
