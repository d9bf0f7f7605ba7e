"""Operators that work element by element, along rows, or reduce. See record.py."""

import numpy as np

from record import Family, Tensor, const, int_of, ints

F = Family("elementwise")
EIGHT = ["int8", "uint8"]
QUANTIZED = EIGHT + ["int16"]
LIBM = 4e-6  # float32 functions of the C library, a few units in the last place


def q(dtype, shape=(), scale=0.05, zero=None):
    """A tensor, quantized where its type is; int16 is symmetric."""
    if dtype not in QUANTIZED:
        return Tensor(dtype, shape)
    if zero is None:
        zero = {"int8": -7, "uint8": 121, "int16": 0}[dtype]
    return Tensor(dtype, shape, scale=scale, zero=zero)


def every(dtype):
    """All numbers of an 8-bit type; 512 that spread over int16."""
    if dtype == "int16":
        return np.concatenate([np.linspace(-32768, 32767, 509).astype(int), [-1, 0, 1]])
    info = np.iinfo(dtype)
    return np.arange(info.min, info.max + 1)


NOT_IN_REFERENCE = {"ROUND", "CEIL", "ELU"}  # its resolver has none of these


def unary(operator, dtypes, options=None, version=1, bound=0.0, feed=None, scales=None,
          zeros=None, note=""):
    resolver = ("BUILTIN_WITHOUT_DEFAULT_DELEGATES" if operator in NOT_IN_REFERENCE
                else "BUILTIN_REF")
    for dtype in dtypes:
        if dtype in QUANTIZED:
            for scale_in, scale_out in scales or ((0.05, 0.05), (0.021, 0.013), (0.004, 0.03)):
                zero_in, zero_out = (0, 0) if dtype == "int16" else (zeros or {}).get(
                    dtype, {"int8": (-7, 11), "uint8": (121, 133)}[dtype])
                if dtype == "int16":
                    scale_in, scale_out = scale_in / 64, scale_out / 64
                values = every(dtype)
                if feed == "positive":
                    values = np.maximum(values, zero_in + 1)
                F.case(operator, [q(dtype, values.shape, scale_in, zero_in)],
                       [q(dtype, (), scale_out, zero_out)], options, version, feeds=[[values]],
                       note=f"{scale_in} {scale_out} {note}", resolver=resolver)
        else:
            values = np.concatenate([np.linspace(-6, 6, 49), [0.5, -0.5, 1.5, 2.5, -2.5, 0]])
            if dtype == "int32":
                values = np.array([0, 1, -1, 77, -2**31 + 1, 2**31 - 1])
            if feed == "positive":
                values = np.abs(values) + 0.25
            F.case(operator, [Tensor(dtype, values.shape)], [Tensor(dtype)], options, version,
                   feeds=[[values]], bound=bound if dtype == "float32" else 0.0, note=note,
                   resolver=resolver)


def binary(operator, dtypes, output=None, options=None, version=1, shapes=None, scales=None,
           bound=0.0, feeds=None, note=""):
    for dtype in dtypes:
        all_scales = scales or ((0.05, 0.031, 0.07), (0.02, 0.02, 0.02))
        for scale_a, scale_b, scale_out in all_scales if dtype in QUANTIZED else (all_scales[0],):
            for a, b in shapes or (((2, 33), (2, 33)), ((2, 1, 5), (3, 1)), ((4, 7), ())):
                F.case(operator, [q(dtype, a, scale_a), q(dtype, b, scale_b, {
                    "int8": 5, "uint8": 3, "int16": 0}.get(dtype))],
                       [q(output or dtype, (), scale_out, {"int8": 2, "uint8": 140, "int16": 0}.get(
                           output or dtype))], options, version, bound=bound, feeds=feeds,
                       note=f"{scale_a} {scale_b} {scale_out} {note}")


def activation(code, **more):
    return dict(fusedActivationFunction=code, **more)


