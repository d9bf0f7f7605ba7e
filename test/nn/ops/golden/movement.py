"""Operators that move elements, make shapes, and compare places. See record.py."""

import numpy as np

from record import Family, Tensor, const, int_of, ints

F = Family("movement")
Q8 = dict(scale=0.5, zero=3)
ANY = ["int8", "uint8", "int16", "int32", "int64", "float32", "bool"]


def like(dtype, shape=()):
    """A tensor, quantized where its type is."""
    return Tensor(dtype, shape, **(Q8 if dtype in ("int8", "uint8") else
                                   dict(scale=0.5) if dtype == "int16" else {}))


def pads(*pairs):
    return const("int32", np.array(pairs, dtype=np.int32).reshape(-1, 2))


def same(operator, dtypes, shape, constants=(), options=None, version=4, **more):
    """x, then constants -> one output of x's type."""
    for dtype in dtypes:
        F.case(operator, [like(dtype, shape), *constants], [like(dtype)], options, version, **more)


def squeeze_and_expand():
    for axes in ([], [0], [-2], [0, 2, -4]):
        same("SQUEEZE", ["int8"], (1, 3, 1, 2), options=("SqueezeOptions", dict(squeezeDims=axes)),
             version=1)
    same("SQUEEZE", ["float32"], (1, 1), options=("SqueezeOptions", dict(squeezeDims=[])), version=1)
    F.case("SQUEEZE", [like("int8", (1, 3))], [like("int8")],
           ("SqueezeOptions", dict(squeezeDims=[1])), error="cannot drop dimension 1 of [1, 3]")
    for axis in (0, 2, -1, -3):
        same("EXPAND_DIMS", ["int8"], (2, 3), [int_of(axis)], version=1)
    same("EXPAND_DIMS", ["float32", "int32"], (), [int_of(0)], version=1)
    # CVE-2021-37685: a large negative axis.
    F.case("EXPAND_DIMS", [like("int8", (2, 3)), int_of(-2000000000)], [like("int8")],
           error="the axis -2000000000 is no dimension")


def pad():
    for dtype in ["int8", "uint8", "int16", "int32", "int64", "float32"]:
        x = like(dtype, (2, 3, 2))
        value = Tensor(dtype, data=np.array(7, dtype=dtype), scale=x.scale, zero=x.zero)
        same("PAD", [dtype], (2, 3, 2), [pads((1, 0), (0, 2), (1, 1))])
        F.case("PADV2", [x, pads((0, 1), (2, 0), (0, 0)), value], [like(dtype)], None, 4)
    F.case("PADV2", [like("float32", (2,)), pads((1, 1)), const("float32", -2.5)],
           [like("float32")], None, 4)
    same("PAD", ["int8"], (1, 2, 2, 2, 1), [pads((0, 0), (1, 1), (0, 1), (1, 0), (0, 2))])
    for mode in (0, 1):
        options = ("MirrorPadOptions", dict(mode=mode))
        same("MIRROR_PAD", ["int8", "uint8", "int16", "int32", "float32", "int64"], (3, 4),
             [pads((2, 1), (0, 3))], options, 2)
        same("MIRROR_PAD", ["int8"], (2, 3, 2), [pads((1, 1), (2, 0), (0, 1))], options, 2)
        same("MIRROR_PAD", ["int8"], (2, 3), [pads((0, 0), (0, 0))], options, 2)
    F.case("MIRROR_PAD", [like("int8", (3,)), pads((3, 0))], [like("int8")],
           ("MirrorPadOptions", dict(mode=0)), 2, error="cannot mirror 3 and 0 elements")
    F.case("MIRROR_PAD", [like("int8", (3,)), pads((-1, 0))], [like("int8")],
           ("MirrorPadOptions", dict(mode=1)), 2, error="cannot mirror -1 and 0 elements")
    same("MIRROR_PAD", ["int8"], (3,), [pads((3, 3))], ("MirrorPadOptions", dict(mode=1)), 2)


def transpose():
    same("TRANSPOSE", ANY, (2, 3, 4), [ints(2, 0, 1)])
    for permutation in ([0, 1, 2, 3], [0, 3, 1, 2], [3, 2, 1, 0], [1, 0, 3, 2], [0, 2, 1, 3]):
        same("TRANSPOSE", ["int8"], (2, 3, 1, 5), [ints(*permutation)])
    same("TRANSPOSE", ["int8"], (2, 3), [ints(-1, 0)])
    same("TRANSPOSE", ["int8"], (1, 2, 3, 2, 2), [ints(4, 1, 0, 3, 2)])
    same("TRANSPOSE", ["int8"], (2, 1, 2, 3, 2, 2), [ints(5, 0, 4, 1, 3, 2)])
    for wrong in ([0, 0, 1], [0, 1], [0, 1, 3]):
        F.case("TRANSPOSE", [like("int8", (2, 3, 4)), ints(*wrong)], [like("int8")], None, 4,
               error="the axis 3 is no dimension" if 3 in wrong else "is no permutation")


