"""Inputs that get values when a model is read."""

import pickle

import intaglio
import numpy
import pytest

# y = ReduceSum(x, axes), without the dimensions of axes, for x of float32 (2, 3) and axes of int64
# (n,), as an .onnx file.
SUM = (
    b'\x08\x08:b\n(\n\x01x\n\x04axes\x12\x01y"\tReduceSum*\x0f\n\x08keepdims\x18\x00'
    b"\xa0\x01\x02\x12\x01gZ\x13\n\x01x\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02\x08"
    b"\x02\n\x02\x08\x03Z\x13\n\x04axes\x12\x0b\n\t\x08\x07\x12\x05\n\x03\x12"
    b"\x01nb\t\n\x01y\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\x12"
)
X = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
# y = x + c of uint16, (2, 3) and (3,).
SUM16 = (
    b'\x08\x08:N\n\x0e\n\x01x\n\x01c\x12\x01y"\x03Add\x12\x01gZ\x13\n\x01x\x12\x0e\n\x0c\x08\x04'
    b"\x12\x08\n\x02\x08\x02\n\x02\x08\x03Z\x0f\n\x01c\x12\n\n\x08\x08\x04\x12\x04\n\x02\x08\x03"
    b"b\x13\n\x01y\x12\x0e\n\x0c\x08\x04\x12\x08\n\x02\x08\x02\n\x02\x08\x03B\x04\n\x00\x10\x12"
)


@pytest.mark.parametrize(
    "axes",
    [
        [1],
        numpy.array([-1]),
        numpy.array([0, 1]),
        numpy.array([1], dtype=">i8"),
        numpy.array([1, 0, 0])[::2],  # not contiguous
    ],
)
def test_inputs_become_constants(axes):
    model = intaglio.load(SUM, constants={"axes": axes})
    assert [tensor.name for tensor in model.inputs] == ["x"]
    (y,) = model.run([X])
    assert numpy.array_equal(y, X.sum(axis=tuple(axes)))
    again = pickle.loads(pickle.dumps(model))
    assert numpy.array_equal(again.run([X])[0], y)


def test_all_inputs_may_be_constants():
    model = intaglio.load(SUM, constants={"axes": [0], "x": X})
    assert model.inputs == ()
    assert numpy.array_equal(model.run([])[0], X.sum(axis=0))


def test_uint16():
    c = numpy.array([1, 40000, 65535], dtype=numpy.uint16)
    x = numpy.array([[0, 40000, 1], [65535, 7, 9]], dtype=numpy.uint16)
    for model, inputs in (
        (intaglio.load(SUM16, constants={"c": c}), [x]),
        (intaglio.load(SUM16), [x, c]),
    ):
        assert model.inputs[0].dtype == numpy.uint16
        (y,) = model.run(inputs)
        assert y.dtype == numpy.uint16
        assert numpy.array_equal(y, x + c)
        with pytest.raises(intaglio.errors.DtypeError, match="uint16"):
            model.run([inputs[0].astype(numpy.int16), *inputs[1:]])


def test_what_must_be_known_is_named():
    with pytest.raises(intaglio.errors.UnsupportedError, match="give input 'axes' a value"):
        intaglio.load(SUM)


@pytest.mark.parametrize(
    ("constants", "error", "message"),
    [
        ({"axis": [1]}, "LoadError", "no input 'axis'.*its inputs are 'x', 'axes'"),
        ({"axes": 1}, "LoadError", r"int64 \[\]; the input is int64 \[\?\]"),
        ({"axes": numpy.array([1], numpy.int32)}, "LoadError", "is int32"),
        ({"axes": [1.0]}, "DtypeError", "constants\\['axes'\\]: no model takes the dtype float64"),
        ({"axes": "one"}, "DtypeError", "no model takes"),
        ({"axes": [[1], [1, 2]]}, "ArgumentError", "constants\\['axes'\\]: no array"),
        ([("axes", [1])], "ArgumentError", "a mapping"),
    ],
)
def test_values_that_do_not_fit_are_errors(constants, error, message):
    with pytest.raises(getattr(intaglio.errors, error), match=message):
        intaglio.load(SUM, constants=constants)
