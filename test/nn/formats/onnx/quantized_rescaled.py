"""Integer operators whose scaling and rounding are nodes of their own, as compilers write them out
(Jain et al., 2020, section III): products, requantizations, sums, concatenations, padding. See
record_quantized.py."""

import numpy as np

from quantized_model import F32, I32, I64, S8, U8, Model, random_elements, record, short
from quantized_products import ConvData, requantized

F = F32.type


def clipped(model, value, low, high, dtype):
    return model.node("Clip", [value, model.constant(low, dtype), model.constant(high, dtype)])


def cast(model, value, dtype):
    numbers = {U8: 2, S8: 3, I32: 6, I64: 7, F32: 1}
    return model.node("Cast", [value], to=numbers[np.dtype(dtype)])


def shifted(model, value, amount, dtype):
    return model.node("Add", [value, model.constant(amount, dtype)])


def to_bytes(model, real, zero, dtype, form):
    """Rounds numbers of float32 that are multiples of the scale, and adds a zero point."""
    info = np.iinfo(dtype)
    if form == "quantize":
        return model.quantized(real, 1.0, zero, dtype)
    if form == "clip_first":
        real = clipped(model, real, info.min - zero, info.max - zero, F32)
    whole = model.node("Round", [real])
    if form == "int32":
        whole = shifted(model, cast(model, whole, I32), zero, I32)
        whole = model.node("Max", [whole, model.constant(info.min, I32)])
        whole = model.node("Min", [whole, model.constant(info.max, I32)])
    else:
        whole = shifted(model, whole, zero, F32)
        if form != "clip_first":
            whole = clipped(model, whole, info.min, info.max, F32)
    return cast(model, whole, dtype)


ROUNDINGS = ("float", "int32", "clip_first", "quantize")


def per_channel(values, rank):
    return np.reshape(values, (-1, *[1] * rank))


def convolutions():
    for types in ((U8, U8), (U8, S8)):
        for form, channels, rounding, relu in (
                ("plain", False, "float", False), ("pads", True, "int32", True),
                ("strides", False, "clip_first", True), ("groups", True, "quantize", False),
                ("depthwise", True, "float", True), ("pointwise", True, "int32", False),
                ("line", False, "float", False), ("line", True, "int32", True),
                ("lines", True, "clip_first", False), ("lines", False, "quantize", True),
                ("depthwise_lines", True, "float", True)):
            name = f"Rescaled/conv2d/{short(*types)}/{form}/{rounding}" + "/relu" * relu
            model = Model(name, opset=17)
            d = ConvData(model.rng, form, types, False, False)
            rank = d.x.ndim - 2
            scale = d.scale
            if channels:
                scale = per_channel(model.rng.uniform(0.0002, 0.0009, d.w.shape[0]), rank)
            sums = model.node("ConvInteger", [model.input(d.x), model.constant(d.w),
                                              model.constant(d.zx, d.xt), model.constant(d.zws)],
                              **d.attributes)
            sums = model.node("Add", [sums, model.constant(per_channel(d.bias, rank)[None], I32)])
            expected = d.sums
            if relu:
                sums = model.node("Max", [sums, model.constant(0, I32)])
                expected = np.maximum(expected, 0)
            factor = np.asarray(scale, F32)
            real = model.node("Mul", [cast(model, sums, F32), model.constant(
                factor.reshape(()) if not channels else factor[None])])
            y = to_bytes(model, real, d.zy, d.yt, rounding)
            record(model, y, fused=False, oracle=requantized(expected, factor, d.zy, d.yt))


def dense_data(model, types, rows=5, depth=33, columns=7):
    xt, wt = types
    x, w = random_elements(model.rng, (rows, depth), xt), random_elements(model.rng,
                                                                          (depth, columns), wt)
    zx, zw = {U8: 119, S8: -5}[xt], {U8: 130, S8: 0}[wt]
    bias = model.rng.integers(-9000, 9000, columns, dtype=I32)
    products = (x.astype(I64) - zx) @ (w.astype(I64) - zw)
    sums = model.node("MatMulInteger", [model.input(x), model.constant(w),
                                        model.constant(zx, xt), model.constant(zw, wt)])
    return sums, products.astype(I32), bias


def dense():
    """Also without rounding, as float32, and by a DequantizeLinear of the sums."""
    for types in ((U8, U8), (U8, S8), (S8, S8)):
        for rounding in ROUNDINGS:
            model = Model(f"Rescaled/dense/{short(*types)}/{rounding}", opset=17)
            sums, products, bias = dense_data(model, types)
            sums = model.node("Add", [sums, model.constant(bias)])
            factor = model.rng.uniform(0.0004, 0.002, bias.size).astype(F32)
            real = model.node("Mul", [cast(model, sums, F32), model.constant(factor)])
            zero = {U8: 101, S8: -3}[types[0]]
            record(model, to_bytes(model, real, zero, types[0], rounding), fused=False,
                   oracle=requantized(products + bias, factor, zero, types[0]))
        for form in ("cast", "dequantize"):
            model = Model(f"Rescaled/dense/{short(*types)}/to_float/{form}", opset=17)
            sums, products, bias = dense_data(model, types)
            factor = model.rng.uniform(0.0004, 0.002, bias.size).astype(F32)
            if form == "cast":
                real = model.node("Mul", [cast(model, sums, F32), model.constant(factor)])
            else:
                real = model.dequantized(sums, factor, np.zeros(bias.size), I32, axis=1)
            added = model.rng.normal(0, 1, bias.size).astype(F32)
            y = model.node("Add", [real, model.constant(added)])
            record(model, y, fused=False, oracle=products.astype(F32) * factor + added)


