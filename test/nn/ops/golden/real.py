"""float32 products, pools and softmax, and hybrid layers: int8 weights of float32 inputs. See record.py.

Sums of float32 and the last multiplications of hybrid layers have one order in each of TFLite's
reference kernels, which ours keep: bound 0.
"""

import numpy as np

from record import Family, Tensor, const, dequantized, ints, random_values

F = Family("real")
ROUNDING = 1e-5  # of exponentials and powers


def floats(rng, shape):
    return const("float32", (rng.random(shape) * 2 - 1).astype(np.float32))


def weights_of(rng, dtype, shape, channels, axis, per_channel):
    if dtype == "float32":
        return floats(rng, shape)
    weights = Tensor("int8", shape, scale=0.011, axis=axis if per_channel else 0)
    weights.data = np.maximum(random_values(rng, weights), -127)
    if per_channel:
        weights.scale = list(np.linspace(0.004, 0.02, channels))
    return weights


def convolutions():
    rng = np.random.default_rng(7)

    def conv(dtype, x, filter_shape, stride, padding, code=0, bias=True, dilation=1,
             per_channel=True):
        inputs = [Tensor("float32", x),
                  weights_of(rng, dtype, filter_shape, filter_shape[0], 0, per_channel)]
        if bias:
            inputs.append(floats(rng, filter_shape[0]))
        F.case("CONV_2D", inputs, [Tensor("float32")],
               ("Conv2DOptions", dict(padding=padding, strideW=stride, strideH=stride,
                                      dilationWFactor=dilation, dilationHFactor=dilation,
                                      fusedActivationFunction=code)), 5, runs=2,
               note=f"{stride} {padding} {code} {dilation} {per_channel}")

    conv("float32", (1, 5, 6, 3), (4, 3, 3, 3), 1, 0)
    conv("float32", (2, 5, 6, 3), (19, 3, 2, 3), 2, 1, code=1)
    conv("float32", (1, 6, 5, 8), (6, 2, 2, 4), 1, 0, code=3)  # two groups
    conv("float32", (1, 7, 7, 2), (3, 3, 3, 2), 1, 0, dilation=2)
    conv("float32", (1, 6, 6, 12), (35, 1, 1, 12), 1, 1, code=2)
    conv("int8", (1, 5, 6, 3), (4, 3, 3, 3), 1, 0)
    conv("int8", (3, 5, 6, 3), (5, 3, 2, 3), 2, 1, code=1)
    conv("int8", (2, 4, 4, 12), (20, 1, 1, 12), 1, 1)
    conv("int8", (2, 5, 6, 3), (4, 3, 3, 3), 1, 0, per_channel=False)
    conv("int8", (2, 5, 6, 3), (4, 1, 1, 3), 1, 0, per_channel=False, code=3)

    def depthwise(dtype, x, filter_shape, stride, padding, code=0, bias=True, dilation=1):
        outputs = filter_shape[3]
        inputs = [Tensor("float32", x), weights_of(rng, dtype, filter_shape, outputs, 3, True)]
        if bias:
            inputs.append(floats(rng, outputs))
        F.case("DEPTHWISE_CONV_2D", inputs, [Tensor("float32")],
               ("DepthwiseConv2DOptions", dict(padding=padding, strideW=stride, strideH=stride,
                                               depthMultiplier=outputs // x[3],
                                               dilationWFactor=dilation, dilationHFactor=dilation,
                                               fusedActivationFunction=code)), 6, runs=2,
               note=f"{stride} {padding} {code} {dilation}")

    for dtype in ("float32", "int8"):
        depthwise(dtype, (1, 5, 6, 3), (1, 3, 3, 3), 1, 0)
        depthwise(dtype, (2, 5, 6, 19), (1, 3, 2, 19), 2, 1, code=1)
        depthwise(dtype, (1, 5, 6, 3), (1, 3, 3, 6), 1, 0, code=3)
    depthwise("float32", (1, 7, 6, 4), (1, 3, 2, 4), 1, 0, dilation=2, bias=False)

    def transposed(x, filter_shape, out, stride, padding, code=0, bias=True):
        inputs = [ints(*out), floats(rng, filter_shape), Tensor("float32", x)]
        if bias:
            inputs.append(floats(rng, filter_shape[0]))
        F.case("TRANSPOSE_CONV", inputs, [Tensor("float32")],
               ("TransposeConvOptions", dict(padding=padding, strideW=stride, strideH=stride,
                                             fusedActivationFunction=code)), 4 if code else 3,
               runs=2, note=f"{out} {stride} {padding} {code}")

    transposed((1, 3, 4, 2), (3, 3, 3, 2), (1, 6, 8, 3), 2, 0)
    transposed((2, 3, 2, 5), (4, 2, 3, 5), (2, 6, 6, 4), 2, 1, code=1)
    transposed((1, 3, 3, 1), (1, 4, 2, 1), (1, 6, 4, 1), 1, 1, bias=False)


