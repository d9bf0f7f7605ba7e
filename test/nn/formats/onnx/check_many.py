"""Compares a million outputs of each operator on integers with ONNX Runtime and NumPy.

    venv/bin/python check_many.py --intaglio build/release/tools/intaglio [--operators QGemm,QDQ]

The environment is that of record_quantized.py, which also says how ONNX Runtime is made exact. Models
have one operator, or many of one kind with quantizations of their own on the same input. Scales and
zero points are random. A second row of each operator that rounds is of ties: all sums of products lie
half way between two results; pairs and tables get scales that are powers of 2, which make many ties.
Each model is random by its name. --operators takes beginnings of names. The status is 1 if anything
differs; the first difference of each output is shown.

NumPy's results follow docs/numerics.md. It computes functions such as Tanh in float64 and rounds them to
float32. ONNX Runtime's are approximations, which differ from that in a few bytes of a million.
"""

import argparse
import math
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from onnx import TensorProto

from quantized_model import (F32, I32, MICROSOFT, S8, SHORT, U8, Model, random_elements, run,
                             set_types, short, with_uint8_weights)
from quantized_products import conv_arguments, conv_sums, float_scale, qdq_operands, requantized

OUTPUTS = 1 << 20  # of each operator that sums products, of random ones as of ties
SETTINGS = 64  # quantizations of pairs; half as many of ties
TABLES = 4096  # quantizations of functions of one byte
TABLES_AT_ONCE = 512  # in a model
KINDS = ("random", "powers of 2")  # scales of pairs and tables: by the latter some results are ties
TYPES = ((U8, U8), (S8, S8), (U8, S8))


class Checker:
    def __init__(self, intaglio, operators):
        self.intaglio, self.operators = intaglio, operators
        # By operator, types and kind: models, outputs, those that differ from ONNX Runtime, from NumPy.
        self.rows = defaultdict(lambda: np.zeros(4, np.int64))

    def wants(self, operator):
        return any(operator.startswith(prefix) for prefix in self.operators)

    def computed(self, proto, feed, options):
        """What Intaglio makes of a model."""
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "model.onnx").write_bytes(proto.SerializeToString())
            command = [self.intaglio, "run", folder / "model.onnx", "--output", folder / "y", *options]
            for name, array in feed.items():
                np.save(folder / f"{name}.npy", array)
                command += ["--input", f"{name}={folder / name}.npy"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr)
            files = sorted((folder / "y").iterdir(), key=lambda path: int(path.name.split("_")[0]))
            return [np.load(file) for file in files]

    def check(self, row, model, outputs, oracles, fused=True, options=()):
        """row: operator, types, kind. Returns how many outputs were compared."""
        proto = model.proto(*outputs)
        if fused:
            theirs = run(with_uint8_weights(proto, model.feed), model.feed, qdqisint8allowed="1")
        else:
            theirs = run(proto, model.feed, disable_quant_qdq="1")
        set_types(proto, theirs)
        ours = self.computed(proto, model.feed, options)
        counts = self.rows[row]
        counts[0] += 1
        total = 0
        for i, (y, ort, oracle) in enumerate(zip(ours, theirs, oracles, strict=True)):
            assert y.dtype == ort.dtype == oracle.dtype and y.shape == ort.shape == oracle.shape
            total += y.size
            for column, other in ((2, ort), (3, oracle)):
                different = np.argwhere(y != other)
                counts[column] += len(different)
                if len(different):
                    at = tuple(different[0])
                    print(f"{model.name} output {i} {[int(k) for k in at]}: Intaglio {y[at]}, "
                          f"ONNX Runtime {ort[at]}, NumPy {oracle[at]}", flush=True)
        counts[1] += total
        return total

    def show(self):
        print("| operator | types | kind | models | outputs | not ONNX Runtime's | not NumPy's |")
        print("|---|---|---|---|---|---|---|")
        for row, counts in self.rows.items():
            print("|", " | ".join([*row, *(f"{n:,}" for n in counts)]), "|")
        return int(sum(counts[2] + counts[3] for counts in self.rows.values()))


