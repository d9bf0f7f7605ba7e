"""The whole evaluation by one command: trains, quantizes, compares, and draws pictures.

    PYTHONPATH=build/release/python python3 bench/quantization/evaluate.py FOLDER [--full | --trial] [--seeds 1]
        [--jobs 2] [--digits RECORDINGS] [--words DATA] [--peers-python PYTHON]

Runs the other programs of this folder, --jobs at a time and each on one thread, and prints their tables. FOLDER gets
what they wrote and what they printed, and times.json, the seconds of each part. What FOLDER holds already is not made
again, so the command goes on where it was interrupted. Without --full there is one seed, and there are fewer steps
for 4 bits; with it there are five seeds. --trial shows in minutes that every part runs: its numbers
mean nothing.

--digits is a folder with the recordings of github.com/Jakobovski/free-spoken-digit-dataset, --words the folder data of
the package wordfreq 3.1.1, whose reader needs the package msgpack. Without them the DS-CNN and the transformer are left
out. peers.py leaves out quantizers whose packages are not installed, and may run in another Python that has them.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Steps of training that hold accuracy (docs/training.md), by networks and bits. Those of 4 bits are with --full.
STEPS = {
    "resnet8": {"w8a8": 30, "w7a7": 60, "w6a6": 60, "w5a5": 60, "w4a4": 300},
    "resnet8_relu6": {"w8a8": 30, "w7a7": 60},
    "mobilenet": {"w8a8": 30, "w6a6": 30, "w5a5": 60, "w4a4": 200},
    "resnet14": {"w8a8": 30, "w4a4": 300},
    "resnet20": {"w8a8": 30, "w4a4": 300},
    "dscnn": {"w8a8": 30, "w4a4": 200},
    "transformer": {"w8a8": 60, "w6a6": 60, "w5a5": 100, "w4a4": 200},
}
FEWER_STEPS = 100
GRID_STEPS = 60
GRID = ",".join(f"w{weights}a{activations}" for weights in range(8, 3, -1) for activations in range(8, 3, -1))
# What peers.py compares without --full, where that is not all.
FORMS = {
    "lstm": r"float32|\.onnx|ONNX",
    "resnet8_relu6": "float32|w8a8$|minmax$|edge",
    "resnet14": "float32|w8a8$|w4a8 learn rounding|mse, learn|minmax$|edge",
    "resnet20": "float32|w8a8$|w4a8 learn rounding|mse, learn|minmax$|edge",
}


@dataclasses.dataclass
class Part:
    """A run of a program, which makes FOLDER/name.json; or, if it trains, the file made."""

    name: str
    program: str
    arguments: list
    made: str = ""
    needs: list = dataclasses.field(default_factory=list)  # names of other parts


class Runner:
    def __init__(self, folder, peers_python):
        self.folder, self.peers_python = folder, peers_python
        self.path, self.lock = folder / "times.json", threading.Lock()
        self.times = json.loads(self.path.read_text()) if self.path.exists() else {}

    def run(self, part):
        """Whether the part's results are there."""
        result = self.folder / (part.made or f"{part.name}.json")
        if result.exists():
            return True
        # The file has its name only when it is whole: programs write after each of their parts.
        unfinished = result.with_suffix(".part")
        out = [] if part.made else ["--out", unfinished]
        python = self.peers_python if part.program == "peers.py" else sys.executable
        command = [python, HERE / part.program, self.folder, *part.arguments, *out]
        log = self.folder / f"{part.name}.log"
        start = time.monotonic()
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        with log.open("w") as file:
            process = subprocess.Popen(list(map(str, command)), stdout=file, stderr=file, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = {"wall": time.monotonic() - start, "CPU": usage.ru_utime + usage.ru_stime}
        done = process.returncode == 0
        if done and not part.made:
            unfinished.rename(result)
        text = f"{log.read_text()}## {seconds['wall']:.0f} s, {seconds['CPU']:.0f} CPU s"
        print(f"\n## {part.program} " + " ".join(map(str, part.arguments)) + f"\n{text}", flush=True)
        if done:
            with self.lock:
                self.times[part.name] = seconds
                self.path.write_text(json.dumps(self.times, indent=1) + "\n")
        return done

    def run_all(self, trainings, parts, jobs):
        """Each part as soon as its networks are trained. It waits behind all trainings, so none waits for ever."""
        done = {}

        def run_after(part):
            return all(done[name].result() for name in part.needs) and self.run(part)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for part in [*trainings, *parts]:
                done[part.name] = pool.submit(run_after, part)
        failed = [name for name, future in done.items() if not future.result()]
        if failed:
            raise SystemExit(f"failed: {', '.join(failed)}")


def list_networks(options):
    networks = ["resnet20", "resnet14", "resnet8", "resnet8_relu6", "mobilenet", "lstm"]
    for network, given, name in (("dscnn", options.digits, "--digits"), ("transformer", options.words, "--words")):
        if given:
            networks.append(network)
        else:
            print(f"{network} is left out: there is no {name}")
    return networks


def list_folders(options):
    folders = (("--digits", options.digits), ("--words", options.words))
    return [word for option, folder in folders if folder for word in (option, folder)]


def list_trainings(networks, seeds, options):
    for network in networks:
        for seed in range(seeds):
            arguments = ["--networks", network, "--seeds", 1, "--first", seed, "--epochs", 1]
            arguments += ["--train", 1280, "--test", 200] if options.trial else []
            arguments += list_folders(options)
            yield Part(f"train.{network}.{seed}", "train_float.py", arguments, f"{network}.{seed}.onnx")


def list_parts(networks, seeds, options):
    few = ["--test", 200] if options.trial else []
    parts = []

    def add(name, program, network, seeds, arguments):
        needs = [f"train.{network}.{seed}" for seed in range(seeds)]
        parts.append(Part(name, program, arguments, needs=needs))

    for network, steps_of in STEPS.items():
        if network not in networks:
            continue
        for bits, steps in steps_of.items():
            steps = 3 if options.trial else steps if options.full else min(steps, FEWER_STEPS)
            arguments = ["--networks", network, "--bits", bits, "--seeds", seeds, "--steps", steps]
            arguments += ["--control", *list_folders(options)] if bits == "w4a4" else list_folders(options)
            add(f"distill.{network}.{bits}.{seeds}x{steps}", "distill.py", network, seeds, arguments + few)
    for network in ("resnet8", "mobilenet"):
        cells, steps = ("w8a8,w4a4", 3) if options.trial else (GRID, GRID_STEPS)
        arguments = ["--networks", network, "--seeds", seeds, "--bits", cells, "--steps", steps]
        add(f"trained.{network}.{seeds}", "distill.py", network, seeds, arguments + few)
    for network in networks:
        formats = "." if options.full else FORMS.get(network, ".")
        short = options.trial and network != "lstm"  # which has few forms anyway
        only = "float32|w8a8$|minmax$|edge" if short else formats
        arguments = ["--networks", network, "--seeds", seeds, "--only", only]
        add(f"peers.{network}.{seeds}", "peers.py", network, seeds, arguments)
    add("grid", "grid.py", "resnet8", 1, [*few, *(["--cells", "w8a8,w4a4"] if options.trial else [])])
    cells = ["--cells", "w6a6" if options.trial else "w8a8,w6a6,w4a8", *few]
    for network in ("resnet8", "mobilenet") if seeds > 1 else ("mobilenet",):  # the grid has the first seed of one
        arguments = ["--networks", network, "--seeds", seeds, *cells]
        add(f"cells.{network}.{seeds}", "grid.py", network, seeds, arguments)
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--digits", type=Path)
    parser.add_argument("--words", type=Path)
    parser.add_argument("--peers-python", default=sys.executable, help="the Python that runs peers.py")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_true")
    size.add_argument("--trial", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)

    seeds = options.seeds or (5 if options.full else 1)
    runner = Runner(options.folder, options.peers_python)
    networks = list_networks(options)
    runner.run_all(list_trainings(networks, seeds, options), list_parts(networks, seeds, options), options.jobs)
    seconds = 0.1 if options.trial else 2
    if not runner.run(Part("speed", "speed.py", ["--networks", ",".join(networks), "--seconds", seconds])):
        raise SystemExit("failed: speed")
    subprocess.run([sys.executable, HERE / "pictures.py", options.folder], check=True)
    total = sum(seconds["CPU"] for seconds in runner.times.values())
    print(f"\n{total / 60:.1f} CPU minutes; half of that is the least on two cores")


main()
