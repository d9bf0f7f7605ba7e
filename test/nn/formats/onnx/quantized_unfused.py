"""Q/DQ around operators that are no products, and alone. See record_quantized.py."""

import zlib

import numpy as np

from quantized_elementwise import POOLS, every_element, pair_data, pair_variants, pool_ties
from quantized_model import (F32, I16, I32, S8, U8, U16, Model, random_elements, record,
                             short)


def unfused(name, operator, arrays, parameters, result, opset=19, more=(), outputs=1, **attributes):
    """DQ of every array, the operator, Q. parameters: scale and zero point of each array."""
    model = Model(f"QDQ/{name}", opset)
    inputs = [model.dequantized(model.input(array), *scale_and_zero, array.dtype)
              for array, scale_and_zero in zip(arrays, parameters, strict=True)]
    inputs += ["" if constant is None else model.constant(constant) for constant in more]
    values = model.node(operator, inputs, outputs=outputs, **attributes)
    values = [values] if outputs == 1 else values
    record(model, *[model.quantized(v, *result, arrays[0].dtype) for v in values], fused=False)


def qdq_pairs():
    for operator in ("Add", "Sub", "Mul"):
        for name, dtype, shapes, ties in pair_variants():
            rng = np.random.default_rng(zlib.crc32(f"{operator} {name}".encode()))
            (a, *qa), (b, *qb), qc = pair_data(rng, shapes, dtype, ties,
                                                   product=operator == "Mul")
            unfused(f"{operator}/{name}", operator, [a, b], [qa, qb], qc)


def qdq_unary():
    """Quantizations are those for uint8; int8 has zero points of 128 less."""
    for operator, x_quantization, y_quantization, attributes in (
            ("Sigmoid", (0.047, 113), (2.0**-8, 0), {}),
            ("Sigmoid", (0.047, 113), (0.0051, 17), {}),
            ("Tanh", (0.019, 113), (2.0**-7, 128), {}),
            ("Relu", (0.047, 113), (0.031, 0), {}),
            ("Relu", (0.5, 128), (1.0, 3), {}),
            ("LeakyRelu", (0.047, 61), (0.043, 29), {"alpha": 0.23}),
            ("HardSigmoid", (0.031, 113), (2.0**-8, 0), {"alpha": 1 / 6, "beta": 0.5}),
            ("HardSwish", (0.031, 113), (0.0175, 21), {}),
            ("HardSwish", (2.0**-4, 128), (2.0**-4, 7), {}),
            ("Elu", (0.031, 101), (0.023, 45), {}),
            ("Gelu", (0.031, 113), (0.0185, 11), {}),
            ("Abs", (0.031, 113), (0.0185, 11), {}),
            ("Neg", (0.031, 113), (0.031, 141), {}),
            ("Neg", (0.5, 120), (1.0, 131), {}),
            ("Exp", (0.013, 200), (0.0085, 5), {}),
            ("Sqrt", (0.031, 0), (0.0123, 9), {}),
            ("Erf", (0.013, 113), (0.0082, 131), {})):
        for dtype in (U8, S8):
            low = np.iinfo(dtype).min
            (sx, zx), (sy, zy) = x_quantization, y_quantization
            unfused(f"{operator}/{short(dtype)}/{sx}/{sy}", operator, [every_element(dtype)],
                    [(sx, zx + low)], (sy, zy + low), opset=20, **attributes)
    for dtype in (U8, S8):
        low = np.iinfo(dtype).min
        unfused(f"Clip/{short(dtype)}", "Clip", [every_element(dtype)], [(0.031, 20 + low)],
                (0.0235, low), more=[np.array(0, F32), np.array(6, F32)])
        for axis, shape in ((-1, (3, 10)), (1, (2, 5, 3))):
            rng = np.random.default_rng(7)
            for scale in (1 / 255, 2.0**-8):
                unfused(f"Softmax/{short(dtype)}/{len(shape)}/{scale:.4}", "Softmax",
                        [random_elements(rng, shape, dtype)], [(0.017, 113 + low)], (scale, low),
                        axis=axis)