def split_and_pack():
    for dtype in ["int8", "uint8", "int16", "int32", "float32", "int64"]:
        F.case("SPLIT", [int_of(1), like(dtype, (2, 6))], [like(dtype)] * 3,
               ("SplitOptions", dict(numSplits=3)), 4)
        F.case("SPLIT_V", [like(dtype, (2, 6)), ints(1, 3, 2), int_of(-1)], [like(dtype)] * 3,
               ("SplitVOptions", dict(numSplits=3)), 2)
        F.case("PACK", [like(dtype, (2, 3))] * 3, [like(dtype)],
               ("PackOptions", dict(valuesCount=3, axis=1)), 4)
        if dtype != "int64":  # the reference has no such kernel
            F.case("UNPACK", [like(dtype, (2, 3, 2))], [like(dtype)] * 3,
                   ("UnpackOptions", dict(num=3, axis=1)), 4)
    F.case("SPLIT", [int_of(-4), like("int8", (4, 1, 2, 3))], [like("int8")] * 2,
           ("SplitOptions", dict(numSplits=2)), 4)
    F.case("SPLIT", [int_of(0), like("int8", (3,))], [like("int8")],
           ("SplitOptions", dict(numSplits=1)), 4)
    F.case("SPLIT_V", [like("int8", (5, 2)), ints(2, -1), int_of(0)], [like("int8")] * 2,
           ("SplitVOptions", dict(numSplits=2)), 2)
    for axis in (0, -1, 2):
        F.case("PACK", [like("int8", (2, 3))] * 2, [like("int8")],
               ("PackOptions", dict(valuesCount=2, axis=axis)), 4)
    F.case("PACK", [like("int8", ())] * 4, [like("int8")],
           ("PackOptions", dict(valuesCount=4, axis=0)), 4)
    F.case("UNPACK", [like("int8", (3,))], [like("int8")] * 3,
           ("UnpackOptions", dict(num=3, axis=-1)), 4)
    # CVE-2021-29599 and CVE-2021-29606: no parts, and an axis that does not exist.
    F.case("SPLIT", [int_of(0), like("int8", (4,))], [like("int8")],
           ("SplitOptions", dict(numSplits=0)), 4, error="into 0 for 1 outputs")
    F.case("SPLIT", [int_of(0), like("int8", (4,))], [like("int8")] * 2,
           ("SplitOptions", dict(numSplits=-2)), 4, error="into -2 for 2 outputs")
    F.case("SPLIT", [int_of(0), like("int8", (5,))], [like("int8")] * 2,
           ("SplitOptions", dict(numSplits=2)), 4, error="cannot split dimension 0 of [5]")
    F.case("SPLIT", [int_of(1), like("int8", (4,))], [like("int8")] * 2,
           ("SplitOptions", dict(numSplits=2)), 4, error="SPLIT #0 'y0': the axis 1 is no dimension")
    F.case("SPLIT_V", [like("int8", (4,)), ints(2, 2), int_of(7)], [like("int8")] * 2,
           ("SplitVOptions", dict(numSplits=2)), 2, error="the axis 7 is no dimension of [4]")
    F.case("SPLIT_V", [like("int8", (4,)), ints(5, -1), int_of(0)], [like("int8")] * 2,
           ("SplitVOptions", dict(numSplits=2)), 2, error="cannot split dimension 0 of [4]")
    F.case("UNPACK", [like("int8", (4,))], [like("int8")] * 3,
           ("UnpackOptions", dict(num=3, axis=0)), 4, error="unpacks dimension 0 of [4] into 3")
    F.case("PACK", [like("int8", (2, 3)), like("int8", (3, 2))], [like("int8")],
           ("PackOptions", dict(valuesCount=2, axis=0)), 4, error="has not the shape of input 0")


def updates():
    """DYNAMIC_UPDATE_SLICE: places past an end move inside."""
    def update(x, size, starts, dtype="int8", start_type="int32", **more):
        return F.case("DYNAMIC_UPDATE_SLICE",
                      [like(dtype, x), like(dtype, size), Tensor(start_type, (len(x),))],
                      [like(dtype)], feeds=None if starts is None else
                      [[*(np.arange(np.prod(s)).reshape(s) + k for k, s in ((0, x), (90, size))),
                        start] for start in starts], **more)

    for dtype in ANY:
        if dtype != "bool":
            update((3, 4, 2), (2, 3, 1), [(0, 0, 0), (1, 1, 1), (9, -5, 0)], dtype)
    update((5,), (2,), [(0,), (3,), (4,), (-1,)], start_type="int64")
    update((5,), (2,), [(2**40,), (-2**40,)], start_type="int64")
    update((2, 3), (2, 3), [(0, 0), (1, 2)])
    update((2, 3, 2, 2), (1, 3, 2, 2), [(1, 0, 0, 0), (0, 0, 0, 0)])
    update((2, 3), (0, 2), [(0, 1)])
    update((4,), (5,), None, error="[5] does not fit into [4]")
    update((4,), (2, 2), None, error="[2, 2] does not fit into [4]")
    x, small = like("int8", (4, 4)), like("int8", (1, 1))
    F.case("DYNAMIC_UPDATE_SLICE", [x, small, Tensor("int32", (3,))], [like("int8")],
           error="indices of the shape [3] for [4, 4]")
    F.case("DYNAMIC_UPDATE_SLICE", [x, small, Tensor("int32", (2, 1))], [like("int8")],
           error="indices of the shape [2, 1] for [4, 4]")
    F.case("DYNAMIC_UPDATE_SLICE", [x, small, Tensor("int16", (2,), scale=1.0)], [like("int8")],
           error="the indices are int16, not int32 or int64")
    F.case("DYNAMIC_UPDATE_SLICE", [x, like("int16", (1, 1)), Tensor("int32", (2,))], [like("int8")],
           error="is int16, not int8")