def arithmetic():
    for operator, name in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")):
        pot = {} if operator == "MUL" else dict(potScaleInt16=False)
        for code in (0, 1, 3):
            shapes = None if code == 0 else (((2, 33), (2, 33)),)
            binary(operator, QUANTIZED, options=(name, activation(code, **pot)), version=3,
                   shapes=shapes, note=f"activation {code}")
            binary(operator, ["float32", "int32", "int64"] if code != 3 else ["float32"],
                   options=(name, activation(code)), version=3, shapes=shapes,
                   note=f"activation {code}")
    for operator, name in (("ADD", "AddOptions"), ("SUB", "SubOptions")):
        for scales in ((2**-12, 2**-12, 2**-12), (2**-14, 2**-11, 2**-11), (2**-9, 2**-11, 2**-9)):
            binary(operator, ["int16"], options=(name, activation(0)), version=2, scales=(scales,),
                   shapes=(((2, 33), (2, 33)),), note="powers of two")
    for shapes in (((2, 20), (2, 20)), ((2, 1, 5), (3, 1))):
        for dtype in EIGHT + ["float32", "int32"]:
            a, b = q(dtype, shapes[0], 0.05), q(dtype, shapes[1], 0.02, 0)
            rng = np.random.default_rng(7)
            divisors = rng.integers(1, 100, shapes[1])
            F.case("DIV", [a, b], [q(dtype, (), 0.4)], ("DivOptions", activation(0)), 2,
                   feeds=[[rng.integers(0, 100, shapes[0]), divisors]])
    F.case("DIV", [q("int8", (3,)), q("int8", (3,), 0.02, 4)], [q("int8", (), 0.4)],
           ("DivOptions", activation(0)), 2, feeds=[[[1, 2, 3], [5, 4, 9]]], error="divides by zero")
    F.case("DIV", [q("int32", (3,)), q("int32", (3,))], [q("int32")],
           ("DivOptions", activation(0)), 2, feeds=[[[1, 2, 3], [5, 0, 9]]], error="divides by zero")
    binary("SQUARED_DIFFERENCE", ["int8", "float32", "int32"], version=2,
           scales=((0.05, 0.031, 0.9), (0.02, 0.02, 0.04)))
    for operator in ("MAXIMUM", "MINIMUM"):
        binary(operator, QUANTIZED + ["int32", "int64", "float32"], version=4,
               scales=((0.05, 0.05, 0.05),))
    whole = [[np.array([7, -7, 7, -7, 6, 2**31 - 1]), np.array([3, 3, -3, -3, -2, -1])]]
    binary("FLOOR_DIV", ["int32", "float32"], shapes=(((6,), (6,)),), version=2, feeds=whole)
    binary("FLOOR_MOD", ["int32", "int64", "float32"], shapes=(((6,), (6,)),), feeds=whole)
    for operator in ("FLOOR_DIV", "FLOOR_MOD"):
        F.case(operator, [Tensor("int32", (2,)), Tensor("int32", (2,))], [Tensor("int32")],
               feeds=[[[1, 2], [1, 0]]], error="divides by zero")
    binary("POW", ["int32"], shapes=(((6,), (6,)),),
           feeds=[[np.array([2, -3, 0, 5, 1, 3]), np.array([5, 3, 0, 0, 9, 4])]])
    binary("POW", ["float32"], shapes=(((4,), (4,)),), bound=LIBM,
           feeds=[[np.array([2, 0.5, 1.5, 3]), np.array([0.5, -1.25, 2, 3])]])
    F.case("POW", [Tensor("int32", (1,)), Tensor("int32", (1,))], [Tensor("int32")],
           feeds=[[[2], [-1]]], error="a negative power")
    # CVE-2021-29590: empty tensors that broadcast.
    F.case("MINIMUM", [q("int8", (0, 3)), q("int8", (2, 3))], [q("int8")],
           error="do not broadcast")
    F.case("ADD", [q("int8", (2, 3)), q("int8", (4,))], [q("int8")], ("AddOptions", activation(0)),
           error="the shapes [2, 3] and [4] do not broadcast")
    F.case("MUL", [q("int8", (2, 3)), q("uint8", (3,))], [q("int8")], ("MulOptions", activation(0)),
           error="input 1 is uint8, but the output is int8")
    F.case("SUB", [q("int8", (3,)), Tensor("int8", (3,))], [q("int8")],
           ("SubOptions", activation(0)), error="tensor 'x1' has no quantization")
    F.case("MUL", [q("int8", (3,)), q("int8", (3,))], [q("int8")],
           ("MulOptions", activation(4)), error="fused activation number 4 is not supported")


