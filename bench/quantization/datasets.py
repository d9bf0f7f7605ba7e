"""The data of the networks of the evaluation."""

import digits
import fashion
import torch
import words
from networks_data import name_of

SETS = {"fashion": fashion, "digits": digits, "words": words}


def add_options(parser):
    for name, module in SETS.items():
        parser.add_argument(f"--{name}", default=module.FOLDER, help=f"the folder of its data, {module.FOLDER}")


def load(network, part, options):
    """Inputs and labels. part: "train" or "test". Those that come in an order are mixed, always in the same way, so
    that the first ones are a sample of all."""
    name = name_of(network)
    inputs, labels = SETS[name].load(part, getattr(options, name))
    if name == "fashion":
        return inputs, labels
    order = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0))
    return inputs[order], labels[order]
