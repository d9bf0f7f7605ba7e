"""What the tests of many workers have in common: rows, and what one process makes of them."""

import hashlib
import os
import signal
import time
from pathlib import Path

import numpy
import pytest
from intaglio._rows import RowRunner

ROOT = Path(os.environ.get("INTAGLIO_SOURCE", Path(__file__).resolve().parents[3]))
DIGITS = ROOT / "examples" / "digits"
MODEL = (DIGITS / "digits.tflite").read_bytes()
OPTIONS = {"columns": ["image"], "outputs": ["scores"]}


@pytest.fixture(scope="session")
def images():
    """3,000 rows. No two are equal, so that an answer at the wrong place shows."""
    images = numpy.load(DIGITS / "heldout_images.npy")
    return numpy.concatenate([numpy.roll(images, (i // 3, i % 3), axis=(1, 2)) for i in range(6)])


@pytest.fixture(scope="session")
def expected(images):
    answers = RowRunner(MODEL, **OPTIONS)({"image": images})["scores"]
    # The first 500 are those that TFLite's reference kernels gave.
    assert numpy.array_equal(answers[:500], numpy.load(DIGITS / "expected_outputs.npy"))
    return answers


def digest(scores):
    return hashlib.sha256(numpy.ascontiguousarray(scores).tobytes()).hexdigest()


class Diary:
    """Who computed what: an empty file for each batch, which outlives its writer."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def writer(self):
        """A function that notes a batch. It travels to workers, which cannot import this file."""
        folder = str(self.folder)

        def write():
            import os
            import time

            open(f"{folder}/{os.getpid()}.{time.monotonic_ns()}", "w").close()

        return write

    def pids(self):
        """The process of each batch, in order of time."""
        entries = [path.name.split(".") for path in self.folder.iterdir()]
        return [int(pid) for pid, when in sorted(entries, key=lambda entry: int(entry[1]))]

    def wait_for(self, batches):
        end = time.monotonic() + 120
        while len(self.pids()) < batches:
            assert time.monotonic() < end, "the workers do not work"
            time.sleep(0.01)

    def kill_one(self, batches):
        """Kills the last worker that noted a batch, once there are so many."""
        self.wait_for(batches)
        victim = self.pids()[-1]
        os.kill(victim, signal.SIGKILL)
        return victim


@pytest.fixture
def diary(tmp_path):
    return Diary(tmp_path / "diary")
