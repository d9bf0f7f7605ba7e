"""What a step of training costs: PyTorch's float32, intaglio.torch by kernels, and its emulation.

    PYTHONPATH=build/release/python python3 bench/quantization/steps.py [NETWORKS, such as resnet8,mobilenet]

Milliseconds of CPU time for batches of 128 images or words on one thread, the least of some: forward and backward, and
forward in eval().
"""

import argparse
import time

import intaglio.torch
import torch
import torch.nn.functional as F
from networks import NETWORKS
from networks_data import split_names


def least(runs, work):
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="?", default="resnet8,mobilenet")
    networks = split_names(parser.parse_args().networks, NETWORKS)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    y = torch.randint(0, 10, (128,))
    letters = F.one_hot(torch.randint(0, 26, (128, 16)), 26).float()
    for name in networks:
        network = NETWORKS[name]().train()
        x = letters if name == "transformer" else torch.randn(128, 1, 28, 28)
        forms = {
            "float32": network,
            "w8a8": intaglio.torch.prepare(network, x),
            "w4a4": intaglio.torch.prepare(network, x, bits="w4a4"),
            "w4a4, learned steps": intaglio.torch.prepare(network, x, bits="w4a4", learned_steps=True),
            "w4a4, emulated": intaglio.torch.prepare(network, x, bits="w4a4").emulate(),
        }
        for form, module in forms.items():
            module.train()
            step = least(4, lambda: F.cross_entropy(module(x), y).backward())
            module.eval()
            with torch.no_grad():
                forward = least(3, lambda: module(x))
            print(f"{name:10} {form:20} step {step:4.0f} ms   eval {forward:4.0f} ms", flush=True)


main()
