"""Products whose weights and biases are activations: inputs of the model, or results of layers. See
record.py."""

import zlib

import numpy as np

from record import TYPES, Family, Tensor, ints
from subgraphs import Op, write

F = Family("activations")
RNG = np.random.default_rng(39)
CONV = dict(padding=0, strideW=1, strideH=1)


def values(rng, tensor):
    """Small biases and weights of every size, so that outputs do not saturate."""
    if tensor.dtype == "float32":
        return (rng.random(tensor.shape) * 4 - 2).astype(np.float32)
    if tensor.dtype in ("int32", "int64"):
        return rng.integers(-3000, 3000, tensor.shape).astype(tensor.dtype)
    info = np.iinfo(tensor.dtype)
    return rng.integers(info.min, info.max, tensor.shape, dtype=tensor.dtype, endpoint=True)


def case(code, x, weights, bias, y, options, version=1, note="", fixed=(), runs=2, least=None):
    """fixed: which of x, weights and bias are constants. least: the least weight."""
    tensors = [x, weights, bias]
    kinds = ",".join("-" if t is None else f"{t.dtype}{list(t.shape)}" for t in tensors)
    name = f"{code} {kinds} {note}".strip()
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for i in fixed:
        tensors[i].data = values(rng, tensors[i])
    fed = [t for t in tensors if t is not None and t.data is None]
    feeds = [[np.maximum(values(rng, t), least) if t is weights and least is not None
              else values(rng, t) for t in fed] for _ in range(runs)]
    if x.dtype == "int16" and code != "DEPTHWISE_CONV_2D":
        options = (options[0], options[1] | dict(quantizedBiasType=TYPES[bias.dtype]))
    # The reference takes no convolution with an absent input.
    given = tensors if code == "FULLY_CONNECTED" else [t for t in tensors if t is not None]
    F.add(name, write((fed, [y], [Op(code, given, [y], options, version)])), feeds)


def kinds(x_shape, w_shape, axis, outputs):
    """Yields (x, weights, bias, y, version note) for every kind of numbers."""
    per = [float(s) for s in np.linspace(0.004, 0.009, outputs).astype(np.float32)]

    def biases(scales):
        return [float(np.float32(0.05) * np.float32(s)) for s in np.atleast_1d(scales)]

    def make(dtype, w_dtype, scale, zero, w_zero, b_dtype, out_scale, out_zero):
        return (Tensor(dtype, x_shape, scale=0.05, zero=zero),
                Tensor(w_dtype, w_shape, scale=scale, zero=w_zero, axis=axis),
                None if b_dtype is None else Tensor(b_dtype, (outputs,), scale=biases(scale)),
                Tensor(dtype, scale=out_scale, zero=out_zero))

    yield "int8", make("int8", "int8", 0.007, -3, 0, "int32", 0.2, 5)
    yield "int8 per channel", make("int8", "int8", per, 9, 0, "int32", 0.2, 5)
    yield "int8 without bias", make("int8", "int8", per, 9, 0, None, 0.2, 5)
    yield "uint8", make("uint8", "uint8", 0.007, 120, 131, "int32", 0.2, 99)
    yield "int16", make("int16", "int8", per, 0, 0, "int64", 9.0, 0)
    yield "int16, bias of 32 bits", make("int16", "int8", per, 0, 0, "int32", 9.0, 0)
    yield "float32", (Tensor("float32", x_shape), Tensor("float32", w_shape),
                      Tensor("float32", (outputs,)), Tensor("float32"))
    yield "float32 without bias", (Tensor("float32", x_shape), Tensor("float32", w_shape),
                                   None, Tensor("float32"))


def depthwise_kinds(*shapes):
    """Leaves out the bias that the reference does not have."""
    return [kind for kind in kinds(*shapes) if kind[0] != "int16, bias of 32 bits"]


def products(code, x_shape, w_shape, axis, outputs, options, version, note=""):
    these = depthwise_kinds if code == "DEPTHWISE_CONV_2D" else kinds
    for kind, tensors in these(x_shape, w_shape, axis, outputs):
        if code == "CONV_2D" and tensors[2] is None:
            continue  # the reference does not take this
        case(code, *tensors, options, version, (kind + " " + note).strip())


relu = dict(fusedActivationFunction=1)
connected = ("FullyConnectedOptions", {})
products("FULLY_CONNECTED", (3, 20), (7, 20), 0, 7, connected, 9)
products("FULLY_CONNECTED", (2, 3, 33), (40, 33), 0, 40,
         ("FullyConnectedOptions", dict(keepNumDims=True) | relu), 9, "kept")
