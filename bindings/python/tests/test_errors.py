"""Each mistake has an exception of its own, and loses nothing."""

import builtins

import intaglio
import numpy
import pytest
from conftest import DIGITS, only
from intaglio import errors


def wrong_calls(model, image):
    name = only(model.inputs)
    out = model.empty_outputs()
    wide = numpy.zeros((1, 8, 8, 2), numpy.int8)
    sealed = numpy.zeros((1, 10), numpy.int8)
    sealed.flags.writeable = False
    return [
        (errors.DtypeError, TypeError, lambda: model.run([image.astype(numpy.float32)])),
        (errors.DtypeError, TypeError, lambda: model.run([image.astype(numpy.float64)])),
        (errors.DtypeError, TypeError, lambda: model.run([image.astype(">i2")])),
        (errors.DtypeError, TypeError, lambda: model.run([image.view(numpy.uint8)])),
        (errors.DtypeError, TypeError, lambda: model.run([image.astype(object)])),
        (errors.DtypeError, TypeError, lambda: model.run([image.tolist()])),
        (errors.DtypeError, TypeError, lambda: model.run([None])),
        (errors.ShapeError, ValueError, lambda: model.run([image[0]])),
        (errors.ShapeError, ValueError, lambda: model.run([numpy.zeros((2, 8, 8, 1), "i1")])),
        (errors.LayoutError, ValueError, lambda: model.run([wide[..., :1]])),
        (errors.LayoutError, ValueError, lambda: model.run([image.transpose(0, 2, 1, 3)])),
        (errors.LayoutError, ValueError, lambda: model.run_into([image], [sealed])),
        (errors.UnknownNameError, KeyError, lambda: model.run({name: image, "more": image})),
        (errors.UnknownNameError, KeyError, lambda: model.run({"other": image})),
        (errors.UnknownNameError, KeyError, lambda: model.run([image, image])),
        (errors.UnknownNameError, KeyError, lambda: model.run({1: image})),
        (errors.UnknownNameError, KeyError, lambda: model.run({"\udc80": image})),
        (errors.MissingNameError, KeyError, lambda: model.run({})),
        (errors.MissingNameError, KeyError, lambda: model.run([])),
        (errors.MissingNameError, KeyError, lambda: model.run_into([image], {})),
        (errors.UnknownNameError, KeyError, lambda: model.run_into([image], {**out, "x": image})),
        (errors.ArgumentError, ValueError, lambda: model.run(image)),
        (errors.ShapeError, ValueError, lambda: model.resize({name: (1, 0, -3, 1)})),
        (errors.ShapeError, ValueError, lambda: model.resize({name: (1, 9, 9, 5)})),
        (errors.ShapeError, ValueError, lambda: model.resize({name: ()})),
        (errors.UnknownNameError, KeyError, lambda: model.resize({"x": (1, 8, 8, 1)})),
        (errors.ArgumentError, ValueError, lambda: model.resize({name: "large"})),
        (errors.ArgumentError, ValueError, lambda: model.resize({name: (1 << 40, 8, 8, 1)})),
    ]


def test_wrong_calls_lose_nothing(digits, image, expected):
    for kind, builtin, call in wrong_calls(digits, image):
        with pytest.raises(kind) as raised:
            call()
        assert isinstance(raised.value, intaglio.Error)
        assert isinstance(raised.value, builtin)
        assert str(raised.value)
        (answer,) = digits.run([image])
        assert numpy.array_equal(answer, expected[:1])


def test_messages_name_the_tensor(digits, image):
    name = only(digits.inputs)
    with pytest.raises(intaglio.errors.DtypeError, match=f"'{name}'.*float32.*int8"):
        digits.run([image.astype(numpy.float32)])
    with pytest.raises(intaglio.errors.ShapeError, match=r"\(8, 8, 1\).*\(1, 8, 8, 1\)"):
        digits.run([image[0]])
    with pytest.raises(intaglio.errors.UnknownNameError, match=f"'more'.*'{name}'"):
        digits.run({name: image, "more": image})


def test_closed_models(image):
    model = intaglio.load(DIGITS / "digits.tflite")
    model.close()
    model.close()
    assert model.closed
    assert "closed" in repr(model)
    for call in (
        lambda: model.run([image]),
        model.empty_outputs,
        model.share,
        model.reset_state,
        lambda: model.layers,
        lambda: model.resize({}),
        model.__reduce__,
        model.profile,
    ):
        with pytest.raises(errors.ClosedError):
            call()


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        intaglio.load(tmp_path / "absent.tflite")
    assert isinstance(raised.value, intaglio.Error)
    assert "absent.tflite" in str(raised.value)
    with pytest.raises(intaglio.Error):
        intaglio.load(tmp_path)
    (tmp_path / "empty.onnx").write_bytes(b"")
    with pytest.raises(intaglio.Error):
        intaglio.load(tmp_path / "empty.onnx")
    data = (DIGITS / "digits.tflite").read_bytes()
    for damaged in (b"", b"nothing", data[: len(data) // 2], data[:8] + b"\xff" * 4000, b"\x08\x01"):
        with pytest.raises(intaglio.errors.LoadError) as raised:
            intaglio.load(damaged, name="damaged")
        assert isinstance(raised.value, ValueError)
        assert "damaged" in str(raised.value)


def test_wrong_options():
    path = DIGITS / "digits.tflite"
    for options in (
        {"threads": 0},
        {"threads": 10**9},
        {"kernel": "of wood"},
        {"kernel": 3},
        {"without_passes": ["none of ours"]},
        {"without_passes": "fold-constants"},
        {"input_shapes": [(1, 8, 8, 1), (1,)]},
        {"limits": intaglio.Limits(max_bytes=-1)},
    ):
        with pytest.raises(intaglio.Error) as raised:
            intaglio.load(path, **options)
        assert isinstance(raised.value, ValueError), options
    with pytest.raises(errors.UnsupportedError, match="of wood"):
        intaglio.load(path, routines={0: "of wood"})
    with pytest.raises(TypeError):
        intaglio.load(path, wood=True)
    with pytest.raises(TypeError):
        intaglio.load(3.5)


def test_all_errors_are_exported_and_explained():
    for name in errors.__all__:
        kind = getattr(intaglio, name)
        assert issubclass(kind, intaglio.Error)
        assert kind.__doc__
        standard = [base for base in kind.__mro__ if hasattr(builtins, base.__name__)]
        assert kind is intaglio.Error or standard[0] is not Exception, name