class Product:
    """Random elements and quantizations of a sum of products. sums(x, w, bias) takes offsets."""

    def __init__(self, rng, types, x_shape, w_shape, axis, depth, ties, sums, with_bias=True):
        self.xt, self.wt = types
        self.yt = self.xt
        self.attributes = {}
        channels = w_shape[axis]
        per_channel = rng.random() < 0.5
        # Weights of int8 are symmetric, as tools make them, unless they are per tensor.
        symmetric = self.wt == S8 and per_channel
        self.zx, self.zw, self.zy = (random_elements(rng, (), t) for t in (self.xt, self.wt, self.yt))
        if symmetric:
            self.zw = self.wt.type(0)
        self.x, self.w = (random_elements(rng, s, t) for s, t in ((x_shape, self.xt),
                                                                   (w_shape, self.wt)))
        self.sx, self.sw = np.exp(rng.uniform(-9, 0, 2))
        if per_channel:
            self.sw = self.sw * rng.uniform(0.5, 2, channels)
        spread = max(1, rng.integers(1, 2000) * math.sqrt(depth))
        self.bias = rng.integers(-spread, spread, channels, dtype=I32, endpoint=True)
        if ties:
            self.make_ties(rng, channels, per_channel, symmetric)
        if not with_bias:
            self.bias = None
        self.zws = np.full(channels, self.zw, self.wt) if per_channel else np.array(self.zw)
        self.sums = sums(self.x.astype(I32) - int(self.zx), self.w.astype(I32) - int(self.zw),
                         self.bias)
        if not ties:  # so that most results are not clamped
            size = self.sums.astype(np.float64).std() + 1
            self.sy = self.sx * np.mean(self.sw) * size / rng.uniform(20, 90)
        beside = [1] * (self.sums.ndim - 2) if axis == 0 else []
        self.float_scale = self.along_channels(float_scale(self.sx, self.sw, 1), beside)
        self.scale = self.along_channels(float_scale(self.sx, self.sw, self.sy), beside)
        self.y = requantized(self.sums, self.scale, self.zy, self.yt)
        if ties:
            halves = np.abs(self.sums * np.float64(self.scale) % 1)
            assert (halves == 0.5).all()

    def along_channels(self, scale, beside):
        return scale.reshape(-1, *beside) if np.ndim(scale) else scale

    def make_ties(self, rng, channels, per_channel, symmetric):
        """All sums are 2^(k-1) more than a multiple of 2^k, and all scales 2^-k. The sums are small,
        so that few results are clamped."""
        k = int(rng.integers(1, 4))
        self.sx, self.sw = 2.0 ** rng.integers(-6, 2, 2)
        self.sy = self.sx * self.sw * 2**k
        if per_channel:
            self.sw = np.full(channels, self.sw)
        low, high = np.iinfo(self.xt).min, np.iinfo(self.xt).max
        self.zx = self.xt.type(rng.integers(low + 9, high - 9, endpoint=True))
        self.x = (int(self.zx) + rng.integers(-9, 10, self.x.shape)).astype(self.xt)
        low, high = np.iinfo(self.wt).min, np.iinfo(self.wt).max
        self.zw = self.wt.type(0 if symmetric else rng.integers(low + 8, high - 8, endpoint=True))
        self.w = (int(self.zw) + 2**k * rng.integers(-1, 2, self.w.shape)).astype(self.wt)
        self.bias = (2**k * rng.integers(-20, 20, channels) + 2**(k - 1)).astype(I32)

    def quantized_inputs(self, model, bias=()):
        return [model.input(self.x), *model.quantization(self.sx, self.zx, self.xt),
                model.constant(self.w), *model.quantization(self.sw, self.zws, self.wt), *bias,
                *model.quantization(self.sy, self.zy, self.yt)]

    def integers(self, model, zeros):
        return [model.input(self.x), model.constant(self.w), model.constant(self.zx),
                model.constant(zeros)]


