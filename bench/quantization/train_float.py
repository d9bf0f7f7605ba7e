"""Trains the networks of the evaluation on Fashion-MNIST, and writes them as files for peers.py.

    python3 bench/quantization/train_float.py FOLDER [--networks resnet8,mobilenet] [--seeds 5] [--epochs 2]
        [--train 60000] [--test 10000]

FOLDER gets NETWORK.SEED.onnx of float32, whose input is (1, 1, 28, 28), and what all quantizers are given:
samples.npy (1,024 images of the training set), images.npy and labels.npy (the test set). NETWORK.SEED.npz, for
distill.py and grid.py, has the weights with batch normalization folded.
"""

import argparse
from pathlib import Path

import fashion
import numpy
import torch
import torch.nn.functional as F
from networks import NETWORKS, save_folded


def train(module, data, epochs, seed):
    images, labels = data
    generator = torch.Generator().manual_seed(seed)
    steps = epochs * (len(images) // 128)
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
    parser.add_argument("--data", type=Path, default=fashion.FOLDER)
    parser.add_argument("--networks", default="resnet8,mobilenet")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--train", type=int, default=60000, help="images to train with")
    parser.add_argument("--test", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.folder.mkdir(parents=True, exist_ok=True)
    data = [part[: options.train] for part in fashion.load("train", options.data)]
    images, labels = (part[: options.test] for part in fashion.load("t10k", options.data))
    numpy.save(options.folder / "samples.npy", data[0][:1024].numpy())
    numpy.save(options.folder / "images.npy", images.numpy())
    numpy.save(options.folder / "labels.npy", labels.numpy().astype(numpy.int32))
    for seed in range(options.seeds):
        for name in options.networks.split(","):
            torch.manual_seed(seed)
            module = train(NETWORKS[name](), data, options.epochs, seed)
            path = options.folder / f"{name}.{seed}.onnx"
            names = {"input_names": ["image"], "output_names": ["logits"]}
            torch.onnx.export(module, images[:1], path, opset_version=13, **names)
            if name != "lstm":
                save_folded(module, path.with_suffix(".npz"))
            print(path, flush=True)


main()
