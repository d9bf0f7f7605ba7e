"""Milliseconds of the networks of the evaluation, in float32 and quantized after training.

    PYTHONPATH=build/release/python python3 bench/quantization/speed.py FOLDER [--networks resnet8] [--threads 1,2]
        [--seconds 2] [--out speed.json]

FOLDER is what train_float.py wrote. The file of float32 and the one of int8 (w8a8, plain) answer one input in turns,
with each count of threads. The least time of each counts, because whatever disturbs a run makes it longer. It holds
what Python takes to call a model, a few microseconds.
"""

import argparse
import json
import time
from pathlib import Path

import intaglio
from networks_data import model_of, read_part


def load_all(network, options):
    """The models by their columns, and the input."""
    path = model_of(options.folder, network, 0)
    samples = read_part(options.folder, network, "samples")
    # Its recurrent layer stays float32, and .tflite files have no such operator.
    form = "onnx" if network == "lstm" else "tflite"
    file = intaglio.quantize(path, samples, format=form, report_samples=0).data
    models = {}
    for threads in map(int, options.threads.split(",")):
        models[f"float32, {threads}"] = intaglio.load(path, threads=threads)
        models[f"int8, {threads}"] = intaglio.load(file, threads=threads)
    return models, samples[0]


def measure(models, sample, seconds):
    """The least milliseconds of each model."""
    inputs = {name: [sample.reshape(model.inputs[0].shape)] for name, model in models.items()}
    least = dict.fromkeys(models, float("inf"))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, model in models.items():
            for _ in range(5):  # the first ones bring its weights into the caches
                start = time.perf_counter()
                model.run(inputs[name])
                least[name] = min(least[name], 1e3 * (time.perf_counter() - start))
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", default="resnet8")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each network")
    parser.add_argument("--out", type=Path, default=Path("speed.json"))
    options = parser.parse_args()
    rows = []
    for network in options.networks.split(","):
        row = {"network": network, **measure(*load_all(network, options), options.seconds)}
        print(row, flush=True)
        rows.append(row)
    options.out.write_text(json.dumps(rows, indent=1) + "\n")


main()