def conv_data(rng, types, ties, with_bias):
    kernel = tuple(int(k) for k in rng.integers(1, 4, 2))
    group, channels = ((1, int(rng.integers(1, 40))), (int(rng.integers(2, 5)), 3),
                       (int(rng.integers(8, 40)), 1))[rng.integers(3)]
    outputs = group * int(rng.integers(1, 3 if channels == 1 else 17))
    attributes = {"strides": [int(s) for s in rng.integers(1, 3, 2)],
                  "dilations": [int(d) for d in rng.integers(1, 3, 2)],
                  "pads": [int(p) for p in rng.integers(0, 3, 4)], "group": group}
    side = int(math.sqrt((OUTPUTS / 8) / outputs * math.prod(attributes["strides"]))) + 4
    d = Product(rng, types, (1, group * channels, side, side + 3), (outputs, channels, *kernel), 0,
                channels * math.prod(kernel), ties, with_bias=with_bias, sums=lambda x, w, bias:
                conv_sums(x, w, bias, *conv_arguments(w, attributes)))
    d.attributes = attributes
    return d


def matrix_data(rng, types, ties, with_bias):
    depth, columns = int(rng.integers(1, 400)), int(rng.integers(1, 400))
    rows = OUTPUTS // 8 // columns + 1
    if ties:
        depth = min(depth, 100)  # few results are clamped

    def sums(x, w, bias):
        products = (x.astype(np.float64) @ w.astype(np.float64)).astype(I32)  # exact below 2^53
        return products if bias is None else products + bias
    return Product(rng, types, (rows, depth), (depth, columns), 1, depth, ties, sums, with_bias)


def matrix_data_without_bias(rng, types, ties, with_bias):
    """Ties without a bias: all offsets of x are odd, and those of w in its first row alone."""
    d = matrix_data(rng, types, False, with_bias)
    if not ties:
        return d
    d.sx = d.sy = 0.5
    d.sw = np.full(d.w.shape[1], 0.5) if np.ndim(d.sw) else 0.5
    d.x, d.w = d.x[:, :60], d.w[:60]
    d.zx = d.xt.type(np.clip(int(d.zx), np.iinfo(d.xt).min + 19, np.iinfo(d.xt).max - 19))
    d.zw = d.wt.type(np.clip(int(d.zw), np.iinfo(d.wt).min + 3, np.iinfo(d.wt).max - 3))
    d.zws = np.full_like(d.zws, d.zw)
    offsets = 2 * rng.integers(-9, 10, d.x.shape) + 1
    weights = 2 * rng.integers(-1, 2, d.w.shape)
    weights[0] += 1
    d.x, d.w = (int(d.zx) + offsets).astype(d.xt), (int(d.zw) + weights).astype(d.wt)
    d.sums = (offsets.astype(np.float64) @ weights).astype(I32)
    assert (d.sums % 2 == 1).all()
    d.float_scale, d.scale = (float_scale(d.sx, d.sw, y) for y in (1, d.sy))
    d.y = requantized(d.sums, d.scale, d.zy, d.yt)
    return d


def qlinear_conv(model, d):
    inputs = d.quantized_inputs(model) + ([] if d.bias is None else [model.constant(d.bias)])
    return model.node("QLinearConv", inputs, **d.attributes), d.y


def conv_integer(model, d):
    return model.node("ConvInteger", d.integers(model, np.array(d.zw)), **d.attributes), d.sums


def conv_integer_float(model, d):
    sums = model.node("Cast", [conv_integer(model, d)[0]], to=TensorProto.FLOAT)
    return (model.node("Mul", [sums, model.constant(d.float_scale)]),
            d.sums.astype(F32) * d.float_scale)


def qdq_product(operator, axis):
    def build(model, d):
        d.bias = np.zeros(d.w.shape[axis], I32) if d.bias is None else d.bias
        y = model.node(operator, qdq_operands(model, d, axis), **d.attributes)
        return model.quantized(y, d.sy, d.zy, d.yt), d.y
    return build


def qlinear_matmul(model, d):
    return model.node("QLinearMatMul", d.quantized_inputs(model)), d.y


def qgemm(model, d):
    bias = "" if d.bias is None else model.constant(d.bias)
    return model.node("QGemm", d.quantized_inputs(model, [bias]), MICROSOFT, alpha=1.0), d.y


def qgemm_float(model, d):
    bias = "" if d.bias is None else model.constant(d.bias)
    inputs = d.quantized_inputs(model, [bias])[:-2]
    return (model.node("QGemm", inputs, MICROSOFT, alpha=1.0), d.sums.astype(F32) * d.float_scale)


