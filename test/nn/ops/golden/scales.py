"""Scales that are 0 or differ, windows that do not fit, and other cases at the edges of what the
reference runs. See record.py."""

import numpy as np

from record import Family, Tensor, ints

F = Family("scales")
rng = np.random.default_rng(38)
EIGHT = ["int8", "uint8"]
QUANTIZED = EIGHT + ["int16"]
ZERO = {"int8": -7, "uint8": 121}


def q(dtype, shape=(), scale=0.05, zero=None):
    return Tensor(dtype, shape, scale=scale, zero=ZERO.get(dtype, 0) if zero is None else zero)


def weights(dtype, shape, scale, axis=0):
    dtype = "int8" if dtype == "int16" else dtype
    info = np.iinfo(dtype)
    data = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    zero = [0] * len(scale) if isinstance(scale, list) else {"uint8": 128}.get(dtype, 0)
    return Tensor(dtype, data=data, scale=scale, zero=zero, axis=axis)


def bias(dtype, count, scale):
    dtype = "int64" if dtype == "int16" else "int32"
    zero = [0] * len(scale) if isinstance(scale, list) else 0
    return Tensor(dtype, data=rng.integers(-3000, 3000, count, dtype=dtype), scale=scale, zero=zero)


def window(padding, stride=1, **more):
    return dict(padding=padding, strideH=stride, strideW=stride, fusedActivationFunction=0, **more)


DILATION = dict(dilationHFactor=1, dilationWFactor=1)
CONV = ("Conv2DOptions", window(0, **DILATION))
DEPTHWISE = ("DepthwiseConv2DOptions", window(0, depthMultiplier=1, **DILATION))
FULL = ("FullyConnectedOptions", dict(fusedActivationFunction=0))
TRANSPOSE = ("TransposeConvOptions", window(0, 2))


def products(dtype, scale_in, scale_weights, scale_bias, scale_out, note):
    x, out = (lambda *shape: q(dtype, shape, scale_in)), q(dtype, (), scale_out)
    F.case("CONV_2D", [x(1, 4, 4, 2), weights(dtype, (3, 2, 2, 2), scale_weights),
                       bias(dtype, 3, scale_bias)], [out], CONV, 3, note=note)
    F.case("DEPTHWISE_CONV_2D", [x(1, 4, 4, 3), weights(dtype, (1, 2, 2, 3), scale_weights, 3),
                                 bias(dtype, 3, scale_bias)], [out], DEPTHWISE, 3, note=note)
    F.case("FULLY_CONNECTED", [x(2, 6), weights(dtype, (3, 6), scale_weights),
                               bias(dtype, 3, scale_bias)], [out], FULL, 4, note=note)
    F.case("TRANSPOSE_CONV", [ints(1, 6, 6, 3), weights(dtype, (3, 2, 2, 2), scale_weights),
                              x(1, 3, 3, 2), bias(dtype, 3, scale_bias)], [out], TRANSPOSE, 3,
           note=note)


