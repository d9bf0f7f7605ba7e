"""Threads, forks, copies."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import intaglio
import numpy
import pytest
from conftest import DIGITS, only

# From Python 3.12 on, fork() warns where there are threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def large_model():
    """A model that runs for a while: digits with a large batch."""
    return intaglio.load(DIGITS / "digits.tflite", input_shapes=[(4000, 8, 8, 1)])


def test_runs_of_two_threads_overlap(images):
    # While this thread runs, the other one must get the GIL and finish many runs of its own. Whoever
    # holds the GIL during a run would keep the other from counting.
    first = large_model()
    second = intaglio.load(DIGITS / "digits.tflite")
    started = threading.Event()
    stop = threading.Event()
    count = [0]
    end = time.monotonic() + 20

    def count_runs():
        while not stop.is_set() and time.monotonic() < end:
            second.run([images[:1]])
            count[0] += 1
            started.set()

    thread = threading.Thread(target=count_runs)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # only a released GIL lets the other thread in
    try:
        thread.start()
        started.wait()
        batch = numpy.zeros((4000, 8, 8, 1), numpy.int8)
        outputs = first.empty_outputs()
        seen = []
        for _ in range(20):
            before = count[0]
            first.run_into([batch], outputs)
            seen.append(count[0] - before)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert max(seen) >= 2


def test_threads_share_weights(images, expected):
    model = intaglio.load(DIGITS / "digits.tflite")
    answers = [None] * 4

    def work(which):
        worker = model.share()
        answers[which] = numpy.concatenate([worker.run([images[i : i + 1]])[0] for i in range(100)])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(numpy.array_equal(answer, expected[:100]) for answer in answers)


def test_one_model_serves_threads_in_turn(digits, images, expected):
    wrong = []

    def work(which):
        for i in range(which, 200, 4):
            (answer,) = digits.run([images[i : i + 1]])
            if not numpy.array_equal(answer, expected[i : i + 1]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_closing_and_resizing_beside_runs(images):
    model = intaglio.load(DIGITS / "digits.tflite")
    errors = []

    def work():
        try:
            while True:
                for batch in (1, 3):
                    try:
                        model.run([images[:batch]])
                    except (intaglio.errors.ShapeError, intaglio.errors.RunError):
                        pass  # resized before it ran
                    len(model.layers), model.inputs, repr(model)
        except intaglio.errors.ClosedError:
            pass
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(100):
        model.resize([(1 + 2 * (i % 2), 8, 8, 1)])
    model.close()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert not errors


def same_answer(model, images, expected):
    (answer,) = model.run([images[:1]])
    return numpy.array_equal(answer, expected[:1])


@pytest.mark.parametrize("threads", [1, 2])
def test_pickles(threads, images, expected):
    model = intaglio.load(DIGITS / "digits.tflite", threads=threads, kernel="scalar")
    again = pickle.loads(pickle.dumps(model))
    assert again.threads == threads
    assert again.name == model.name
    assert again.layers[0].kernel == "scalar"
    assert same_answer(again, images, expected)
    model.resize([(2, 8, 8, 1)])
    again = pickle.loads(pickle.dumps(model))
    assert again.outputs[0].shape == (2, 10)


def test_pickles_what_the_file_was(tmp_path, images, expected):
    path = tmp_path / "net.tflite"
    path.write_bytes((DIGITS / "digits.tflite").read_bytes())
    model = intaglio.load(path)
    path.unlink()
    assert same_answer(pickle.loads(pickle.dumps(model)), images, expected)


def field(number, value):
    """A field of Protocol Buffers: a short message, or a small number."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


def onnx_with_data_beside_it(folder):
    """y = x + w, where w lies in another file."""
    shape = field(2, field(1, field(1, 4)))
    tensor = field(2, field(1, field(1, 1) + shape))
    place = field(13, field(1, b"location") + field(2, b"w.data"))
    w = field(1, 4) + field(2, 1) + field(8, b"w") + place + field(14, 1)
    node = field(1, b"x") + field(1, b"w") + field(2, b"y") + field(4, b"Add")
    graph = field(1, node) + field(2, b"g") + field(5, w)
    graph += field(11, field(1, b"x") + tensor) + field(12, field(1, b"y") + tensor)
    path = folder / "net.onnx"
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 17)))
    (folder / "w.data").write_bytes(numpy.arange(4, dtype=numpy.float32).tobytes())
    return path


def test_pickled_models_find_their_data_files(tmp_path, monkeypatch):
    path = onnx_with_data_beside_it(tmp_path)
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(intaglio.load(path.name))
    monkeypatch.chdir("/")
    (answer,) = pickle.loads(pickled).run([numpy.ones(4, numpy.float32)])
    assert answer.tolist() == [1, 2, 3, 4]


def test_copies(digits, images, expected):
    for twin in (copy.copy(digits), copy.deepcopy(digits), copy.deepcopy([digits])[0]):
        assert twin is not digits
        assert same_answer(twin, images, expected)


def test_errors_pickle():
    error = pickle.loads(pickle.dumps(intaglio.errors.ShapeError("no")))
    assert isinstance(error, ValueError) and str(error) == "no"


held = None


def answer_of_held(i):
    images = numpy.load(DIGITS / "heldout_images.npy")
    return held.run([images[i : i + 1]])[0]


def answer_of(model, image):
    return model.run([image])[0]


@pytest.mark.parametrize("threads", [1, 2])
def test_forked_workers_use_the_parents_model(threads, images, expected):
    global held
    held = intaglio.load(DIGITS / "digits.tflite", threads=threads)
    held.run([images[:1]])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        answers = pool.map(answer_of_held, range(10))
    assert numpy.array_equal(numpy.concatenate(answers), expected[:10])
    held = None


def test_spawned_workers_get_models_by_pickle(digits, images, expected):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answers = pool.starmap(answer_of, [(digits, images[i : i + 1]) for i in range(3)])
    assert numpy.array_equal(numpy.concatenate(answers), expected[:3])


def test_fork_during_a_run(images, expected):
    # The child cannot use the model that a thread of its parent is in, says so, and can share it.
    model = large_model()
    batch = numpy.zeros((4000, 8, 8, 1), numpy.int8)
    outputs = model.empty_outputs()
    stop = threading.Event()

    def work():
        while not stop.is_set():
            model.run_into([batch], outputs)

    thread = threading.Thread(target=work)
    thread.start()
    results = set()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                code = 3
                try:
                    shared = model.share()
                    shared.run([batch])
                    code = 0
                    model.run([batch])
                except intaglio.errors.BusyError:
                    code = 1 if code == 0 else 3
                finally:
                    del model
                    os._exit(code)
            results.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    finally:
        stop.set()
        thread.join()
    assert results <= {0, 1} and 1 in results


def test_program_ends_while_models_live():
    program = (
        "import intaglio, numpy, threading, sys\n"
        "m = intaglio.load(open(sys.argv[1], 'rb').read(), threads=2)\n"
        "x = numpy.zeros((1, 8, 8, 1), numpy.int8)\n"
        "m.run([x])\n"
        "def work():\n"
        "    while True: w.run([x])\n"
        "w = m.share()\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "print('done')\n"
    )
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", program, str(DIGITS / "digits.tflite")],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
