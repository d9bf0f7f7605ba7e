"""The tables of the SoftNeuro paper (III and IV) for this machine: what tuning gains, and what it takes.

    venv/bin/python bench/models/tuned.py --intaglio build/release/tools/intaglio \
        [--networks vgg_16_224,...] [--isa best,avx2] [--threads 1] [--budget S] [--out table.md]

For each network of networks.py, with int8 weights and activations: the untuned network, the fastest of
float32 alone, of integers alone, and the mix that `intaglio tune --allow float32` selected, all measured in
turns by the tuner; how long tuning took, and again with the times it kept; beside LiteRT and ONNX Runtime,
int8 and float32, each in a process of its own, in turns. Peers know no cap on instructions: they have one
column, for the whole CPU.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import networks
import onnx_file
import tflite
from turns import ENGINE, Contender

NETWORKS = ("vgg_16_224", "resnet_50_224", "mobilenet_v2_224", "mobilenet_v3_large_224")
COLUMNS = ("untuned", "float32", "integers", "mixed", "tuned")
PEERS = ("litert int8", "litert float32", "onnxruntime int8", "onnxruntime float32")


def tune(options, model, isa, folder):
    """Milliseconds of the networks that were compared, and the seconds of both tunings."""
    plan, timings = folder / "plan.json", folder / "timings.txt"
    timings.unlink(missing_ok=True)
    command = [options.intaglio, "tune", model, plan, "--threads", str(options.threads),
               "--allow", "float32", "--timings", timings]
    if options.budget is not None:
        command += ["--budget", str(options.budget)]
    environment = os.environ | ({} if isa == "best" else {"INTAGLIO_ISA": isa})
    seconds, plans = [], []
    for _ in range(2):
        begin = time.monotonic()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.monotonic() - begin)
        plans.append(json.loads(plan.read_text()))
    row = {network["name"]: network["ns"] * 1e-6 for network in plans[0]["networks"]}
    # What is not listed is the network before it: no layer gained.
    row.setdefault("integers", row["untuned"])
    row.setdefault("mixed", row["integers"])
    row["tuned"] = plans[0]["tuned_ns"] * 1e-6
    return row | {"cold": seconds[0], "again": seconds[1]}


def write_input(folder, name, dtype):
    rng = np.random.default_rng(1)
    data = rng.integers(-128, 128, (1, 224, 224, 3), dtype=np.int8)
    if dtype == "float32":
        data = (data / 64).astype(np.float32)
    elif name == "onnxruntime":
        data = data.view(np.uint8) ^ 0x80    # moved by 128, as the file's zero points are
    folder.mkdir(parents=True)
    shaped = data.transpose(0, 3, 1, 2) if name == "onnxruntime" else data
    (folder / "input0").write_bytes(shaped.tobytes())


def peers(options, files, folder):
    """Milliseconds, the least of all turns."""
    contenders = {}
    for peer in PEERS:
        name, kind = peer.split()
        own = folder / peer.replace(" ", "_")
        write_input(own, name, kind)
        contenders[peer] = Contender(peer, [sys.executable, str(ENGINE), name, str(files[peer])],
                                     own, options.threads, "wall")
    for _ in range(options.rounds):
        for contender in contenders.values():
            if not contender.error:
                contender.turn(0.3)
    for contender in contenders.values():
        contender.close()
        if contender.error:
            print(f"{contender.name}: {contender.error}", file=sys.stderr)
    return {peer: min(c.times) * 1e-6 for peer, c in contenders.items() if not c.error and c.times}


def write_files(name, folder):
    network = networks.ALL[name]()
    files = {peer: folder / f"{peer.replace(' ', '.')}.{'tflite' if 'lite' in peer else 'onnx'}"
             for peer in PEERS}
    tflite.write(network, files["litert int8"])
    tflite.write(network, files["litert float32"], "float32")
    onnx_file.write(network, files["onnxruntime int8"])
    onnx_file.write(network, files["onnxruntime float32"], real=True)
    return files


def cell(row, name):
    return f"{row[name]:.2f}" if row.get(name) is not None else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--intaglio", required=True, type=Path)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--isa", default="best,avx2")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    head = ["network", "CPU", *COLUMNS, "tuning, s", "again, s", *PEERS]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    print("\n".join(lines))
    for name in options.networks.split(","):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            files = write_files(name, folder)
            beside = peers(options, files, folder)
            for isa in options.isa.split(","):
                row = tune(options, files["litert int8"], isa, folder)
                cells = [name, isa, *(cell(row, c) for c in (*COLUMNS, "cold", "again")),
                         *(cell(beside if isa == "best" else {}, p) for p in PEERS)]
                lines.append("| " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
    if options.out is not None:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
