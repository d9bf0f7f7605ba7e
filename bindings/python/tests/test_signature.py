"""Signatures: other names for inputs and outputs."""

import copy
import pickle
import subprocess
import sys

import intaglio
import numpy
import pytest
from conftest import DIGITS
from intaglio import errors
from intaglio._signature import find, names


def test_lists_signatures(digits):
    assert digits.signatures == {"serving_default": {"inputs": ["image"], "outputs": ["output_0"]}}


def test_calls_by_the_names_of_a_signature(digits, images, expected):
    for f in (digits.signature("serving_default"), digits.signature()):
        answers = f(image=images[3:4])
        assert list(answers) == ["output_0"]
        assert numpy.array_equal(answers["output_0"], expected[3:4])
    assert f.model is digits and f.key == "serving_default"
    assert f.inputs == ("image",) and f.outputs == ("output_0",)
    assert repr(f) == "<intaglio.Signature 'serving_default': image -> output_0>"


def test_wrong_calls(digits, image):
    f = digits.signature()
    with pytest.raises(errors.UnknownNameError, match="has no input 'picture'; there are: 'image'"):
        f(picture=image)
    with pytest.raises(errors.UnknownNameError, match="has no input 'more'"):
        f(image=image, more=image)
    with pytest.raises(errors.MissingNameError, match="'serving_default': the input 'image' is mis"):
        f()
    with pytest.raises(errors.DtypeError):
        f(image=image.astype(numpy.float32))
    with pytest.raises(errors.ShapeError):
        f(image=image[0])
    with pytest.raises(TypeError):
        f(image)
    for key in ("other", "", 1):
        with pytest.raises(errors.UnknownNameError, match="no signature '.*'; there are: 'serving_d"):
            digits.signature(key)


def test_follows_the_model(digits, images, expected):
    f = digits.signature()
    digits.resize([(2, 8, 8, 1)])
    assert numpy.array_equal(f(image=images[:2])["output_0"], expected[:2])
    for other in (digits.share(), copy.deepcopy(digits), pickle.loads(pickle.dumps(digits))):
        answers = other.signature()(image=images[1:3])
        assert numpy.array_equal(answers["output_0"], expected[1:3])
    digits.close()
    assert list(digits.signatures) == ["serving_default"]
    with pytest.raises(errors.ClosedError):
        f(image=images[:2])


def test_an_onnx_file_has_none(tmp_path):
    path = tmp_path / "digits.onnx"
    command = [sys.executable, "-m", "intaglio", "convert", str(DIGITS / "digits.tflite"), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    model = intaglio.load(path)
    assert model.signatures == {}
    for key in (None, "serving_default"):
        with pytest.raises(errors.UnknownNameError, match="the model has no signatures"):
            model.signature(key)


class Input:
    def __init__(self, name):
        self.name = name


class Swapped:
    """A model of two inputs, whose signatures name them in another order or in part."""

    inputs = (Input("first"), Input("second"))
    _signatures = [
        ("whole", {"b": 1, "a": 0}, {"x": 1, "y": 0, "z": 1}),
        ("part", {"b": 1}, {"x": 0}),
        ("odd", {"self": 0, "a b": 1}, {}),
    ]

    def run(self, inputs):
        return [inputs[0] - inputs[1], inputs[0] + inputs[1]]


def test_names_stand_for_positions():
    assert find(Swapped(), "whole")(b=1, a=5) == {"x": 6, "y": 4, "z": 6}
    assert find(Swapped(), "odd")(**{"self": 1, "a b": 2}) == {}
    assert names(Swapped())["whole"] == {"inputs": ["b", "a"], "outputs": ["x", "y", "z"]}


def test_a_key_that_cannot_be_left_out():
    with pytest.raises(errors.ArgumentError, match="several signatures; there are: 'whole', 'part'"):
        find(Swapped(), None)


def test_a_signature_without_some_input():
    with pytest.raises(errors.MissingNameError, match="'part' has no name for the input 'first'"):
        find(Swapped(), "part")
