"""int16 activations: products with int8 weights, tables, softmax. See record.py."""

import numpy as np

from record import TYPES, Family, Tensor, const, ints, random_values

F = Family("sixteen")


def weights_of(rng, shape, channels, axis, per_channel):
    weights = Tensor("int8", shape, scale=0.011, axis=axis if per_channel else 0)
    weights.data = np.maximum(random_values(rng, weights), -127)
    if per_channel:
        weights.scale = list(np.linspace(0.004, 0.02, channels))
    return weights


def bias_of(rng, dtype, channels, weights):
    """The bias as the list of one input, or none."""
    if dtype is None:
        return []
    scale = np.float32(0.001) * np.float32(weights.scale)
    return [const(dtype, rng.integers(-300000, 300000, channels),
                  scale=scale.tolist() if scale.ndim else float(scale))]


def products():
    rng = np.random.default_rng(6)

    def conv(x, filter_shape, stride, padding, code=0, bias="int64", per_channel=True, out=0.02,
             dilation=1, error=None, zero=0):
        weights = weights_of(rng, filter_shape, filter_shape[0], 0, per_channel)
        inputs = [Tensor("int16", x, scale=0.001, zero=zero), weights,
                  *bias_of(rng, bias, filter_shape[0], weights)]
        F.case("CONV_2D", inputs, [Tensor("int16", scale=out)],
               ("Conv2DOptions", dict(padding=padding, strideW=stride, strideH=stride,
                                      dilationWFactor=dilation, dilationHFactor=dilation,
                                      quantizedBiasType=TYPES[bias],
                                      fusedActivationFunction=code)), 4, runs=2, error=error,
               note=f"{stride} {padding} {code} {bias} {per_channel} {out} {dilation} {zero}")

    conv((1, 5, 6, 3), (4, 3, 3, 3), 1, 0)
    conv((2, 5, 6, 3), (4, 3, 2, 3), 2, 1, code=1)
    conv((1, 6, 5, 8), (6, 2, 2, 4), 1, 0, code=3)  # two groups
    conv((1, 7, 7, 2), (3, 3, 3, 2), 1, 0, dilation=2)
    conv((1, 4, 4, 32), (20, 1, 1, 32), 1, 1, out=0.005)
    conv((1, 4, 4, 5), (3, 2, 2, 5), 1, 1, bias="int32")
    conv((1, 4, 4, 5), (3, 2, 2, 5), 1, 1, bias="int32", out=0.00001)
    conv((1, 4, 4, 5), (3, 2, 2, 5), 1, 1, per_channel=False)
    conv((1, 4, 4, 5), (3, 2, 2, 5), 1, 1, zero=3, error="zero points")

    def depthwise(x, filter_shape, stride, padding, code=0, bias="int64"):
        outputs = filter_shape[3]
        weights = weights_of(rng, filter_shape, outputs, 3, True)
        F.case("DEPTHWISE_CONV_2D",
               [Tensor("int16", x, scale=0.001), weights, *bias_of(rng, bias, outputs, weights)],
               [Tensor("int16", scale=0.004)],
               ("DepthwiseConv2DOptions", dict(padding=padding, strideW=stride, strideH=stride,
                                               depthMultiplier=outputs // x[3],
                                               dilationWFactor=1, dilationHFactor=1,
                                               fusedActivationFunction=code)), 5, runs=2,
               note=f"{stride} {padding} {code} {bias}")

    depthwise((1, 5, 6, 3), (1, 3, 3, 3), 1, 0)
    depthwise((2, 5, 6, 19), (1, 3, 2, 19), 2, 1, code=1)
    depthwise((1, 5, 6, 3), (1, 3, 3, 6), 1, 0, code=3)
    depthwise((1, 5, 6, 4), (1, 3, 3, 4), 1, 0, bias=None)

    def connected(x, weights_shape, code=0, bias="int64", per_channel=False, keep=False,
                  out=0.02):
        weights = weights_of(rng, weights_shape, weights_shape[0], 0, per_channel)
        F.case("FULLY_CONNECTED",
               [Tensor("int16", x, scale=0.001), weights,
                *bias_of(rng, bias, weights_shape[0], weights)],
               [Tensor("int16", scale=out)],
               ("FullyConnectedOptions", dict(fusedActivationFunction=code, keepNumDims=keep,
                                              quantizedBiasType=TYPES[bias or "int64"])), 11,
               runs=2, note=f"{code} {bias} {per_channel} {keep} {out}")

    connected((3, 20), (7, 20))
    connected((3, 20), (7, 20), bias="int32")
    connected((2, 3, 33), (5, 33), code=1, keep=True)
    connected((1, 40), (18, 40), bias=None)
    connected((4, 17), (6, 17), per_channel=True)
    connected((4, 17), (6, 17), per_channel=True, bias="int32", code=3)

    def transposed(x, filter_shape, out, stride, padding, code=0, bias="int64"):
        weights = weights_of(rng, filter_shape, filter_shape[0], 0, True)
        inputs = [ints(*out), weights, Tensor("int16", x, scale=0.001),
                  *bias_of(rng, bias, filter_shape[0], weights)]
        F.case("TRANSPOSE_CONV", inputs, [Tensor("int16", scale=0.01)],
               ("TransposeConvOptions", dict(padding=padding, strideW=stride, strideH=stride,
                                             fusedActivationFunction=code)), 4 if code else 3,
               runs=2, note=f"{out} {stride} {padding} {code} {bias}")

    transposed((1, 3, 4, 2), (3, 3, 3, 2), (1, 6, 8, 3), 2, 0)
    transposed((2, 3, 2, 5), (4, 2, 3, 5), (2, 6, 6, 4), 2, 1, code=1)
    transposed((1, 3, 3, 1), (1, 4, 2, 1), (1, 6, 4, 1), 1, 1, bias=None)


def functions():
    every = np.arange(-32768, 32768, 127)[None]
    for operator in ("LOGISTIC", "TANH"):
        for scale in (2.0**-12, 2.0**-11, 2.0**-13, 0.00031, 0.0021, 0.03, 1e-7):
            F.case(operator, [Tensor("int16", every.shape, scale=scale)],
                   [Tensor("int16", scale=2.0**-15)], None, 3, feeds=[[every]], note=f"{scale}")
        F.case(operator, [Tensor("int16", (4,), scale=0.001)], [Tensor("int16", scale=0.001)],
               None, 3, error="the output has the scale")
        F.case(operator, [Tensor("int16", (4,), scale=0.001, zero=1)],
               [Tensor("int16", scale=2.0**-15)], None, 3, error="zero point")
    for shape in ((3, 10), (2, 1), (1, 300), (2, 3, 4)):
        for scale, beta in ((0.0001, 1.0), (0.002, 0.5), (0.00001, 3.0)):
            F.case("SOFTMAX", [Tensor("int16", shape, scale=scale)],
                   [Tensor("int16", scale=2.0**-15)], ("SoftmaxOptions", dict(beta=beta)), 3,
                   runs=2, note=f"{scale} {beta}")
    for dtype, zero in (("int8", -4),):
        F.case("SOFTMAX", [Tensor(dtype, (3, 7), scale=0.1, zero=zero)],
               [Tensor("int16", scale=2.0**-16, zero=-32768)], ("SoftmaxOptions", dict(beta=1.0)),
               2, runs=3)


if __name__ == "__main__":
    products()
    functions()
    F.write()
