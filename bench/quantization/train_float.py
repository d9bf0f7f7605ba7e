"""Trains the networks of the evaluation, and writes them as files for peers.py.

    python3 bench/quantization/train_float.py FOLDER [--networks resnet8,mobilenet] [--seeds 5] [--first 0]
        [--epochs 2] [--train 60000] [--test 10000] [--threads 1] [--fashion DIR] [--digits DIR] [--words DIR]

FOLDER gets NETWORK.SEED.onnx of float32, whose input is one sample, and what all quantizers are given:
DATA.samples.npy (1,024 inputs of the training set), DATA.images.npy and DATA.labels.npy (the test set), where DATA is
fashion, digits or words (datasets.py). NETWORK.SEED.npz, for distill.py and grid.py, has the weights with batch
normalization folded. Sets smaller than Fashion-MNIST's have more epochs.
"""

import argparse
import os
from pathlib import Path

import datasets
import numpy
import torch
import torch.nn.functional as F
from networks import BY_ADAM, NETWORKS, save_folded
from networks_data import part_of, split_names

MORE_EPOCHS = {"dscnn": 20, "transformer": 3}  # as many times as those of --epochs


def save(path, array):
    """At once, because other processes may read the file."""
    part = path.with_suffix(f".{os.getpid()}.part")
    with part.open("wb") as file:
        numpy.save(file, array)
    part.rename(path)


def train(module, data, epochs, seed, adam):
    images, labels = data
    generator = torch.Generator().manual_seed(seed)
    steps = epochs * (len(images) // 128)
    if adam:
        optimizer = torch.optim.AdamW(module.parameters(), 2e-3)
    else:
        optimizer = torch.optim.SGD(module.parameters(), 0.1, 0.9, weight_decay=1e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    module.train()
    for _ in range(epochs):
        for chosen in torch.randperm(len(images), generator=generator).split(128):
            if len(chosen) < 128:
                continue
            optimizer.zero_grad()
            F.cross_entropy(module(images[chosen]), labels[chosen]).backward()
            optimizer.step()
            schedule.step()
    return module.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    datasets.add_options(parser)
    parser.add_argument("--networks", default="resnet8,mobilenet")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--train", type=int, default=60000, help="images to train with")
    parser.add_argument("--test", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    names = split_names(options.networks, NETWORKS)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        data = [part[: options.train] for part in datasets.load(name, "train", options)]
        images, labels = (part[: options.test] for part in datasets.load(name, "test", options))
        parts = {"samples": data[0][:1024], "images": images, "labels": labels.to(torch.int32)}
        for part, numbers in parts.items():
            save(part_of(options.folder, name, part), numbers.numpy())
        for seed in range(options.first, options.first + options.seeds):
            torch.manual_seed(seed)
            epochs = options.epochs * MORE_EPOCHS.get(name, 1)
            module = train(NETWORKS[name](), data, epochs, seed, name in BY_ADAM)
            path = options.folder / f"{name}.{seed}.onnx"
            ends = {"input_names": ["image"], "output_names": ["logits"]}
            torch.onnx.export(module, images[:1], path, opset_version=13, **ends)
            if name != "lstm":
                save_folded(module, path.with_suffix(".npz"))
            print(path, flush=True)


main()