def scales_of_zero():
    for dtype in QUANTIZED:
        if dtype != "uint8":
            products(dtype, 0.05, [0.02, 0, 0.03], [0.001, 0, 0.0015], 0.1, "a channel of 0")
            products(dtype, 0.05, [0.0] * 3, [0.0] * 3, 0.1, "channels of 0")
        products(dtype, 0.05, 0.0, 0.0, 0.1, "weights of 0")
        products(dtype, 0.0, 0.02, 0.0, 0.1, "inputs of 0")
        for operator in ("ABS", "RELU", "LOGISTIC", "EXP", "HARD_SWISH", "QUANTIZE"):
            if (dtype == "uint8" and operator in ("ABS", "EXP")) or (
                    dtype == "int16" and operator in ("LOGISTIC", "HARD_SWISH")):
                continue
            out = q(dtype)
            if operator == "LOGISTIC":
                out = q(dtype, (), 1 / 256, {"int8": -128, "uint8": 0}[dtype])
            F.case(operator, [q(dtype, (40,), 0.0)], [out], None, 1 if operator == "HARD_SWISH" else 2,
                   note="input of 0")
        for operator, options in (("MUL", ("MulOptions", dict(fusedActivationFunction=1))),
                                  ("BATCH_MATMUL", ("BatchMatMulOptions", dict()))):
            if dtype == "uint8" and operator == "BATCH_MATMUL":
                continue
            F.case(operator, [q(dtype, (2, 4), 0.0), q(dtype, (4, 4) if options[1] == {} else (2, 4))],
                   [q(dtype, (), 0.03)], options, 3, note="input of 0")
        if dtype != "uint8":
            F.case("ABS", [q(dtype, (40,), 0.0)], [q(dtype, (), 0.0)], None, 2, note="all of 0")
        F.case("RESHAPE", [q(dtype, (40,), 0.0), ints(8, 5)], [q(dtype, (), 0.0)], None, 1,
               note="all of 0")
        F.case("DEQUANTIZE", [q(dtype, (9,), 0.0)], [Tensor("float32")], None, 3, note="0")
    F.case("ADD", [q("int8", (3,)), q("int8", (3,))], [q("int8", (), 0.0)],
           ("AddOptions", dict(fusedActivationFunction=0)), error="it must be below 1")
    F.case("CONV_2D", [q("int8", (1, 2, 2, 1)), weights("int8", (1, 1, 1, 1), 0.02),
                       bias("int8", 1, 0.001)], [q("int8", (), 0.0)],
           ("Conv2DOptions", {**CONV[1], "fusedActivationFunction": 1}), 3,
           error="too small for its activation")


def scales_that_differ():
    a_bit_more = np.nextafter(np.float32(0.05), np.float32(1))
    for dtype in QUANTIZED:
        for scale, zero in ((a_bit_more, None), (0.1, None), (0.05, 3 if dtype == "int8" else 5)):
            for operator in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
                for activation in (0, 1, 3):
                    F.case(operator, [q(dtype, (1, 4, 4, 2))], [q(dtype, (), float(scale), zero)],
                           ("Pool2DOptions", {**window(1, 2, filterHeight=2, filterWidth=2),
                                              "fusedActivationFunction": activation}), 2,
                           note=f"{scale} {zero} {activation}")
        if dtype != "uint8":  # nobody looks at the scale of such a bias
            products_of_bias(dtype)


def products_of_bias(dtype):
    F.case("CONV_2D", [q(dtype, (1, 4, 4, 2)), weights(dtype, (3, 2, 2, 2), 0.02),
                       bias(dtype, 3, 1.7)], [q(dtype, (), 0.1)], CONV, 3, note="scale of the bias")
    F.case("DEPTHWISE_CONV_2D", [q(dtype, (1, 4, 4, 3)), weights(dtype, (1, 2, 2, 3), 0.02, 3),
                                 bias(dtype, 3, 1.7)], [q(dtype, (), 0.1)], DEPTHWISE, 3,
           note="scale of the bias")


def windows_that_do_not_fit():
    for dtype in QUANTIZED + ["float32"]:
        real = dtype == "float32"
        x = (lambda *shape: Tensor(dtype, shape)) if real else (lambda *shape: q(dtype, shape))
        out = Tensor(dtype) if real else q(dtype, (), 0.1)
        w = (lambda *shape: Tensor(dtype, data=rng.random(shape))) if real else (
            lambda *shape: weights(dtype, shape, 0.02))
        b = (lambda n: Tensor(dtype, data=rng.random(n))) if real else (
            lambda n: bias(dtype, n, 0.001))
        for size, stride in (((2, 4), 1), ((2, 2), 1), ((1, 4), 3), ((1, 9), 1), ((9, 1), 1)):
            negative = min(size) < 3 - stride
            if not negative:
                F.case("CONV_2D", [x(1, *size, 2), w(3, 3, 3, 2), b(3)], [out],
                       ("Conv2DOptions", window(1, stride, **DILATION)), 3, note=f"stride {stride}")
                F.case("DEPTHWISE_CONV_2D", [x(1, *size, 2), w(1, 3, 3, 2), b(2)], [out],
                       ("DepthwiseConv2DOptions", window(1, stride, depthMultiplier=1, **DILATION)),
                       3, note=f"stride {stride}")
            for operator in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
                F.case(operator, [x(1, *size, 2)], [Tensor(dtype) if real else q(dtype)],
                       ("Pool2DOptions", window(1, stride, filterHeight=3, filterWidth=3)), 2,
                       note=f"stride {stride}")