def slices():
    same("SLICE", ANY, (3, 4, 2), [ints(1, 0, 1), ints(2, 3, 1)])
    same("SLICE", ["int8"], (3, 4, 2), [ints(0, 2, 0), ints(-1, -1, 2)])
    same("SLICE", ["int8"], (2, 2, 3, 2, 2), [ints(0, 1, 0, 1, 0), ints(2, 1, 2, 1, 1)])
    same("SLICE", ["int8"], (4,), [const("int64", [1]), const("int64", [3])])
    for begin, size in ((-1, 2), (3, 2), (5, -1), (0, -2)):
        F.case("SLICE", [like("int8", (4,)), ints(begin), ints(size)], [like("int8")], None, 4,
               error=f"there are no {size} elements from {begin} on in dimension 0 of [4]")

    def strided(shape, begin, end, stride, dtypes=("int8",), error=None, **masks):
        for dtype in dtypes:
            options = dict(beginMask=0, endMask=0, ellipsisMask=0, newAxisMask=0, shrinkAxisMask=0,
                           offset=False)
            options.update(masks)
            F.case("STRIDED_SLICE", [like(dtype, shape), ints(*begin), ints(*end), ints(*stride)],
                   [like(dtype)], ("StridedSliceOptions", options), 4,
                   error=error, note=" ".join(f"{k}={v}" for k, v in masks.items()) +
                   f" {begin} {end} {stride}")

    strided((4, 5), (1, 0), (3, 4), (1, 2), ANY)
    strided((4, 5), (-1, -2), (-4, -6), (-1, -2))
    strided((4, 5), (3, 4), (0, 0), (-2, -3), beginMask=1, endMask=2)
    strided((4, 5), (100, -100), (-100, 100), (-1, 1))
    strided((4, 5), (2, 3), (2, 1), (1, 1))
    strided((4, 5), (2, 3), (3, 4), (1, 1), shrinkAxisMask=1)
    strided((4, 5), (-2, -1), (0, 0), (1, 1), shrinkAxisMask=3)
    strided((4, 5), (1, 0), (0, 3), (1, 2), endMask=1)
    strided((4, 5), (0, 0), (0, 0), (1, 1), beginMask=3, endMask=3)
    strided((4, 5), (0, 0), (0, 0), (-1, -2), beginMask=3, endMask=3)
    strided((2, 3, 4, 2), (0, 1), (0, 2), (1, 1), ellipsisMask=1)
    strided((2, 3, 4, 2), (1, 0, 0), (2, 0, 1), (1, 1, 1), ellipsisMask=2)
    strided((2, 3, 4, 2), (1, 0, 1), (2, 0, 2), (1, 1, 1), ellipsisMask=2, shrinkAxisMask=5)
    strided((2, 3), (0, 1, 0), (0, 3, 2), (1, 1, 1), newAxisMask=1)
    strided((2, 3), (0, 0, 1), (2, 0, 3), (1, 1, 1), newAxisMask=2)
    strided((2, 3, 2), (0, 0, 0, 1), (0, 0, 0, 2), (1, 1, 1, 1), newAxisMask=1, ellipsisMask=2)
    strided((2, 3, 2), (1,), (2,), (1,))
    strided((6,), (1,), (5,), (2,))
    strided((4, 5), (1, 0), (2, 3), (1, 1), offset=True)
    # CVE-2021-37686 and divisions: strides of 0, ellipses, indices that do not exist.
    strided((4, 5), (0, 0), (4, 5), (1, 0), error="the stride of dimension 1 is 0")
    strided((4, 5), (0, 0), (4, 5), (1, 1), error="2 ellipses", ellipsisMask=3)
    strided((4, 5), (0, 0, 0), (1, 1, 1), (1, 1, 1), error="names 3 dimensions")
    strided((4, 5), (4, 0), (5, 1), (1, 1), error="has no index 4", shrinkAxisMask=1)
    strided((0, 5), (0, 0), (1, 1), (1, 1), error="has no index 0", shrinkAxisMask=1)