def products():
    rng = np.random.default_rng(8)

    def connected(dtype, x, shape, code=0, bias=True, keep=False, asymmetric=False,
                  per_channel=False, feeds=None):
        inputs = [Tensor("float32", x), weights_of(rng, dtype, shape, shape[0], 0, per_channel),
                  floats(rng, shape[0]) if bias else None]
        F.case("FULLY_CONNECTED", inputs, [Tensor("float32")],
               ("FullyConnectedOptions", dict(fusedActivationFunction=code, keepNumDims=keep,
                                              asymmetricQuantizeInputs=asymmetric)),
               12 if per_channel else 9, runs=2, feeds=feeds,
               note=f"{code} {keep} {asymmetric} {per_channel}")

    connected("float32", (3, 20), (7, 20))
    connected("float32", (2, 3, 33), (18, 33), code=1, keep=True)
    connected("float32", (1, 40), (33, 40), bias=False)
    for asymmetric in (False, True):
        connected("int8", (3, 20), (7, 20), asymmetric=asymmetric)
        connected("int8", (2, 3, 33), (18, 33), code=1, keep=True, asymmetric=asymmetric)
        connected("int8", (1, 40), (33, 40), bias=False, asymmetric=asymmetric)
        connected("int8", (4, 17), (6, 17), per_channel=True, asymmetric=asymmetric)
        rows = np.array([[0, 0, 0], [1, 2, 3], [-1, -1, -3], [1e-30, 0, 0]])
        connected("int8", (4, 3), (5, 3), asymmetric=asymmetric, feeds=[[rows]])

    for a, b, x, y in (((3, 5), (5, 4), False, False), ((2, 3, 5), (2, 5, 4), False, False),
                       ((2, 5, 3), (5, 4), True, False), ((2, 1, 3, 5), (3, 4, 5), False, True),
                       ((2, 6, 2), (2, 3, 6), True, True)):
        F.case("BATCH_MATMUL", [Tensor("float32", a), Tensor("float32", b)], [Tensor("float32")],
               ("BatchMatMulOptions", dict(adjX=x, adjY=y)), 1, runs=2, note=f"{x} {y}")
    matmuls()


def matmuls():
    """BATCH_MATMUL of float32 by int8."""
    rng = np.random.default_rng(11)

    def case(a, b, x=False, y=False, per_channel=False, asymmetric=False, **more):
        axis = len(b) - (2 if y else 1)
        weights = weights_of(rng, "int8", b, b[axis], axis, per_channel)
        F.case("BATCH_MATMUL", [Tensor("float32", a), weights], [Tensor("float32")],
               ("BatchMatMulOptions", dict(adjX=x, adjY=y,
                                           asymmetricQuantizeInputs=asymmetric)),
               4, note=f"hybrid {x} {y} {per_channel} {asymmetric}", **more)

    for asymmetric in (False, True):
        case((3, 20), (20, 7), asymmetric=asymmetric, runs=2)
        case((2, 3, 33), (33, 18), asymmetric=asymmetric, runs=2)
        case((2, 3, 33), (2, 33, 5), asymmetric=asymmetric, runs=2)
        case((2, 1, 3, 5), (3, 4, 5), y=True, asymmetric=asymmetric, runs=2)
        case((3, 20), (7, 20), y=True, per_channel=True, asymmetric=asymmetric, runs=2)
        case((20, 3), (20, 7), x=True, asymmetric=asymmetric, runs=2)
        case((2, 33, 3), (2, 5, 33), x=True, y=True, asymmetric=asymmetric, runs=2)
        case((3, 2), (2, 3), feeds=[[[[0, 0], [1, 2], [-1, -3]]]], asymmetric=asymmetric)
    case((3, 20), (20, 7), per_channel=True, runs=2)
    F.case("BATCH_MATMUL", [Tensor("float32", (3, 4)), Tensor("int8", (4, 5), scale=0.1)],
           [Tensor("float32")], ("BatchMatMulOptions", dict()), 4, error="are not constant")
    F.case("BATCH_MATMUL", [Tensor("float32", (3, 4)),
                            const("int8", np.ones((4, 5)), scale=0.1, zero=3)],
           [Tensor("float32")], ("BatchMatMulOptions", dict()), 4,
           error="weights with other zero points than 0")
    F.case("BATCH_MATMUL", [Tensor("float32", (3, 4)),
                            const("int8", np.ones((4, 5)), scale=[0.1] * 4, axis=0)],
           [Tensor("float32")], ("BatchMatMulOptions", dict()), 4, error="axis")
    F.case("BATCH_MATMUL", [Tensor("float32", (3, 4)), const("int8", np.ones((4, 5)), scale=0.1)],
           [Tensor("int8", scale=0.1)], ("BatchMatMulOptions", dict()), 4, error="float32")
    F.case("BATCH_MATMUL", [Tensor("float32", (3, 4)),
                            const("uint8", np.ones((4, 5)), scale=0.1)],
           [Tensor("float32")], ("BatchMatMulOptions", dict()), 4, error="uint8")


