"""quantize() and what it makes."""

from __future__ import annotations

import dataclasses
import json
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import _core
from ._load import load
from ._samples import opener
from .errors import ArgumentError

_COMPARED = 64  # samples


@dataclasses.dataclass(frozen=True)
class QuantizedLayer:
    """What became of a layer of the network of float32.

    integers: whether it computes with integers now.
    note: why it stays float32, or what to know of it; mostly empty.
    """

    label: str
    integers: bool
    note: str


@dataclasses.dataclass(frozen=True)
class LayerLoss:
    """What one layer loses (docs/quantizing.md).

    sqnr_alone, sqnr_accumulated: the signal over the noise in decibels, with exact inputs and with
        all layers before it quantized; infinite where nothing differs.
    clipped: the share of the exact numbers beyond the range.
    dead_channels: channels whose integers never change, although the exact numbers do.
    range_ratio: the widest range of a channel of weights over the narrowest.
    histogram: how often the output takes which numbers: "exact" in the network of float32 and
        "integers" in that of integers, in 48 equal parts from "least" to "greatest", with those below
        before and those above behind.
    rule: a rule of a recipe that would help, as JSON; empty if none is needed.
    """

    layer: int
    label: str
    operator: str
    sqnr_alone: float
    sqnr_accumulated: float
    cosine_alone: float
    cosine_accumulated: float
    clipped: float
    dead_channels: int
    range_ratio: float
    histogram: dict[str, Any]
    rule: str


@dataclasses.dataclass(frozen=True)
class OutputAgreement:
    """How an output of the file agrees with that of the network of float32.

    same_place: in how many of the compared samples the largest element is at the same place.
    """

    name: str
    sqnr: float
    cosine: float
    same_place: int
    samples: int


