"""Operators of com.microsoft that are no products. See record_quantized.py."""

import numpy as np

from quantized_model import (MICROSOFT, S8, U8, Model, even_offsets, odd_offsets, random_elements,
                             record, short)

PAIRS = {
    "plain": ((3, 7), (3, 7)),
    "scalar": ((3, 7), ()),
    "row": ((2, 3, 5), (5,)),
    "both": ((3, 1), (1, 4)),
    "long": ((67,), (67,)),
}


def pair_data(rng, shapes, dtype, ties, product):
    """Two operands and their quantizations, and that of the result. ties: of all results."""
    za, zb, zc = {U8: (121, 133, 129), S8: (-3, 5, 1)}[dtype]
    a, b = (random_elements(rng, shape, dtype) for shape in shapes)
    if not ties:
        return (a, 0.0317, za), (b, 0.0253, zb), (0.0541, zc)
    a = odd_offsets(rng, shapes[0], dtype, za)
    if product:
        return (a, 0.5, za), (np.full_like(b, zb + 2), 0.5, zb), (1.0, zc)
    b = even_offsets(rng, shapes[1], dtype, zb)
    return (a, 0.25, za), (b, 0.25, zb), (0.5, zc)


def pair_variants():
    for dtype in (U8, S8):
        for form, shapes in PAIRS.items():
            yield f"{short(dtype)}/{form}", dtype, shapes, False
        yield f"{short(dtype)}/ties", dtype, ((64,), (64,)), True


def qlinear_pairs():
    for operator in ("QLinearAdd", "QLinearMul"):
        for name, dtype, shapes, ties in pair_variants():
            model = Model(f"{operator}/{name}")
            (a, sa, za), (b, sb, zb), (sc, zc) = pair_data(model.rng, shapes, dtype, ties,
                                                           product=operator == "QLinearMul")
            inputs = [model.input(a), *model.quantization(sa, za, dtype),
                      model.input(b), *model.quantization(sb, zb, dtype),
                      *model.quantization(sc, zc, dtype)]
            record(model, model.node(operator, inputs, MICROSOFT))
    for dtype in (U8, S8):
        model = Model(f"QLinearAdd/{short(dtype)}/constant")
        (a, sa, za), (b, sb, zb), (sc, zc) = pair_data(model.rng, PAIRS["row"], dtype, ties=False,
                                                       product=False)
        inputs = [model.input(a), *model.quantization(sa, za, dtype),
                  model.constant(b), *model.quantization(sb, zb, dtype),
                  *model.quantization(sc, zc, dtype)]
        record(model, model.node("QLinearAdd", inputs, MICROSOFT))


def every_element(dtype):
    info = np.iinfo(dtype)
    return np.arange(info.min, info.max + 1).astype(dtype).reshape(2, 128)


def qlinear_unary():
    for dtype in (U8, S8):
        low = np.iinfo(dtype).min
        x = every_element(dtype)
        for scale, zero in ((0.047, 128), (0.019, 97), (2.0**-4, 31)):
            name = f"{short(dtype)}/{scale}"
            model = Model(f"QLinearSigmoid/{name}")
            inputs = [model.input(x), *model.quantization(scale, zero + low, dtype),
                      *model.quantization(2.0**-8, low, dtype)]
            record(model, model.node("QLinearSigmoid", inputs, MICROSOFT))
            model = Model(f"QLinearLeakyRelu/{name}")
            inputs = [model.input(x), *model.quantization(scale, zero + low, dtype),
                      *model.quantization(1.1 * scale, 63 + low, dtype)]
            record(model, model.node("QLinearLeakyRelu", inputs, MICROSOFT, alpha=0.23))
        model = Model(f"QLinearLeakyRelu/{short(dtype)}/ties")
        inputs = [model.input(x), *model.quantization(0.5, 97 + low, dtype),
                  *model.quantization(1.0, 33 + low, dtype)]
        record(model, model.node("QLinearLeakyRelu", inputs, MICROSOFT, alpha=0.5))


def qlinear_softmax():
    """Outputs of scale 2^-8 alone: ONNX Runtime uses the integer part of 1 / scale."""
    for dtype in (U8, S8):
        low = np.iinfo(dtype).min
        for opset, axis, shape in ((13, -1, (3, 10)), (13, 1, (2, 5, 3)), (12, 1, (2, 3, 4))):
            model = Model(f"QLinearSoftmax/{short(dtype)}/opset{opset}/{len(shape)}")
            inputs = [model.input(random_elements(model.rng, shape, dtype)),
                      *model.quantization(0.017, 113 + low, dtype),
                      *model.quantization(2.0**-8, low, dtype)]
            y = model.node("QLinearSoftmax", inputs, MICROSOFT, axis=axis, opset=opset)
            record(model, y)
        model = Model(f"QLinearSoftmax/{short(dtype)}/one_hot")
        x = np.full((4, 9), low, dtype)
        x[np.arange(4), [0, 3, 8, 5]] = low + 255
        inputs = [model.input(x), *model.quantization(0.5, 3 + low, dtype),
                  *model.quantization(2.0**-8, low, dtype)]
        record(model, model.node("QLinearSoftmax", inputs, MICROSOFT, axis=-1, opset=13))


