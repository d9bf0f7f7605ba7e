"""Plans: made, taken, and refused."""

import json
import pickle

import float_networks
import intaglio
import numpy
import pytest
from conftest import DIGITS

FILE = DIGITS / "digits.tflite"


@pytest.fixture(scope="module")
def plan():
    return intaglio.tune(intaglio.load(FILE), seconds=0.01)


def changed(plan, **members):
    return intaglio.Plan(json.dumps(json.loads(plan.text) | members))


def test_a_plan_is_made_and_taken(plan, digits, image, tmp_path):
    assert plan.untuned > 0 and plan.tuned > 0
    assert plan.difference is None
    assert "layers" in repr(plan)
    plan.save(tmp_path / "plan.json")
    (expected,) = digits.run([image])
    for each in (plan, tmp_path / "plan.json", str(tmp_path / "plan.json"), plan.text.encode()):
        model = intaglio.load(FILE, plan=each)
        assert model.plan_warnings == []
        assert numpy.array_equal(model.run([image])[0], expected)
    again = pickle.loads(pickle.dumps(model))
    assert numpy.array_equal(again.run([image])[0], expected)


def test_layers_may_compute_in_float(digits, image, plan):
    layers = [
        {
            "layer": i,
            "operator": layer.operator,
            "label": "",
            "schema": "cpu:float32",
            "bounded": True,
            "chosen": {"routine": "cpu:float32/gemm", "kernel": "", "threads": 0, "ns": 1},
            "untuned": {"routine": layer.routine, "kernel": "", "threads": 0, "ns": 1},
            "noise": 0,
        }
        for i, layer in enumerate(digits.layers)
        if layer.operator in ("CONV_2D", "FULLY_CONNECTED")
    ]
    assert layers
    model = intaglio.load(FILE, plan=changed(plan, layers=layers))
    assert model.plan_warnings == []
    assert "cpu:float32/gemm" in [layer.routine for layer in model.layers]
    difference = model.run([image])[0].astype(int) - digits.run([image])[0].astype(int)
    assert abs(difference).max() <= 12
    in_both = intaglio.tune(digits, seconds=0.01, allow_float32=True)
    assert (in_both.difference is not None) == any(layer["bounded"] for layer in in_both.layers)


def test_differences_are_limited_and_measured_on_inputs_that_are_given(digits, image):
    # No difference is allowed: layers compute in float32 only if that gives the same outputs.
    exact = intaglio.tune(digits, seconds=0, allow_float32=True, max_error=0, inputs=[image])
    assert exact.difference is None or exact.difference["relative"] == 0
    name = digits.inputs[0].name
    intaglio.tune(digits, seconds=0, inputs={name: image})
    with pytest.raises(intaglio.errors.ShapeError):
        intaglio.tune(digits, seconds=0, inputs=[image[:, 1:]])
    with pytest.raises(intaglio.errors.MissingNameError):
        intaglio.tune(digits, seconds=0, inputs=[])
    for error in (-0.5, float("nan"), float("inf")):
        with pytest.raises(intaglio.errors.ArgumentError, match="max_error: a number"):
            intaglio.tune(digits, seconds=0, allow_float32=True, max_error=error)
    with pytest.raises(intaglio.errors.ArgumentError, match="needs allow_float32"):
        intaglio.tune(digits, seconds=0, max_error=0.1)


def test_what_does_not_fit_is_a_warning(plan):
    model = intaglio.load(FILE, plan=changed(plan, threads=7))
    assert len(model.plan_warnings) == 1
    assert "7 threads" in model.plan_warnings[0]


def test_what_is_wrong_is_an_error(plan, digits, tmp_path):
    with pytest.raises(intaglio.errors.LoadError, match="another network"):
        intaglio.load(FILE, plan=changed(plan, digest="0"))
    with pytest.raises(intaglio.errors.LoadError, match="the plan is no JSON"):
        intaglio.load(FILE, plan=b"{")
    with pytest.raises(FileNotFoundError):
        intaglio.load(FILE, plan=tmp_path / "none.json")
    with pytest.raises(intaglio.errors.ArgumentError, match="one of them"):
        intaglio.load(FILE, plan=plan, routines={"0": "cpu:qint8/gemm"})
    with pytest.raises(intaglio.errors.ArgumentError, match="loaded with a plan"):
        intaglio.tune(intaglio.load(FILE, plan=plan), seconds=0)
    for seconds in (-1, float("nan"), 1e6):
        with pytest.raises(intaglio.errors.ArgumentError, match="seconds"):
            intaglio.tune(digits, seconds=seconds)
    with pytest.raises(intaglio.errors.UnsupportedError, match="within 1 bytes"):
        intaglio.tune(digits, seconds=0, max_bytes=1)


def test_layers_of_float32_may_compute_with_int8(tmp_path):
    with intaglio.load(float_networks.dense()) as model:
        names = ("x", "Relu 'hidden'", "y")
        ranges = {name: (-9, 9) for name in names}
        plan = intaglio.tune(model, seconds=0.01, ranges=ranges, max_error=1)
        assert plan.difference is None or plan.difference["relative"] <= 1
        x = numpy.linspace(-1, 1, 8, dtype=numpy.float32).reshape(1, 8)
        (expected,) = model.run([x])
        file = tmp_path / "ranges.json"
        text = json.dumps({"format": "intaglio-ranges-1", "ranges": {"nobody": [0, 1]}})
        file.write_text(text)
        with pytest.raises(intaglio.errors.LoadError, match="'nobody' fits no activation"):
            intaglio.tune(model, seconds=0, ranges=file)
        with pytest.raises(intaglio.errors.ArgumentError, match="there are no ranges"):
            intaglio.tune(model, seconds=0, ranges={})
        with pytest.raises(intaglio.errors.ArgumentError, match="the ranges lack"):
            file.write_text("{}")
            intaglio.tune(model, seconds=0, ranges=str(file))
    # All layers with integers, whatever was found.
    layers = [
        {
            "layer": i,
            "operator": "FULLY_CONNECTED",
            "label": "",
            "schema": "cpu:qint8",
            "bounded": True,
            "chosen": {"routine": "cpu:qint8/gemm", "kernel": "", "threads": 0, "ns": 1},
            "untuned": {"routine": "", "kernel": "", "threads": 0, "ns": 1},
            "noise": 0,
        }
        for i in range(2)
    ]
    numbers = {name: list(ends) for name, ends in ranges.items()}
    plan = changed(plan, format="intaglio-plan-3", ranges=numbers, layers=layers)
    with intaglio.load(float_networks.dense(), plan=plan) as model:
        assert model.plan_warnings == []
        assert [layer.routine for layer in model.layers].count("cpu:qint8/gemm") == 2
        assert abs(model.run([x])[0] - expected).max() < 0.5


def test_a_device_that_is_not_here_is_an_error():
    with pytest.raises(intaglio.LoadError, match="there is no device 'vga'"):
        intaglio.load(FILE, device="vga")
    try:
        intaglio.load(FILE, device="cuda")  # where the build and the machine have one
    except intaglio.UnsupportedError as error:
        assert "cuda" in str(error)
    assert intaglio.load(FILE, device="").layers
