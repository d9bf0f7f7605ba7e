"""load(), run() and what stands around them."""

import gc
import os
import shutil
import subprocess
import sys
import tracemalloc
from xml.etree import ElementTree

import intaglio
import numpy
import pytest
from conftest import DIGITS, ROOT, only
from intaglio import errors


def test_reads_all_digits(digits, images, expected):
    scores = only(digits.outputs)
    answers = [digits.run({only(digits.inputs): images[i : i + 1]})[scores] for i in range(500)]
    assert numpy.array_equal(numpy.concatenate(answers), expected)


def test_every_kernel_and_thread_count_gives_the_same_bits(images, expected):
    for kernel in ("scalar", "sse4.1"):
        for threads in (1, 3):
            try:
                model = intaglio.load(DIGITS / "digits.tflite", threads=threads, kernel=kernel)
            except intaglio.Error as error:
                pytest.skip(str(error))
            (answer,) = model.run([images[7:8]])
            assert numpy.array_equal(answer, expected[7:8])


def test_lists_are_answered_by_lists(digits, image, expected):
    (answer,) = digits.run([image])
    assert numpy.array_equal(answer, expected[:1])
    (answer,) = digits.run((image,))
    assert numpy.array_equal(answer, expected[:1])


def test_describes_inputs_and_outputs(digits):
    (tensor,) = digits.inputs
    assert tensor.shape == (1, 8, 8, 1)
    assert tensor.dtype == numpy.int8
    assert tensor.scales == [pytest.approx(1 / 255)]
    assert tensor.zero_points == [-128]
    (tensor,) = digits.outputs
    assert tensor.shape == (1, 10)
    assert "digits.tflite" in repr(digits) and "int8(1, 8, 8, 1)" in repr(digits)
    assert "(1, 10)" in repr(tensor)


def test_describes_layers(digits):
    layers = digits.layers
    assert [layer.operator for layer in layers][:3] == ["CONV_2D", "CONV_2D", "MAX_POOL_2D"]
    assert layers[0].routine == "cpu:qint8/gemm"
    assert layers[0].kernel
    assert layers[0].macs == 8 * 8 * 9 * 16
    assert sum(layer.macs for layer in layers) == digits.macs
    assert digits.arena_bytes > 0
    assert digits.constant_bytes > 0
    assert "CONV_2D" in repr(layers[0])


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_reads_files_in_memory(form, image, expected):
    data = (DIGITS / "digits.tflite").read_bytes()
    model = intaglio.load(form(data), name="of memory")
    del data
    gc.collect()
    assert "of memory" in repr(model)
    (answer,) = model.run([image])
    assert numpy.array_equal(answer, expected[:1])


