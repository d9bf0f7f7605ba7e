"""Weights of four and of two bits. See record.py."""

import numpy as np

from record import BITS, Family, Tensor, const, dequantized

F = Family("narrow")
RNG = np.random.default_rng(44)


def weights(dtype, shape, axis=None):
    """Over the whole range of the type; with an axis, a scale for each of its indices."""
    top = 1 << BITS[dtype] - 1
    scale = 0.05 if axis is None else list(np.linspace(0.01, 0.09, shape[axis]))
    return const(dtype, RNG.integers(-top, top, shape), scale=scale, axis=axis or 0)


def bias(channels, scales):
    return const("int32", RNG.integers(-900, 900, channels), scale=scales)


def products(dtype):
    def case(operator, x, filter_shape, axis, channels, options, version, real, **more):
        w = weights(dtype, filter_shape, axis)
        if real:
            tensors = [Tensor("float32", x), w, const("float32", RNG.random(channels) - 0.5)]
            outputs = [Tensor("float32")]
        else:
            scales = [float(np.float32(0.02) * np.float32(s)) for s in np.atleast_1d(w.scale)]
            tensors = [Tensor("int8", x, scale=0.02, zero=-9), w, bias(channels, scales)]
            outputs = [Tensor("int8", scale=0.03, zero=4)]
        F.case(operator, tensors, outputs, options, version, runs=2, **more)

    windows = dict(padding=0, strideW=1, strideH=1)
    conv = ("Conv2DOptions", windows)
    depthwise = ("DepthwiseConv2DOptions", windows | dict(depthMultiplier=1))
    connected = ("FullyConnectedOptions", dict())
    for real in (False, True):
        case("FULLY_CONNECTED", (3, 24), (7, 24), 0, 7, connected, 10, real)
        case("FULLY_CONNECTED", (2, 9), (5, 9), None, 5, connected, 10, real, note="odd")
        if dtype == "int4":
            case("CONV_2D", (1, 5, 4, 3), (5, 3, 3, 3), 0, 5, conv, 7, real)
    if dtype == "int4":  # beside float32 the reference has no such depthwise weights
        case("DEPTHWISE_CONV_2D", (1, 5, 4, 3), (1, 3, 3, 3), 3, 3, depthwise, 6, False)


def stored():
    F.case("DEQUANTIZE", [weights("int4", (3, 5))], [Tensor("float32")], None, 6)
    F.case("DEQUANTIZE", [weights("int4", (3, 5), 0)], [Tensor("float32")], None, 6)
    values = RNG.integers(-8, 8, (3, 6))
    F.case("FULLY_CONNECTED", [Tensor("float32", (2, 6)), dequantized("int4", values, scale=0.25)],
           [Tensor("float32")], ("FullyConnectedOptions", dict()), 1, note="dequantized")
    F.case("ADD", [Tensor("int4", (2, 4), scale=1.0), Tensor("int4", (2, 4), scale=1.0)],
           [Tensor("int4", scale=1.0)], ("AddOptions", dict()), 1,
           error="int4 is supported for constants only")
    short = weights("int4", (3, 5))
    short.shape = (3, 7)
    F.case("FULLY_CONNECTED", [Tensor("int8", (2, 7), scale=1.0), short],
           [Tensor("int8", scale=1.0)], ("FullyConnectedOptions", dict()), 10,
           error="its buffer holds 8 bytes, int4 [3, 7] needs 11")


products("int4")
products("int2")
stored()
F.write()
