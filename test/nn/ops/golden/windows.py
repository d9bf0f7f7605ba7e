"""Pools, TRANSPOSE_CONV and BATCH_MATMUL. See record.py."""

import numpy as np

from record import Family, Tensor, const, ints, random_values

F = Family("windows")


def pools():
    for operator in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        for dtype in ("int8", "uint8", "int16"):
            q = dict(scale=0.02, zero={"int8": -9, "uint8": 120, "int16": 0}[dtype])
            for height, width, stride, padding, code in ((2, 2, 2, 0, 0), (3, 2, 1, 0, 1),
                                                        (2, 3, 1, 1, 3), (5, 4, 3, 0, 0)):
                F.case(operator, [Tensor(dtype, (2, 5, 4, 3), **q)], [Tensor(dtype, **q)],
                       ("Pool2DOptions", dict(padding=padding, strideW=stride, strideH=stride,
                                              filterWidth=width, filterHeight=height,
                                              fusedActivationFunction=code)), 3,
                       note=f"{height}x{width} {stride} {padding} {code}")
        # CVE-2021-29586, CVE-2021-37684.
        F.case(operator, [Tensor("int16", (1, 4, 4, 1), scale=1.0)], [Tensor("int16", scale=1.0)],
               ("Pool2DOptions", dict(padding=0, strideW=0, strideH=1, filterWidth=2,
                                      filterHeight=2, fusedActivationFunction=0)), 3,
               error="the stride is 0")


def transposed():
    rng = np.random.default_rng(5)

    def case(dtype, x, filter_shape, out, stride, padding, code=0, bias=True, per_channel=False,
             error=None):
        channels = filter_shape[0]
        weights = Tensor(dtype, filter_shape)
        weights.data = random_values(rng, weights)
        weights.scale, weights.zero = 0.011, 0 if dtype == "int8" else 130
        if per_channel:
            weights.scale = list(np.linspace(0.004, 0.02, channels))
        zero = {"int8": -9, "uint8": 120}[dtype]
        scale = np.float32(np.float32(0.02) * np.float32(0.011))
        inputs = [ints(*out), weights, Tensor(dtype, x, scale=0.02, zero=zero)]
        if bias:
            inputs.append(const("int32", rng.integers(-2000, 2000, channels),
                                scale=list(np.float32(0.02) * np.float32(weights.scale))
                                if per_channel else float(scale)))
        F.case("TRANSPOSE_CONV", inputs, [Tensor(dtype, scale=0.3, zero=zero + 3)],
               ("TransposeConvOptions", dict(padding=padding, strideW=stride[1], strideH=stride[0],
                                             fusedActivationFunction=code)),
               4 if code else 3, error=error, runs=2,
               note=f"{out} {stride} {padding} {code} {per_channel}")

    for dtype in ("int8", "uint8"):
        case(dtype, (1, 3, 4, 2), (3, 3, 3, 2), (1, 6, 8, 3), (2, 2), 0)
        case(dtype, (2, 3, 2, 5), (4, 2, 3, 5), (2, 6, 6, 4), (2, 3), 1, code=1)
        case(dtype, (1, 3, 3, 1), (1, 4, 2, 1), (1, 6, 4, 1), (1, 1), 1, bias=False)
        case(dtype, (1, 1, 5, 3), (2, 1, 4, 3), (1, 1, 10, 2), (1, 2), 0, code=3)
    case("int8", (1, 3, 4, 2), (5, 3, 3, 2), (1, 5, 7, 5), (2, 2), 0, per_channel=True)
    # CVE-2021-29588.
    case("int8", (1, 3, 4, 2), (3, 3, 3, 2), (1, 6, 8, 3), (0, 2), 0, error="the stride 0 in")
    case("int8", (1, 3, 4, 2), (3, 3, 3, 1), (1, 6, 8, 3), (2, 2), 0, error="do not bring")
    case("int8", (1, 3, 4, 2), (3, 3, 3, 2), (1, 6, 8, 4), (2, 2), 0, error="do not bring")
    case("int8", (1, 3, 4, 2), (3, 3, 3, 2), (1, -6, 8, 3), (2, 2), 0, error="in -6 outputs")


def products():
    for a, b, x, y in (((3, 5), (5, 4), False, False), ((2, 3, 5), (2, 5, 4), False, False),
                       ((2, 5, 3), (5, 4), True, False), ((2, 1, 3, 5), (3, 4, 5), False, True),
                       ((4, 1, 7), (7, 1), False, False), ((2, 6, 2), (2, 3, 6), True, True)):
        F.case("BATCH_MATMUL", [Tensor("int8", a, scale=0.02, zero=-5),
                                Tensor("int8", b, scale=0.03, zero=9)],
               [Tensor("int8", scale=0.21, zero=4)],
               ("BatchMatMulOptions", dict(adjX=x, adjY=y)), 2, runs=2, note=f"{x} {y}")
        F.case("BATCH_MATMUL", [Tensor("int16", a, scale=2e-4), Tensor("int16", b, scale=3e-4)],
               [Tensor("int16", scale=0.004)],
               ("BatchMatMulOptions", dict(adjX=x, adjY=y)), 3, runs=2, note=f"{x} {y}")
    F.case("BATCH_MATMUL", [Tensor("int16", (2, 3), scale=0.1, zero=1),
                            Tensor("int16", (3, 2), scale=0.1)],
           [Tensor("int16", scale=0.1)], ("BatchMatMulOptions", dict()), 3,
           error="int16 with zero points other than 0")
    for a, b in (((3, 5), (4, 5)), ((3,), (3,)), ((2, 3, 5), (3, 5, 4)), ((3, 0), (0, 4))):
        F.case("BATCH_MATMUL", [Tensor("int8", a, scale=0.02), Tensor("int8", b, scale=0.03)],
               [Tensor("int8", scale=0.21)], ("BatchMatMulOptions", dict()), 2,
               error="do not multiply")


if __name__ == "__main__":
    pools()
    transposed()
    products()
    F.write()
