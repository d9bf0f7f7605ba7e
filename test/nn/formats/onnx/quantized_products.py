"""Sums of products: convolutions and products of matrices, each with an oracle. See
record_quantized.py."""

import numpy as np
from onnx import TensorProto

from quantized_model import (CASES, F32, I32, I64, MICROSOFT, S8, U8, Model, random_elements,
                             record, short)


def requantized(sums, scale, zero, dtype):
    """round(f32(sum) * scale) + zero, half to even, clamped before. scale: float32."""
    info = np.iinfo(dtype)
    zero = int(zero)
    product = sums.astype(F32) * scale
    bounded = np.clip(product, F32.type(info.min - zero), F32.type(info.max - zero))
    return (np.rint(bounded).astype(I32) + zero).astype(dtype)


def float_scale(x, w, y):
    """As float32 computes x * w / y."""
    return (F32.type(x) * np.asarray(w, F32)) / F32.type(y)


def conv_sums(x, w, bias, stride, dilation, pads, group):
    """The int32 sums of a convolution of any rank. x: N, C, ...; w: M, C / group, ...; offsets."""
    rank = x.ndim - 2
    x = np.pad(x.astype(I64), [(0, 0), (0, 0)] + [(pads[i], pads[rank + i]) for i in range(rank)])
    w = w.astype(I64)
    kernel = w.shape[2:]
    extents = [(x.shape[2 + i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
               for i in range(rank)]
    sums = np.zeros((x.shape[0], w.shape[0], *extents), I64)
    per_group, channels = w.shape[0] // group, w.shape[1]
    for m in range(w.shape[0]):
        first = m // per_group * channels
        for tap in np.ndindex(*kernel):
            part = x[(slice(None), slice(first, first + channels)) + tuple(
                slice(t * d, t * d + (e - 1) * s + 1, s)
                for t, d, e, s in zip(tap, dilation, extents, stride))]
            sums[:, m] += np.einsum("nc...,c->n...", part, w[m][(slice(None), *tap)])
    if bias is not None:
        sums += bias.reshape(-1, *[1] * rank)
    assert np.abs(sums).max() < 2**31
    return sums.astype(I32)


CONVS = {  # shape of x, of w, and what else the node says
    "plain": ((1, 3, 5, 6), (4, 3, 3, 3), {}),
    "pads": ((1, 2, 5, 5), (3, 2, 3, 3), {"pads": [1, 0, 2, 1]}),
    "strides": ((2, 2, 7, 6), (3, 2, 3, 2), {"pads": [1, 1, 1, 1], "strides": [2, 3]}),
    "dilations": ((1, 2, 7, 7), (2, 2, 3, 3), {"pads": [2, 2, 2, 2], "dilations": [2, 2]}),
    "groups": ((1, 4, 5, 5), (6, 2, 3, 3), {"pads": [1, 1, 1, 1], "group": 2}),
    "depthwise": ((1, 8, 6, 5), (8, 1, 3, 3), {"pads": [1, 1, 1, 1], "group": 8}),
    "multiplier": ((1, 3, 5, 5), (6, 1, 3, 3), {"group": 3}),
    "pointwise": ((1, 16, 3, 4), (9, 16, 1, 1), {}),
    "line": ((1, 3, 9), (4, 3, 3), {"pads": [1, 1], "strides": [2]}),
}
LINES = {  # more of those, which only some families try
    "lines": ((2, 5, 8), (7, 5, 3), {"pads": [2, 0], "dilations": [2]}),
    "depthwise_lines": ((2, 6, 9), (6, 1, 3), {"pads": [1, 1], "group": 6}),
}


def conv_arguments(w, attributes):
    rank = w.ndim - 2
    return (attributes.get("strides", [1] * rank), attributes.get("dilations", [1] * rank),
            attributes.get("pads", [0] * (2 * rank)), attributes.get("group", 1))


class ConvData:
    """Elements, quantizations and sums of a convolution."""

    def __init__(self, rng, form, types, per_channel, ties, bias=True):
        x_shape, w_shape, self.attributes = {**CONVS, **LINES}[form]
        xt, wt = (np.dtype(t) for t in types)
        m = w_shape[0]
        self.xt, self.wt, self.yt = xt, wt, xt
        self.zx = {U8: 131, S8: -7}[xt]
        self.zy = {U8: 77, S8: 13}[xt]
        # Weights of int8 are symmetric, as tools make them, unless they are per tensor.
        self.zw = 0 if wt == S8 and per_channel else {U8: 125, S8: 5}[wt]
        # ONNX Runtime takes one zero point of the weights, or equal ones.
        self.zws = np.full(m, self.zw, wt) if per_channel else np.array(self.zw, wt)
        self.sx, self.sy = 0.0173, 1.31
        self.sw = rng.uniform(0.01, 0.02, m) if per_channel else 0.0149
        self.x = random_elements(rng, x_shape, xt)
        self.w = random_elements(rng, w_shape, wt)
        self.bias = rng.integers(-9000, 9000, m, dtype=I32) if bias else None
        if ties:
            self.make_ties(rng, m, per_channel)
        self.sums = conv_sums(self.x.astype(I32) - self.zx, self.w.astype(I32) - self.zw, self.bias,
                              *conv_arguments(self.w, self.attributes))
        scale = float_scale(self.sx, self.sw, self.sy)
        self.scale = scale.reshape(-1, *[1] * (self.x.ndim - 2))
        self.y = requantized(self.sums, self.scale, self.zy, self.yt)

    def make_ties(self, rng, m, per_channel):
        """All sums odd, and all scales 1/2; so small that few results are clamped."""
        self.sx, self.sw, self.sy = 0.5, np.full(m, 0.5) if per_channel else 0.5, 0.5
        self.w = (self.zw + 2 * rng.integers(-1, 2, self.w.shape)).astype(self.wt)
        self.x = (self.zx + rng.integers(-9, 10, self.x.shape)).astype(self.xt)
        self.bias = 2 * rng.integers(-20, 20, m, dtype=I32) + I32.type(1)


def conv_variants(forms):
    """Form, types, whether per channel, whether of ties. forms: those per tensor."""
    for types in ((U8, U8), (S8, S8), (U8, S8)):
        for form in forms:
            yield form, types, False, False
        for form in ("pads", "groups", "depthwise", "pointwise"):
            yield form, types, True, False
        for form in ("pads", "depthwise"):
            yield form, types, False, True
        yield "groups", types, True, True


def conv_name(operator, form, types, per_channel, ties):
    last = ["per_channel"] * per_channel + ["ties"] * ties
    return "/".join([operator, short(*types), form, *last])


def qlinear_conv():
    for form, types, per_channel, ties in conv_variants(CONVS):
        model = Model(conv_name("QLinearConv", form, types, per_channel, ties), opset=10)
        d = ConvData(model.rng, form, types, per_channel, ties, bias=ties or form != "plain")
        inputs = [model.input(d.x), *model.quantization(d.sx, d.zx, d.xt), model.constant(d.w),
                  *model.quantization(d.sw, d.zws, d.wt), *model.quantization(d.sy, d.zy, d.yt)]
        if d.bias is not None:
            inputs.append(model.constant(d.bias))
        record(model, model.node("QLinearConv", inputs, **d.attributes), oracle=d.y)


def conv_integer():
    for types in ((U8, U8), (U8, S8)):
        for form in CONVS:
            model = Model(conv_name("ConvInteger", form, types, False, False), opset=10)
            d = ConvData(model.rng, form, types, False, False, bias=False)
            inputs = [model.input(d.x), model.constant(d.w), model.constant(d.zx, d.xt),
                      model.constant(d.zws)]
            record(model, model.node("ConvInteger", inputs, **d.attributes), oracle=d.sums)


def qdq_conv():
    for form, types, per_channel, ties in conv_variants(("plain", "pads", "depthwise", "line")):
        model = Model(conv_name("QDQ/Conv", form, types, per_channel, ties), opset=13)
        d = ConvData(model.rng, form, types, per_channel, ties)
        y = model.node("Conv", qdq_operands(model, d, axis=0), **d.attributes)
        record(model, model.quantized(y, d.sy, d.zy, d.yt), oracle=d.y)
    for types in ((S8, S8), (U8, S8)):
        for form in ("pads", "depthwise"):
            model = Model(conv_name("QDQ/Conv+float_bias", form, types, True, False), opset=13)
            d = ConvData(model.rng, form, types, True, False)
            y = model.node("Conv", qdq_operands(model, d, 0, float_bias=True), **d.attributes)
            record(model, model.quantized(y, d.sy, d.zy, d.yt), oracle=d.y)
        model = Model(conv_name("QDQ/Conv+Relu", "pads", types, True, False), opset=13)
        d = ConvData(model.rng, "pads", types, True, False)
        y = model.node("Relu", [model.node("Conv", qdq_operands(model, d, axis=0), **d.attributes)])
        record(model, model.quantized(y, d.sy, d.zy, d.yt), oracle=np.maximum(d.y, d.zy))


def qdq_operands(model, d, axis, float_bias=False):
    """x, w and bias of a product in float32, made from integers. float_bias: the bias is a constant
    that is only near a multiple of its scale."""
    attributes = {"axis": axis} if np.ndim(d.sw) else {}
    bias_scale = F32.type(d.sx) * np.asarray(d.sw, F32)
    if float_bias:
        near = d.bias + model.rng.uniform(-0.4, 0.4, d.bias.shape)
        bias = model.constant(near * bias_scale, F32)
    else:
        bias = model.dequantized(model.constant(d.bias), bias_scale, np.zeros_like(bias_scale), I32,
                                 **({"axis": 0} if attributes else {}))
    return [model.dequantized(model.input(d.x), d.sx, d.zx, d.xt),
            model.dequantized(model.constant(d.w), d.sw, d.zws, d.wt, **attributes), bias]


class MatMulData:
    """Elements, quantizations and sums of a product of matrices."""

    def __init__(self, rng, types, shapes=((3, 5), (5, 4)), per_column=False, ties=False,
                 extremes=False, bias=False):
        xt, wt = (np.dtype(t) for t in types)
        self.xt, self.wt, self.yt = xt, wt, xt
        n = shapes[1][-1]
        self.zx, self.zy = {U8: (117, 91), S8: (-5, 7)}[xt]
        self.zw = 0 if wt == S8 and per_column else {U8: 129, S8: 3}[wt]
        self.zws = np.full(n, self.zw, wt) if per_column else np.array(self.zw, wt)
        self.sx, self.sy = 0.0211, 2.3
        self.sw = rng.uniform(0.01, 0.03, n) if per_column else 0.0178
        self.bias = rng.integers(-9000, 9000, n, dtype=I32) if bias else None
        self.x = random_elements(rng, shapes[0], xt)
        self.w = random_elements(rng, shapes[1], wt)
        if ties:  # see ConvData.make_ties; the first row of w makes the sums odd
            self.sx, self.sy = 0.5, 0.5
            self.sw = np.full(n, 0.5) if per_column else 0.5
            self.w = (self.zw + 2 * rng.integers(-1, 2, shapes[1])).astype(wt)
            self.w[..., 0, :] += wt.type(1)
            self.x = (self.zx + 2 * rng.integers(-9, 10, shapes[0]) + 1).astype(xt)
            if bias:
                self.bias = 2 * rng.integers(-20, 20, n, dtype=I32)
        if extremes:
            self.zx = self.zw = 0
            self.zws = np.zeros_like(self.zws)
            self.sy = 2000.0
            self.x[:] = np.where(rng.random(shapes[0]) < 0.99, np.iinfo(xt).max, self.x)
            self.w[:] = np.where(np.arange(n) % 2, np.iinfo(wt).max, np.iinfo(wt).min)
        self.sums = ((self.x.astype(I64) - self.zx) @ (self.w.astype(I64) - self.zw)).astype(I32)
        if bias:
            self.sums += self.bias
        self.y = requantized(self.sums, float_scale(self.sx, self.sw, self.sy), self.zy, self.yt)


MATMULS = {
    "plain": {},
    "batch": {"shapes": ((2, 3, 5), (2, 5, 4))},
    "broadcast": {"shapes": ((2, 3, 5), (5, 4))},
    "row": {"shapes": ((1, 37), (37, 19))},
    "per_column": {"per_column": True, "shapes": ((3, 9), (9, 6))},
    "ties": {"ties": True, "shapes": ((4, 7), (7, 8))},
    "ties_per_column": {"ties": True, "per_column": True, "shapes": ((4, 7), (7, 8))},
    "extremes": {"extremes": True, "shapes": ((1, 600), (600, 2))},  # uint8: sums beyond 2^24
}


FLOAT_FORMS = ("plain", "broadcast", "/per_column", "extremes")  # also with float32 outputs


def matmul_variants():
    for types in ((U8, U8), (S8, S8), (U8, S8)):
        for form, arguments in MATMULS.items():
            yield f"{short(*types)}/{form}", types, arguments


def qlinear_matmul():
    for name, types, arguments in matmul_variants():
        model = Model("QLinearMatMul/" + name, opset=10)
        d = MatMulData(model.rng, types, **arguments)
        inputs = [model.input(d.x), *model.quantization(d.sx, d.zx, d.xt), model.constant(d.w),
                  *model.quantization(d.sw, d.zws, d.wt), *model.quantization(d.sy, d.zy, d.yt)]
        record(model, model.node("QLinearMatMul", inputs), oracle=d.y)
    for types in ((U8, U8), (S8, S8)):
        model = Model(f"QLinearMatMul/{short(*types)}/both_inputs", opset=10)
        d = MatMulData(model.rng, types)
        inputs = [model.input(d.x), *model.quantization(d.sx, d.zx, d.xt), model.input(d.w),
                  *model.quantization(d.sw, d.zws, d.wt), *model.quantization(d.sy, d.zy, d.yt)]
        record(model, model.node("QLinearMatMul", inputs), oracle=d.y)


def matmul_integer():
    for name, types, arguments in matmul_variants():
        model = Model("MatMulInteger/" + name, opset=10)
        d = MatMulData(model.rng, types, **arguments)
        inputs = [model.input(d.x), model.constant(d.w), model.constant(d.zx, d.xt),
                  model.constant(d.zws)]
        record(model, model.node("MatMulInteger", inputs), oracle=d.sums)
        if not name.endswith(FLOAT_FORMS):
            continue
        model = Model("MatMulIntegerToFloat/" + name)
        inputs = [model.input(d.x), model.constant(d.w), model.constant(d.sx, F32),
                  model.constant(d.sw, F32), model.constant(d.zx, d.xt), model.constant(d.zws)]
        y = d.sums.astype(F32) * float_scale(d.sx, d.sw, 1)
        record(model, model.node("MatMulIntegerToFloat", inputs, MICROSOFT), oracle=y)


def dynamic_matmul():
    """x is quantized as it comes. First the operator of ONNX Runtime, then the chain that is."""
    for wt in (U8, S8):
        for form in ("plain", "broadcast", "row", "per_column"):
            name = f"{short(wt)}/{form}"
            model = Model("DynamicQuantizeMatMul/" + name)
            d = MatMulData(model.rng, (U8, wt), bias=True, **MATMULS[form])
            x = model.rng.uniform(-3, 5, d.x.shape).astype(F32)
            bias = model.rng.uniform(-1, 1, d.w.shape[-1:]).astype(F32)
            inputs = [model.input(x), model.constant(d.w), model.constant(d.sw, F32),
                      model.constant(d.zws), model.constant(bias)]
            record(model, model.node("DynamicQuantizeMatMul", inputs, MICROSOFT))
            chain = Model("DynamicQuantizeLinear+MatMulInteger/" + name)
            q, scale, zero = chain.node("DynamicQuantizeLinear", [chain.input(x)], outputs=3)
            w, zw = chain.constant(d.w), chain.constant(d.zws)
            sums = chain.node("MatMulInteger", [q, w, zero, zw])
            both = chain.node("Mul", [scale, chain.constant(d.sw, F32)])
            y = chain.node("Mul", [chain.node("Cast", [sums], to=TensorProto.FLOAT), both])
            record(chain, chain.node("Add", [y, chain.constant(bias)]))
            np.testing.assert_array_equal(CASES[-1][4][0][1][0], CASES[-2][4][0][1][0])


GEMMS = {
    "plain": ({}, {}),
    "bias": ({"bias": True}, {}),
    "transposed": ({"bias": True, "shapes": ((3, 9), (9, 6))}, {"transB": 1}),
    "both_transposed": ({"bias": True}, {"transA": 1, "transB": 1}),
    "per_column": ({"bias": True, "per_column": True}, {"transB": 1}),
    "ties": ({"bias": True, "ties": True, "shapes": ((4, 7), (7, 8))}, {"transB": 1}),
}


def gemm_variants():
    for types in ((U8, U8), (S8, S8), (U8, S8)):
        for form, (arguments, attributes) in GEMMS.items():
            yield f"{short(*types)}/{form}", types, arguments, attributes


def transpose_operands(d, attributes):
    if attributes.get("transA"):
        d.x = np.ascontiguousarray(d.x.T)
    if attributes.get("transB"):
        d.w = np.ascontiguousarray(d.w.T)


def qgemm():
    for name, types, arguments, attributes in gemm_variants():
        for output in ("", "/float") if name.endswith(FLOAT_FORMS + ("/bias",)) else ("",):
            model = Model("QGemm/" + name + output)
            d = MatMulData(model.rng, types, **arguments)
            transpose_operands(d, attributes)
            inputs = [model.input(d.x), *model.quantization(d.sx, d.zx, d.xt), model.constant(d.w),
                      *model.quantization(d.sw, d.zws, d.wt),
                      "" if d.bias is None else model.constant(d.bias)]
            oracle = d.sums.astype(F32) * float_scale(d.sx, d.sw, 1)
            if not output:
                inputs += model.quantization(d.sy, d.zy, d.yt)
                oracle = d.y
            y = model.node("QGemm", inputs, MICROSOFT, alpha=1.0, **attributes)
            record(model, y, oracle=oracle)


def qdq_gemm_and_matmul():
    for name, types, arguments, attributes in gemm_variants():
        if not arguments or attributes.get("transA"):
            continue
        model = Model("QDQ/Gemm/" + name, opset=13)
        d = MatMulData(model.rng, types, **arguments)
        transpose_operands(d, attributes)
        operands = qdq_operands(model, d, axis=0 if attributes.get("transB") else 1)
        y = model.node("Gemm", operands, **attributes)
        record(model, model.quantized(y, d.sy, d.zy, d.yt), oracle=d.y)
    for name, types, arguments in matmul_variants():
        for output in ("", "/float") if name.endswith(FLOAT_FORMS) else ("",):
            model = Model("QDQ/MatMul/" + name + output, opset=21)
            d = MatMulData(model.rng, types, **arguments)
            x = model.dequantized(model.input(d.x), d.sx, d.zx, d.xt)
            axis = {"axis": d.w.ndim - 1} if np.ndim(d.sw) else {}
            w = model.dequantized(model.constant(d.w), d.sw, d.zws, d.wt, **axis)
            y = model.node("MatMul", [x, w])
            if output:
                record(model, y, oracle=d.sums.astype(F32) * float_scale(d.sx, d.sw, 1))
            else:
                record(model, model.quantized(y, d.sy, d.zy, d.yt), oracle=d.y)
    for types in ((U8, U8), (S8, S8)):
        model = Model(f"QDQ/MatMul/{short(*types)}/both_inputs", opset=21)
        d = MatMulData(model.rng, types)
        y = model.node("MatMul", [model.dequantized(model.input(d.x), d.sx, d.zx, d.xt),
                                  model.dequantized(model.input(d.w), d.sw, d.zws, d.wt)])
        record(model, model.quantized(y, d.sy, d.zy, d.yt), oracle=d.y)
