"""Infinities, NaN, zeros of both signs, denormals and the ends of float32 through operators of float32.

No result here has a last place that a C library could round in another way, so the bound is 0, except for
exponentials and powers. NaN equals NaN, whatever its sign and payload.
"""

import numpy as np

from record import TYPES, Family, Tensor, const, int_of, ints

F = Family("special")
LIBM = 4e-6
LARGEST = np.finfo(np.float32).max
SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, LARGEST, -LARGEST, 1, -1, 0.5,
                    -2.5, 6.5, 1e20, -1e20], dtype=np.float32)
NUMBERS = SPECIAL[~np.isnan(SPECIAL)]


def pairs():
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    return a.reshape(-1), b.reshape(-1)


def mixed(shape, share, seed, of=SPECIAL):
    """Numbers around 0, with special ones among them."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal(shape).astype(np.float32)
    return np.where(rng.random(shape) < share, rng.choice(of, shape), numbers)


def activation(code, **more):
    return dict(fusedActivationFunction=code, **more)


def unary():
    def case(operator, options=None, bound=0.0, note=""):
        F.case(operator, [Tensor("float32", SPECIAL.shape)], [Tensor("float32")], options,
               feeds=[[SPECIAL]], bound=bound, note=note)

    for operator in ("ABS", "NEG", "FLOOR", "SQRT", "RSQRT", "SQUARE", "RELU", "RELU6",
                     "RELU_N1_TO_1", "HARD_SWISH"):
        case(operator)
    for operator in ("EXP", "LOG", "LOGISTIC", "TANH", "SIN", "COS"):
        case(operator, bound=LIBM)
    for alpha in (0.25, -2.0):
        case("LEAKY_RELU", ("LeakyReluOptions", dict(alpha=alpha)), note=f"{alpha}")


def binary():
    a, b = pairs()
    shape = a.shape

    def case(operator, options=None, output="float32", b=b, bound=0.0, note=""):
        F.case(operator, [Tensor("float32", shape), Tensor("float32", shape)], [Tensor(output)],
               options, 2 if operator == "FLOOR_DIV" else 1, feeds=[[a, b]], bound=bound, note=note)

    for operator, options in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions"),
                              ("DIV", "DivOptions")):
        for code in range(4):
            case(operator, (options, activation(code)), note=f"{code}")
    for operator in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_MOD", "PRELU"):
        case(operator)
    case("FLOOR_DIV", b=np.where(b == 0, 3, b))
    case("POW", bound=LIBM)
    for operator in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        case(operator, output="bool")


def places_of(axis, best):
    """The first best number along an axis. In rows, TFLite's vectors lose some numbers beside NaN."""
    def places(x):
        lost = np.where(np.isnan(x), -np.inf if best is np.argmax else np.inf, x)
        places = best(lost, axis=axis)
        first = np.argmax(~np.isnan(x), axis=axis)  # infinities may tie with replaced NaN
        chosen = np.take_along_axis(x, np.expand_dims(places, axis), axis).squeeze(axis)
        return [np.where(np.isnan(chosen), first, places).astype(np.int32)]
    return places


def rows():
    values = np.stack([mixed((24, 7), 0.4, seed) for seed in range(2)]).reshape(48, 7)
    values[0] = np.nan
    values[1] = -np.inf
    values[2] = np.inf
    for axes in ([0], [1], [0, 1]):
        for part, note in ((values, "NaN first"), (values[1:], "-inf first"), (values[3:], "")):
            for operator in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
                F.case(operator, [Tensor("float32", part.shape), ints(*axes)], [Tensor("float32")],
                       ("ReducerOptions", dict()), feeds=[[part]], note=f"{axes} {note}")
    for axis in (0, 1):
        for operator, best in (("ARG_MAX", np.argmax), ("ARG_MIN", np.argmin)):
            name = "ArgMaxOptions" if operator == "ARG_MAX" else "ArgMinOptions"
            F.case(operator, [Tensor("float32", values.shape), int_of(axis)], [Tensor("int32")],
                   (name, dict(outputType=TYPES["int32"])), feeds=[[values]], note=f"{axis}",
                   oracle=places_of(axis, best) if axis == 1 else None)
    F.case("TOPK_V2", [Tensor("float32", values.shape), int_of(4)],
           [Tensor("float32"), Tensor("int32")], ("TopKV2Options", dict()), feeds=[[values]])
    F.case("CUMSUM", [Tensor("float32", values.shape), int_of(1)], [Tensor("float32")],
           ("CumsumOptions", dict()), feeds=[[values]])
    for operator, options in (("SOFTMAX", ("SoftmaxOptions", dict(beta=1.0))),
                              ("LOG_SOFTMAX", None), ("L2_NORMALIZATION", ("L2NormOptions", {}))):
        F.case(operator, [Tensor("float32", values.shape)], [Tensor("float32")], options,
               feeds=[[values]], bound=LIBM)
    image = values.reshape(1, 6, 8, 7)
    F.case("LOCAL_RESPONSE_NORMALIZATION", [Tensor("float32", image.shape)], [Tensor("float32")],
           ("LocalResponseNormalizationOptions", dict(radius=2, bias=1.0, alpha=0.5, beta=0.75)),
           feeds=[[image]], bound=LIBM)