def comparison():
    for operator in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        dtypes = EIGHT + ["int32", "int64", "float32"]
        if operator in ("EQUAL", "NOT_EQUAL"):
            dtypes = dtypes + ["bool", "int16"]
        for dtype in dtypes:
            for scale_a, scale_b in ((0.05, 0.05), (0.05, 0.025)) if dtype in QUANTIZED else ((1, 1),):
                small = np.arange(24).reshape(2, 12) % 7
                F.case(operator, [q(dtype, (2, 12), scale_a, 0), q(dtype, (12,), scale_b, 0)],
                       [Tensor("bool")], None, 2, feeds=[[small % 2 if dtype == "bool" else small,
                                                          small[0] * 2 % (2 if dtype == "bool" else
                                                                          99)]],
                       note=f"{scale_a} {scale_b}")
            F.case(operator, [q(dtype, (40,)), q(dtype, (40,), 0.03)], [Tensor("bool")], None, 2)
    F.case("LESS", [q("int8", (2,), 1.5), q("int8", (2,))], [Tensor("bool")], None, 2,
           error="scales below 1 are supported")
    for operator in ("LOGICAL_AND", "LOGICAL_OR"):
        F.case(operator, [Tensor("bool", (2, 8)), Tensor("bool", (8,))], [Tensor("bool")])
    F.case("LOGICAL_NOT", [Tensor("bool", (9,))], [Tensor("bool")])


def functions():
    unary("ABS", ["int8", "int16", "float32", "int32"], version=3)
    unary("NEG", ["float32", "int32"])
    unary("EXP", ["float32", "int8", "int16"], version=2, bound=LIBM,
          scales=((0.021, 0.13), (0.02, 0.02)))
    unary("LOG", ["float32", "int8", "int16"], version=2, bound=LIBM, feed="positive",
          scales=((0.05, 0.05), (0.02, 0.03)))
    unary("SQRT", ["float32", "int8", "int16"], version=2, feed="positive")
    unary("RSQRT", ["float32", "int8", "int16"], version=2, feed="positive", bound=LIBM)
    for operator in ("SQRT", "RSQRT"):
        F.case(operator, [q("int8", (2,))], [q("int8")], None, 2, feeds=[[[5, -8]]],
               error="not defined for negative numbers")
    for operator in ("FLOOR", "ROUND", "CEIL"):
        unary(operator, ["float32"])
    unary("SQUARE", ["float32"])
    unary("SIN", ["float32"], bound=LIBM)
    unary("COS", ["float32"], bound=LIBM)


def activations():
    for operator in ("RELU", "RELU6"):
        unary(operator, QUANTIZED + ["float32"], version=3)
    unary("RELU_N1_TO_1", EIGHT + ["float32"])
    unary("LOGISTIC", ["float32"], bound=LIBM)
    unary("TANH", ["float32"], bound=LIBM)
    unary("HARD_SWISH", EIGHT + ["float32"], bound=1e-6,
          scales=((0.05, 0.05), (0.021, 0.013), (0.004, 0.03), (0.1, 0.0051), (0.0009, 0.001)))
    unary("ELU", ["int8", "float32"], bound=LIBM)
    for approximate in (False, True):
        unary("GELU", QUANTIZED + ["float32"], ("GeluOptions", dict(approximate=approximate)), 2,
              bound=1e-5, note=f"approximate {approximate}")
    for alpha in (0.1, 1.7, -0.3, 0.0):
        unary("LEAKY_RELU", QUANTIZED + ["float32"], ("LeakyReluOptions", dict(alpha=alpha)), 2,
              note=f"alpha {alpha}", scales=((0.05, 0.05), (0.021, 0.013)))
    F.case("LEAKY_RELU", [q("int8", (2,))], [q("int8")], ("LeakyReluOptions", dict(alpha=np.nan)), 2,
           error="alpha is nan")
    for dtype in EIGHT + ["float32"]:
        slope = q(dtype, (5,), 0.011, {"int8": 3, "uint8": 20}.get(dtype))
        F.case("PRELU", [q(dtype, (2, 6, 5)), slope], [q(dtype, (), 0.03)], runs=2)
        F.case("PRELU", [q(dtype, (6, 5)), q(dtype, (6, 5), 0.011)], [q(dtype, (), 0.03)])
    F.case("PRELU", [q("int8", (5,)), q("int8", (2, 5))], [q("int8")],
           error="slopes of [2, 5] do not broadcast to [5]")
    F.case("LOG_SOFTMAX", [Tensor("float32", (3, 7))], [Tensor("float32")], bound=LIBM)
    F.case("L2_NORMALIZATION", [Tensor("float32", (3, 7))], [Tensor("float32")],
           ("L2NormOptions", activation(0)), bound=LIBM)
    for dtype in EIGHT:
        for shape in ((3, 7), (2, 1), (1, 200)):
            F.case("L2_NORMALIZATION", [q(dtype, shape)],
                   [q(dtype, (), 1 / 128, {"int8": 0, "uint8": 128}[dtype])],
                   ("L2NormOptions", activation(0)), 2, runs=3)
        zero = q(dtype, (4,))
        F.case("L2_NORMALIZATION", [zero], [q(dtype, (), 1 / 128, {"int8": 0, "uint8": 128}[dtype])],
               ("L2NormOptions", activation(0)), 2, feeds=[[np.full(4, zero.zero)],
                                                          [np.full(4, zero.zero + 1)]])


