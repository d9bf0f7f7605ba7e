"""Weights and parameters that follow from constants through other operators. See record.py."""

import zlib

import numpy as np

from record import Family, Tensor, const, int_of, ints, random_values
from subgraphs import Op, write

F = Family("folding")
RNG = np.random.default_rng(38)


def run(name, inputs, outputs, ops, runs=1, error=None):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    feeds = [[random_values(rng, t) for t in inputs] for _ in range(0 if error else runs)]
    F.add(name, write((inputs, outputs, ops)), feeds, error)


# Chains: each returns a tensor and the operators that make it from constants.

def through(code, inputs, options=None, dtype=None, version=1, shape=(), **quantization):
    out = Tensor(dtype or inputs[0].dtype, shape, **quantization)
    return out, [Op(code, inputs, [out], options, version)]


def cast(x, dtype):
    return through("CAST", [x], None, dtype)


def computed(values, dtype="int32"):
    """Makes numbers through float32: 2 * (numbers / 2), truncated."""
    halves = const("float32", np.asarray(values) / 2)
    whole, ops = through("MUL", [halves, const("float32", np.float32(2))], ("MulOptions", {}))
    out, more = cast(whole, dtype)
    return out, ops + more


def floats(*shape):
    return (RNG.random(shape) * 2 - 1).astype(np.float32)


def bytes_(*shape):
    return RNG.integers(-128, 128, shape).astype(np.int8)


def float_weights():
    """Chains that make float32 [5, 6]."""
    w = floats(5, 6)
    yield "TRANSPOSE", through("TRANSPOSE", [const("float32", w.T), ints(1, 0)])
    yield "RESHAPE", through("RESHAPE", [const("float32", w.reshape(3, 10)), ints(5, 6)])
    half = const("float16", w.astype(np.float16))
    yield "DEQUANTIZE float16", through("DEQUANTIZE", [half], None, "float32")
    stored = const("int8", bytes_(5, 6), scale=0.01, zero=3)
    yield "DEQUANTIZE int8", through("DEQUANTIZE", [stored], None, "float32")
    yield "CAST", cast(const("int32", RNG.integers(-9, 9, (5, 6))), "float32")
    yield "CONCATENATION", through(
        "CONCATENATION", [const("float32", w[:2]), const("float32", w[2:])],
        ("ConcatenationOptions", dict(axis=0)))
    yield "SLICE", through("SLICE", [const("float32", floats(7, 8)), ints(1, 2), ints(5, 6)])
    yield "STRIDED_SLICE", through(
        "STRIDED_SLICE", [const("float32", floats(10, 6)), ints(0, 0), ints(10, 6), ints(2, 1)],
        ("StridedSliceOptions", {}))
    yield "GATHER", through("GATHER", [const("float32", floats(9, 6)), ints(8, 0, 3, 3, 5)],
                            ("GatherOptions", {}))
    yield "ADD", through("ADD", [const("float32", w), const("float32", floats(6))],
                         ("AddOptions", {}))
    yield "SPLIT", through("SPLIT", [int_of(0), const("float32", w)],
                           ("SplitOptions", dict(numSplits=1)), "float32")
    yield "PACK", through("PACK", [const("float32", row) for row in w],
                          ("PackOptions", dict(valuesCount=5, axis=0)))
    yield "PAD", through("PAD", [const("float32", floats(3, 4)), ints(1, 1, 2, 0).reshaped(2, 2)])
    yield "TILE", through("TILE", [const("float32", floats(1, 6)), ints(5, 1)])
    yield "BROADCAST_TO", through("BROADCAST_TO", [const("float32", floats(1, 6)), ints(5, 6)],
                                  version=2)
    yield "FILL", through("FILL", [ints(5, 6), const("float32", np.float32(0.3))], None, "float32")
    yield "EXP", through("EXP", [const("float32", w)])
    # Longer chains.
    reals, first = through("DEQUANTIZE", [const("float16", w.T.astype(np.float16))], None,
                           "float32")
    turned, second = through("TRANSPOSE", [reals, ints(1, 0)])
    scaled, third = through("MUL", [turned, const("float32", floats(5, 1))], ("MulOptions", {}))
    yield "DEQUANTIZE TRANSPOSE MUL", (scaled, first + second + third)
    shape, first = computed([5, 6])
    reshaped, second = through("RESHAPE", [const("float32", w.reshape(-1)), shape])
    yield "RESHAPE to a computed shape", (reshaped, first + second)


def ints_reshaped(self, *shape):
    self.data = self.data.reshape(shape)
    self.shape = self.data.shape
    return self


Tensor.reshaped = ints_reshaped


def connected():
    options = ("FullyConnectedOptions", {})
    for name, (weights, ops) in float_weights():
        x, y = Tensor("float32", (3, 6)), Tensor("float32")
        bias, more = computed(RNG.integers(-9, 9, 5), "float32")
        run("FULLY_CONNECTED by " + name, [x], [y],
            ops + more + [Op("FULLY_CONNECTED", [x, weights, bias], [y], options)])


