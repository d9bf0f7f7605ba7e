"""What a call from Python costs, beside the same run from C++.

    python bindings/python/tests/call_cost.py MODEL

C++ is `intaglio bench`, whose figure is its fastest run. Python's figures are the fastest of 300 means over
1,000 calls, and imports are the fastest of 20. Needs the installed package.
"""

import json
import subprocess
import sys
import timeit

import intaglio
import numpy

IMPORT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def import_ms(module):
    command = [sys.executable, "-c", IMPORT.format(module)]
    return min(1e3 * float(subprocess.check_output(command)) for _ in range(20))


def main(path):
    command = [sys.executable, "-m", "intaglio", "bench", path, "--threads", "1", "--json"]
    print(f"import {import_ms('intaglio'):12.1f} ms; numpy {import_ms('numpy'):.1f} ms")
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    cpp = 1e3 * report["min_ms"]
    print(f"C++         {cpp:7.2f} us")
    model = intaglio.load(path)
    inputs = {tensor.name: numpy.zeros(tensor.shape, tensor.dtype) for tensor in model.inputs}
    listed = list(inputs.values())
    outputs = model.empty_outputs()
    for name, call in (
        ("run, names", lambda: model.run(inputs)),
        ("run, list", lambda: model.run(listed)),
        ("run_into", lambda: model.run_into(inputs, outputs)),
    ):
        us = 1e3 * min(timeit.repeat(call, number=1000, repeat=300))
        print(f"{name:12}{us:7.2f} us, {us - cpp:.2f} us above C++")


main(sys.argv[1])
