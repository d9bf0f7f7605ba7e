"""Whole models beside other engines, every engine in a process of its own, in turns.

    venv/bin/python bench/models --runner build/release/bench/model_runner --out models.json \
        [--models FOLDER] [--float] [--real] [--all-peers] [--onnx] [--onnx-models FOLDER] \
        [--float64-as-float32] [--threads 1,2,2x1] [--filter TEXT] [--batch 1] [--seconds 0.3] \
        [--rounds 5] [--cpu_time]

As .tflite files beside LiteRT and ONNX Runtime: the networks of networks.py with random weights, and the
files under FOLDER whose inputs are quantized; those of a single operator are summed up apart. With --real
also the networks hybrid (int8 weights, float32 activations) and of float32, and the files whose inputs are
float32. With --onnx as .onnx files beside ONNX Runtime and OpenVINO: the networks in the forms QDQ and
QOperator, those over sequences of sequences.py, and the files under the folder of --onnx-models.
docs/benchmarks.md describes the method.
"""

import argparse
import contextlib
import importlib
import json
import math
import os
import platform
import re
import sys
import tempfile
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from network import Network
from turns import measure


def ms(row, names):
    """The fastest of these contenders; none: infinite."""
    return min((row[n]["ms"] for n in names if "ms" in row.get(n, {})), default=math.inf)


def ratio(row, peers):
    return ms(row, peers) / ms(row, ("intaglio",))


def cells(row, names, key, width, scale=1):
    """A value of each contender that ran."""
    return " ".join(f"{row[n][key] * scale:{width}.{3 if key == 'ms' else 1}f}"
                    if "ms" in row.get(n, {}) else f"{'-':>{width}}" for n in names)


def head(side):
    print(f"{'':41} {' '.join(f'{name:>9}' for name in side.COLUMNS.values())}  "
          f"{' '.join(side.PEERS)} | peak MB: {', '.join(side.COLUMNS[n] for n in side.DETAILED)} "
          f"| first ms: same | {', '.join(side.DIFFERENCES)} | images a second: all, of several at once")


def throughput(row, side):
    """What counts where runs take several images, or several instances run at once."""
    if row["batch"] == 1 and "x" not in str(row["threads"]):
        return ""
    for name in side.COLUMNS:
        if "ms" in row.get(name, {}):
            row[name]["images_per_second"] = 1000 * row["batch"] / row[name]["ms"]
    return f" |{cells(row, side.COLUMNS, 'images_per_second', 7)}"


def show(row, side):
    ratios = " ".join(f"{r:6.2f}" if 0 < (r := ratio(row, peers)) < math.inf else f"{'-':>6}"
                      for peers in side.PEERS.values())
    differences = " ".join(f"{row[key]:.3g}" if key in row else "-" for key in side.DIFFERENCES)
    print(f"{row['model']:38.38} t{row['threads']:<3} {cells(row, side.COLUMNS, 'ms', 9)} {ratios} "
          f"|{cells(row, side.DETAILED, 'peak_bytes', 6, 1e-6)} "
          f"|{cells(row, side.DETAILED, 'first_ms', 7)} | {differences}{throughput(row, side)}",
          flush=True)
    for name in side.DETAILED:
        if "error" in row.get(name, {}):
            print(f"    {name}: {row[name]['error']}")


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(rows, kind, threads, side):
    """Of the models of a kind that Intaglio and the peers that count ran."""
    ratios = {}
    for key, peers in side.PEERS.items():
        found = {r["model"]: ratio(r, peers) for r in rows
                 if r["threads"] == threads and r["kind"] == kind}
        ratios[key] = {model: x for model, x in found.items() if 0 < x < math.inf}
    counted = ratios["ratio"]
    if not counted:
        return None
    worst = min(counted, key=counted.get)
    means = {key: geomean(found.values()) for key, found in ratios.items() if found}
    others = "".join(f", {key} {mean:.2f} of {len(ratios[key])}" for key, mean in means.items()
                     if key != "ratio")
    print(f"{threads} threads: {len(counted)} {kind}: geomean {means['ratio']:.2f}, "
          f"worst {counted[worst]:.2f} ({worst}){others}")
    return {"threads": threads, "kind": kind, "models": len(counted), "geomean": means["ratio"],
            "worst": counted[worst], "worst_model": worst, "geomeans": means}