def qlinear_concat_and_where():
    for dtype in (U8, S8):
        low = np.iinfo(dtype).min
        for axis in (0, 1, -1):
            model = Model(f"QLinearConcat/{short(dtype)}/axis{axis}")
            inputs = model.quantization(0.043, 129 + low, dtype)
            for scale, zero in ((0.031, 120), (0.043, 129), (0.0215, 55)):
                x = random_elements(model.rng, (2, 3, 4), dtype)
                inputs += [model.input(x), *model.quantization(scale, zero + low, dtype)]
            record(model, model.node("QLinearConcat", inputs, MICROSOFT, axis=axis))
        model = Model(f"QLinearWhere/{short(dtype)}")
        a, b = (random_elements(model.rng, (3, 8), dtype) for _ in range(2))
        inputs = [model.input(model.rng.random((3, 8)) < 0.5),
                  model.input(a), *model.quantization(0.031, 120 + low, dtype),
                  model.input(b), *model.quantization(0.025, 131 + low, dtype),
                  *model.quantization(0.04, 125 + low, dtype)]
        record(model, model.node("QLinearWhere", inputs, MICROSOFT))


POOLS = {
    "plain": {"kernel_shape": [3, 2]},
    "strides": {"kernel_shape": [3, 3], "strides": [2, 2]},
    "pads": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 1]},
    "ceil": {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
}


def pool_ties(dtype, zero):
    """Windows of one line and two columns have an odd sum."""
    x = zero + np.arange(-20, 20).reshape(1, 2, 4, 5) % 23
    x += (x + np.arange(5)) % 2
    return x.astype(dtype)


def qlinear_pools():
    counted = {"pads_counted": {**POOLS["pads"], "count_include_pad": 1}}
    for dtype in (U8, S8):
        low = np.iinfo(dtype).min
        for form, attributes in {**POOLS, **counted}.items():
            model = Model(f"QLinearAveragePool/{short(dtype)}/{form}")
            inputs = [model.input(random_elements(model.rng, (1, 2, 6, 6), dtype)),
                      *model.quantization(0.037, 119 + low, dtype),
                      *model.quantization(0.029, 130 + low, dtype)]
            record(model, model.node("QLinearAveragePool", inputs, MICROSOFT, **attributes))
        model = Model(f"QLinearAveragePool/{short(dtype)}/ties")
        inputs = [model.input(pool_ties(dtype, 119 + low)),
                  *model.quantization(0.5, 119 + low, dtype),
                  *model.quantization(0.5, 131 + low, dtype)]
        record(model, model.node("QLinearAveragePool", inputs, MICROSOFT, kernel_shape=[1, 2]))
        model = Model(f"QLinearAveragePool/{short(dtype)}/channels_last")
        inputs = [model.input(random_elements(model.rng, (1, 6, 6, 3), dtype)),
                  *model.quantization(0.037, 119 + low, dtype),
                  *model.quantization(0.029, 130 + low, dtype)]
        record(model, model.node("QLinearAveragePool", inputs, MICROSOFT, channels_last=1,
                                 **POOLS["strides"]))
        for last in (0, 1):
            model = Model(f"QLinearGlobalAveragePool/{short(dtype)}" + "/channels_last" * last)
            inputs = [model.input(random_elements(model.rng, (2, 5, 4, 3), dtype)),
                      *model.quantization(0.037, 119 + low, dtype),
                      *model.quantization(0.011, 130 + low, dtype)]
            record(model, model.node("QLinearGlobalAveragePool", inputs, MICROSOFT,
                                     channels_last=last))
        model = Model(f"QLinearGlobalAveragePool/{short(dtype)}/ties")
        x = model.rng.integers(-20, 20, (1, 8, 2, 2)) + 119 + low
        x[..., 0, 0] += (2 - (x - 119 - low).sum((2, 3))) % 4  # sums of 2 more than 4 n
        inputs = [model.input(x.astype(dtype)), *model.quantization(0.5, 119 + low, dtype),
                  *model.quantization(0.5, 131 + low, dtype)]
        record(model, model.node("QLinearGlobalAveragePool", inputs, MICROSOFT))