def qdq_windows():
    for dtype in (U8, S8):
        low = np.iinfo(dtype).min
        rng = np.random.default_rng(11)
        x = random_elements(rng, (1, 2, 6, 6), dtype)
        for form, attributes in POOLS.items():
            unfused(f"AveragePool/{short(dtype)}/{form}", "AveragePool", [x], [(0.037, 119 + low)],
                    (0.029, 130 + low), **attributes)
            unfused(f"MaxPool/{short(dtype)}/{form}", "MaxPool", [x], [(0.037, 119 + low)],
                    (0.037, 119 + low), **attributes)
        unfused(f"MaxPool/{short(dtype)}/rescaled", "MaxPool", [x], [(0.037, 119 + low)],
                (0.071, 130 + low), **POOLS["plain"])
        unfused(f"AveragePool/{short(dtype)}/ties", "AveragePool", [pool_ties(dtype, 119 + low)],
                [(0.5, 119 + low)], (0.5, 131 + low), kernel_shape=[1, 2])
        for form, scale in (("plain", 0.011), ("same", 0.037)):
            unfused(f"GlobalAveragePool/{short(dtype)}/{form}", "GlobalAveragePool", [x],
                    [(0.037, 119 + low)], (scale, 130 + low))
        unfused(f"ReduceMean/{short(dtype)}", "ReduceMean", [x], [(0.037, 119 + low)],
                (0.011, 130 + low), more=[np.array([2, 3])], keepdims=0)
        unfused(f"Resize/{short(dtype)}/nearest", "Resize", [x], [(0.037, 119 + low)],
                (0.037, 119 + low), more=[None, np.array([1, 1, 2, 2], F32)], mode="nearest")
        unfused(f"Resize/{short(dtype)}/linear", "Resize", [x], [(0.037, 119 + low)],
                (0.037, 119 + low), more=[None, np.array([1, 1, 2, 2], F32)], mode="linear")
        for mode in ("half_pixel", "asymmetric", "align_corners"):
            for factors in ((4, 3), (0.5, 1.5), (8, 2.5)):
                unfused(f"Resize/{short(dtype)}/linear/{mode}/{factors[0]}x{factors[1]}", "Resize",
                        [x], [(0.037, 119 + low)], (0.037, 119 + low), mode="linear",
                        more=[None, np.array([1, 1, *factors], F32)],
                        coordinate_transformation_mode=mode)


def qdq_movement():
    for dtype in (U8, S8):
        low = np.iinfo(dtype).min
        rng = np.random.default_rng(13)
        x = random_elements(rng, (2, 3, 4), dtype)
        q = (0.037, 119 + low)
        for form, result in (("same", q), ("rescaled", (0.041, 130 + low))):
            def moved(operator, *more, outputs=1, **attributes):
                unfused(f"{operator}/{short(dtype)}/{form}", operator, [x], [q], result,
                        more=more, outputs=outputs, **attributes)
            moved("Transpose", perm=[2, 0, 1])
            moved("Reshape", np.array([4, -1]))
            moved("Flatten")
            moved("Unsqueeze", np.array([0]))
            moved("Slice", np.array([1]), np.array([3]), np.array([2]))
            moved("Gather", np.array([2, 0]), axis=1)
            moved("Pad", np.array([0, 1, 0, 0, 0, 2]))
            moved("Split", np.array([1, 3]), outputs=2, axis=2)
            moved("Expand", np.array([2, 2, 3, 4]))
        y = random_elements(rng, (2, 3, 4), dtype)
        for form, other in (("same", q), ("different", (0.0215, 55 + low))):
            unfused(f"Concat/{short(dtype)}/{form}", "Concat", [x, y], [q, other], q, axis=1)