def gathers():
    def gather(x, indices, axis=0, batch=0, feeds=None, error=None, index="int32"):
        F.case("GATHER", [x, Tensor(index, np.shape(indices))], [like(x.dtype)],
               ("GatherOptions", dict(axis=axis, batchDims=batch)), 5, error=error,
               feeds=[[values(x), np.array(indices)]])

    def values(x):
        return np.arange(np.prod(x.shape, dtype=int)).reshape(x.shape)

    for dtype in ANY:
        gather(like(dtype, (4, 3)), [2, 0, 3])
    gather(like("int8", (4, 3)), [1, 1], index="int64")
    gather(like("int8", (4, 3)), [3, 1], index="int16")
    gather(like("int8", (4, 3)), 2)
    gather(like("int8", (2, 3, 4)), [[2, 0], [1, 1]], axis=1)
    gather(like("int8", (2, 3, 4)), [3, 0, 1], axis=-1)
    gather(like("int8", (2, 3, 4)), [[2, 0], [1, 1]], axis=1, batch=1)
    gather(like("int8", (2, 3, 4)), [[2, 0], [1, 3]], axis=2, batch=1)
    gather(like("int8", (2, 3, 4)), [[0, 3, 1], [1, 2, 0]], axis=2, batch=2)
    for index in (4, -1, 2**31 - 1, -2**31):
        gather(like("int8", (4, 3)), [0, index], error=f"the index {index} is not in [0, 4)")
    gather(like("int8", (4, 3)), [2**40], error="is not in [0, 4)", index="int64")
    gather(like("int8", (4, 3)), [0], axis=2, error="the axis 2 is no dimension")
    gather(like("int8", (4, 3)), [[0], [1]], axis=1, batch=1, error="cannot gather along axis 1")

    def gather_nd(x, indices, error=None, index="int32"):
        F.case("GATHER_ND", [x, Tensor(index, np.shape(indices))], [like(x.dtype)], None, 5,
               error=error, feeds=[[values(x), np.array(indices)]])

    for dtype in ["int8", "uint8", "int16", "int32", "int64", "float32", "bool"]:
        gather_nd(like(dtype, (3, 4)), [[0, 1], [2, 3]])
    gather_nd(like("int8", (3, 4)), [[1], [0], [1]], index="int64")
    gather_nd(like("int8", (3, 4)), [2], index="int16")
    gather_nd(like("int8", (3, 4, 2)), [[[2, 3]], [[0, 0]]])
    # CVE-2021-37687 and CVE-2021-29589.
    gather_nd(like("int8", (3, 4)), [[0, -1]], error="the index -1 is not in [0, 4)")
    gather_nd(like("int8", (3, 4)), [[3, 0]], error="the index 3 is not in [0, 3)")
    gather_nd(like("int8", (3, 4)), [[0, 0, 0]], error="do not name places in [3, 4]")

    def lookup(rows, output, indices, error=None):
        F.case("EMBEDDING_LOOKUP", [Tensor("int32", np.shape(indices)), rows], [output], None, 3,
               error=error, feeds=[[np.array(indices)]])

    table = np.arange(-10, 10).reshape(5, 4)
    for dtype in ("int8", "float32", "int32"):
        lookup(const(dtype, table), like(dtype) if dtype != "int8" else Tensor("int8"), [4, 0, 4])
    lookup(const("float32", np.arange(24).reshape(2, 3, 4)), Tensor("float32"), [1])
    lookup(const("int8", table, scale=0.3), Tensor("float32"), [4, 0, 3])
    lookup(const("int8", table, scale=[0.3, 0.7, 0.11, 1.3, 0.5]), Tensor("float32"), [4, 2, 1])
    # CVE-2022-23559.
    lookup(const("int8", table), Tensor("int8"), [5], error="the index 5 is not in [0, 5)")
    lookup(const("int8", table), Tensor("int8"), [-1], error="the index -1 is not in [0, 5)")
    lookup(const("int8", table, scale=0.3, zero=1), Tensor("float32"), [1], error="zero point 0")


def repetition():
    same("TILE", ANY, (2, 3), [ints(2, 2)], version=2)
    same("TILE", ["int8"], (2, 1, 3), [ints(1, 3, 2)], version=2)
    same("TILE", ["int8"], (2, 3), [const("int64", [3, 1])], version=2)
    same("TILE", ["int8"], (2, 3), [ints(2, 0)], version=2)
    F.case("TILE", [like("int8", (2**16, 3)), ints(2**16, 1)], [like("int8")], None, 2,
           error="a dimension of the output would have 4294967296 elements")
    F.case("TILE", [like("int8", (2**15, 3)), ints(2**15, 2**20)], [like("int8")], None, 2,
           error="needs more than the limit")
    F.case("TILE", [like("int8", (2, 3)), ints(2, -1)], [like("int8")], None, 2,
           error="has the multiples [2, -1]")
    same("BROADCAST_TO", ["int8", "uint8", "int16", "int32", "int64", "float32", "bool"], (3, 1),
         [ints(2, 3, 2)], version=3)
    same("BROADCAST_TO", ["int8"], (2, 1, 3, 1), [ints(2, 2, 3, 2)], version=3)
    same("BROADCAST_TO", ["float32"], (), [ints(2, 2)], version=3)
    F.case("BROADCAST_TO", [like("int8", (3,)), ints(2, 2)], [like("int8")], None, 3,
           error="cannot broadcast [3] to [2, 2]")
    F.case("BROADCAST_TO", [like("int8", (1,)), ints(-1)], [like("int8")], None, 3,
           error="cannot broadcast [1] to [-1]")