def cpu_name():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def versions(packages):
    """Those of the packages that are here."""
    found = {}
    for package in packages:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", type=Path, required=True)
    parser.add_argument("--models", type=Path, help="a folder of .tflite files")
    parser.add_argument("--onnx", action="store_true", help="the networks as .onnx files")
    parser.add_argument("--onnx-models", type=Path, help="a folder of .onnx files, alone or with --onnx")
    parser.add_argument("--float64-as-float32", action="store_true",
                        help="Intaglio reads numbers of float64 in .onnx files as float32 instead of refusing them")
    parser.add_argument("--threads", default="1,2",
                        help="counts; 2x1: two instances that run at once, with one thread each")
    parser.add_argument("--all-peers", action="store_true",
                        help="ONNX Runtime's exact option and OpenVINO, too, where LiteRT takes part")
    parser.add_argument("--filter", default="", help="only models with this text in their names, as they are printed, or paths")
    parser.add_argument("--batch", type=int, default=1,
                        help="images that a run of the networks that are made here takes")
    parser.add_argument("--seconds", type=float, default=0.3, help="of a turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=3,
                        help="processes of each engine, one after the other, for the first result")
    parser.add_argument("--float", action="store_true", help="the float32 networks, too")
    parser.add_argument("--real", action="store_true",
                        help="hybrid networks and those of float32 as models of their own")
    parser.add_argument("--cpu_time", action="store_true",
                        help="CPU time of the process, for one thread on a busy machine")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    for folder in (options.models, options.onnx_models):
        if folder is not None and not folder.is_dir():
            parser.error(f"{folder}: not a folder")
    if not options.runner.is_file():
        parser.error(f"--runner {options.runner}: no such file; build the target model_runner")
    # Either needs packages that the other does without.
    of_onnx = options.onnx or options.onnx_models is not None
    if of_onnx and (options.models is not None or options.float or options.real):
        parser.error("--models, --float and --real are about .tflite files, not .onnx")
    counts = options.threads.split(",")
    if not all(re.fullmatch("([1-9][0-9]*x)?[1-9][0-9]*", count) for count in counts):
        parser.error(f"--threads {options.threads}: 1,2 or 2x1 is an example")
    if options.cpu_time and "x" in options.threads:
        parser.error("--cpu_time does not say how much several instances do in a second")
    counts = [int(count) if count.isdigit() else count for count in counts]
    Network.batch = options.batch
    side = importlib.import_module("onnx_cases" if of_onnx else "tflite_cases")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cases = list(side.cases(Path(folder), options))
        if not cases:
            parser.error(f"--filter {options.filter}: no model has this in its name or path")
        head(side)
        for case in cases:
            for threads in counts:
                rows.append(measure(case, threads, options) | {"batch": case.batch})
                show(rows[-1], side)
    summaries = [summary(rows, kind, t, side) for kind in side.KINDS for t in counts]
    if options.out is not None:
        context = {"cpu": cpu_name(), "num_cpus": os.cpu_count(),
                   "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
                   "clock": "cpu" if options.cpu_time else "wall",
                   "versions": versions(side.PACKAGES),
                   "command": " ".join(sys.argv)}
        options.out.write_text(json.dumps({"context": context, "summary": summaries,
                                           "rows": rows}, indent=1))
    if not any("ms" in row["intaglio"] for row in rows):
        sys.exit("bench/models: Intaglio ran none of the models; the lines above say why")


if __name__ == "__main__":
    main()
