"""Trains quantized networks by the answers of the networks of float32 that they come from.

    PYTHONPATH=build/release/python python3 bench/quantization/distill.py FOLDER [--networks resnet8] [--seeds 5]
        [--first 0] [--bits w4a4,w6a6] [--wide REGEX] [--steps 300] [--rate .004] [--adam-rate .002] [--clip 2]
        [--control] [--freeze .02] [--out distill.json]

FOLDER is what train_float.py wrote. The loss is half of the cross-entropy with the labels, and 9 times the divergence
from the answers of the network of float32, both with a temperature of 3 (Hinton et al., 2015, "Distilling the
knowledge in a neural network"). Weights are trained by SGD, those of the transformer by Adam, and learned steps,
which start where the squared error of rounding is least, by Adam (Jain et al., 2020, "Trained quantization
thresholds"). Every rate falls as a cosine. "simulated" is the module's answer, "deployed" that of the exported file,
and the activations of 512 images must be equal in both. With --control the network of float32 is trained in the same
way and for as long, so that what more training gains is told from what rounding loses. Layers whose names match
--wide have 8 bits.
"""

import argparse
import copy
import json
import math
import statistics
import time
from pathlib import Path

import datasets
import intaglio
import intaglio.torch
import numpy
import torch
import torch.nn.functional as F
from networks import BY_ADAM, load_folded

TEMPERATURE = 3.0
LABELS = 0.5  # the share of the labels' loss
STEP_RATE = 2e-3


def batches(count, generator):
    while True:
        for chosen in torch.randperm(count, generator=generator).split(128):
            if len(chosen) == 128:
                yield chosen


def loss_of(logits, labels, teacher):
    soft = F.softmax(teacher / TEMPERATURE, 1)
    divergence = F.kl_div(F.log_softmax(logits / TEMPERATURE, 1), soft, reduction="batchmean")
    return LABELS * F.cross_entropy(logits, labels) + TEMPERATURE**2 * divergence


def train(module, data, teacher, options, seed, adam):
    images, labels = data
    order = batches(len(images), torch.Generator().manual_seed(seed + 100))
    order = [next(order) for _ in range(options.steps)]
    steps = {id(p): p for n, p in module.named_parameters() if n.endswith(".step")}
    weights = [p for p in module.parameters() if id(p) not in steps]
    if adam:
        optimizers = [torch.optim.AdamW(weights, options.adam_rate)]
    else:
        optimizers = [torch.optim.SGD(weights, options.rate, 0.9, weight_decay=1e-4, nesterov=True)]
    if steps:
        optimizers.append(torch.optim.Adam(steps.values(), STEP_RATE))

    def factor(i):
        return min(1, (i + 1) / 20) * 0.5 * (1 + math.cos(math.pi * i / options.steps))

    schedules = [torch.optim.lr_scheduler.LambdaLR(o, factor) for o in optimizers]
    module.train()
    for chosen in order:
        with torch.no_grad():
            answer = teacher(images[chosen])
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss_of(module(images[chosen]), labels[chosen], answer).backward()
        if options.clip:
            torch.nn.utils.clip_grad_norm_(weights, options.clip)
        for part in (*optimizers, *schedules):
            part.step()
    return module.eval()


@torch.no_grad()
def start_steps(qm, samples):
    """Learned steps of activations start where rounding makes the least squared error."""
    numbers = {}
    qm.eval()
    for step in qm.steps:
        if step.quantizer.step is not None and step.writer >= 0:
            step.note = lambda exact, q=step.quantizer: numbers.setdefault(q, []).append(
                exact.detach().flatten()[::7].clone()
            )
    qm._run((samples,), False, True)
    for step in qm.steps:
        step.__dict__.pop("note", None)
    for quantizer, parts in numbers.items():
        x = torch.cat(parts)

        def error(factor, q=quantizer, x=x):
            scale = float(q.first) * factor
            rounded = ((torch.round(x / scale) + q.zero).clamp(q.lowest, 127) - q.zero) * scale
            return float((rounded - x).square().mean())

        best = min((0.2 + 0.02 * i for i in range(43)), key=error)
        quantizer.step.fill_(math.log(best))


@torch.no_grad()
def answers(module, images):
    return torch.cat([module.eval()(x) for x in images.split(500)])


def deployed(path, images):
    model = intaglio.load(path)
    outputs = []
    for x in images.split(500):
        image = numpy.ascontiguousarray((x.permute(0, 2, 3, 1) if x.dim() == 4 else x).numpy())
        model.resize([image.shape])
        outputs.append(torch.from_numpy(model.run([image])[0].copy()))
    return torch.cat(outputs)


def percent(logits, labels):
    return 100 * float((logits.argmax(1) == labels).float().mean())


def evaluate(name, seed, bits, data, options):
    network = load_folded(name, options.folder / f"{name}.{seed}.npz")
    images, labels = data["test"]
    exact = percent(answers(network, images), labels)
    row = {"network": name, "seed": seed, "bits": bits, "steps": options.steps, "float32": exact}
    adam = name in BY_ADAM
    if options.control:
        trained = train(copy.deepcopy(network), data["train"], network, options, seed, adam)
        row["control"] = percent(answers(trained, images), labels)
    more = {"recipe": [{"layers": options.wide, "weights": 8, "activations": 8}]} if options.wide else {}
    if options.freeze:
        more["freeze_above"] = options.freeze
    qm = intaglio.torch.prepare(network, data["train"][0][:1024], bits=bits, learned_steps=True, **more)
    start_steps(qm, data["train"][0][:512])
    train(qm, data["train"], network, options, seed, adam)
    path = options.out.with_suffix(f".{name}.{seed}.{bits}.tflite")
    intaglio.torch.export(qm, path)
    simulated, answered = answers(qm, images), deployed(path, images)
    row["simulated"], row["deployed"] = percent(simulated, labels), percent(answered, labels)
    row["logits that differ"] = int((simulated != answered).sum())
    row["compared"] = qm.verify(path, images[:512])  # raises where a number differs
    path.unlink()
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    datasets.add_options(parser)
    parser.add_argument("--networks", default="resnet8")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--bits", default="w4a4", help="or several, w4a4,w6a6, one after the other")
    parser.add_argument("--wide", default="", help="layers that have 8 bits, a regular expression")
    parser.add_argument("--freeze", type=float, default=0.0, help="oscillating weights, as freeze_above of prepare()")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rate", type=float, default=0.004, help="of SGD")
    parser.add_argument("--adam-rate", type=float, default=0.002, help="of weights that are trained by Adam")
    parser.add_argument("--test", type=int, default=10000)
    parser.add_argument("--clip", type=float, default=2.0, help="of the norm of gradients; 0: none")
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("distill.json"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in options.networks.split(","):
        data = {"train": datasets.load(name, "train", options)}
        data["test"] = [part[: options.test] for part in datasets.load(name, "test", options)]
        for bits in options.bits.split(","):
            drops = []
            for seed in range(options.first, options.first + options.seeds):
                start = time.process_time()
                row = evaluate(name, seed, bits, data, options)
                print(row, f"{time.process_time() - start:.0f} CPU s", flush=True)
                rows.append(row)
                options.out.write_text(json.dumps(rows, indent=1) + "\n")
                drops.append(row["float32"] - row["deployed"])
            spread = statistics.stdev(drops) if len(drops) > 1 else 0
            print(f"{name} {bits}: {statistics.mean(drops):.2f} points below float32, deviation {spread:.2f}")


main()
