"""intaglio._rows, which the workers and the server use."""

import threading

import intaglio
import numpy
import pytest
from conftest import DIGITS, only
from intaglio._rows import RowRunner

MODEL = DIGITS / "digits.tflite"


@pytest.mark.parametrize("batch", [0, 1, 7, 64, 600])
@pytest.mark.parametrize("rows", [0, 1, 6, 7, 8, 500])
def test_any_number_of_rows_in_any_batch(batch, rows, images, expected):
    run = RowRunner(MODEL, batch=batch, columns=["image"], outputs=["scores"])
    answer = run({"image": images[:rows], "unused": images})
    assert list(answer) == ["scores"] and answer["scores"].dtype == numpy.int8
    assert numpy.array_equal(answer["scores"], expected[:rows])


def test_without_names_they_are_the_models(digits, images, expected):
    run = RowRunner(MODEL.read_bytes(), batch=2, threads=2, kernel="scalar")
    answer = run({only(digits.inputs): numpy.asfortranarray(images[:3])})
    assert numpy.array_equal(answer[only(digits.outputs)], expected[:3])


class Noted:
    """A model that notes what is asked of it."""

    def __init__(self, model):
        self.model, self.calls = model, []

    def __getattr__(self, name):
        self.calls.append(name)
        return getattr(self.model, name)


def test_each_run_starts_with_the_first_state(images):
    run = RowRunner(MODEL, batch=3, columns=["image"])
    run.model, run._single = Noted(run.model), Noted(run._single)
    run({"image": images[:8]})
    for model, runs in ((run.model, 2), (run._single, 2)):
        calls = [call for call in model.calls if call in ("reset_state", "run")]
        assert calls == ["reset_state", "run"] * runs


def test_threads_take_turns(images, expected):
    run = RowRunner(MODEL, batch=3, columns=["image"], outputs=["scores"])
    answers = [None] * 4

    def work(which):
        answers[which] = run({"image": images[which : which + 100]})["scores"]

    threads = [threading.Thread(target=work, args=(which,)) for which in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for which, answer in enumerate(answers):
        assert numpy.array_equal(answer, expected[which : which + 100])


def test_errors(images):
    run = RowRunner(MODEL, columns=["image"])
    with pytest.raises(intaglio.errors.MissingNameError, match="there is no 'image'"):
        run({"picture": images})
    with pytest.raises(intaglio.errors.DtypeError, match="'image' is of float32"):
        run({"image": images.astype(numpy.float32)})
    for wrong in (images[:, :7], images.reshape(500, 64), images[0, 0, 0, 0]):
        with pytest.raises(intaglio.errors.ShapeError, match="rows, 8, 8, 1"):
            run({"image": wrong})
    with pytest.raises(intaglio.errors.ArgumentError, match="columns has 2 names"):
        RowRunner(MODEL, columns=["a", "b"])
    with pytest.raises(intaglio.Error):
        RowRunner(MODEL, batch=-1)
    with pytest.raises(TypeError):
        RowRunner(MODEL, treads=2)