def others():
    for operator in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        for height, width, stride, padding, code in ((2, 2, 2, 0, 0), (3, 2, 1, 0, 1),
                                                    (2, 3, 1, 1, 3), (5, 4, 3, 0, 2)):
            F.case(operator, [Tensor("float32", (2, 5, 4, 3))], [Tensor("float32")],
                   ("Pool2DOptions", dict(padding=padding, strideW=stride, strideH=stride,
                                          filterWidth=width, filterHeight=height,
                                          fusedActivationFunction=code)), 1,
                   note=f"{height}x{width} {stride} {padding} {code}")
    for shape in ((3, 10), (2, 1), (2, 3, 4), (5,)):
        for beta in (1.0, 0.3):
            F.case("SOFTMAX", [Tensor("float32", shape)], [Tensor("float32")],
                   ("SoftmaxOptions", dict(beta=beta)), 1, runs=2, bound=ROUNDING, note=f"{beta}")
    for radius, bias, alpha, beta in ((2, 1.0, 0.1, 0.5), (1, 2.0, 1.0, 0.75), (9, 0.5, 0.3, 1.0)):
        F.case("LOCAL_RESPONSE_NORMALIZATION", [Tensor("float32", (1, 2, 3, 7))],
               [Tensor("float32")],
               ("LocalResponseNormalizationOptions",
                dict(radius=radius, bias=bias, alpha=alpha, beta=beta)), 1, bound=ROUNDING,
               note=f"{radius} {bias} {alpha} {beta}")
    rng = np.random.default_rng(9)
    halves = np.array([[1.5, -2, 0.1, 6e-8], [65504, 1e-3, -0.0, 1 / 3], [1, 2, 3, 4]])
    F.case("FULLY_CONNECTED", [Tensor("float32", (2, 4)), dequantized("float16", halves),
                               dequantized("float16", [1, 0.5, -1])],
           [Tensor("float32")], ("FullyConnectedOptions", dict()), 1, note="float16")
    F.case("FULLY_CONNECTED", [Tensor("float32", (2, 5)),
                               dequantized("int8", rng.integers(-127, 127, (3, 5)), scale=0.02)],
           [Tensor("float32")], ("FullyConnectedOptions", dict()), 1, note="stored as int8")
    F.case("CONV_2D", [Tensor("float32", (1, 3, 3, 2)),
                       dequantized("int8", rng.integers(-127, 127, (3, 2, 2, 2)),
                                   scale=[0.01, 0.02, 0.03]), floats(rng, 3)],
           [Tensor("float32")], ("Conv2DOptions", dict(strideW=1, strideH=1)), 1,
           note="stored as int8 per channel")
    for axis, scales in ((0, [0.01, 0.2]), (1, [0.5, 1.0, 0.3]), (2, [0.1, 0.7, 0.3, 0.9])):
        F.case("DEQUANTIZE", [Tensor("int8", (2, 3, 4), scale=scales, axis=axis)],
               [Tensor("float32")], None, 5, note=f"axis {axis}")
    F.case("DEQUANTIZE", [const("float16", halves)], [Tensor("float32")], None, 3)
    F.case("DEQUANTIZE", [const("int8", [[1, -7, 127]], scale=0.3)], [Tensor("float32")], None, 3)
    F.case("ADD", [Tensor("float16", (2, 4)), Tensor("float16", (2, 4))], [Tensor("float16")],
           ("AddOptions", dict()), 1, error="float16 is supported for constants only")
    F.case("FULLY_CONNECTED", [Tensor("float32", (2, 4)), Tensor("float32", (3, 4))],
           [Tensor("float32")], ("FullyConnectedOptions", dict()))
    F.case("FULLY_CONNECTED",
           [Tensor("float32", (2, 4)), floats(rng, (3, 4)), floats(rng, (2,))],
           [Tensor("float32")], ("FullyConnectedOptions", dict()), 1, error="elements are needed")


def more_rows():
    """BATCH_MATMUL of float32 where the second operand is packed first."""
    for a, b, y in (((5, 7), (7, 70), False), ((2, 9, 5), (2, 17, 5), True),
                    ((3, 1, 4, 33), (2, 33, 6), False)):
        F.case("BATCH_MATMUL", [Tensor("float32", a), Tensor("float32", b)], [Tensor("float32")],
               ("BatchMatMulOptions", dict(adjY=y)), 1, runs=2, note=f"more rows {y}")


def groups():
    """Hybrid convolutions in two groups, of few and of many pixels."""
    rng = np.random.default_rng(12)
    for x, filter_shape in (((1, 2, 2, 8), (6, 1, 1, 4)), ((1, 4, 3, 8), (6, 1, 1, 4)),
                            ((1, 4, 3, 8), (6, 2, 2, 4))):
        weights = weights_of(rng, "int8", filter_shape, filter_shape[0], 0, True)
        F.case("CONV_2D", [Tensor("float32", x), weights, floats(rng, filter_shape[0])],
               [Tensor("float32")], ("Conv2DOptions", dict(strideW=1, strideH=1, padding=1)), 5,
               runs=2, note="groups")


if __name__ == "__main__":
    convolutions()
    products()
    others()
    more_rows()
    groups()
    F.write()