def reductions():
    axes = ([1], [0, 2], [-1], [0, 1, 2], [])
    for keep in (False, True):
        options = ("ReducerOptions", dict(keepDims=keep))
        for axis in axes:
            for operator, dtypes in (("SUM", QUANTIZED + ["int32", "float32"]),
                                     ("REDUCE_MAX", QUANTIZED + ["int32", "float32"]),
                                     ("REDUCE_MIN", QUANTIZED + ["int32", "float32"]),
                                     ("REDUCE_PROD", ["int32", "float32"]),
                                     ("REDUCE_ANY", ["bool"]), ("REDUCE_ALL", ["bool"]),
                                     ("MEAN", ["int16", "float32"])):
                if not axis and operator in ("REDUCE_ANY", "REDUCE_ALL"):
                    continue
                for dtype in dtypes if axis == [0, 2] or not keep else dtypes[:1]:
                    x = q(dtype, (2, 3, 4))
                    same = operator not in ("SUM", "MEAN")
                    out = q(dtype, ()) if same else q(dtype, (), 0.11, {
                        "int8": 4, "uint8": 99, "int16": 0}.get(dtype))
                    # The reference kernel of SUM takes int8 for uint8, and int16 too.
                    same_as = None
                    if operator == "SUM" and dtype == "int16":
                        continue
                    if operator == "SUM" and dtype == "int8":
                        same_as = ([q("uint8", x.shape, x.scale, x.zero + 128), ints(*axis)],
                                   [q("uint8", (), out.scale, out.zero + 128)],
                                   lambda v: (v.astype(int) + 128).astype(np.uint8),
                                   lambda v: v.astype(int) - 128)
                    F.case(operator, [x, ints(*axis)], [out], options,
                           1 if dtype == "bool" else 2, bound=1e-6, note=f"{axis} {keep}",
                           same_as=same_as)
            if axis:
                for dtype, zeros, scales in (("int8", (-5, 7), (0.02, 0.03)),
                                             ("int16", (0, 0), (1 / 16000, 1 / 9000))):
                    F.case("REDUCE_PROD", [Tensor(dtype, (2, 3, 4), scale=scales[0],
                                                  zero=zeros[0]), ints(*axis)],
                           [Tensor(dtype, scale=scales[1], zero=zeros[1])], options, 2, runs=3,
                           note=f"{axis} {keep}")
    F.case("REDUCE_PROD", [q("int8", (2, 1)), ints(1)], [q("int8", ())],
           ("ReducerOptions", dict(keepDims=False)), 2)
    F.case("REDUCE_PROD", [Tensor("int16", (2, 3), scale=0.1, zero=1), ints(1)],
           [Tensor("int16", scale=0.1)], ("ReducerOptions", dict(keepDims=False)), 2,
           error="int16 with zero points other than 0")
    # CVE-2020-15207.
    for operator in ("SUM", "REDUCE_MAX", "REDUCE_ANY"):
        dtype = "bool" if operator == "REDUCE_ANY" else "int8"
        for axis in (2, -3):
            F.case(operator, [q(dtype, (2, 3)), ints(axis)], [q(dtype)],
                   ("ReducerOptions", dict(keepDims=False)), 1,
                   error=f"the axis {axis} is no dimension of [2, 3]")
    F.case("REDUCE_MAX", [q("int8", (2, 3)), ints(1)], [q("int8", (), 0.2)],
           ("ReducerOptions", dict(keepDims=False)), 1,
           error="quantizations of input and output differ")