def requantize(model, value, source, zero_from, factor, zero_to, dtype):
    """One quantization into another: a function of a byte."""
    x = model.node("Sub", [cast(model, value, I32), model.constant(zero_from, I32)])
    real = model.node("Mul", [cast(model, x, F32), model.constant(factor, F32)])
    y = to_bytes(model, real, zero_to, dtype, "int32")
    return y, requantized(source.astype(I32) - zero_from, F(factor), zero_to, dtype)


def requantizations():
    for source, to in ((U8, U8), (U8, S8), (S8, U8), (S8, S8)):
        for factor in (0.37, 1.25, 0.5):
            model = Model(f"Rescaled/requantize/{short(source, to)}/{factor}", opset=17)
            info = np.iinfo(source)
            x = np.arange(info.min, info.max + 1).astype(source).reshape(4, 64)
            zero = {U8: 130, S8: -9}
            y, expected = requantize(model, model.input(x), x, zero[source], factor,
                                     zero[to] + 3, to)
            record(model, y, fused=False, oracle=expected)


def sums_and_joins():
    for dtype in (U8, S8):
        low = np.iinfo(dtype).min
        high = np.iinfo(dtype).max
        rng = np.random.default_rng(29)
        a, b = (random_elements(rng, (1, 4, 3, 5), dtype) for _ in range(2))
        # A sum in the scale of the result, in int32.
        model = Model(f"Rescaled/add/{short(dtype)}", opset=17)
        parts, expected = [], low + 101
        for x, zero, factor in ((a, low + 120, 0.71), (b, low + 99, 1.13)):
            x_name = model.input(x)
            offset = model.node("Sub", [cast(model, x_name, I32), model.constant(zero, I32)])
            real = model.node("Mul", [cast(model, offset, F32), model.constant(factor, F32)])
            parts.append(cast(model, model.node("Round", [real]), I32))
            expected = expected + np.rint((x.astype(I32) - zero).astype(F32) * F(factor))
        y = shifted(model, model.node("Add", parts), low + 101, I32)
        y = cast(model, clipped(model, y, low, high, I32), dtype)
        record(model, y, fused=False, oracle=np.clip(expected, low, high).astype(dtype))
        # Inputs that are brought to one quantization before they are joined.
        model = Model(f"Rescaled/concatenate/{short(dtype)}", opset=17)
        ya, expected_a = requantize(model, model.input(a), a, low + 120, 0.71, low + 101, dtype)
        yb, expected_b = requantize(model, model.input(b), b, low + 99, 1.13, low + 101, dtype)
        record(model, model.node("Concat", [ya, yb], axis=1), fused=False,
               oracle=np.concatenate([expected_a, expected_b], axis=1))
        # A mean in the quantization of its input.
        model = Model(f"Rescaled/average_pool/{short(dtype)}", opset=17)
        real = model.node("AveragePool", [cast(model, model.input(a), F32)], kernel_shape=[2, 2])
        record(model, cast(model, model.node("Round", [real]), dtype), fused=False)


def padding():
    """Zero points around an image, and a product without padding."""
    for types in ((U8, U8), (U8, S8)):
        model = Model(f"Rescaled/pad/{short(*types)}", opset=17)
        d = ConvData(model.rng, "pads", types, False, False)
        top, left, bottom, right = d.attributes["pads"]
        pads = np.array([0, 0, top, left, 0, 0, bottom, right])
        padded = model.node("Pad", [model.input(d.x), model.constant(pads, I64),
                                    model.constant(d.zx, d.xt)])
        sums = model.node("ConvInteger", [padded, model.constant(d.w), model.constant(d.zx, d.xt),
                                          model.constant(d.zws)])
        sums = model.node("Add", [sums, model.constant(per_channel(d.bias, 2)[None], I32)])
        real = model.node("Mul", [cast(model, sums, F32), model.constant(d.scale.reshape(()), F32)])
        record(model, to_bytes(model, real, d.zy, d.yt, "float"), fused=False, oracle=d.y)


