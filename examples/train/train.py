"""Trains a small network for weights and activations of 4 bits, on Fashion-MNIST.

    PYTHONPATH=build/release/python python3 examples/train/train.py [FOLDER OF FASHION-MNIST]

Needs PyTorch and Debian's package dataset-fashion-mnist. Takes some minutes. Prints the accuracy of the
network of floats, of 4 bits before and after training for them, and of the file in the runtime.
"""

import gzip
import sys
from pathlib import Path

import intaglio.torch
import numpy
import torch
import torch.nn.functional as F
from torch import nn

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist")


def read(name, offset):
    return numpy.frombuffer(gzip.open(folder / f"{name}-ubyte.gz").read(), numpy.uint8, -1, offset)


def images_of(part):
    pixels = read(f"{part}-images-idx3", 16).reshape(-1, 1, 28, 28).astype(numpy.float32)
    return torch.from_numpy(pixels / 255), torch.from_numpy(read(f"{part}-labels-idx1", 8).astype(int))


def layer(inputs, outputs, **options):
    return [nn.Conv2d(inputs, outputs, 3, bias=False, **options), nn.BatchNorm2d(outputs), nn.ReLU6()]


def train(module, rate, steps):
    optimizer = torch.optim.SGD(module.parameters(), rate, momentum=0.9)
    module.train()
    for _ in range(steps):
        chosen = torch.randint(len(images), (128,))
        optimizer.zero_grad()
        F.cross_entropy(module(images[chosen]), labels[chosen]).backward()
        optimizer.step()
    return module.eval()


@torch.no_grad()
def accuracy(module):
    return 100 * float((module(test_images).argmax(1) == test_labels).float().mean())


torch.manual_seed(0)
images, labels = images_of("train")
test_images, test_labels = (tensor[:2000] for tensor in images_of("t10k"))
network = nn.Sequential(
    *layer(1, 16, stride=2, padding=1),
    *layer(16, 32, stride=2, padding=1),
    *layer(32, 32, padding=1),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(32, 10),
)
train(network, 0.05, 600)
print(f"float32          {accuracy(network):.2f} %")

qm = intaglio.torch.prepare(network, images[:512], bits="w4a4", learned_steps=True).eval()
print(f"4 bits           {accuracy(qm):.2f} %")
train(qm, 0.01, 300)
print(f"trained for them {accuracy(qm):.2f} %")

intaglio.torch.export(qm, "fashion.tflite")
count = qm.verify("fashion.tflite", test_images[:256])
print(f"fashion.tflite   the same {count} numbers as in training")

model = intaglio.load("fashion.tflite")
model.resize([(2000, 28, 28, 1)])
[scores] = model.run([numpy.ascontiguousarray(test_images.permute(0, 2, 3, 1).numpy())])
print(f"in the runtime   {100 * numpy.mean(scores.argmax(1) == test_labels.numpy()):.2f} %")