def test_reads_an_onnx_file(tmp_path, images, expected):
    path = tmp_path / "digits.onnx"
    command = [sys.executable, "-m", "intaglio", "convert", str(DIGITS / "digits.tflite"), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    for model in (intaglio.load(path), intaglio.load(path.read_bytes())):
        answers = numpy.concatenate([model.run([images[i : i + 1]])[0] for i in range(500)])
        # The formats round differently (docs/onnx.md).
        assert numpy.abs(answers.astype(int) - expected).max() <= 32
        assert (answers != expected).any(axis=1).mean() < 0.05
        assert (answers.argmax(1) == expected.argmax(1)).mean() > 0.99
    without = intaglio.load(path, without_passes=["fuse-activations"])
    assert len(without.layers) >= len(model.layers)


def test_runs_into_arrays_of_the_caller(digits, image, expected):
    outputs = digits.empty_outputs()
    assert list(outputs) == [only(digits.outputs)]
    assert digits.run_into({only(digits.inputs): image}, outputs) is None
    assert numpy.array_equal(outputs[only(digits.outputs)], expected[:1])
    rows = numpy.zeros((3, 1, 10), numpy.int8)
    digits.run_into([image], [rows[1]])
    assert numpy.array_equal(rows[1], expected[:1])
    assert not rows[0].any() and not rows[2].any()


def test_run_into_allocates_nothing(digits, image):
    inputs = {only(digits.inputs): image}
    outputs = digits.empty_outputs()
    digits.run_into(inputs, outputs)
    tracemalloc.start()
    try:
        digits.run_into(inputs, outputs)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(100):
            digits.run_into(inputs, outputs)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The interpreter's own loop counter may take a few bytes.
    assert after - before < 200
    assert peak - before < 400


def test_outputs_of_two_runs_are_two_arrays(digits, images, expected):
    (first,) = digits.run([images[:1]])
    (second,) = digits.run([images[1:2]])
    assert numpy.array_equal(first, expected[:1])
    assert numpy.array_equal(second, expected[1:2])


def test_reads_arrays_in_place(digits, images, expected):
    strided = images[3:4]
    strided.flags.writeable = False
    (answer,) = digits.run([strided])
    assert numpy.array_equal(answer, expected[3:4])
    (answer,) = digits.run([memoryview(images[4:5])])
    assert numpy.array_equal(answer, expected[4:5])


class Dlpack:
    """An array that has DLPack and no buffer protocol, as PyTorch's."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_takes_dlpack(digits, images, expected):
    out = numpy.zeros((1, 10), numpy.int8)
    digits.run_into([Dlpack(images[5:6].copy())], [Dlpack(out)])
    assert numpy.array_equal(out, expected[5:6])
    with pytest.raises(intaglio.errors.DtypeError, match="float32"):
        digits.run([Dlpack(images[:1].astype(numpy.float32))])
    with pytest.raises(intaglio.errors.LayoutError, match="contiguous"):
        digits.run([Dlpack(numpy.zeros((1, 8, 8, 2), numpy.int8)[..., :1])])


def test_resizes(digits, images, expected):
    name = only(digits.inputs)
    other = digits.share()
    digits.resize({name: (4, 8, 8, 1)})
    assert digits.inputs[0].shape == (4, 8, 8, 1)
    assert digits.outputs[0].shape == (4, 10)
    (answer,) = digits.run([images[:4]])
    assert numpy.array_equal(answer, expected[:4])
    assert other.inputs[0].shape == (1, 8, 8, 1)
    with pytest.raises(intaglio.errors.ShapeError):
        digits.run([images[:1]])
    digits.resize([(2, 8, 8, 1)])
    digits.resize([None])
    assert digits.outputs[0].shape == (2, 10)
    (answer,) = digits.share().run([images[:2]])
    assert numpy.array_equal(answer, expected[:2])


def test_resizing_may_run_code_that_resizes(digits):
    class Name(str):
        def __str__(self):
            for batch in range(2, 40):
                digits.resize([(batch, 8, 8, 1)])
            return "other"

        __hash__ = str.__hash__

    for _ in range(20):
        with pytest.raises(errors.UnknownNameError, match="no input 'other'; there are: 'serving"):
            digits.resize({Name("x"): (1, 8, 8, 1)})


def test_names_may_be_code_that_changes_the_inputs(digits, image):
    class Name:
        def __eq__(self, other):
            inputs.clear()
            return False

        __hash__ = object.__hash__

        def __str__(self):
            inputs.clear()
            return "other"

    inputs = {Name(): image for _ in range(20)}
    with pytest.raises(errors.UnknownNameError, match="no input 'other'"):
        digits.run(inputs)


def test_reads_files_of_any_name(tmp_path):
    path = os.fsencode(tmp_path) + b"/digits\xff.tflite"
    shutil.copy(DIGITS / "digits.tflite", path)
    model = intaglio.load(os.fsdecode(path))
    assert model.name.endswith("/digits\\udcff.tflite")
    assert model.name in repr(model)


def test_loads_with_other_shapes(images, expected):
    model = intaglio.load(DIGITS / "digits.tflite", input_shapes=[(3, 8, 8, 1)])
    (answer,) = model.run([images[:3]])
    assert numpy.array_equal(answer, expected[:3])


def test_shared_models_outlive_the_first(image, expected):
    model = intaglio.load((DIGITS / "digits.tflite").read_bytes())
    worker = model.share()
    model.close()
    del model
    gc.collect()
    (answer,) = worker.run([image])
    assert numpy.array_equal(answer, expected[:1])


def test_reset_state(digits, image):
    (first,) = digits.run([image])
    digits.reset_state()
    (again,) = digits.run([image])
    assert numpy.array_equal(first, again)


def test_profile(digits, image):
    profile = digits.profile([image], runs=3)
    assert len(profile.layers) == len(digits.layers)
    assert all(0 <= layer.min_us <= layer.median_us for layer in profile.layers)
    assert sum(profile.share(layer) for layer in profile.layers) == pytest.approx(1)
    assert profile.runs == 3
    text = str(profile)
    assert len(text.splitlines()) == 2 + len(digits.layers)
    assert "cpu:qint8/gemm" in text
    page = profile._repr_html_()
    table = ElementTree.fromstring(page)  # well-formed, and every name is escaped
    assert len(list(table.iter("svg"))) == len(digits.layers)
    assert "http" not in page and "<script" not in page
    digits.profile(runs=1)
    with pytest.raises(intaglio.errors.ArgumentError):
        digits.profile(runs=0)


def test_profile_plots(digits):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = digits.profile(runs=1).plot()
    assert len(axes.patches) == len(digits.layers)


def test_limits():
    path = DIGITS / "digits.tflite"
    with pytest.raises(intaglio.errors.OutOfMemoryError):
        intaglio.load(path, limits=intaglio.Limits(max_bytes=1000))
    with pytest.raises(intaglio.Error, match="work|steps"):
        intaglio.load(path, limits=intaglio.Limits(max_work=1000))
    intaglio.load(path, limits=intaglio.Limits(max_bytes=10**7))


def test_options(image, expected):
    path = DIGITS / "digits.tflite"
    for options in (
        {"copy_file": True},
        {"threads": 2},
        {"routines": {}},
        {"external_data": ROOT},
    ):
        (answer,) = intaglio.load(path, **options).run([image])
        assert numpy.array_equal(answer, expected[:1])
