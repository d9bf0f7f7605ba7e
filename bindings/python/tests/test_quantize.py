"""quantize(): what it takes, what it makes, what it refuses."""

import json
import re
import runpy
import sys

import float_networks
import intaglio
import numpy
import pytest
from conftest import DIGITS, ROOT
from intaglio import errors

X = numpy.random.default_rng(2).normal(size=(40, 8)).astype(numpy.float32)


@pytest.fixture(scope="module")
def network():
    return float_networks.dense()


def run(model, x):
    return model.run([x.reshape(1, 8)])[0]


def test_a_file_of_integers_is_made_and_runs(network, tmp_path):
    for format in ("tflite", "onnx"):
        q = intaglio.quantize(network, X, format=format)
        assert q.samples == 40 and q.format == format
        assert all(layer.integers for layer in q.layers)
        (output,) = q.outputs
        assert output.name == "y" and output.samples == 40
        assert output.sqnr > 25 and output.same_place > 35 and output.cosine > 0.99
        exact = intaglio.load(network)
        assert abs(run(q.model(threads=2), X[0]) - run(exact, X[0])).max() < 0.5
        path = tmp_path / f"q.{format}"
        q.save(path)
        assert path.read_bytes() == q.data == bytes(q)
        assert numpy.array_equal(run(intaglio.load(path), X[0]), run(q.model(), X[0]))
        with pytest.raises(errors.ArgumentError, match="does not end in"):
            q.save(tmp_path / "q.bin")
        assert "layers" in repr(q)
    assert intaglio.quantize(network, X).format == "onnx"  # as the network
    assert intaglio.quantize(network, X, format="tflite", io="int8").model().inputs[0].dtype == "int8"


def test_every_form_of_data_gives_the_same(network, tmp_path):
    expected = intaglio.quantize(network, X).data
    numpy.save(tmp_path / "x.npy", X)
    forms = {
        "file": str(tmp_path / "x.npy"),
        "path": tmp_path / "x.npy",
        "by name": {"x": X},
        "files by name": {"x": tmp_path / "x.npy"},
        "list": list(X),
        "whole shapes": [x.reshape(1, 8) for x in X],
        "batches": [X[:7], X[7:]],
        "dicts": [{"x": x} for x in X],
        "lists": [[x] for x in X],
        "generator": (x for x in X),
        "function": lambda: (x for x in X),
        "columns": numpy.asfortranarray(X),
        "more axes": X.reshape(40, 1, 8),
    }
    for name, data in forms.items():
        q = intaglio.quantize(network, data)
        assert q.data == expected, name
        assert (q.outputs[0].samples, q.report.samples) == (40, 32), name
    more = numpy.concatenate([X, 100 * X])
    assert intaglio.quantize(network, more, samples=40).data == expected
    assert intaglio.quantize(network, more).data != expected
    assert intaglio.quantize(intaglio.load(network, threads=2), X).data == expected
    batch = float_networks.dense(batch=4)
    assert intaglio.quantize(batch, X).samples == 10
    assert intaglio.quantize(batch, X.reshape(10, 4, 8)).samples == 10


def test_iterators_are_read_once_and_kept_as_far_as_needed(network):
    read = []

    def samples(count):
        for i in range(count):
            read.append(i)
            yield X[i % 40]

    q = intaglio.quantize(network, samples(500), correct_bias=True)
    assert read == list(range(500)) and q.samples == 500
    again = intaglio.quantize(network, [X[i % 40] for i in range(500)], correct_bias=True)
    assert q.data == again.data and q.report.text == again.report.text


def test_several_inputs_need_names_or_lists():
    network = float_networks.addition()
    a, b = X[:, :4], X[:, 4:]
    expected = intaglio.quantize(network, {"a": a, "b": b}).data
    assert intaglio.quantize(network, zip(a, b)).data == expected
    assert intaglio.quantize(network, [{"b": y, "a": x} for x, y in zip(a, b)]).data == expected
    for data, kind, words in (
        (a, errors.ArgumentError, "give a dict"),
        ([a[0]], errors.ArgumentError, "one ndarray, but the model has 2 inputs"),
        ([[a[0]]], errors.ArgumentError, "a list of 1"),
        ({"a": a}, errors.MissingNameError, "'b' is missing"),
        ({"a": a, "b": b, "c": b}, errors.UnknownNameError, "no input 'c'"),
        ({"a": a, "b": b[:3]}, errors.ShapeError, "40 and 3 samples"),
    ):
        with pytest.raises(kind, match=words):
            intaglio.quantize(network, data)