def quantizations(dtype, rng):
    info = np.iinfo(dtype)
    zero = (info.max + info.min + 1) // 2 + 3
    edges = np.array([-np.inf, np.inf, -1e9, 1e9, -3e38, 3e38, 0.0, -0.0, 1e-40], F32)
    for form, x, scale, opset, attributes in (
            ("random", rng.normal(0, 2, 64), 0.0173, 13, {}),
            ("ties", np.arange(-140, 140, 5) + 0.5, 1.0, 13, {}),
            ("halves", (np.arange(-140, 140, 5) + 0.5) / 2, 0.5, 21, {}),
            ("edges", edges, 0.1, 13, {}),
            ("per_axis", rng.normal(0, 2, (2, 3, 5)), [0.0173, 0.5, 0.031], 13, {"axis": 1}),
            ("blocked", rng.normal(0, 2, (2, 6)), rng.uniform(0.01, 0.02, (2, 3)), 21,
             {"axis": 1, "block_size": 2})):
        opset = 21 if dtype in (I16, U16) else opset
        model = Model(f"QuantizeLinear/{short(dtype)}/{form}", opset)
        zeros = np.full(np.shape(scale), zero)
        record(model, model.quantized(model.input(np.asarray(x, F32)), scale, zeros, dtype,
                                      **attributes))


def dequantizations(dtype, rng):
    info = np.iinfo(dtype)
    zero = 0 if dtype == I32 else (info.max + info.min + 1) // 2 + 3
    for form, shape, scale, opset, attributes in (
            ("random", (64,), 0.0173, 13, {}),
            ("per_axis", (2, 3, 5), [0.0173, 0.5, 0.031], 13, {"axis": 1}),
            ("blocked", (2, 6), rng.uniform(0.01, 0.02, (2, 3)), 21,
             {"axis": 1, "block_size": 2})):
        opset = 21 if dtype in (I16, U16) else opset
        model = Model(f"DequantizeLinear/{short(dtype)}/{form}", opset)
        zeros = np.full(np.shape(scale), zero)
        x = random_elements(model.rng, shape, dtype)
        record(model, model.dequantized(model.input(x), scale, zeros, dtype, **attributes))


def quantize():
    rng = np.random.default_rng(17)
    for dtype in (U8, S8, I16):
        quantizations(dtype, rng)
    for dtype in (U8, S8, I16, I32):
        dequantizations(dtype, rng)
    for form, x in (("random", rng.normal(0, 2, 40)), ("positive", rng.uniform(1, 3, 40)),
                    ("negative", rng.uniform(-3, -1, 40)), ("zeros", np.zeros(5)),
                    ("ties", np.arange(-51, 77) + 0.5)):
        model = Model(f"DynamicQuantizeLinear/{form}", 13)
        record(model, *model.node("DynamicQuantizeLinear", [model.input(x.astype(F32))], outputs=3))


def uint16():
    """Numbers of 16 bits alone, between operators, and around those that move them."""
    rng = np.random.default_rng(19)
    quantizations(U16, rng)
    dequantizations(U16, rng)
    x, y = (random_elements(rng, (2, 3, 4), U16) for _ in range(2))
    a, b, result = (0.00031, 32771), (0.00023, 29999), (0.00047, 32768)
    for operator in ("Add", "Mul"):
        unfused(f"{operator}/u16", operator, [x, y], [a, b], result, opset=21)
    unfused("Relu/u16", "Relu", [x], [a], (0.00015, 0), opset=21)
    unfused("Transpose/u16/same", "Transpose", [x], [a], a, opset=21, perm=[2, 0, 1])
    unfused("Transpose/u16/rescaled", "Transpose", [x], [a], b, opset=21, perm=[2, 0, 1])
    unfused("Concat/u16/different", "Concat", [x, y], [a, b], a, opset=21, axis=1)
    unfused("Pad/u16/same", "Pad", [x], [a], a, opset=21, more=[np.array([0, 1, 0, 0, 0, 2])])
    # Activations of 16 bits, weights of 8.
    model = Model("QDQ/MatMul/u16s8", 21)
    weights = model.constant(random_elements(model.rng, (4, 5), S8))
    product = model.node("MatMul", [model.dequantized(model.input(x), *a, U16),
                                    model.dequantized(weights, 2.0**-7, 0, S8)])
    record(model, model.quantized(product, 2.0**-12, 32768, U16), fused=False)
