"""LOG_SOFTMAX of 8 bits. See record.py."""

from record import Family, Tensor

F = Family("log_softmax")


def rows():
    for dtype, zero, top in (("int8", -5, 127), ("uint8", 120, 255)):
        for shape in ((4, 7), (2, 1), (1, 300), (2, 3, 4)):
            for scale in (0.0007, 0.05, 0.3, 1.7, 15.9):
                F.case("LOG_SOFTMAX", [Tensor(dtype, shape, scale=scale, zero=zero)],
                       [Tensor(dtype, scale=1 / 16, zero=top)], None, 2, runs=2, note=f"{scale}")
        F.case("LOG_SOFTMAX", [Tensor(dtype, (2, 3), scale=0.1, zero=zero)],
               [Tensor(dtype, scale=1 / 8, zero=top)], None, 2, error="steps of 1/16 below 0")
    F.case("LOG_SOFTMAX", [Tensor("int8", (1, 3000), scale=0.1)],
           [Tensor("int8", scale=1 / 16, zero=127)], None, 2, error="rows of 3000 elements")


if __name__ == "__main__":
    rows()
    F.write()
