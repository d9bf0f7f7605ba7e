"""What the tests have in common."""

import os
from pathlib import Path

import intaglio
import numpy
import pytest

ROOT = Path(os.environ.get("INTAGLIO_SOURCE", Path(__file__).resolve().parents[3]))
DIGITS = ROOT / "examples" / "digits"


@pytest.fixture(scope="session")
def images():
    return numpy.load(DIGITS / "heldout_images.npy")


@pytest.fixture(scope="session")
def expected():
    return numpy.load(DIGITS / "expected_outputs.npy")


@pytest.fixture
def digits():
    with intaglio.load(DIGITS / "digits.tflite") as model:
        yield model


@pytest.fixture
def image(images):
    return images[:1]


def only(tensors):
    """The name of the only input or output."""
    (tensor,) = tensors
    return tensor.name
