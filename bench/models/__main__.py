"""Whole models beside LiteRT and ONNX Runtime, every engine in a process of its own, in turns.

    python3 -m venv venv && venv/bin/pip install ai-edge-litert==2.3.0 onnxruntime==1.31.1 onnx numpy
    venv/bin/python bench/models --runner build/release/bench/model_runner --out models.json \\
        [--models FOLDER] [--threads 1,2] [--filter TEXT] [--seconds 0.3] [--rounds 5] [--cpu_time] \\
        [--float] [--real]

Models: the networks of networks.py with random weights, and the .tflite files under FOLDER whose
inputs are quantized; those of a single operator are summed up apart. With --real also the networks hybrid
(int8 weights, float32 activations) and of float32, and the files whose inputs are float32.
docs/benchmarks.md describes the method.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ai_edge_litert import interpreter as litert
from ai_edge_litert import schema_py_generated as schema

import networks
import onnx_file
import tflite

HERE = Path(__file__).parent


class Contender:
    """A process that speaks the protocol of runner.cc."""

    def __init__(self, name, command, folder, threads, clock):
        self.name, self.folder, self.times, self.error = name, folder, [], ""
        self.process = subprocess.Popen([*command, str(threads), clock, str(folder)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if line.startswith("{"):
            self.facts = json.loads(line)
        else:
            lines = self.process.stderr.read().strip().splitlines()
            self.error = lines[-1] if lines else "ended without a word"

    def turn(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        self.times.append(float(self.process.stdout.readline()))

    def close(self):
        self.process.stdin.close()
        self.process.stderr.close()
        self.process.wait()

    def result(self):
        if self.error:
            return {"error": self.error}
        return {"ms": min(self.times) / 1e6, **self.facts}


class Case:
    """A model and the files of it that each contender runs."""

    def __init__(self, name, int8, onnx=None, real=None, kind="network"):
        self.name, self.kind = name, kind
        self.files = {"intaglio": int8, "litert": int8}
        if onnx is not None:
            self.files["onnxruntime"] = onnx
        if real is not None:
            self.files["litert_float"], self.files["onnxruntime_float"] = real

    def write_inputs(self, folder, real):
        interpreter = litert.Interpreter(model_path=str(self.files["litert"]))
        rng = np.random.default_rng(1)
        for i, detail in enumerate(interpreter.get_input_details()):
            data = rng.integers(0, 256, detail["shape"], dtype=np.uint8)
            if real:
                data = (data.view(np.int8) / 64).astype(np.float32)
            elif np.issubdtype(detail["dtype"], np.floating):
                data = (data / 128 - 1).astype(np.float32)
            elif np.dtype(detail["dtype"]).itemsize > 1:
                data = data.astype(detail["dtype"])
            (folder / f"input{i}").write_bytes(data.tobytes())


def generated(folder, text, with_float, with_real):
    for name, make in networks.ALL.items():
        kinds = [kind for kind in ("hybrid", "float32") if with_real and text in f"{name} {kind}"]
        if text not in name and not kinds:
            continue
        network = make()
        assert network.name == name
        if text in name:
            yield generated_int8(folder, network, with_float)
        for kind in kinds:
            path = folder / f"{name}.{kind}.tflite"
            tflite.write(network, path, kind)
            yield Case(f"{name} {kind}", path, kind=kind)


def generated_int8(folder, network, with_float):
    paths = [folder / f"{network.name}.{kind}" for kind in
             ("int8.tflite", "int8.onnx", "float.tflite", "float.onnx")]
    tflite.write(network, paths[0])
    onnx_file.write(network, paths[1])
    if with_float:
        tflite.write(network, paths[2], "float32")
        onnx_file.write(network, paths[3], real=True)
    return Case(network.name, paths[0], paths[1], paths[2:] if with_float else None)


def kind_of(path):
    """What a file is counted as; None for one whose inputs are of other types."""
    model = schema.Model.GetRootAs(path.read_bytes(), 0)
    graph = model.Subgraphs(0)
    types = {graph.Tensors(graph.Inputs(i)).Type() for i in range(graph.InputsLength())}
    quantized = {schema.TensorType.INT8, schema.TensorType.UINT8, schema.TensorType.INT16}
    if types <= quantized and graph.OperatorsLength() > 0:
        return "operator" if graph.OperatorsLength() == 1 else "network"
    if types != {schema.TensorType.FLOAT32}:
        return None
    constants = {graph.Tensors(i).Type() for i in range(graph.TensorsLength())
                 if model.Buffers(graph.Tensors(i).Buffer()).DataLength() > 0}
    return "hybrid" if schema.TensorType.INT8 in constants else "float32"


def litert_reads(path):
    try:
        litert.Interpreter(model_path=str(path))
        return True
    except ValueError as error:
        print(f"{path.stem}: LiteRT cannot read it: {str(error)[:80]}", flush=True)
        return False


def found(folder, text, with_real):
    for path in sorted(Path(folder).rglob("*.tflite")):
        if text not in str(path):
            continue
        kind = kind_of(path)
        wanted = kind in ("network", "operator") or (with_real and kind is not None)
        if wanted and litert_reads(path):
            yield Case(path.stem, path, kind=kind)


def command_of(name, path, runner):
    if name == "intaglio":
        return [str(runner), str(path)]
    return [sys.executable, str(HERE / "engine.py"), name.removesuffix("_float"), str(path)]


def difference(case, a, b):
    """The largest difference between the outputs of two contenders, in steps of the output."""
    worst = 0
    for i, detail in enumerate(litert.Interpreter(
            model_path=str(case.files["litert"])).get_output_details()):
        x, y = (np.fromfile(c.folder / f"output{i}", dtype=detail["dtype"]) for c in (a, b))
        worst = max(worst, float(np.max(np.abs(x.astype(np.float64) - y), initial=0)))
    return worst


def measure(case, threads, options):
    clock = "cpu" if options.cpu_time else "wall"
    with tempfile.TemporaryDirectory() as scratch:
        for name in case.files:
            folder = Path(scratch) / name
            folder.mkdir()
            case.write_inputs(folder, name.endswith("_float"))
        firsts = []
        for left in reversed(range(max(1, options.starts))):
            contenders = [Contender(name, command_of(name, path, options.runner),
                                    Path(scratch) / name, threads, clock)
                          for name, path in case.files.items()]
            firsts.append([c.facts["first_ms"] if not c.error else math.inf for c in contenders])
            if left > 0:
                for contender in contenders:
                    contender.close()
        running = [c for c in contenders if not c.error]
        for _ in range(options.rounds):
            for contender in running:
                contender.turn(options.seconds)
        row = {"model": case.name, "kind": case.kind, "threads": threads}
        by_name = {c.name: c for c in running}
        if "intaglio" in by_name and "litert" in by_name:
            row["difference"] = difference(case, by_name["intaglio"], by_name["litert"])
        for contender in contenders:
            contender.close()
            row[contender.name] = contender.result()
        for contender, times in zip(contenders, zip(*firsts)):
            if not contender.error:
                row[contender.name]["first_ms"] = min(times)
    return row


def ms(row, names):
    """The fastest of these contenders; none: infinite."""
    return min((row[n]["ms"] for n in names if "ms" in row.get(n, {})), default=math.inf)


def ratio(row):
    return ms(row, ("litert", "onnxruntime")) / ms(row, ("intaglio",))


def show(row):
    cells = []
    for name in ("intaglio", "litert", "onnxruntime", "litert_float", "onnxruntime_float"):
        r = row.get(name, {})
        cells.append(f"{r['ms']:9.3f}" if "ms" in r else f"{'-':>9}")
    memory = [f"{row[n]['peak_bytes'] / 1e6:6.1f}" if "ms" in row.get(n, {}) else f"{'-':>6}"
              for n in ("intaglio", "litert", "onnxruntime")]
    first = [f"{row[n]['first_ms']:7.1f}" if "ms" in row.get(n, {}) else f"{'-':>7}"
             for n in ("intaglio", "litert", "onnxruntime")]
    print(f"{row['model']:38.38} t{row['threads']} {' '.join(cells)} {ratio(row):6.2f} "
          f"|{' '.join(memory)} |{' '.join(first)} | {row.get('difference', '-')}", flush=True)
    for name in ("intaglio", "litert", "onnxruntime"):
        if "error" in row.get(name, {}):
            print(f"    {name}: {row[name]['error']}")


def summary(rows, kind, threads):
    ratios = {r["model"]: ratio(r) for r in rows
              if r["threads"] == threads and r["kind"] == kind and 0 < ratio(r) < math.inf}
    if not ratios:
        return None
    worst = min(ratios, key=ratios.get)
    geomean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    print(f"{threads} threads: {len(ratios)} {kind}s, geomean {geomean:.2f}, "
          f"worst {ratios[worst]:.2f} ({worst})")
    return {"threads": threads, "kind": kind, "models": len(ratios), "geomean": geomean,
            "worst": ratios[worst], "worst_model": worst}


def cpu_name():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", type=Path, required=True)
    parser.add_argument("--models", type=Path, help="a folder of .tflite files")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--filter", default="", help="only models with this text in their names, as they are printed, or paths")
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
    if options.models is not None and not options.models.is_dir():
        parser.error(f"--models {options.models}: not a folder")
    if not options.runner.is_file():
        parser.error(f"--runner {options.runner}: no such file; build the target model_runner")
    counts = [int(t) for t in options.threads.split(",")]
    rows = []
    print(f"{'':41} {'intaglio':>9} {'litert':>9} {'onnxrt':>9} {'litert f':>9} {'onnxrt f':>9}  ratio "
          "| peak MB: same | first ms: same | difference")
    with tempfile.TemporaryDirectory() as folder:
        cases = list(generated(Path(folder), options.filter, options.float, options.real))
        if options.models is not None:
            cases += found(options.models, options.filter, options.real)
        if not cases:
            parser.error(f"--filter {options.filter}: no model has this in its name or path")
        for case in cases:
            for threads in counts:
                rows.append(measure(case, threads, options))
                show(rows[-1])
    summaries = [summary(rows, kind, t) for kind in ("network", "operator", "hybrid", "float32")
                 for t in counts]
    if options.out is not None:
        context = {"cpu": cpu_name(), "num_cpus": os.cpu_count(),
                   "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
                   "clock": "cpu" if options.cpu_time else "wall",
                   "versions": {p: version(p) for p in ("ai-edge-litert", "onnxruntime")},
                   "command": " ".join(sys.argv)}
        options.out.write_text(json.dumps({"context": context, "summary": summaries,
                                           "rows": rows}, indent=1))
    if not any("ms" in row["intaglio"] for row in rows):
        sys.exit("bench/models: Intaglio ran none of the models; the lines above say why")


if __name__ == "__main__":
    main()
