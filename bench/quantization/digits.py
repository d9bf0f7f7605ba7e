"""Spoken digits: the recordings of github.com/Jakobovski/free-spoken-digit-dataset, as pictures of their spectra."""

import wave
from pathlib import Path

import numpy
import torch

FOLDER = Path("free-spoken-digit-dataset/recordings")
HELD_OUT = "yweweler"  # all others train
RATE = 8000
WINDOW, HOP, BANDS = 256, 160, 20


def _hertz(mel):
    return 700 * (10 ** (mel / 2595) - 1)


def _filters():
    """Triangles of equal width in mel, (BANDS, WINDOW / 2 + 1)."""
    highest = 2595 * numpy.log10(1 + RATE / 2 / 700)
    edges = _hertz(numpy.linspace(0, highest, BANDS + 2))
    lines = numpy.arange(WINDOW // 2 + 1) * RATE / WINDOW
    up = (lines - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - lines) / (edges[2:] - edges[1:-1])[:, None]
    return numpy.maximum(0, numpy.minimum(up, down))


def _spectrum(path, filters):
    """The logarithm of the energy of each band, over one second: (48, BANDS)."""
    with wave.open(str(path)) as file:
        sound = numpy.frombuffer(file.readframes(RATE), numpy.int16).astype(numpy.float64) / 32768
    sound = numpy.pad(sound, (0, RATE - len(sound)))
    starts = range(0, RATE - WINDOW - HOP + 1, HOP)
    windows = numpy.stack([sound[start : start + WINDOW] for start in starts]) * numpy.hanning(WINDOW)
    energy = numpy.abs(numpy.fft.rfft(windows)) ** 2 @ filters.T
    return numpy.log10(energy + 1e-5)


def load(part, folder=FOLDER):
    """Images of (N, 1, 48, 20), about -1 to 2, and the digits. part: "train" or "test", the speaker held out."""
    paths = sorted(Path(folder).glob("*_*_*.wav"))
    paths = [path for path in paths if (path.stem.split("_")[1] == HELD_OUT) == (part == "test")]
    if not paths:
        raise SystemExit(f"there are no recordings in {folder}: --digits names the folder of them")
    filters = _filters()
    spectra = numpy.stack([_spectrum(path, filters) for path in paths])
    images = torch.from_numpy((spectra[:, None] + 3) / 2).float()
    return images, torch.tensor([int(path.stem[0]) for path in paths])