def matmul_integer(model, d):
    return model.node("MatMulInteger", d.integers(model, d.zws)), d.sums


def matmul_integer_float(model, d):
    x, w, zx, zw = d.integers(model, d.zws)
    inputs = [x, w, model.constant(d.sx, F32), model.constant(d.sw, F32), zx, zw]
    return (model.node("MatMulIntegerToFloat", inputs, MICROSOFT),
            d.sums.astype(F32) * d.float_scale)


def qdq_matmul(model, d):
    axis = {"axis": 1} if np.ndim(d.sw) else {}
    y = model.node("MatMul", [model.dequantized(model.input(d.x), d.sx, d.zx, d.xt),
                              model.dequantized(model.constant(d.w), d.sw, d.zws, d.wt, **axis)])
    return model.quantized(y, d.sy, d.zy, d.yt), d.y


# Operator, its model, its data, whether with a bias, opset, options; ties where it rounds.
FUSED = ("--ort-fused",)
PRODUCTS = (
    ("QLinearConv", qlinear_conv, conv_data, True, 10, (), True),
    ("ConvInteger", conv_integer, conv_data, False, 10, (), False),
    ("ConvInteger, Cast, Mul", conv_integer_float, conv_data, False, 13, (), False),
    ("QLinearMatMul", qlinear_matmul, matrix_data_without_bias, False, 10, (), True),
    ("QGemm", qgemm, matrix_data, True, 19, (), True),
    ("QGemm to float32", qgemm_float, matrix_data, True, 19, (), False),
    ("MatMulInteger", matmul_integer, matrix_data, False, 10, (), False),
    ("MatMulIntegerToFloat", matmul_integer_float, matrix_data, False, 19, (), False),
    ("QDQ Conv", qdq_product("Conv", 0), conv_data, True, 13, (), True),
    ("QDQ Conv, ort-fused", qdq_product("Conv", 0), conv_data, True, 13, FUSED, True),
    ("QDQ Gemm", qdq_product("Gemm", 1), matrix_data, True, 13, (), True),
    ("QDQ Gemm, ort-fused", qdq_product("Gemm", 1), matrix_data, True, 13, FUSED, True),
    ("QDQ MatMul", qdq_matmul, matrix_data_without_bias, False, 21, (), True),
    ("QDQ MatMul, ort-fused", qdq_matmul, matrix_data_without_bias, False, 21, FUSED, True),
)


def check_products(checker):
    for operator, build, data, with_bias, opset, options, rounds in PRODUCTS:
        for types in TYPES if checker.wants(operator) else ():
            if operator.startswith("ConvInteger") and types[0] == S8:
                continue  # ONNX Runtime has none
            for ties in (False, True) if rounds else (False,):
                kind = ("random", "ties")[ties]
                done, number = 0, 0
                while done < OUTPUTS:
                    model = Model(f"{operator}/{short(*types)}/{kind}/{number}", opset)
                    y, oracle = build(model, data(model.rng, types, ties, with_bias))
                    done += checker.check((operator, " x ".join(SHORT[t] for t in types), kind),
                                          model, [y], [oracle], options=options)
                    number += 1


def fused_add(a, b, c):
    """f32(a * b + c), exact before it is rounded: float64 holds it for the numbers of pairs here."""
    return (np.float64(a) * np.float64(b) + np.float64(c)).astype(F32)


def qlinear_add_oracle(a, sa, za, b, sb, zb, sc, zc, dtype):
    r, s = F32.type(sa) / F32.type(sc), F32.type(sb) / F32.type(sc)
    offset = F32.type(zc) - fused_add(r, za, fused_add(s, zb, 0))
    info = np.iinfo(dtype)
    return np.clip(np.rint(fused_add(a, r, fused_add(b, s, offset))), info.min, info.max).astype(dtype)


def qlinear_mul_oracle(a, sa, za, b, sb, zb, sc, zc, dtype):
    product = ((a.astype(I32) - za) * (b.astype(I32) - zb)).astype(F32)
    info = np.iinfo(dtype)
    result = np.rint(product * (F32.type(sa) * F32.type(sb) / F32.type(sc)) + F32.type(zc))
    return np.clip(result, info.min, info.max).astype(dtype)