def test_the_report_names_the_worst_layer(network, tmp_path):
    q = intaglio.quantize(network, X, recipe=[{"layers": "y", "weights": 2}], report_samples=8)
    assert q.report.samples == 8
    worst = q.report.worst(1)[0]
    assert "'y'" in worst.label and worst.sqnr_alone < 20
    assert sum(worst.histogram["exact"]) == sum(worst.histogram["integers"]) > 0
    assert json.loads(worst.rule)["weights"] == 8
    mended = intaglio.quantize(
        network, X, recipe=[{"layers": "y", "weights": 2}, json.loads(worst.rule)]
    )
    assert mended.report.worst(1)[0].sqnr_alone > 30
    assert len(str(q.report).splitlines()) == 1 + len(q.report.layers)
    q.report.save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["samples"] == 8
    assert intaglio.quantize(network, X, report_samples=0).report.worst() == []


def test_options_change_what_is_made(network, tmp_path):
    plain = intaglio.quantize(network, X, format="tflite")
    for options in (
        {"bits": "w4a8"},
        {"bits": "w8a16"},
        {"bits": "w8a5"},
        {"method": "ema"},
        {"per_channel": False},
        {"equalize": True},
        {"correct_bias": True},
        {"smooth": True},
        {"bits": "w4a8", "learn_rounding": True},
        {"keep_float": "'y'"},
        {"recipe": [{"layers": ".", "method": "ema"}]},
    ):
        assert intaglio.quantize(network, X, format="tflite", **options).data != plain.data, options
    (tmp_path / "r.json").write_text('[{"layers": "y", "float": true}]')
    kept = intaglio.quantize(network, X, recipe=tmp_path / "r.json")
    assert [layer.note for layer in kept.layers if not layer.integers] == ["a rule keeps it"]
    assert kept.data == intaglio.quantize(network, X, keep_float=["'y'"]).data
    hybrid = intaglio.quantize(network, bits="w8", format="tflite")
    assert hybrid.samples == 0 and hybrid.outputs == [] and hybrid.report.layers == []
    assert "hybrid" in {layer.routine for layer in hybrid.model().layers}.pop()


def test_accuracy_may_be_kept(network):
    plain = intaglio.quantize(network, X, bits="w2a2")
    assert plain.outputs[0].same_place < 38 and plain.changes == []
    kept = intaglio.quantize(network, iter(X), bits="w2a2", max_drop=5)
    assert kept.outputs[0].same_place >= 38 and kept.changes
    exact = intaglio.load(network)
    wrong = [run(exact, x).argmin() for x in X]  # nothing is lost
    assert intaglio.quantize(network, X, bits="w2a2", max_drop=0, labels=wrong).changes == []
    for options in (
        {"max_drop": -1},
        {"max_drop": 1, "labels": [1, 2]},
        {"max_drop": 1, "labels": [1.0] * 40},
        {"min_sqnr": 20, "labels": [9] * 40},
        {"labels": [9] * 40},
        {"max_drop": 1, "labels": []},
        {"max_drop": 1, "labels": [1 << 32] * 40},
    ):
        refusals = "not of int|are for max_drop|the list is empty|4294967296 is no answer"
        with pytest.raises(errors.ArgumentError, match=f"points|2 labels for 40|labels: ({refusals})"):
            intaglio.quantize(network, X, **options)


def test_noise_may_be_bounded(network):
    plain = intaglio.quantize(network, X, bits="w2a8")
    better = intaglio.quantize(network, iter(X), bits="w2a8", min_sqnr=20)
    assert plain.outputs[0].sqnr < 20 <= better.outputs[0].sqnr and better.changes
    for options in ({"min_sqnr": float("nan")}, {"min_sqnr": 201}, {"min_sqnr": 20, "max_drop": 1}):
        with pytest.raises(errors.ArgumentError, match="min_sqnr"):
            intaglio.quantize(network, X, **options)


def test_progress_is_shown(network):
    seen = []
    intaglio.quantize(
        network,
        X[:3],
        format="tflite",
        learn_rounding=True,
        correct_bias=True,
        progress=lambda *step: seen.append(step),
    )
    passes = ["observed", "learned from"] + 3 * ["corrected"]  # in float32, and up to each of two layers
    assert seen == [(done, i) for done in passes for i in (1, 2, 3)]


class Stop(Exception):
    pass


def test_exceptions_of_the_caller_arrive(network):
    def samples():
        yield X[0]
        raise Stop("here")

    with pytest.raises(Stop, match="here"):
        intaglio.quantize(network, samples())
    with pytest.raises(Stop, match="here"):
        intaglio.quantize(network, samples)

    def progress(done, count):
        raise Stop("there")

    with pytest.raises(Stop, match="there"):
        intaglio.quantize(network, X, progress=progress)


