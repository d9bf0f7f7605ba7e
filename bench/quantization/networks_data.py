"""Which data a network of the evaluation classifies, and where train_float.py puts them. Needs no PyTorch."""

import numpy

OF = {"dscnn": "digits", "transformer": "words"}  # the others: fashion


def name_of(network):
    return OF.get(network, "fashion")


def part_of(folder, network, part):
    """The file of what all quantizers are given: samples of the training set, or images and labels of the test."""
    return folder / f"{name_of(network)}.{part}.npy"


def existing(path, network):
    """The path of a file of train_float.py. The program ends where it is not there."""
    if path.exists():
        return path
    raise SystemExit(f"there is no {path}: train_float.py {path.parent} --networks {network} writes it")


def model_of(folder, network, seed):
    return existing(folder / f"{network}.{seed}.onnx", network)


def read_part(folder, network, part):
    return numpy.load(existing(part_of(folder, network, part), network))


def split_names(text, known):
    """The names of a list with commas. The program ends at one that is not known."""
    names = text.split(",")
    for name in names:
        if name not in known:
            raise SystemExit(f"there is no {name!r}, but {', '.join(known)}")
    return names
