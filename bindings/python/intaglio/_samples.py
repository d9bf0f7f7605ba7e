"""The samples that quantize() takes, one after the other, as often as they are needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .errors import (
    ArgumentError,
    DtypeError,
    MissingNameError,
    ShapeError,
    UnknownNameError,
)


def opener(data: Any, inputs: Sequence[Any], most: int | None, kept: int | None) -> Callable[[], Iterator[list[Any]]]:
    """A function that starts again with the first sample. A sample is a list of arrays, one for each
    input, of the input's dtype and shape.

    most: take the first so many; None: all.
    kept: how many samples later passes need; None: all. Those of an iterator, which can be read only
        once, are kept in memory.
    """
    items = _items(data, inputs)
    again = _Once(items, kept) if items is data and isinstance(data, Iterator) else items

    def start() -> Iterator[list[Any]]:
        count = 0
        source = again() if callable(again) else again
        for number, item in enumerate(source):
            for sample in _split(item, inputs, number):
                if most is not None and count == most:
                    return
                count += 1
                yield sample

    return start


class _Once:
    """Reads an iterator once, and keeps its first items for later passes."""

    def __init__(self, iterator: Iterator[Any], kept: int | None) -> None:
        self._iterator: Iterator[Any] | None = iterator
        self._most = kept
        self._kept: list[Any] = []

    def __call__(self) -> Iterator[Any]:
        if self._iterator is None:
            yield from self._kept
            return
        iterator, self._iterator = self._iterator, None
        for item in iterator:
            if self._most is None or len(self._kept) < self._most:
                self._kept.append(item)
            yield item


def _items(data: Any, inputs: Sequence[Any]) -> Any:
    """What a pass iterates over, or a function that makes it."""
    if isinstance(data, (str, os.PathLike)):
        return [_file(data)]
    if isinstance(data, Mapping):
        return [{name: _file(value) for name, value in data.items()}]
    if callable(data):
        return data
    if hasattr(data, "__array__") and len(inputs) == 1:
        return [data]
    if isinstance(data, Iterable) and not isinstance(data, (bytes, bytearray, memoryview)):
        return data
    raise ArgumentError(
        "data: an .npy file, an array, a dict of them by input, or an iterable of samples, not "
        f"{type(data).__name__}"
    )


def _file(data: Any) -> Any:
    """The array of a file, which is mapped and read bit by bit."""
    if not isinstance(data, (str, os.PathLike)):
        return data
    import numpy

    try:
        return numpy.load(data, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise ArgumentError(f"data: {os.fsdecode(data)}: no .npy file: {error}") from error


def _split(item: Any, inputs: Sequence[Any], number: int) -> Iterator[list[Any]]:
    """The samples of an item: one, or as many as its arrays have parts."""
    import numpy

    where = f"data, item {number}"
    parts = [_parts(value, tensor, where) for value, tensor in zip(_named(item, inputs, where), inputs)]
    counts = {len(part) for part in parts}
    if len(counts) > 1:
        raise ShapeError(
            f"{where}: its arrays hold {' and '.join(str(len(part)) for part in parts)} samples"
        )
    for together in zip(*parts):
        yield [numpy.ascontiguousarray(part).reshape(t.shape) for part, t in zip(together, inputs)]


def _named(item: Any, inputs: Sequence[Any], where: str) -> list[Any]:
    """The arrays of an item in the order of the inputs."""
    if isinstance(item, Mapping):
        names = [tensor.name for tensor in inputs]
        for name in item:
            if name not in names:
                raise UnknownNameError(f"{where}: the model has no input {name!r}; there are: {names}")
        for name in names:
            if name not in item:
                raise MissingNameError(f"{where}: the input {name!r} is missing")
        return [item[name] for name in names]
    if isinstance(item, (list, tuple)):
        if len(item) != len(inputs):
            raise ArgumentError(
                f"{where}: a {type(item).__name__} of {len(item)}, but the model has "
                f"{len(inputs)} inputs"
            )
        return list(item)
    if len(inputs) != 1:
        raise ArgumentError(
            f"{where}: one {type(item).__name__}, but the model has {len(inputs)} inputs: give a "
            "dict by name, or a list"
        )
    return [item]


def _parts(value: Any, tensor: Any, where: str) -> Any:
    """The array such that its first axis counts samples."""
    import numpy

    try:
        array = numpy.asarray(value)
    except Exception as error:
        raise ArgumentError(f"{where}: input {tensor.name!r}: no array: {error}") from error
    wanted = numpy.dtype(tensor.dtype)
    if array.dtype != wanted:
        raise DtypeError(
            f"{where}: input {tensor.name!r}: the dtype is {array.dtype}, the model's is {wanted}"
        )
    shape = tuple(tensor.shape)
    one = shape[:1] == (1,)
    if array.shape == shape or (one and array.shape == shape[1:]):
        return array[None]
    if array.ndim > 0 and array.shape[1:] == shape:
        return array
    same = len(shape) > 0 and array.ndim == len(shape) and array.shape[1:] == shape[1:]
    if same and shape[0] > 0 and array.shape[0] % shape[0] == 0:
        return array.reshape(array.shape[0] // shape[0], *shape)
    raise ShapeError(
        f"{where}: input {tensor.name!r}: the shape is {array.shape}, the model takes samples of "
        f"{shape}"
    )