def with_value(value):
    x = X[:3].copy()
    x[2, 5] = value
    return x


@pytest.mark.parametrize(
    "data, options, kind, words",
    [
        (None, {}, errors.ArgumentError, "there are no samples"),
        ([], {}, errors.ArgumentError, "there is no sample"),
        (iter(()), {}, errors.ArgumentError, "there is no sample"),
        (X[:0], {}, errors.ArgumentError, "there is no sample"),
        (7, {}, errors.ArgumentError, "not int"),
        (b"123", {}, errors.ArgumentError, "not bytes"),
        ("none.npy", {}, FileNotFoundError, "none.npy"),
        (DIGITS / "digits.tflite", {}, errors.ArgumentError, "no .npy file"),
        (X.astype(float), {}, errors.DtypeError, "input 'x': the dtype is float64"),
        (["text"], {}, errors.DtypeError, "item 0"),
        ([X[0], None], {}, errors.DtypeError, "item 1.*object"),
        ([X[0], X[0, :7]], {}, errors.ShapeError, r"item 1: input 'x': the shape is \(7,\)"),
        (X.T.copy(), {}, errors.ShapeError, r"\(8, 40\)"),
        ([(X[0], 3)], {}, errors.ArgumentError, "a tuple of 2, but the model has 1"),
        (with_value(numpy.nan), {}, errors.ArgumentError, "sample 2: tensor 'x' has NaN"),
        (with_value(numpy.inf), {}, errors.ArgumentError, "sample 2: tensor 'x' has an infinity"),
        (X, {"bits": "w9a8"}, errors.ArgumentError, "bits 'w9a8'"),
        (X, {"bits": "w8a16"}, errors.UnsupportedError, "int16"),
        (X, {"method": "best"}, errors.ArgumentError, "minmax, ema"),
        (X, {"io": "int4"}, errors.ArgumentError, "io"),
        (X, {"format": "pb"}, errors.ArgumentError, "format"),
        (X, {"samples": 0}, errors.ArgumentError, "samples"),
        (X, {"keep_float": "tail"}, errors.ArgumentError, "'tail' matches no layer"),
        (X, {"keep_float": "."}, errors.ArgumentError, "no layer can be quantized"),
        (X, {"recipe": [{"layers": "("}]}, errors.ArgumentError, "no regular expression"),
        (X, {"recipe": [{"weights": 4}]}, errors.ArgumentError, "lacks 'layers'"),
        (X, {"recipe": [{"layers": ".", "weights": 1}]}, errors.ArgumentError, "'weights'"),
        (X, {"recipe": [X]}, errors.ArgumentError, "recipe"),
        (X, {"recipe": 3}, errors.ArgumentError, "recipe"),
    ],
)
def test_what_is_wrong_is_named(network, data, options, kind, words):
    with pytest.raises(kind, match=words):
        intaglio.quantize(network, data, **options)


def test_models_that_cannot_be_quantized_are_refused(digits, image):
    with pytest.raises(errors.ArgumentError, match="no layer can be quantized.*computes with int8"):
        intaglio.quantize(digits, image)
    with pytest.raises(errors.LoadError):
        intaglio.quantize(b"no model", image)
    digits.close()
    with pytest.raises(errors.ClosedError):
        intaglio.quantize(digits, image)


@pytest.mark.parametrize("target", ["int8.tflite", "int8.onnx"])
def test_the_example_runs(network, tmp_path, monkeypatch, capsys, target):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "float.onnx").write_bytes(network)
    (tmp_path / "samples").mkdir()
    for i, x in enumerate(X):
        numpy.save(tmp_path / "samples" / f"{i:03}.npy", x)
    monkeypatch.setattr(sys, "argv", ["quantize.py", "float.onnx", "samples", target])
    runpy.run_path(str(ROOT / "examples" / "quantize" / "quantize.py"), run_name="__main__")
    out = capsys.readouterr().out
    same = int(re.search(r"the same answers in (\d+) of 40 samples", out)[1])
    assert same >= 38 and f"{target}: " in out
    assert (tmp_path / target).read_bytes() == intaglio.quantize("float.onnx", X, format=target[5:]).data


def test_the_page_shows_what_runs(network, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "float.tflite").write_bytes(network)
    text = (ROOT / "docs" / "quantizing.md").read_text()
    (block,) = re.findall("```python\n(.*?)```", text, re.DOTALL)
    block = block.replace("SOFTMAX", "xw").replace("int8.tflite", "int8.onnx")
    exec(block, {"samples": X})
    assert "LayerLoss" in capsys.readouterr().out
    assert (tmp_path / "int8.onnx").stat().st_size > 100
