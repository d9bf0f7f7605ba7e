"""Accuracy of quantized networks on Fashion-MNIST, simulated and deployed.

    PYTHONPATH=build/release/python python3 bench/quantization --out quantization.json \\
        [--networks resnet8,mobilenet] [--bits w8a8,w6a6,w5a5,w4a4] [--seeds 1] [--epochs 4] [--steps 230] \\
        [--rate 0.01] [--learned_below 6] [--test 10000] [--threads 2] [--data DIR] [--fake]

For each network and seed: float32; after training (PTQ) with one scale for each tensor or for each output
channel of weights, by the extremes of 1,024 images; and trained with simulated quantization (QAT). "simulated"
is the module's answer in PyTorch, "deployed" that of the exported file in the runtime. "LSB" is the largest
difference of any activation over 512 images. With --fake also what a simulation by rounded floats answers
for the same weights and scales. docs/training.md has results.
"""

import argparse
import copy
import json
import time
from pathlib import Path

import fashion
import intaglio
import intaglio.torch
import numpy
import torch
import torch.nn.functional as F
from networks import NETWORKS
from networks_data import split_names


def batches(count, size, generator):
    order = torch.randperm(count, generator=generator)
    for start in range(0, count - size + 1, size):
        yield order[start : start + size]


def train(module, data, steps, rate, seed, momentum=0.9):
    """So many steps of batches of 128, by SGD with a cosine schedule."""
    images, labels = data
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(module.parameters(), rate, momentum, weight_decay=1e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    module.train()
    done = 0
    while done < steps:
        for chosen in batches(len(images), 128, generator):
            optimizer.zero_grad()
            F.cross_entropy(module(images[chosen]), labels[chosen]).backward()
            optimizer.step()
            schedule.step()
            done += 1
            if done == steps:
                break
    return module.eval()


@torch.no_grad()
def accuracy(module, data):
    module.eval()
    right = sum(int((module(x).argmax(1) == y).sum()) for x, y in zip(data[0].split(500), data[1].split(500)))
    return 100 * right / len(data[0])


def deployed(path, data, threads):
    model = intaglio.load(path, threads=threads)
    right = 0
    for x, y in zip(data[0].split(500), data[1].split(500)):
        image = numpy.ascontiguousarray(x.permute(0, 2, 3, 1).numpy())
        model.resize([image.shape])
        right += int((model.run([image])[0].argmax(1) == y.numpy()).sum())
    return 100 * right / len(data[0])


def rounded_floats(qm):
    """The module with the same weights and scales, computed in float32 as fake quantization does."""
    fake = copy.deepcopy(qm)
    for step in fake.steps:
        step._run = lambda inputs, quantizers, step=step: _round(step, inputs)
        if hasattr(step, "weights"):
            step.forward = lambda i, q, a, b, step=step: _product(step, i, q)
    return fake.eval()


def _codes(step, real):
    q = step.quantizer
    codes = (torch.round(real / q.scale) + q.zero).clamp(q.lowest, 127)
    return codes.permute(0, 2, 3, 1) if codes.dim() == 4 else codes


def _round(step, inputs):
    return _codes(step, step.compute([value.real for value in inputs]))


def _product(step, inputs, quantizers):
    weight, bias = step.folded()
    real, _, _ = step.weights(weight, step._least_scales(bias, quantizers[0].scale), step.learned_factor())
    codes = _codes(step, step.activate(step.product(inputs[0].real, real, bias)))
    return step._value(None, codes)


def cell(qm, data, path, options):
    test, _ = data["test"], None
    intaglio.torch.export(qm, path)
    row = {"simulated": accuracy(qm, test), "deployed": deployed(path, test, options.threads)}
    qm.verify(path, test[0][:512])  # raises where a number differs
    row["lsb"] = 0
    if options.fake:
        row["fake"] = accuracy(rounded_floats(qm), test)
    return row


def evaluate(name, seed, data, options):
    torch.manual_seed(seed)
    start = time.process_time()
    steps = options.epochs * (len(data["train"][0]) // 128)
    network = train(NETWORKS[name](), data["train"], steps, 0.1, seed)
    rows = [{"form": "float32", "simulated": accuracy(network, data["test"])}]
    report(name, seed, rows[-1], start)
    samples = data["train"][0][:1024]
    path = options.out.with_suffix(f".{name}.tflite")

    def add(form, qm, start):
        rows.append({"form": form, **cell(qm, data, path, options)})
        report(name, seed, rows[-1], start)

    for bits in options.bits.split(","):
        for per_channel in (False, True):
            start = time.process_time()
            qm = intaglio.torch.prepare(
                network, samples, bits=bits, per_channel=per_channel, threads=options.threads
            )
            add(f"PTQ {bits} per {'channel' if per_channel else 'tensor'}", qm, start)
        for learns in (False, True)[: 2 if int(bits[-1]) < options.learned_below else 1]:
            start = time.process_time()
            qm = intaglio.torch.prepare(
                network,
                samples,
                bits=bits,
                threads=options.threads,
                learned_steps=learns,
                norm_momentum=0.01,
            )
            train(qm, data["train"], options.steps, options.rate, seed + 100)
            add(f"QAT {bits}" + (" learned steps" if learns else ""), qm, start)
    path.unlink()
    return rows


def report(name, seed, row, start):
    numbers = "  ".join(f"{key} {row[key]:.2f}" for key in ("simulated", "deployed", "fake") if key in row)
    lsb = f"  LSB {row['lsb']}" if "lsb" in row else ""
    print(
        f"{name} seed {seed}  {row['form']:32} {numbers}{lsb}  {time.process_time() - start:.0f} CPU s",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("quantization.json"))
    parser.add_argument("--data", type=Path, default=fashion.FOLDER)
    parser.add_argument("--networks", default="resnet8,mobilenet")
    parser.add_argument("--bits", default="w8a8,w6a6,w5a5,w4a4")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=230)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument(
        "--learned_below", type=int, default=6, help="bits of activations for which scales are learned, too"
    )
    parser.add_argument("--test", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fake", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    names = split_names(options.networks, NETWORKS)
    images, labels = fashion.load("test", options.data)
    data = {
        "train": fashion.load("train", options.data),
        "test": (images[: options.test], labels[: options.test]),
    }
    results = {}
    for name in names:
        results[name] = [evaluate(name, seed, data, options) for seed in range(options.seeds)]
        options.out.write_text(json.dumps(results, indent=1) + "\n")


main()
