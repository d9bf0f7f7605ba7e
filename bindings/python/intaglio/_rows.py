"""A model over any number of rows: what workers and servers have in common."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ._core import Model
from ._load import load
from .errors import ArgumentError, DtypeError, MissingNameError, ShapeError


class RowRunner:
    """Runs a model whose inputs and outputs have one row for each example.

    source, options: what load() takes.
    batch: the rows of one run of the model; 0 leaves as many as the file says. More rows are run
        in pieces, and those that remain one by one.
    columns: where the rows of the inputs are, in the model's order. Empty: the model's names.
    outputs: other names for the outputs, in the model's order.

    An answer depends on its row alone: recurrent networks start each run with their first state.
    Several threads may call; they wait for each other.
    """

    def __init__(
        self,
        source: Any,
        *,
        batch: int = 0,
        columns: Sequence[str] = (),
        outputs: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self.model = _with_rows(load(source, **options), batch)
        self.columns = _names("columns", columns, self.model.inputs)
        self.outputs = _names("outputs", outputs, self.model.outputs)
        self.batch = batch or self.model.inputs[0].shape[0]
        self._single = self.model if self.batch == 1 else _with_rows(self.model.share(), 1)
        self._lock = threading.Lock()

    def check(self, table: Mapping[str, numpy.ndarray]) -> int:
        """Returns the number of rows. Raises an error for what the model would not take."""
        rows = -1
        for tensor, name in zip(self.model.inputs, self.columns):
            if name not in table:
                raise MissingNameError(f"there is no '{name}'")
            array = table[name]
            if array.dtype != tensor.dtype:
                raise DtypeError(f"'{name}' is of {array.dtype}, and the model of {tensor.dtype}")
            if array.ndim != len(tensor.shape) or array.shape[1:] != tensor.shape[1:]:
                wanted = ", ".join(["rows", *map(str, tensor.shape[1:])])
                raise ShapeError(f"'{name}' has the shape {array.shape}, not ({wanted})")
            if rows not in (-1, len(array)):
                raise ShapeError(f"'{name}' has {len(array)} rows, and others {rows}")
            rows = len(array)
        return rows

    def __call__(self, table: Mapping[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
        """Returns the outputs, with as many rows as the arrays of ``table`` have."""
        rows = self.check(table)
        arrays = [numpy.ascontiguousarray(table[name]) for name in self.columns]
        answers = [
            numpy.empty((rows, *tensor.shape[1:]), tensor.dtype) for tensor in self.model.outputs
        ]
        with self._lock:
            begin = 0
            while begin < rows:
                model = self.model if rows - begin >= self.batch else self._single
                end = begin + (self.batch if model is self.model else 1)
                model.reset_state()
                for answer, result in zip(answers, model.run([x[begin:end] for x in arrays])):
                    answer[begin:end] = result
                begin = end
        return dict(zip(self.outputs, answers))


def _with_rows(model: Model, rows: int) -> Model:
    """Gives a model so many rows, or leaves it as it is if they are 0."""
    if rows:
        model.resize([(rows, *tensor.shape[1:]) for tensor in model.inputs])
    first = model.inputs[0].shape[:1] if model.inputs else ()
    for tensor in (*model.inputs, *model.outputs):
        if not first or tensor.shape[:1] != first:
            raise ShapeError(f"'{tensor.name}' {tensor.shape} has no row for each example")
    return model


def _names(argument: str, names: Sequence[str], tensors: Sequence[Any]) -> list[str]:
    if names and len(names) != len(tensors):
        raise ArgumentError(f"{argument} has {len(names)} names, and the model {len(tensors)}")
    return list(names) or [tensor.name for tensor in tensors]