def quantized():
    """int8 products whose weights and biases are computed."""
    def case(name, weights, ops):
        x = Tensor("int8", (2, 6), scale=0.05, zero=-3)
        y = Tensor("int8", scale=0.1, zero=5)
        summed = Tensor("int32", scale=0.0005)
        bias = [Op("ADD", [const("int32", RNG.integers(-99, 99, 4)), int_of(7)], [summed],
                   ("AddOptions", {}))]
        run("FULLY_CONNECTED int8 by " + name, [x], [y], ops + bias + [
            Op("FULLY_CONNECTED", [x, weights, summed], [y], ("FullyConnectedOptions", {}), 4)])

    like = dict(scale=0.01, zero=0)
    case("RESHAPE", *through("RESHAPE", [const("int8", bytes_(24), **like), ints(4, 6)], **like))
    case("TRANSPOSE", *through("TRANSPOSE", [const("int8", bytes_(6, 4), **like), ints(1, 0)],
                               **like))
    case("QUANTIZE", *through("QUANTIZE", [const("float32", floats(4, 6))], None, "int8", **like))
    case("CONCATENATION", *through(
        "CONCATENATION", [const("int8", bytes_(1, 6), **like), const("int8", bytes_(3, 6), **like)],
        ("ConcatenationOptions", dict(axis=0)), **like))
    case("GATHER", *through("GATHER", [const("int8", bytes_(9, 6), **like), ints(8, 0, 3, 3)],
                            ("GatherOptions", {}), **like))
    case("SLICE", *through("SLICE", [const("int8", bytes_(9, 8), **like), ints(1, 2), ints(4, 6)],
                           **like))
    reals, ops = through("DEQUANTIZE", [const("int8", bytes_(6, 4), scale=0.02, zero=-7)], None,
                         "float32")
    turned, more = through("TRANSPOSE", [reals, ints(1, 0)])
    again, last = through("QUANTIZE", [turned], None, "int8", **like)
    case("DEQUANTIZE TRANSPOSE QUANTIZE", again, ops + more + last)


def hybrid():
    like = dict(scale=0.01, zero=0)
    weights, ops = through("TRANSPOSE", [const("int8", bytes_(6, 4), **like), ints(1, 0)], **like)
    x, y = Tensor("float32", (3, 6)), Tensor("float32")
    run("FULLY_CONNECTED hybrid by TRANSPOSE", [x], [y], ops + [
        Op("FULLY_CONNECTED", [x, weights, None], [y], ("FullyConnectedOptions", {}), 3)])


def windows():
    options = dict(padding=0, strideW=1, strideH=1)
    x = Tensor("float32", (1, 5, 6, 2))
    w, ops = through("TRANSPOSE", [const("float32", floats(3, 3, 2, 4)), ints(3, 0, 1, 2)])
    y = Tensor("float32")
    run("CONV_2D by TRANSPOSE", [x], [y], ops + [
        Op("CONV_2D", [x, w, const("float32", floats(4))], [y], ("Conv2DOptions", options))])
    w, ops = through("DEQUANTIZE", [const("float16", floats(1, 3, 3, 2))], None, "float32")
    b, more = through("RESHAPE", [const("float32", floats(1, 2)), ints(2)])
    y = Tensor("float32")
    run("DEPTHWISE_CONV_2D by DEQUANTIZE", [x], [y], ops + more + [
        Op("DEPTHWISE_CONV_2D", [x, w, b], [y],
           ("DepthwiseConv2DOptions", options | dict(depthMultiplier=1)))])
    q = Tensor("int8", (1, 5, 6, 2), scale=0.05, zero=-3)
    scales = [0.01, 0.02, 0.015, 0.03]
    w, ops = through("RESHAPE", [const("int8", bytes_(4, 18), scale=scales), ints(4, 3, 3, 2)],
                     shape=(4, 3, 3, 2), scale=scales)
    y = Tensor("int8", scale=0.1, zero=5)
    run("CONV_2D int8 per channel by RESHAPE", [q], [y], ops + [
        Op("CONV_2D", [q, w, const("int32", RNG.integers(-99, 99, 4))], [y],
           ("Conv2DOptions", options), 3)])
    shape, ops = computed([1, 5, 6, 3])
    w, more = through("TRANSPOSE", [const("float32", floats(2, 3, 3, 3)), ints(1, 2, 3, 0)])
    y = Tensor("float32")
    run("TRANSPOSE_CONV by TRANSPOSE, shape computed", [x], [y], ops + more + [
        Op("TRANSPOSE_CONV", [shape, w, x], [y], ("TransposeConvOptions", options))])