def fixed_point():
    """A multiplier of 31 bits and a shift: the product in int64, rounded up at ties."""
    for types in ((U8, U8), (S8, S8)):
        model = Model(f"Rescaled/fixed_point/{short(*types)}", opset=17)
        sums, products, bias = dense_data(model, types)
        multiplier, shift, zero = 1518500250, 41, {U8: 101, S8: -3}[types[0]]
        info = np.iinfo(types[0])
        wide = cast(model, model.node("Add", [sums, model.constant(bias)]), I64)
        wide = model.node("Mul", [wide, model.constant(multiplier, I64)])
        wide = shifted(model, wide, 1 << (shift - 1), I64)
        unit = model.constant(1 << shift, I64)
        below = model.node("Mod", [wide, unit])  # of the sign of the divisor, so that Div is exact
        y = model.node("Div", [model.node("Sub", [wide, below]), unit])
        y = shifted(model, y, zero, I64)
        y = cast(model, clipped(model, y, info.min, info.max, I64), types[0])
        scaled = (((products.astype(I64) + bias) * multiplier + (1 << (shift - 1))) >> shift) + zero
        record(model, y, fused=False, oracle=np.clip(scaled, info.min, info.max).astype(types[0]))


def residual():
    """A convolution to float32, a dequantized sum with what went around it, and its quantization."""
    for types in ((U8, U8), (U8, S8)):
        model = Model(f"Rescaled/residual/{short(*types)}", opset=17)
        d = ConvData(model.rng, "pointwise", types, False, False)
        around = random_elements(model.rng, d.y.shape, U8)
        sums = model.node("ConvInteger", [model.input(d.x), model.constant(d.w),
                                          model.constant(d.zx, d.xt), model.constant(d.zws)])
        sums = model.node("Add", [sums, model.constant(per_channel(d.bias, 2)[None], I32)])
        factor = F(0.00021)
        real = model.node("Mul", [cast(model, sums, F32), model.constant(factor, F32)])
        other = model.dequantized(model.input(around), 0.031, 120, U8)
        total = model.node("Relu", [model.node("Add", [real, other])])
        expected = d.sums.astype(F32) * factor + (around.astype(F32) - F(120)) * F(0.031)
        quotient = np.rint(np.maximum(expected, 0) / F(0.029)) + 3
        record(model, model.quantized(total, 0.029, 3, U8), fused=False,
               oracle=np.clip(quotient, 0, 255).astype(U8))


def not_one_layer():
    """What looks like one layer, but rounds otherwise or is read elsewhere."""
    for form in ("zero_point_first", "two_readers", "negative", "bias_after_relu", "wide_clip"):
        model = Model(f"Rescaled/left/{form}", opset=17)
        sums, products, bias = dense_data(model, (U8, S8))
        numbers = products
        if form != "bias_after_relu":
            sums = model.node("Add", [sums, model.constant(bias)])
            numbers = numbers + bias
        else:
            sums = model.node("Max", [sums, model.constant(0, I32)])
            sums = model.node("Add", [sums, model.constant(bias)])
            numbers = np.maximum(numbers, 0) + bias
        factor = F(-0.001 if form == "negative" else 2.0**-9)
        product = model.node("Mul", [cast(model, sums, F32), model.constant(factor)])
        real = numbers.astype(F32) * factor
        if form == "zero_point_first":  # ties become odd numbers or even ones, as it is odd or even
            whole = model.node("Round", [shifted(model, product, 101, F32)])
            expected = np.rint(real + F(101))
        else:
            whole = shifted(model, model.node("Round", [product]), 101, F32)
            expected = np.rint(real) + 101
        low, high = (-1, 256) if form == "wide_clip" else (0, 255)
        whole = clipped(model, whole, low, high, F32)
        expected = np.clip(expected, low, high)
        if form == "wide_clip":
            record(model, cast(model, cast(model, whole, I32), U8), fused=False,
                   oracle=expected.astype(I32).astype(U8))
            continue
        outputs = [cast(model, whole, U8)] + [product] * (form == "two_readers")
        record(model, *outputs, fused=False, oracle=expected.astype(U8))


def beyond_int32():
    """Bounds that int32 does not reach: numbers become the least, to which the zero point is added."""
    model = Model("Rescaled/left/far_clip", opset=17)
    sums, products, bias = dense_data(model, (U8, S8))
    sums = model.node("Add", [sums, model.constant(bias)])
    product = model.node("Mul", [cast(model, sums, F32), model.constant(F(1e6))])
    whole = clipped(model, model.node("Round", [product]), -1e10, 1e10, F32)
    whole = shifted(model, cast(model, whole, I32), 101, I32)
    whole = clipped(model, whole, 0, 255, I32)
    real = np.clip((products + bias).astype(F32) * F(1e6), -1e10, 1e10)
    expected = np.where(np.abs(real) >= 2.0**31, -2.0**31, real) + 101
    record(model, cast(model, whole, U8), fused=False,
           oracle=np.clip(expected, 0, 255).astype(U8))


def rescaled():
    for family in (convolutions, dense, requantizations, sums_and_joins, padding, fixed_point,
                   residual, not_one_layer, beyond_int32):
        family()
