"""pack() and gemm()."""

import intaglio
import numpy
import pytest
from intaglio import errors


@pytest.fixture
def matrices():
    random = numpy.random.default_rng(1)
    a = random.integers(-128, 128, (5, 70), dtype=numpy.int8)
    b = random.integers(-128, 128, (70, 33), dtype=numpy.int8)
    return a, b


def exact(a, b):
    return a.astype(numpy.int64) @ b.astype(numpy.int64)


def test_sums_are_exact(matrices):
    a, b = matrices
    packed = intaglio.pack(b)
    assert packed.shape == (70, 33)
    assert packed.nbytes >= 70 * 33
    for right in (b, packed):
        result = intaglio.gemm(a, right)
        assert result.dtype == numpy.int32
        assert numpy.array_equal(result, exact(a, b))
    assert numpy.array_equal(intaglio.gemm(a, packed, threads=3), exact(a, b))


def test_zero_points(matrices):
    a, b = matrices
    a = a.view(numpy.uint8)
    wanted = exact(a.astype(numpy.int64) - 7, b.astype(numpy.int64) - 3)
    assert numpy.array_equal(intaglio.gemm(a, b, a_zero_point=7, b_zero_point=3), wanted)
    packed = intaglio.pack(b, zero_point=3)
    assert numpy.array_equal(intaglio.gemm(a, packed, a_zero_point=7), wanted)
    points = numpy.arange(33, dtype=numpy.int32)
    wanted = exact(a, b.astype(numpy.int64) - points)
    assert numpy.array_equal(intaglio.gemm(a, intaglio.pack(b, zero_point=points)), wanted)


def test_finishes(matrices):
    a, b = matrices
    bias = numpy.arange(33, dtype=numpy.int32)
    scale = numpy.linspace(0.0005, 0.002, 33).astype(numpy.float32)
    real = (exact(a, b) + bias) * scale.astype(numpy.float64)
    wanted = numpy.clip(numpy.rint(real) + 3, -128, 127)
    result = intaglio.gemm(a, intaglio.pack(b), bias=bias, scale=scale, zero_point=3, out="int8")
    assert result.dtype == numpy.int8
    # The float32 product may round a tie of real numbers to the other side.
    assert numpy.abs(result - wanted).max() <= 1
    assert (result != wanted).mean() < 0.01
    result = intaglio.gemm(a, b, bias=bias, scale=scale, out="float32")
    assert numpy.allclose(result, real, rtol=1e-6)
    result = intaglio.gemm(a, b, scale=0.001, out="uint8", zero_point=100, clamp=(90, 110))
    assert result.min() >= 90 and result.max() <= 110
    for rounding in ("single", "double", "half_even"):
        result = intaglio.gemm(a, b, scale=0.001, out="int16", rounding=rounding)
        assert numpy.abs(result - exact(a, b) * 0.001).max() < 0.51
        result = intaglio.gemm(a, b, scale=scale, out="int16", rounding=rounding)
        assert numpy.abs(result - exact(a, b) * scale).max() < 0.51


def test_layouts(matrices):
    a, b = matrices
    assert numpy.array_equal(intaglio.gemm(a, numpy.asfortranarray(b)), exact(a, b))
    assert numpy.array_equal(intaglio.gemm(a[:, :40], b[:40, 3:9]), exact(a[:, :40], b[:40, 3:9]))
    assert numpy.array_equal(intaglio.gemm(a[::2], b), exact(a[::2], b))
    out = numpy.zeros((5, 40), numpy.int32)
    assert intaglio.gemm(a, b, out=out[:, 2:35]).base is out
    assert numpy.array_equal(out[:, 2:35], exact(a, b))
    assert not out[:, :2].any() and not out[:, 35:].any()
    transposed = numpy.zeros((33, 5), numpy.int32)
    intaglio.gemm(a, b, out=transposed.T)
    assert numpy.array_equal(transposed.T, exact(a, b))


def test_numbers_and_dtypes_of_numpy(matrices):
    a, b = matrices
    wanted = intaglio.gemm(a, b, scale=0.25, out="int8")
    for dtype in (numpy.int8, numpy.dtype("int8")):
        for scale in (numpy.float32(0.25), numpy.array(0.25)):
            assert numpy.array_equal(intaglio.gemm(a, b, scale=scale, out=dtype), wanted)
    packed = intaglio.pack(b, zero_point=numpy.int16(3))
    assert numpy.array_equal(intaglio.gemm(a, packed), intaglio.gemm(a, b, b_zero_point=3))


def test_errors(matrices):
    a, b = matrices
    packed = intaglio.pack(b)
    sealed = numpy.zeros((5, 33), numpy.int32)
    sealed.flags.writeable = False
    for kind, call in (
        (errors.ArgumentError, lambda: intaglio.gemm(a, b[:60])),
        (errors.ShapeError, lambda: intaglio.gemm(a[0], b)),
        (errors.DtypeError, lambda: intaglio.gemm(a.astype(float), b)),
        (errors.Error, lambda: intaglio.gemm(a.astype(numpy.int32), b)),
        (errors.LayoutError, lambda: intaglio.gemm(a[::2, ::2], b[:35])),
        (errors.LayoutError, lambda: intaglio.gemm(a[:, ::-1], b)),
        (errors.LayoutError, lambda: intaglio.gemm(a, b, out=sealed)),
        (errors.DtypeError, lambda: intaglio.gemm(a, b, out="float16")),
        (errors.DtypeError, lambda: intaglio.gemm(a, b, bias=numpy.zeros(33))),
        (errors.ShapeError, lambda: intaglio.gemm(a, b, bias=numpy.zeros(3, numpy.int32))),
        (errors.DtypeError, lambda: intaglio.gemm(a, b, scale=numpy.zeros(33), out="int8")),
        (errors.ArgumentError, lambda: intaglio.gemm(a, b, scale=-1.0, out="int8")),
        (errors.ArgumentError, lambda: intaglio.gemm(a, b, scale=1.0, out="int8", rounding="up")),
        (errors.ArgumentError, lambda: intaglio.gemm(a, packed, b_zero_point=3)),
        (errors.ArgumentError, lambda: intaglio.gemm(a, b, scale=10**400, out="int8")),
        (errors.ArgumentError, lambda: intaglio.gemm(a, b, threads=0)),
        (errors.ArgumentError, lambda: intaglio.gemm(a, b, threads=10**9)),
        (errors.DtypeError, lambda: intaglio.gemm(a, b, out=numpy.int64)),
        (errors.ArgumentError, lambda: intaglio.pack(b, zero_point=1 << 40)),
        (errors.ArgumentError, lambda: intaglio.pack(b, zero_point=numpy.float32(3))),
        (errors.ArgumentError, lambda: intaglio.pack(b, kernel="of wood")),
        (errors.ShapeError, lambda: intaglio.pack(b[0])),
    ):
        with pytest.raises(kind):
            call()
    with pytest.raises(TypeError):
        intaglio.gemm(a, b, zero_point="3")
    assert numpy.array_equal(intaglio.gemm(a, packed), exact(a, b))


def test_dlpack(matrices):
    torch = pytest.importorskip("torch")
    a, b = matrices
    assert numpy.array_equal(intaglio.gemm(torch.from_numpy(a), torch.from_numpy(b)), exact(a, b))
