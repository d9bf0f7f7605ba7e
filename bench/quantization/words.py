"""Words and their languages: the lists of the package wordfreq 3.1.1, by letters without marks."""

import gzip
import unicodedata
from pathlib import Path

import numpy
import torch

FOLDER = Path("wordfreq/data")
LANGUAGES = ("de", "en", "es", "fi", "fr", "hu", "it", "nl", "pl", "tr")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTH = 16
OF_EACH, TESTED = 3000, 500  # words of each language, and how many of them test


def _plain(word):
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _words(language, folder):
    """In the order of their frequency."""
    path = Path(folder) / f"small_{language}.msgpack.gz"
    if not path.exists():
        raise SystemExit(f"there is no {path}: --words names the folder data of the package wordfreq")
    import msgpack

    with gzip.open(path) as file:
        bins = msgpack.load(file, raw=False)[1:]
    words = (_plain(word) for bin in bins for word in bin)
    return dict.fromkeys(w for w in words if 4 <= len(w) <= LENGTH and set(w) <= set(LETTERS))


def load(part, folder=FOLDER):
    """One-hot letters of (N, 16, 26), zeros behind the word, and the number of the only language that has it."""
    lists = [_words(language, folder) for language in LANGUAGES]
    images, labels = [], []
    for label, words in enumerate(lists):
        others = set().union(*(other for other in lists if other is not words))
        chosen = [word for word in words if word not in others][:OF_EACH]
        # One of six tests, so that both parts have frequent words and rare ones.
        tests = {i * len(chosen) // TESTED for i in range(TESTED)}
        for i, word in enumerate(chosen):
            if (i in tests) == (part == "test"):
                images.append([LETTERS.index(c) + 1 for c in word] + [0] * (LENGTH - len(word)))
                labels.append(label)
    one_hot = numpy.eye(len(LETTERS) + 1, dtype=numpy.float32)[:, 1:]
    return torch.from_numpy(one_hot[numpy.array(images)]), torch.tensor(labels)
