"""Operators that slide a window over an image. See record.py."""

from record import Family, Tensor

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


if __name__ == "__main__":
    pools()
    F.write()