products("CONV_2D", (2, 5, 6, 3), (5, 3, 3, 3), 0, 5, ("Conv2DOptions", CONV), 6)
products("CONV_2D", (1, 5, 6, 8), (20, 1, 1, 8), 0, 20, ("Conv2DOptions", CONV | relu), 6, "1x1")
products("CONV_2D", (1, 5, 6, 8), (6, 3, 3, 4), 0, 6,
         ("Conv2DOptions", dict(padding=1, strideW=2, strideH=1)), 6, "groups")
products("DEPTHWISE_CONV_2D", (2, 5, 6, 4), (1, 3, 3, 4), 3, 4,
         ("DepthwiseConv2DOptions", CONV | dict(depthMultiplier=1)), 6)
products("DEPTHWISE_CONV_2D", (1, 5, 6, 2), (1, 3, 3, 6), 3, 6,
         ("DepthwiseConv2DOptions", CONV | dict(depthMultiplier=3)), 6, "multiplier")
products("DEPTHWISE_CONV_2D", (1, 5, 6, 1), (1, 3, 3, 5), 3, 5,
         ("DepthwiseConv2DOptions", CONV | dict(depthMultiplier=5)), 6, "of one channel")


def parts():
    """Only the weights or only the bias are activations."""
    for kind, tensors in kinds((3, 20), (7, 20), 0, 7):
        if tensors[2] is not None:
            case("FULLY_CONNECTED", *tensors, connected, 9, kind + ", constant bias", fixed=[2])
    for kind, tensors in kinds((3, 20), (7, 20), 0, 7):
        if tensors[2] is not None:
            case("FULLY_CONNECTED", *tensors, connected, 9, kind + ", constant weights", fixed=[1])
    for kind, tensors in kinds((1, 5, 6, 3), (5, 3, 3, 3), 0, 5):
        if tensors[2] is not None:
            case("CONV_2D", *tensors, ("Conv2DOptions", CONV), 6, kind + ", constant weights",
                 fixed=[1])
    for kind, tensors in depthwise_kinds((2, 5, 6, 4), (1, 3, 3, 4), 3, 4):
        if tensors[2] is not None:
            case("DEPTHWISE_CONV_2D", *tensors,
                 ("DepthwiseConv2DOptions", CONV | dict(depthMultiplier=1)), 6,
                 kind + ", constant weights", fixed=[1])
    for kind, tensors in kinds((3, 20), (7, 20), 0, 7):
        if tensors[2] is not None:
            case("FULLY_CONNECTED", *tensors, connected, 9, kind + ", constant input", fixed=[0])


def results():
    """Weights that a layer makes."""
    a, x, y = Tensor("float32", (20, 7)), Tensor("float32", (3, 20)), Tensor("float32")
    turned = Tensor("float32")
    F.add("FULLY_CONNECTED by a transposed input",
          write(([x, a], [y], [Op("TRANSPOSE", [a, ints(1, 0)], [turned]),
                               Op("FULLY_CONNECTED", [x, turned, None], [y], connected)])),
          [[values(RNG, x), values(RNG, a)] for _ in range(2)])


def hybrid():
    """With float32, the reference takes no weights of -128, because its vectors change their sign. For
    asymmetric inputs it keeps the sums of the first run's weights, which are wrong in other runs.
    """
    for asymmetric in (False, True):
        options = ("FullyConnectedOptions", dict(asymmetricQuantizeInputs=asymmetric))
        for kind, tensors in kinds((3, 20), (7, 20), 0, 7):
            if kind.startswith("int8"):
                x, w, b, y = tensors
                w.zero = 0
                bias = Tensor("float32", (7,)) if b else None
                case("FULLY_CONNECTED", Tensor("float32", (3, 20)), w, bias, Tensor("float32"),
                     options, 9, kind + (" asymmetric" if asymmetric else ""),
                     runs=1 if asymmetric else 2, least=np.int8(-127))
    for shapes, code, options, axis in (
            (((2, 5, 6, 3), (5, 3, 3, 3), 5), "CONV_2D", ("Conv2DOptions", CONV), 0),
            (((2, 5, 6, 4), (1, 3, 3, 4), 4), "DEPTHWISE_CONV_2D",
             ("DepthwiseConv2DOptions", CONV | dict(depthMultiplier=1)), 3)):
        for kind, (x, w, b, y) in kinds(shapes[0], shapes[1], axis, shapes[2]):
            if kind.startswith("int8 per") or (kind == "int8" and axis == 0):
                bias = Tensor("float32", (shapes[2],)) if b else None
                case(code, Tensor("float32", shapes[0]), w, bias, Tensor("float32"), options, 6,
                     kind, least=np.int8(-127))


parts()
results()
hybrid()
F.write()
