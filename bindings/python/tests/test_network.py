"""Networks and runners of the extension module, which intaglio.torch is made of: misuse is an error."""

import sys
import threading

import numpy
import pytest

import intaglio
from intaglio import _core


def make_network():
    network = _core._Network("n")
    x = network.tensor("x", "int8", [1, 4], [0.1], [0], 0)
    w = network.constant("w", numpy.ones((2, 4), numpy.int8), [0.5], [0], 0)
    return network, x, w


def add_layer(network, inputs):
    return network.layer("FULLY_CONNECTED", {}, inputs, "y", [0.1], [0], "", False)


@pytest.mark.parametrize("bad", [-2, -(2**31), 2, 1000, 2**31 - 1])
def test_a_layer_of_a_tensor_that_is_not_there(bad):
    network, x, w = make_network()
    with pytest.raises(intaglio.errors.ArgumentError, match="no tensor"):
        add_layer(network, [x, bad])
    with pytest.raises(intaglio.errors.ArgumentError):
        add_layer(network, [x, -1])  # absent
    y = add_layer(network, [x, w])
    network.interface([x], [y])
    runner = network.prepare(1, "")
    runner.run([numpy.ones((1, 4), numpy.int8)])
    assert runner.read(y).tolist() == [[2, 2]]


@pytest.mark.parametrize("shape", [[-1, 4], [2**31 - 1] * 4])
def test_a_tensor_of_a_shape_that_cannot_be(shape):
    with pytest.raises(intaglio.errors.Error):
        _core._Network("n").tensor("x", "int8", shape, [0.1], [0], 0)


def test_threads_share_a_runner_that_is_resized():
    network, x, w = make_network()
    y = add_layer(network, [x, w])
    network.interface([x], [y])
    runner = network.prepare(1, "")
    failures = []

    def loop(body):
        for _ in range(5000):
            try:
                body()
            except intaglio.errors.Error:  # another thread was faster
                pass
            except Exception as error:  # pragma: no cover
                failures.append(error)

    def run(rows):
        runner.run([numpy.ones((rows, 4), numpy.int8)])

    def resize():
        runner.resize([[1, 4]])
        runner.resize([[4096, 4]])

    bodies = [lambda: run(1), lambda: run(4096), resize, lambda: runner.read(x), runner.tensors, runner.layers]
    threads = [threading.Thread(target=loop, args=(body,)) for body in bodies]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures
    runner.resize([[1, 4]])
    run(1)
    assert runner.read(y).tolist() == [[2, 2]]
