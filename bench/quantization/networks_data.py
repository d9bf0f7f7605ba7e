"""Which data a network of the evaluation classifies, and where train_float.py puts them. Needs no PyTorch."""

OF = {"dscnn": "digits", "transformer": "words"}  # the others: fashion


def name_of(network):
    return OF.get(network, "fashion")


def part_of(folder, network, part):
    """The file of what all quantizers are given: samples of the training set, or images and labels of the test."""
    return folder / f"{name_of(network)}.{part}.npy"