def requantized(x, real):
    """x * real, by a 31-bit mantissa, rounded twice: what a multiplier gives."""
    fraction, exponent = np.frexp(real)
    mantissa = int(np.floor(float(fraction) * 2**31 + 0.5))
    x = np.asarray(x, dtype=np.int64) << max(int(exponent), 0)
    high = (x * mantissa + 2**30) >> 31
    shift = max(-int(exponent), 0)
    half = 2**shift >> 1
    return np.where(high < 0, -((-high + half) >> shift), (high + half) >> shift)


def near_ties():
    """Where float32 and double products of scales give different results, which random elements
    would hardly meet: scales are drawn until some elements tell the two apart."""
    rng = np.random.default_rng(11)

    def scales(count):
        return [np.float32(np.exp(v)) for v in rng.uniform(np.log(0.01), np.log(0.2), count)]

    def search(make):
        found = 0
        while found < 4:
            found += 1 if make() else 0

    x = np.arange(-128, 128)
    pairs = np.stack(np.meshgrid(x, x, indexing="ij")).reshape(2, -1)

    def mul():
        a, b, out = scales(3)
        single = requantized(pairs[0] * pairs[1], float(np.float32(a * b) / out))
        double = requantized(pairs[0] * pairs[1], float(a) * float(b) / float(out))
        at = np.nonzero((single != double) & (np.abs(double) < 100))[0][:64]
        if not len(at):
            return False
        F.case("MUL", [q("int8", (len(at),), a, 0), q("int8", (len(at),), b, 0)],
               [q("int8", (), out, 0)], ("MulOptions", activation(0)), 2,
               feeds=[[pairs[0][at], pairs[1][at]]], note=f"near ties {a} {b} {out}")
        return True

    def prelu():
        a, b, out = scales(3)
        product = np.where(pairs[0] < 0, pairs[0] * pairs[1], 0)
        single = requantized(product, float(np.float32(a * b) / out))
        double = requantized(product, float(a) * float(b) / float(out))
        at = np.nonzero((single != double) & (np.abs(double) < 100))[0][:64]
        if not len(at):
            return False
        F.case("PRELU", [q("int8", (len(at),), a, 0), q("int8", (len(at),), b, 0)],
               [q("int8", (), out, 0)], feeds=[[pairs[0][at], pairs[1][at]]],
               note=f"near ties {a} {b} {out}")
        return True

    def leaky():
        a, alpha, out = scales(3)
        wide = np.arange(-32768, 0)
        single = requantized(wide, float(np.float32(a * alpha) / out))
        double = requantized(wide, float(a) * float(alpha) / float(out))
        at = np.nonzero(single != double)[0][:64]
        if not len(at):
            return False
        F.case("LEAKY_RELU", [q("int16", (len(at),), a)], [q("int16", (), out)],
               ("LeakyReluOptions", dict(alpha=float(alpha))), 2, feeds=[[wide[at]]],
               note=f"near ties {a} {alpha} {out}")
        return True

    def quotients(operator, version):
        def make():
            a, out = scales(2)
            wide = np.arange(1, 32768)
            single = requantized(wide, float(a / out))
            double = requantized(wide, float(a) / float(out))
            at = np.nonzero((single != double) & (double < 32767))[0][:64]
            if not len(at):
                return False
            F.case(operator, [q("int16", (len(at),), a)], [q("int16", (), out)], None, version,
                   feeds=[[wide[at]]], note=f"near ties {a} {out}")
            return True
        return make

    def matmul():
        a, b, out = scales(3)
        single = requantized(pairs[0] * pairs[1], float(np.float32(a * b)) / float(out))
        double = requantized(pairs[0] * pairs[1], float(a) * float(b) / float(out))
        at = np.nonzero((single != double) & (np.abs(double) < 100))[0][:64]
        if not len(at):
            return False
        n = len(at)
        F.case("BATCH_MATMUL", [q("int8", (n, 1, 1), a, 0), q("int8", (n, 1, 1), b, 0)],
               [q("int8", (), out, 0)], ("BatchMatMulOptions", dict()), 2,
               feeds=[[pairs[0][at].reshape(n, 1, 1), pairs[1][at].reshape(n, 1, 1)]],
               note=f"near ties {a} {b} {out}")
        return True

    search(mul)
    search(matmul)
    search(prelu)
    search(leaky)
    search(quotients("ABS", 3))
    search(quotients("RELU", 3))


if __name__ == "__main__":
    arithmetic()
    comparison()
    functions()
    activations()
    reductions()
    near_ties()
    F.write()