def dequantized(x, scale, zero):
    return (x.astype(I32) - zero).astype(F32) * F32.type(scale)


def quantized(x, scale, zero, dtype):
    info = np.iinfo(dtype)
    bounded = np.clip(x.astype(F32) / F32.type(scale), info.min - zero, info.max - zero)
    return (np.rint(bounded).astype(I32) + zero).astype(dtype)


def unfused_oracle(function):
    def oracle(a, sa, za, b, sb, zb, sc, zc, dtype):
        return quantized(function(dequantized(a, sa, za), dequantized(b, sb, zb)), sc, zc, dtype)
    return oracle


def pair_settings(rng, dtype, ties, product):
    """Scales and zero points of two operands and the result."""
    low = np.iinfo(dtype).min
    zeros = [int(z) for z in rng.integers(0, 256, 3) + low]
    if ties:
        sa, sb = 2.0 ** rng.integers(-6, 1, 2)
        if not product:
            sb = sa * 2.0 ** rng.integers(-2, 3)
        return (sa, zeros[0], sb, zeros[1],
                (sa * sb if product else min(sa, sb)) * 2.0 ** rng.integers(1, 8 if product else 4),
                zeros[2])
    sa = math.exp(rng.uniform(-8, 1))
    sb = math.exp(rng.uniform(-8, 1)) if product else sa * math.exp(rng.uniform(-3, 3))
    size = 127 * sa * sb if product else max(sa, sb)
    return sa, zeros[0], sb, zeros[1], size * math.exp(rng.uniform(-1.5, 1.5)), zeros[2]


def qlinear_pair(operator):
    def build(model, a, sa, za, b, sb, zb, sc, zc, dtype):
        return model.node(operator, [a, *model.quantization(sa, za, dtype),
                                     b, *model.quantization(sb, zb, dtype),
                                     *model.quantization(sc, zc, dtype)], MICROSOFT)
    return build


def qdq_pair(operator):
    def build(model, a, sa, za, b, sb, zb, sc, zc, dtype):
        inputs = [model.dequantized(a, sa, za, dtype), model.dequantized(b, sb, zb, dtype)]
        return model.quantized(model.node(operator, inputs), sc, zc, dtype)
    return build


# Operator, its node, its oracle, whether ONNX Runtime fuses it, options, whether it multiplies.
PAIRS = (
    ("QLinearAdd", qlinear_pair("QLinearAdd"), qlinear_add_oracle, True, (), False),
    ("QLinearMul", qlinear_pair("QLinearMul"), qlinear_mul_oracle, True, (), True),
    ("QDQ Add", qdq_pair("Add"), unfused_oracle(np.add), False, (), False),
    ("QDQ Sub", qdq_pair("Sub"), unfused_oracle(np.subtract), False, (), False),
    ("QDQ Mul", qdq_pair("Mul"), unfused_oracle(np.multiply), False, (), True),
    ("QDQ Add, ort-fused", qdq_pair("Add"), qlinear_add_oracle, True, FUSED, False),
    ("QDQ Mul, ort-fused", qdq_pair("Mul"), qlinear_mul_oracle, True, FUSED, True),
)