def generation():
    for dtype in ["int8", "int16", "int32", "int64", "float32", "bool"]:
        F.case("FILL", [ints(2, 3), Tensor(dtype, (), scale=0.5 if dtype in ("int8", "int16")
                                           else None)],
               [Tensor(dtype, scale=0.5 if dtype in ("int8", "int16") else None)], None, 4)
    F.case("FILL", [const("int64", [5]), Tensor("int32")], [Tensor("int32")], None, 4)
    F.case("FILL", [const("int32", [2]), const("int32", 7)], [Tensor("int32")], None, 4)
    F.case("FILL", [ints(2, -3), Tensor("int32")], [Tensor("int32")], None, 4,
           error="cannot fill the shape [2, -3]")
    F.case("FILL", [Tensor("int32", (2,)), Tensor("int32")], [Tensor("int32")], None, 4,
           error="operator #0 FILL v4: shapes that are not constant are not supported",
           feeds=[[[1, 2], 0]])
    for out in ("int32", "int64"):
        F.case("SHAPE", [like("int8", (2, 0, 5))], [Tensor(out)],
               ("ShapeOptions", dict(outType={"int32": 2, "int64": 4}[out])))
    for dtype, start, limit, step in (("int32", 2, 11, 3), ("int32", 5, -4, -2), ("int64", 0, 4, 1),
                                      ("float32", 0.5, 2.1, 0.3), ("float32", 1, -1, -0.25)):
        F.case("RANGE", [const(dtype, start), const(dtype, limit), const(dtype, step)],
               [Tensor(dtype)])
    for step, limit in ((0, 4), (-1, 4), (1, -4)):
        F.case("RANGE", [const("int32", 0), const("int32", limit), const("int32", step)],
               [Tensor("int32")], error=f"cannot count from 0 to {limit} in steps of {step}")
    F.case("RANGE", [const("float32", 0), const("float32", np.inf), const("float32", 1)],
           [Tensor("float32")], error="cannot count from 0.000000 to inf")
    F.case("RANGE", [const("float32", 0), const("float32", np.nan), const("float32", 1)],
           [Tensor("float32")], error="cannot count from 0.000000 to nan")
    F.case("RANGE", [const("int32", -2**31), const("int32", 2**31 - 1), const("int32", 1)],
           [Tensor("int32")], error="cannot count from -2147483648 to 2147483647")

    def one_hot(shape, depth, axis, dtype, feed, index="int32", error=None):
        values = [const(dtype, v) for v in (1, 0)]
        if dtype == "int8":
            values = [const(dtype, v, **Q8) for v in (100, -3)]
        F.case("ONE_HOT", [Tensor(index, shape), int_of(depth), *values],
               [like(dtype)], ("OneHotOptions", dict(axis=axis)), feeds=[[feed]], error=error)

    for dtype in ["int8", "uint8", "int32", "int64", "float32", "bool"]:
        one_hot((4,), 3, -1, dtype, [0, 2, 5, -1])
    one_hot((2, 3), 4, 0, "int8", [[0, 1, 2], [3, 0, 0]])
    one_hot((2, 3), 4, 1, "int8", [[0, 1, 2], [3, 0, 0]], "int64")
    one_hot((2,), 0, -1, "int8", [0, 1])
    one_hot((2,), -1, -1, "int8", [0, 1], error="the depth is -1")
    one_hot((2,), 2, 3, "int8", [0, 1], error="the axis 3 is no dimension")
    one_hot((2**10,), 2**31 - 1, -1, "int8", 0, error="needs more than the limit")