def parameters():
    """Every operator whose parameters are tensors, with computed ones."""
    def case(code, x, makes, options=None, version=1, dtype=None, order=None, outputs=1, note=""):
        made = [computed(*m) if isinstance(m, tuple) else computed(m) for m in makes]
        inputs = [x, *(t for t, _ in made)]
        inputs = [inputs[i] for i in order or range(len(inputs))]
        ops = [op for _, many in made for op in many]
        y = [Tensor(dtype or x.dtype) for _ in range(outputs)]
        fed = [x] if x.data is None else []
        run(f"{code} of computed parameters {note}".strip(), fed, y,
            ops + [Op(code, inputs, y, options, version)])

    def x(*shape):
        return Tensor("float32", shape)

    case("RESHAPE", x(2, 6), [[3, -1]])
    case("TRANSPOSE", x(2, 3, 4), [[2, 0, 1]])
    case("PAD", x(2, 3), [[[1, 0], [0, 2]]])
    case("MIRROR_PAD", x(3, 3), [[[1, 0], [0, 2]]], ("MirrorPadOptions", dict(mode=0)))
    case("PADV2", x(2, 3), [[[1, 0], [0, 2]], (7, "float32")])
    case("SLICE", x(4, 5), [[1, 2], [2, -1]])
    case("SLICE", x(4, 5), [([1, 2], "int64"), ([2, -1], "int64")], note="int64")
    case("STRIDED_SLICE", x(6, 5), [[1, 0], [5, 5], [2, 1]], ("StridedSliceOptions", {}))
    case("TILE", x(2, 3), [[2, 3]])
    case("BROADCAST_TO", x(1, 3), [[2, 2, 3]], None, 2)
    case("EXPAND_DIMS", x(2, 3), [1])
    case("REVERSE_V2", x(2, 3), [[1]])
    case("CUMSUM", x(2, 3), [1], ("CumsumOptions", {}))
    case("ARG_MAX", x(2, 3), [1], ("ArgMaxOptions", dict(outputType=2)), 1, "int32")
    case("MEAN", x(2, 3, 4), [[1, 2]], ("ReducerOptions", {}))
    case("SUM", x(2, 3, 4), [[0]], ("ReducerOptions", dict(keepDims=True)))
    case("REDUCE_MAX", x(2, 3, 4), [[-1]], ("ReducerOptions", {}))
    case("SPLIT", x(2, 6), [1], ("SplitOptions", dict(numSplits=3)), order=(1, 0), outputs=3)
    case("SPLIT_V", x(2, 6), [[1, 5], 1], ("SplitVOptions", dict(numSplits=2)), outputs=2)
    case("FILL", const("float32", np.float32(3)), [[2, 3]], order=(1, 0))
    case("RESIZE_BILINEAR", x(1, 3, 3, 2), [[5, 4]], ("ResizeBilinearOptions", {}))
    case("RESIZE_NEAREST_NEIGHBOR", x(1, 3, 3, 2), [[5, 4]], ("ResizeNearestNeighborOptions", {}))
    case("SPACE_TO_BATCH_ND", x(1, 3, 4, 2), [[2, 2], [[1, 0], [0, 0]]])
    case("BATCH_TO_SPACE_ND", x(4, 2, 2, 2), [[2, 2], [[1, 0], [0, 1]]])
    case("SCATTER_ND", const("int32", [[0], [2]]), [([5, 6], "float32"), [4]], None, 1, "float32")
    case("RANGE", int_of(2), [9, 3])
    case("ONE_HOT", const("int32", [0, 2, 1]), [3, (1, "float32"), (0, "float32")],
         ("OneHotOptions", dict(axis=-1)), 1, "float32")
    v, k = x(2, 5), computed(2)
    outputs = [Tensor("float32"), Tensor("int32")]
    run("TOPK_V2 of a computed number", [v], outputs, k[1] + [Op("TOPK_V2", [v, k[0]], outputs)])


def shapes():
    """The new shape is [the first extent of x, the product of the others]."""
    x, y = Tensor("float32", (2, 3, 4)), Tensor("float32")
    shape, ops = through("SHAPE", [x], ("ShapeOptions", dict(outType=2)), "int32")
    first, more = through("SLICE", [shape, ints(0), ints(1)])
    rest, others = through("SLICE", [shape, ints(1), ints(2)])
    product, last = through("REDUCE_PROD", [rest, ints(0)], ("ReducerOptions", dict(keepDims=True)))
    both, joined = through("CONCATENATION", [first, product],
                           ("ConcatenationOptions", dict(axis=0)))
    run("RESHAPE to what follows from a shape", [x], [y],
        ops + more + others + last + joined + [Op("RESHAPE", [x, both], [y])])


def large():
    """A result that is much larger than what it is made from, and what follows from it."""
    x, y = Tensor("float32", (2, 3)), Tensor("int32")
    filled, ops = through("FILL", [ints(300, 300), int_of(1)], None, "int32")
    total, more = through("SUM", [filled, ints(0, 1)], ("ReducerOptions", {}))
    axis, last = through("FLOOR_DIV", [total, int_of(90000)])
    run("an axis that follows from a large constant", [x], [y], ops + more + last + [
        Op("ARG_MAX", [x, axis], [y], ("ArgMaxOptions", dict(outputType=2)))])


connected()
quantized()
hybrid()
windows()
parameters()
shapes()
large()
F.write()