def all_pairs(dtype):
    """All pairs of bytes, and a few again, so that no vector ends with them."""
    low = np.iinfo(dtype).min
    index = np.arange(65536 + 13) % 65536
    return (index // 256 + low).astype(dtype), (index % 256 + low).astype(dtype)


def check_pairs(checker):
    for operator, build, oracle, fused, options, product in PAIRS:
        for dtype in (U8, S8) if checker.wants(operator) else ():
            a, b = all_pairs(dtype)
            for ties, settings in ((False, SETTINGS), (True, SETTINGS // 2)):
                kind = KINDS[ties]
                model = Model(f"{operator}/{short(dtype)}/{kind}")
                x, y = model.input(a), model.input(b)
                outputs, oracles = [], []
                for _ in range(settings):
                    sa, za, sb, zb, sc, zc = pair_settings(model.rng, dtype, ties, product)
                    outputs.append(build(model, x, sa, za, y, sb, zb, sc, zc, dtype))
                    oracles.append(oracle(a, sa, za, b, sb, zb, sc, zc, dtype))
                checker.check((operator, SHORT[dtype], kind), model, outputs, oracles, fused, options)


def real(function):
    """A function in float64, rounded once; infinite where float32 is."""
    def rounded(x):
        with np.errstate(over="ignore"):
            return np.asarray(function(x.astype(np.float64))).astype(F32)
    return rounded


erf = np.vectorize(math.erf, otypes=[np.float64])
sigmoid = real(lambda x: 1 / (1 + np.exp(-x)))


def leaky_relu(x):
    return np.where(x >= 0, x, F32.type(0.23) * x)


def hard_sigmoid(x):
    return np.clip(F32.type(1 / 6) * x + F32.type(0.5), F32.type(0), F32.type(1))


# Function, its attributes, NumPy's form in float32. Those of com.microsoft have quantizations inside.
FUNCTIONS = {
    "QLinearSigmoid": ({}, sigmoid),
    "QLinearLeakyRelu": ({"alpha": 0.23}, leaky_relu),
    "Relu": ({}, lambda x: np.maximum(x, F32.type(0))),
    "LeakyRelu": ({"alpha": 0.23}, leaky_relu),
    "HardSigmoid": ({"alpha": 1 / 6, "beta": 0.5}, hard_sigmoid),
    "HardSwish": ({}, lambda x: x * hard_sigmoid(x)),
    "Abs": ({}, np.abs),
    "Neg": ({}, np.negative),
    "Sqrt": ({}, lambda x: np.sqrt(np.maximum(x, F32.type(0)))),
    "Sigmoid": ({}, sigmoid),
    "Tanh": ({}, real(np.tanh)),
    "Elu": ({"alpha": 1.0}, real(lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))))),
    "Gelu": ({}, real(lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))))),
    "Exp": ({}, real(np.exp)),
    "Erf": ({}, real(erf)),
}


def table_setting(rng, function, dtype, x, ties):
    low = np.iinfo(dtype).min
    zx, zy = (int(z) + low for z in rng.integers(0, 256, 2))
    if function == "Sqrt":
        zx = low  # no root of negative numbers
    if ties:
        sx = 2.0 ** rng.integers(-6, 1)
        return sx, zx, sx * 2.0 ** rng.integers(1, 4), zy
    sx = math.exp(rng.uniform(-6, -2))
    values = FUNCTIONS[function][1](dequantized(x, sx, zx))
    return sx, zx, (float(np.ptp(values)) or sx) / rng.uniform(100, 400), zy


def check_tables(checker):
    for function, (attributes, oracle) in FUNCTIONS.items():
        inside = function.startswith("QLinear")
        operator = function if inside else f"QDQ {function}"
        for dtype in (U8, S8) if checker.wants(operator) else ():
            x = (np.arange(256) + np.iinfo(dtype).min).astype(dtype)
            for number in range(TABLES // TABLES_AT_ONCE):
                ties = number % 4 == 3
                kind = KINDS[ties]
                model = Model(f"{operator}/{short(dtype)}/{kind}/{number}", 20)
                value = model.input(x)
                outputs, oracles = [], []
                for _ in range(TABLES_AT_ONCE):
                    sx, zx, sy, zy = table_setting(model.rng, function, dtype, x, ties)
                    if inside:
                        inputs = [value, *model.quantization(sx, zx, dtype),
                                  *model.quantization(sy, zy, dtype)]
                        y = model.node(function, inputs, MICROSOFT, **attributes)
                    else:
                        y = model.quantized(model.node(function, [model.dequantized(
                            value, sx, zx, dtype)], **attributes), sy, zy, dtype)
                    outputs.append(y)
                    oracles.append(quantized(oracle(dequantized(x, sx, zx)), sy, zy, dtype))
                checker.check((operator, SHORT[dtype], kind), model, outputs, oracles, fused=inside)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--intaglio", required=True, help="the command of a build")
    parser.add_argument("--operators", default="", help="beginnings of names, separated by commas")
    arguments = parser.parse_args()
    checker = Checker(arguments.intaglio, arguments.operators.split(","))
    for part in (check_products, check_pairs, check_tables):
        part(checker)
    sys.exit(1 if checker.show() else 0)


if __name__ == "__main__":
    main()