def windows():
    image = mixed((2, 7, 6, 19), 0.05, 1)
    for operator in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        for code in range(4):
            F.case(operator, [Tensor("float32", image.shape)], [Tensor("float32")],
                   ("Pool2DOptions", activation(code, padding=0, strideW=1, strideH=1,
                                                filterWidth=2, filterHeight=3)),
                   feeds=[[image]], note=f"{code}")
    for corners, centers in ((False, False), (False, True), (True, False)):
        F.case("RESIZE_BILINEAR", [Tensor("float32", image.shape), ints(9, 13)],
               [Tensor("float32")],
               ("ResizeBilinearOptions", dict(alignCorners=corners, halfPixelCenters=centers)), 3,
               feeds=[[image]], note=f"{corners} {centers}")


def products():
    """Sums that overflow, and infinities and NaN among the inputs."""
    rng = np.random.default_rng(5)

    def weights(shape, axis=None):
        if axis is None:
            return const("float32", mixed(shape, 0.05, 2, np.array([1e20, -1e30, LARGEST])))
        return const("int8", rng.integers(-127, 128, shape),
                     scale=list(np.linspace(0.9, 1.1, shape[axis])), axis=axis)

    bias = const("float32", rng.standard_normal(6))
    large = (rng.choice([-1e37, 1e37], (2, 5, 5, 8)) * rng.random((2, 5, 5, 8))).astype(np.float32)
    for code in range(4):
        stride = activation(code, strideW=1, strideH=1, padding=1)
        for x, w in ((mixed(large.shape, 0.02, 3), weights((6, 2, 2, 8))),
                     (large, weights((6, 2, 2, 8), 0))):
            F.case("CONV_2D", [Tensor("float32", x.shape), w, bias], [Tensor("float32")],
                   ("Conv2DOptions", stride), 5, feeds=[[x]], note=f"{code}")
        for x, w in ((mixed((5, 8), 0.05, 4), weights((6, 8))),
                     (large.reshape(50, 8), const("int8", rng.integers(-127, 128, (6, 8)), scale=1.0))):
            for asymmetric in (False, True) if w.dtype == "int8" else (False,):
                F.case("FULLY_CONNECTED", [Tensor("float32", x.shape), w, bias],
                       [Tensor("float32")],
                       ("FullyConnectedOptions",
                        activation(code, asymmetricQuantizeInputs=asymmetric)), 9, feeds=[[x]],
                       note=f"{code} {asymmetric}")
        x, w = mixed((2, 5, 5, 6), 0.05, 6), weights((1, 2, 2, 6))
        F.case("DEPTHWISE_CONV_2D", [Tensor("float32", x.shape), w, bias], [Tensor("float32")],
               ("DepthwiseConv2DOptions", stride | dict(depthMultiplier=1)), 2, feeds=[[x]],
               note=f"{code}")
        x, w = mixed((1, 4, 4, 8), 0.05, 7), weights((6, 2, 2, 8))
        F.case("TRANSPOSE_CONV", [ints(1, 8, 8, 6), w, Tensor("float32", x.shape), bias],
               [Tensor("float32")], ("TransposeConvOptions", activation(code, strideW=2, strideH=2)),
               4, feeds=[[x]], note=f"{code}")
    a, b = mixed((2, 5, 8), 0.05, 8), mixed((2, 8, 6), 0.05, 9)
    F.case("BATCH_MATMUL", [Tensor("float32", a.shape), Tensor("float32", b.shape)],
           [Tensor("float32")], ("BatchMatMulOptions", dict()), feeds=[[a, b]])
    F.case("BATCH_MATMUL", [Tensor("float32", (50, 8)),
                            const("int8", rng.integers(-127, 128, (8, 6)), scale=1.0)],
           [Tensor("float32")], ("BatchMatMulOptions", dict()), 4, feeds=[[large.reshape(50, 8)]])


def casts():
    values = np.concatenate([SPECIAL, [2.0**31, -2.0**31, 2.0**63, -2.0**63, 127.5, 255.9, -0.9]])
    for dtype in ("int8", "uint8", "int16", "int32", "int64", "bool", "float32"):
        F.case("CAST", [Tensor("float32", values.shape)], [Tensor(dtype)],
               ("CastOptions", dict(inDataType=TYPES["float32"], outDataType=TYPES[dtype])),
               feeds=[[values]])


if __name__ == "__main__":
    unary()
    binary()
    rows()
    windows()
    products()
    casts()
    F.write()