class Report:
    """What each layer loses. ``text`` is the JSON that the command writes."""

    def __init__(self, text: str) -> None:
        self.text = text
        parsed: dict[str, Any] = json.loads(text) if text else {"samples": 0, "layers": []}
        self.samples: int = parsed["samples"]
        #: The layers, the worst first.
        self.layers: list[LayerLoss] = [_loss(layer) for layer in parsed["layers"]]

    def worst(self, count: int = 5) -> list[LayerLoss]:
        """The layers that lose most by themselves, the worst first."""
        return self.layers[:count]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the JSON to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    def __str__(self) -> str:
        lines = [f"{'SQNR alone':>10} {'all':>6} {'clipped':>8} {'ratio':>7}  layer"]
        lines += [
            f"{loss.sqnr_alone:10.1f} {loss.sqnr_accumulated:6.1f} {loss.clipped:8.2%} "
            f"{loss.range_ratio:7.1f}  {loss.label}"
            for loss in self.layers
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<intaglio.Report on {len(self.layers)} layers by {self.samples} samples>"


class Quantized:
    """A network of integers, as a file in memory. quantize() makes one."""

    def __init__(self, answer: dict[str, Any], format: str) -> None:
        #: The bytes of the file.
        self.data: bytes = answer["data"]
        #: "tflite" or "onnx".
        self.format = format
        #: How many samples were observed.
        self.samples: int = answer["samples"]
        self.layers = [QuantizedLayer(*layer) for layer in answer["layers"]]
        #: How the outputs of the file agree with those of the network of float32.
        self.outputs = [OutputAgreement(*output) for output in answer["outputs"]]
        #: What max_drop or min_sqnr changed: labels of layers, and how they are computed now.
        self.changes: list[tuple[str, str]] = answer["changes"]
        #: Empty with report_samples=0.
        self.report = Report(answer["report"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, whose name has to end in its format."""
        name = os.fsdecode(path)
        if not name.endswith("." + self.format):
            raise ArgumentError(
                f"{name}: does not end in .{self.format}; quantize(..., format=) makes the other"
            )
        with open(path, "wb") as file:
            file.write(self.data)

    def model(self, **options: Any) -> _core.Model:
        """Makes the network ready to run. Takes the options of load()."""
        return load(self.data, **options)

    def __bytes__(self) -> bytes:
        return self.data

    def __repr__(self) -> str:
        count = sum(layer.integers for layer in self.layers)
        return (
            f"<intaglio.Quantized {self.format}: {count} of {len(self.layers)} layers, "
            f"{len(self.data)} bytes>"
        )


def quantize(
    model: _core.Model | str | os.PathLike[str] | bytes,
    data: Any = None,
    *,
    bits: str = "w8a8",
    method: str = "minmax",
    recipe: Sequence[Mapping[str, Any]] | str | os.PathLike[str] | None = None,
    keep_float: str | Iterable[str] = (),
    per_channel: bool = True,
    equalize: bool = False,
    smooth: bool = False,
    learn_rounding: bool = False,
    correct_bias: bool = False,
    max_drop: float | None = None,
    min_sqnr: float | None = None,
    labels: Iterable[int] | None = None,
    io: str = "float32",
    format: str = "",
    samples: int | None = None,
    report_samples: int = 32,
    progress: Callable[[str, int], None] | None = None,
    threads: int = 1,
) -> Quantized:
    """Makes a network of integers from one of float32 and sample inputs.

    model: a path, the bytes of a file, or what load() made; its shapes count.
    data: samples of what the network will see. One of:
        an .npy file or an array whose first axis counts samples; for a model with several inputs a
        dict of such by name;
        an iterable of samples: arrays, or dicts or lists of arrays for several inputs. An item may
        have any number of samples on its first axis. It is read once or more often; what can be read
        only once is kept in memory as far as it is needed again;
        a function that returns such an iterable.
        Arrays have the model's dtypes. Memory does not grow with the number of samples.
        bits="w8" needs none.
    bits: "w8a8", weights of 2 to 8 bits and activations of 2 to 8 or 16; "w8": weights alone.
    method: how ranges follow: minmax, ema, percentile, mse or entropy.
    recipe: rules as dicts, or the path of a file of JSON: how layers differ.
    keep_float: regular expressions; layers in whose labels one occurs stay float32.
    per_channel: False: one scale for all weights of a layer.
    equalize: make the channels of weights alike in size first.
    smooth: move the ranges of activations into the weights that they are multiplied by, by a pass
        over the samples before all others.
    learn_rounding: round weights so that layers' results stay, not to the nearest integers, by one or
        more passes over the samples.
    correct_bias: take mean errors out of biases, by a pass over up to 256 samples for each layer.
    max_drop: make the worst layers wider, or keep them float32, until the accuracy of the first
        output falls by no more points of a hundred; Quantized.changes says which. Reads the samples
        again and again.
    min_sqnr: the same, until the first output has so many decibels of signal over noise.
    labels: the right answers for max_drop, sample after sample. Without them, those of the model are
        right.
    io: the type of inputs and outputs: float32, int8, uint8 or int16.
    format: of the file: "tflite" or "onnx"; empty: that of the model.
    samples: take the first so many.
    report_samples: how many samples Quantized.report is made of; 0: no report.
    progress: is called after each sample with what was done and the number of samples so far.
    threads: for running; the result does not depend on it. Not for a model that was loaded before.

    The same model, samples and options give the same bytes. docs/quantizing.md explains the options.
    """
    if format not in ("", "tflite", "onnx"):
        raise ArgumentError(f"format: tflite or onnx, not {format!r}")
    if report_samples < 0 or (samples is not None and samples < 1):
        raise ArgumentError("samples, report_samples: numbers of samples")
    if max_drop is not None and not 0 <= max_drop <= 100:
        raise ArgumentError(f"max_drop: points from 0 to 100, not {max_drop}")
    if max_drop is not None and min_sqnr is not None:
        raise ArgumentError("max_drop, min_sqnr: one of both")
    if min_sqnr is not None and not -100 <= min_sqnr <= 200:
        raise ArgumentError(f"min_sqnr: decibels from -100 to 200, not {min_sqnr}")
    if labels is not None and max_drop is None:
        raise ArgumentError("labels: are for max_drop alone, which is not there")
    if not isinstance(model, _core.Model):
        model = load(model, threads=threads)
    if data is None:
        start = None
    else:
        again = correct_bias or smooth or learn_rounding or max_drop is not None or min_sqnr is not None
        kept = None if again else max(_COMPARED, report_samples)
        start = opener(data, model.inputs, samples, kept)
    options = {
        "bits": str(bits),
        "method": str(method),
        "recipe": _recipe(recipe),
        "keep_float": [keep_float] if isinstance(keep_float, str) else [str(p) for p in keep_float],
        "per_channel": bool(per_channel),
        "equalize": bool(equalize),
        "smooth": bool(smooth),
        "learn_rounding": bool(learn_rounding),
        "correct_bias": bool(correct_bias),
        "max_drop": None if max_drop is None else float(max_drop),
        "min_sqnr": None if min_sqnr is None else float(min_sqnr),
        "labels": [] if labels is None else _labels(labels),
        "io": str(io),
        "format": format,
        "report_samples": int(report_samples),
        "progress": progress,
    }
    answer = _core._quantize(model, start, options)
    return Quantized(answer, answer["format"])


def _recipe(recipe: Any) -> str:
    """The recipe as JSON."""
    if recipe is None:
        return "[]"
    if isinstance(recipe, (str, os.PathLike)):
        with open(recipe, encoding="utf-8", errors="replace") as file:
            return file.read()
    try:
        return json.dumps(list(recipe))
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"recipe: no list of rules: {error}") from error


def _labels(labels: Iterable[Any]) -> list[int]:
    try:
        numbers = [operator.index(label) for label in labels]
    except TypeError as error:
        raise ArgumentError(f"labels: not of integers: {error}") from error
    if not numbers:  # which would stand for the answers of the network of float32
        raise ArgumentError("labels: the list is empty")
    for number in numbers:
        if not 0 <= number < 1 << 31:
            raise ArgumentError(f"labels: {number} is no answer")
    return numbers


def _loss(layer: dict[str, Any]) -> LayerLoss:
    infinite = {
        key: float("inf")
        for key in ("sqnr_alone", "sqnr_accumulated")
        if layer[key] is None
    }
    return LayerLoss(**(layer | infinite))