def casts():
    edges = {"float32": [0.0, -0.0, 1.5, -1.5, 2.5, 100.99, -127.5, -0.99],
             "bool": [0, 1, 1, 0, 1, 0, 0, 1]}
    for source in ANY:
        for target in ANY:
            x = Tensor(source, (8,))
            low, high = (-2**31, 2**31 - 1) if source == "int64" else (None, None)
            feed = edges.get(source)
            if feed is None:
                info = np.iinfo(source)
                feed = [0, 1, info.max, info.min, info.max - 1, 2, 77, info.max // 2]
            # What float32 holds of a negative number is not uint8's; the rest is undefined there.
            if source == "float32" and target == "uint8":
                feed = [0, 1.5, 2.5, 254.9, 255, 0.99, 3, 77.7]
            F.case("CAST", [x], [Tensor(target)], None, 4, feeds=[[feed]], note="to " + target)


def sorting():
    for operator in ("ARG_MAX", "ARG_MIN"):
        for dtype in ["int8", "uint8", "int32", "float32", "bool"]:
            F.case(operator, [like(dtype, (3, 7)), int_of(1)], [Tensor("int32")],
                   (operator.title().replace("_", "") + "Options", dict(outputType=2)), 2, runs=3)
        for axis, out in ((0, "int64"), (-2, "int32"), (2, "int64")):
            F.case(operator, [like("int8", (3, 4, 5)), const("int64", axis)], [Tensor(out)],
                   (operator.title().replace("_", "") + "Options",
                    dict(outputType={"int32": 2, "int64": 4}[out])), 2)
        F.case(operator, [like("int8", (6,)), int_of(0)], [Tensor("int64")],
               (operator.title().replace("_", "") + "Options", dict(outputType=4)), 2,
               feeds=[[[5, 5, 5, 5, 5, 5]], [[1, 7, 1, 7, -3, -3]]])
        # CVE-2021-29603.
        for axis in (2, -3):
            F.case(operator, [like("int8", (3, 4)), int_of(axis)], [Tensor("int32")],
                   (operator.title().replace("_", "") + "Options", dict(outputType=2)), 2,
                   error=f"the axis {axis} is no dimension of [3, 4]")
        F.case(operator, [like("int8", (3, 0)), int_of(1)], [Tensor("int32")],
               (operator.title().replace("_", "") + "Options", dict(outputType=2)), 2,
               error="there are no elements along axis 1 of [3, 0]")
    for dtype in ["int8", "uint8", "int16", "int32", "int64", "float32"]:
        F.case("TOPK_V2", [like(dtype, (2, 9)), int_of(4)], [like(dtype), Tensor("int32")], None, 3)
    F.case("TOPK_V2", [like("int8", (8,)), int_of(8)], [like("int8"), Tensor("int16")], None, 3,
           feeds=[[[1, 2, 2, 1, -5, 2, 7, 1]], [[0] * 8]])
    F.case("TOPK_V2", [like("int8", (8,)), int_of(9)], [like("int8"), Tensor("int32")], None, 3,
           error="there are no 9 elements in the rows of [8]")
    F.case("TOPK_V2", [like("int8", (8,)), int_of(-1)], [like("int8"), Tensor("int32")], None, 3,
           error="there are no -1 elements")
    for dtype in ["int32", "int64", "float32"]:
        for exclusive in (False, True):
            for reverse in (False, True):
                F.case("CUMSUM", [like(dtype, (2, 3, 4)), int_of(1)], [like(dtype)],
                       ("CumsumOptions", dict(exclusive=exclusive, reverse=reverse)),
                       note=f"{exclusive} {reverse}",
                       feeds=[[np.arange(24).reshape(2, 3, 4) * 3 - 30]])
    F.case("CUMSUM", [like("int32", (5,)), int_of(-1)], [like("int32")],
           ("CumsumOptions", dict(exclusive=False, reverse=False)))
    F.case("CUMSUM", [like("int32", (5,)), int_of(1)], [like("int32")],
           ("CumsumOptions", dict()), error="the axis 1 is no dimension of [5]")


def resizing():
    for operator in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        name = "ResizeBilinearOptions" if operator.endswith("R") and "BIL" in operator \
            else "ResizeNearestNeighborOptions"
        for align, half in ((False, False), (True, False), (False, True)):
            options = (name, dict(alignCorners=align, halfPixelCenters=half))
            for dtype in ["int8", "uint8", "int16", "float32"]:
                for size in ((5, 7), (2, 2)):
                    same(operator, [dtype], (1, 3, 4, 2), [ints(*size)], options, 4,
                         note=f"{size} {align} {half}")
            for size in ((1, 1), (3, 1), (9, 13)):
                for dtype in ("int8", "uint8"):
                    same(operator, [dtype], (2, 4, 3, 1), [ints(*size)], options, 4,
                         note=f"{size} {align} {half}")
            same(operator, ["int8", "uint8"], (1, 1, 1, 3), [ints(3, 2)], options, 4,
                 note=f"{align} {half}")
        options = (name, dict(alignCorners=False, halfPixelCenters=False))
        for size in ((0, 3), (3, -1)):
            F.case(operator, [like("int8", (1, 2, 2, 1)), ints(*size)], [like("int8")], options, 4,
                   error="cannot resize [1, 2, 2, 1] to height")
        F.case(operator, [like("int8", (1, 0, 2, 1)), ints(2, 2)], [like("int8")], options, 4,
               error="cannot resize [1, 0, 2, 1] to height")
        F.case(operator, [like("int8", (1, 2, 2)), ints(2, 2)], [like("int8")], options, 4,
               error="not [batch, height, width, channels]")


def blocks():
    for dtype in ["int8", "uint8", "int32", "int64", "float32"]:
        same("SPACE_TO_DEPTH", [dtype], (1, 4, 6, 3), options=("SpaceToDepthOptions",
                                                              dict(blockSize=2)), version=2)
        same("DEPTH_TO_SPACE", [dtype], (2, 2, 3, 8), options=("DepthToSpaceOptions",
                                                              dict(blockSize=2)), version=1)
    same("SPACE_TO_DEPTH", ["int8"], (2, 3, 3, 2), options=("SpaceToDepthOptions",
                                                           dict(blockSize=3)), version=2)
    same("DEPTH_TO_SPACE", ["int8"], (1, 1, 2, 9), options=("DepthToSpaceOptions",
                                                           dict(blockSize=3)), version=1)
    # CVE-2021-29587, CVE-2021-29595.
    for operator, message in (("SPACE_TO_DEPTH", ""), ("DEPTH_TO_SPACE", "")):
        name = {"S": "SpaceToDepthOptions", "D": "DepthToSpaceOptions"}[operator[0]]
        for block in (0, -1):
            F.case(operator, [like("int8", (1, 2, 2, 4))], [like("int8")],
                   (name, dict(blockSize=block)), 1, error=f"the block size is {block}")
        F.case(operator, [like("int8", (1, 2, 2, 4))], [like("int8")], (name, dict(blockSize=3)), 1,
               error="the block size 3")
        F.case(operator, [like("int8", (1, 0, 0, 4))], [like("int8")],
               (name, dict(blockSize=2**31 - 1)), 1,
               error="does not divide" if operator[0] == "D" else "a dimension of the output")

    for dtype in ["int8", "uint8", "int16", "int32", "int64", "float32"]:
        q = like(dtype)
        F.case("SPACE_TO_BATCH_ND",
               [Tensor(dtype, (1, 4, 5, 2), scale=q.scale, zero=q.zero), ints(2, 3),
                pads((1, 1), (0, 1))], [q], None, 3)
        F.case("BATCH_TO_SPACE_ND", [like(dtype, (6, 2, 3, 2)), ints(3, 2), pads((1, 1), (2, 0))],
               [like(dtype)], None, 3)
    same("SPACE_TO_BATCH_ND", ["int8"], (2, 4, 3), [ints(2), pads((2, 0))], version=3)
    same("SPACE_TO_BATCH_ND", ["int8"], (1, 2, 2, 1), [ints(5, 2), pads((3, 0), (0, 0))], version=3)
    same("BATCH_TO_SPACE_ND", ["int8"], (4, 3, 2), [ints(2), pads((1, 2))], version=3)
    # CVE-2021-29593, CVE-2021-29597.
    for operator in ("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"):
        F.case(operator, [like("int8", (4, 2, 2, 1)), ints(2, 0), pads((0, 0), (0, 0))],
               [like("int8")], None, 3, error="has the blocks [2, 0]")
        F.case(operator, [like("int8", (4, 2, 2, 1)), ints(2, 2), pads((0, -1), (0, 0))],
               [like("int8")], None, 3, error="or negative ones")
        F.case(operator, [like("int8", (4, 2, 2, 1)), ints(2**20, 2**20), pads((0, 0), (0, 0))],
               [like("int8")], None, 3, error="has more than 65536 blocks")
    F.case("SPACE_TO_BATCH_ND", [like("int8", (1, 3, 2, 1)), ints(2, 2), pads((0, 0), (0, 0))],
           [like("int8")], None, 3, error="no multiple of the block 2")
    F.case("BATCH_TO_SPACE_ND", [like("int8", (3, 2, 2, 1)), ints(2, 1), pads((0, 0), (0, 0))],
           [like("int8")], None, 3, error="is no multiple of the blocks")
    F.case("BATCH_TO_SPACE_ND", [like("int8", (4, 1, 1, 1)), ints(2, 2), pads((2, 1), (0, 0))],
           [like("int8")], None, 3, error="would have -1 elements")


def reversal_and_choice():
    same("REVERSE_V2", ["int8", "uint8", "int16", "int32", "int64", "float32", "bool"], (2, 3, 2),
         [ints(1)], version=3)
    same("REVERSE_V2", ["int8"], (2, 3, 2), [ints(0, 1)], version=3)
    same("REVERSE_V2", ["int8"], (4,), [ints(-1)], version=3)
    F.case("REVERSE_V2", [like("int8", (4,)), ints(1)], [like("int8")], None, 3,
           error="the axis 1 is no dimension of [4]")
    for dtype in ["int8", "uint8", "int16", "int32", "int64", "float32", "bool"]:
        F.case("SELECT", [Tensor("bool", (2, 3)), like(dtype, (2, 3)), like(dtype, (2, 3))],
               [like(dtype)], None, 2)
        F.case("SELECT_V2", [Tensor("bool", (2, 1)), like(dtype, (3,)), like(dtype, (2, 3))],
               [like(dtype)], None, 1)
    F.case("SELECT", [Tensor("bool", (3,)), like("int8", (3, 2)), like("int8", (3, 2))],
           [like("int8")], None, 2)
    F.case("SELECT", [Tensor("bool", ()), like("int8", (3, 2)), like("int8", (3, 2))],
           [like("int8")], None, 2, runs=3)
    F.case("SELECT_V2", [Tensor("bool", (2, 1, 3)), like("int8", (4, 1)), like("int8", (1,))],
           [like("int8")], None, 1)
    F.case("SELECT_V2", [Tensor("bool", (4,)), like("int8", (4,)), like("int8", ())],
           [like("int8")], None, 1)
    F.case("SELECT", [Tensor("bool", (2,)), like("int8", (3, 2)), like("int8", (3, 2))],
           [like("int8")], None, 2, error="a condition of [2] cannot choose")
    F.case("SELECT_V2", [Tensor("bool", (2,)), like("int8", (3,)), like("int8", (3,))],
           [like("int8")], None, 1, error="do not broadcast")


def computed_slices():
    """SLICE and STRIDED_SLICE that begin where a run says."""
    def x_of(shape):
        return np.arange(np.prod(shape)).reshape(shape)

    def slices(shape, sizes, begins, dtype="int8", index="int32", **more):
        F.case("SLICE", [like(dtype, shape), Tensor(index, (len(sizes),)),
                         const(index, np.array(sizes))], [like(dtype)],
               feeds=[[x_of(shape), b] for b in begins], **more)

    for dtype in ANY:
        if dtype != "bool":
            slices((3, 4, 2), (2, 3, 1), [(0, 1, 1), (1, 0, 0)], dtype)
    slices((5,), (2,), [(3,), (0,)], index="int64")
    slices((3, 4), (-1, 2), [(0, 1), (0, 2)])
    slices((3, 4), (3, 4), [(0, 0)])
    for begin in (-1, 4, 2**31 - 1):
        slices((5,), (2,), [(begin,)],
               error=f"there are no 2 elements from {begin} on in dimension 0")
    slices((3, 4), (-1, 2), [(1, 1)], error="there are no 3 elements from 1 on in dimension 0")
    slices((3, 4), (6, 2), [], error="there are no 6 elements in dimension 0 of [3, 4]")
    slices((3, 4), (-2, 2), [], error="there are no -2 elements in dimension 0 of [3, 4]")
    F.case("SLICE", [like("int8", (4, 2)), Tensor("int32", (3,)), ints(1, 1)], [like("int8")],
           error="begins of the shape [3] for [4, 2]")
    F.case("SLICE", [like("int8", (4,)), Tensor("int16", (1,), scale=1.0), ints(1)], [like("int8")],
           error="the indices are int16, not int32 or int64")

    def picks(shape, begins, shrink, whole, error=None, ends=None, stride=1, **masks):
        rank = len(begins[0])
        options = dict(beginMask=whole, endMask=whole, ellipsisMask=0, newAxisMask=0,
                       shrinkAxisMask=shrink, offset=False)
        options.update(masks)
        end = Tensor("int32", (rank,)) if ends is None else ints(*ends)
        F.case("STRIDED_SLICE", [like("int8", shape), Tensor("int32", (rank,)), end,
                                 ints(*[stride] * rank)], [like("int8")],
               ("StridedSliceOptions", options), error=error,
               feeds=[[x_of(shape), np.array(b)] + ([np.array(b) + 1] if ends is None else [])
                      for b in begins], note=f"{shrink} {whole} {stride} {masks}")

    picks((3, 4, 2), [(0, 2, 0), (9, 3, 7)], 2, 5)
    picks((3, 4, 2), [(1, 2), (2, 0)], 3, 0)
    picks((3, 4, 2), [(2,), (0,), (-1,)], 1, 0)
    picks((3, 4, 2), [(0, 0, 1)], 4, 3)
    for begin in (4, -5):
        picks((3, 4), [(0, begin)], 2, 1,
              error=f"there are no 1 elements from {begin} on in dimension 1")
    only = "begins that are not constant are supported for dimensions that shrink"
    picks((3, 4), [(0, 1)], 0, 1, error=only)
    picks((3, 4), [(0, 1)], 3, 1, error=only)
    picks((3, 4), [(0, 1)], 2, 1, error=only, stride=2)
    picks((3, 4), [(0, 1)], 2, 1, error=only, newAxisMask=1)
    picks((3, 4), [(0, 1)], 2, 1, error=only, ellipsisMask=1)
    picks((3, 4), [(0, 1, 2)], 2, 5, error="begins of the shape [3] for [3, 4]")


def scatter():
    """SCATTER_ND; places that are named twice get both."""
    def case(indices, updates, shape, dtype="int8", feeds=None, **more):
        F.case("SCATTER_ND", [Tensor("int32", indices), like(dtype, updates), ints(*shape)],
               [like(dtype)], feeds=feeds and [
                   [f, (np.arange(np.prod(updates)) % 100 + 1).reshape(updates)] for f in feeds],
               **more)

    for dtype in ("int8", "uint8", "int32", "int64", "float32"):
        case((3, 2), (3, 4), (3, 2, 4), dtype, [[[0, 1], [2, 0], [0, 1]]])
    case((2, 2, 1), (2, 2), (5,), feeds=[[[[4], [0]], [[4], [4]]]])
    case((1, 3), (1,), (2, 2, 2), feeds=[[[1, 0, 1]]])
    case((2, 0), (2, 3), (3,), "int32", feeds=[np.zeros((2, 0))])
    for index in (-1, 5):
        case((2, 1), (2,), (5,), feeds=[[[0], [index]]],
             error=f"the index {index} is not in [0, 5)")
    case((2, 1), (3,), (5,), error="cannot scatter [3] by indices [2, 1] into [5]")
    case((2, 3), (2,), (5, 5), error="cannot scatter [2] by indices [2, 3] into [5, 5]")
    case((2, 1), (2,), (-5,), error="cannot scatter [2] by indices [2, 1] into [-5]")
    case((2, 1), (2,), (5,), "bool", error="updates of bool")
    F.case("SCATTER_ND", [Tensor("int64", (2, 1)), like("int8", (2,)), ints(5)], [like("int8")],
           error="is int64; int32 is supported")


if __name__ == "__main__":
    squeeze_and_expand()
    pad()
    transpose()
    split_and_pack()
    slices()
    gathers()
    repetition()
    generation()
    casts()
    sorting()
    resizing()
    blocks()
    reversal_and_choice()
    updates()
    computed_slices()
    scatter()
    F.write()
