"""Weights of 4 to 8 bits by activations of 4 to 8 bits, quantized after training.

    PYTHONPATH=build/release/python python3 bench/quantization/grid.py FOLDER [--networks resnet8] [--seeds 1]
        [--cells w6a6,w8a8] [--checked 512] [--test 10000] [--out grid.json]

FOLDER is what train_float.py wrote. Each cell is made twice: by intaglio.torch, with ranges by extremes, whose
module and file must give the same activations; and by intaglio.quantize, with ranges by error, learned rounding and
corrected biases, whose file must give the same outputs with the scalar kernel and with the fastest one. Either
difference stops the program, so that every number in the file is of a cell without any. pictures.py draws it.
"""

import argparse
import itertools
import json
import tempfile
import time
from pathlib import Path

import intaglio
import intaglio.torch
import numpy
import torch
from networks import load_folded
from networks_data import existing, model_of, read_part, split_names

BITS = range(4, 9)


def answers(file, images, kernel=""):
    """Outputs for images of one channel, whose layouts are the same, one after the other."""
    model = intaglio.load(file, kernel=kernel)
    shape = model.inputs[0].shape
    return numpy.concatenate([model.run([image.reshape(shape)])[0].copy() for image in images])


def percent(outputs, labels):
    return 100 * float((outputs.argmax(1) == labels).mean())


def by_torch(network, bits, data, checked):
    """Percent of right answers of the file. Its activations for `checked` images are those of the module."""
    qm = intaglio.torch.prepare(network, torch.from_numpy(data["samples"]), bits=bits).eval()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.tflite")
        intaglio.torch.export(qm, path)
        qm.verify(path, torch.from_numpy(data["images"][:checked]))  # raises at 1 LSB
        return percent(answers(path, data["images"]), data["labels"])


def by_quantizer(path, bits, data, checked):
    options = {"method": "mse", "learn_rounding": True, "correct_bias": True, "report_samples": 0}
    file = intaglio.quantize(path, data["samples"], bits=bits, format="tflite", **options).data
    outputs = answers(file, data["images"])
    if not numpy.array_equal(answers(file, data["images"][:checked], "scalar"), outputs[:checked]):
        raise SystemExit(f"{path} {bits}: the scalar kernel gives other outputs")
    return percent(outputs, data["labels"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", default="resnet8")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cells", default="", help="only these, such as w6a6,w8a8")
    parser.add_argument("--checked", type=int, default=512, help="images whose activations are compared")
    parser.add_argument("--test", type=int, default=10000)
    parser.add_argument("--out", type=Path, default=Path("grid.json"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    known = [f"w{weights}a{activations}" for weights, activations in itertools.product(BITS, BITS)]
    cells = split_names(options.cells, known) if options.cells else known
    rows = []
    for name in options.networks.split(","):
        parts = ("samples", "images", "labels")
        data = {part: read_part(options.folder, name, part) for part in parts}
        for part in ("images", "labels"):
            data[part] = data[part][: options.test]
        for seed in range(options.seeds):
            path = model_of(options.folder, name, seed)
            network = load_folded(name, existing(path.with_suffix(".npz"), name))
            exact = percent(answers(path, data["images"]), data["labels"])
            for weights, activations in itertools.product(BITS, BITS):
                bits = f"w{weights}a{activations}"
                if bits in cells:
                    start = time.process_time()
                    row = {"network": name, "seed": seed, "weights": weights, "activations": activations}
                    row["float32"] = exact
                    row["extremes"] = by_torch(network, bits, data, options.checked)
                    row["learned"] = by_quantizer(path, bits, data, options.checked)
                    rows.append(row)
                    seconds = time.process_time() - start
                    print(
                        f"{name}.{seed} {bits} float32 {exact:.2f}  extremes {row['extremes']:.2f}  "
                        f"learned {row['learned']:.2f}  0 LSB  {seconds:.0f} CPU s",
                        flush=True,
                    )
                    options.out.write_text(json.dumps(rows, indent=1) + "\n")


main()