def resizing():
    both = dict(alignCorners=True, halfPixelCenters=True)
    for dtype in QUANTIZED + ["float32"]:
        for size in ((3, 5), (5, 3), (1, 4), (4, 1), (7, 16), (4, 4)):
            x = Tensor(dtype, (1, *size, 2)) if dtype == "float32" else q(dtype, (1, *size, 2))
            out = Tensor(dtype) if dtype == "float32" else q(dtype)
            F.case("RESIZE_NEAREST_NEIGHBOR", [x, ints(size[1], size[0])], [out],
                   ("ResizeNearestNeighborOptions", both), 3, note="both flags")
    F.case("RESIZE_BILINEAR", [q("int8", (1, 2, 2, 1)), ints(3, 3)], [q("int8")],
           ("ResizeBilinearOptions", both), 3, error="aligns corners and centres of pixels at once")


def reductions():
    keep = ("ReducerOptions", dict(keepDims=False))
    for dtype in QUANTIZED:
        info = np.iinfo(dtype)
        least = info.min if dtype == "int8" else info.max  # its sums grow the most, and wrap
        for count in (32769, 70001):
            many = np.full((count, 1), least)
            many[::7] = np.arange((count + 6) // 7).reshape(-1, 1) % 100
            F.case("MEAN", [q(dtype, (count, 1)), ints(0)], [q(dtype, (), 0.051)], keep, 2,
                   feeds=[[many]])
        F.case("MEAN", [q(dtype, (0, 3)), ints(0)], [q(dtype)], keep, 2)
    F.case("MEAN", [Tensor("float32", (0, 3)), ints(0)], [Tensor("float32")], keep, 2)


def large_multipliers():
    small = {"int8": [-7, -6, -8, 20, -7], "uint8": [121, 122, 120, 0, 121]}
    for dtype in EIGHT:  # multipliers by which the reference's shift does not overflow
        F.case("QUANTIZE", [q(dtype, (5,), 2.0**20)], [q(dtype, (), 2.0**-3)], None, 2,
               feeds=[[small[dtype]]])
        F.case("MUL", [q(dtype, (5,), 2.0**20), q(dtype, (), 1.0)], [q(dtype, (), 2.0**-3)],
               ("MulOptions", dict(fusedActivationFunction=0)), 2, feeds=[[small[dtype], small[dtype][1]]])
    for exponent in (8, 13, 14):  # int64 accumulators take these
        scale = 2.0**-exponent
        F.case("CONV_2D", [q("int16", (1, 2, 2, 1), 0.75), Tensor("int8", data=[[[[1]]]], scale=1.0),
                           Tensor("int64", data=[0], scale=0.75)], [q("int16", (), scale)], CONV, 3,
               feeds=[[np.array([1, -1, 2, 0]).reshape(1, 2, 2, 1)]], note=f"{scale}")
        F.case("BATCH_MATMUL", [q("int16", (2, 1), 0.75), q("int16", (1, 2), 1.0)],
               [q("int16", (), scale)], ("BatchMatMulOptions", dict()), 3,
               feeds=[[[[1], [-2]], [[1, 0]]]], note=f"{scale}")


scales_of_zero()
scales_that_differ()
windows_that_do_not_fit()
resizing()
reductions()
large_multipliers()
F.write()
