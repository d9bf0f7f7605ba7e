"""Fashion-MNIST, from Debian's package dataset-fashion-mnist."""

import gzip
from pathlib import Path

import numpy
import torch

FOLDER = Path("/usr/share/datasets/fashion-mnist")


def _read(name, offset, folder):
    path = Path(folder) / f"{name}-ubyte.gz"
    if not path.exists():
        raise SystemExit(
            f"there is no {path}: install Debian's package dataset-fashion-mnist, or name its folder"
        )
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=offset)


def load(part, folder=FOLDER):
    """Images of (N, 1, 28, 28), about -1 to 2, and labels. part: "train" or "test"."""
    part = {"test": "t10k"}.get(part, part)
    pixels = _read(f"{part}-images-idx3", 16, folder).reshape(-1, 1, 28, 28)
    images = torch.from_numpy(pixels.astype(numpy.float32) / 255 - 0.286) / 0.353
    return images, torch.from_numpy(_read(f"{part}-labels-idx1", 8, folder).astype(numpy.int64))
