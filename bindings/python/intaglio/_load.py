"""load() and what it takes."""

from __future__ import annotations

import dataclasses
import errno
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _core
from ._tune import Plan, plan_text
from .errors import ArgumentError, MissingFileError


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a model may take of the machine. Larger ones are refused before memory is allocated.

    max_bytes: bytes of memory; 0 stands for 4 GiB and 16 bytes for each byte of the file.
    max_work: multiply-accumulates and other steps of one run.
    max_rounds: rounds of all loops of one run.
    """

    max_bytes: int = 0
    max_work: int = 10**15
    max_rounds: int = 10**6


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview,
    *,
    threads: int = 1,
    kernel: str = "",
    limits: Limits | None = None,
    input_shapes: Sequence[Sequence[int] | None] = (),
    constants: Mapping[str, Any] | None = None,
    integer_only: bool = False,
    unfused_sums: bool = False,
    routines: Mapping[str, str] | None = None,
    plan: Plan | str | os.PathLike[str] | bytes | None = None,
    device: str = "",
    copy_file: bool = False,
    external_data: str | os.PathLike[str] = "",
    without_passes: Iterable[str] = (),
    ort_fused: bool = False,
    nhwc_inputs: bool = False,
    float64_as_float32: bool = False,
    name: str = "",
) -> _core.Model:
    """Reads a .tflite or .onnx file and makes its model ready to run.

    source: the path of the file, or the file itself as bytes. Its content says which format it has.
    threads: the number of threads that run the layers, including the caller's. The results do not
        depend on it.
    kernel: one of those that ``python -m intaglio cpu`` lists, for all layers. Empty: the best.
    limits: what the model may take of memory and work.
    input_shapes: other shapes than the file's for the inputs, in order; None leaves one as it is.
    constants: values for inputs of the file, by name: arrays, or what NumPy makes one of. These inputs
        become constants before the model is read, so that shapes may follow from them, and are no
        inputs of the model any more: input_shapes does not count them.
    integer_only: refuse models that need floating point, and run others without it.
    unfused_sums: round products of float32 before they are added, as TFLite's reference kernels do,
        on every CPU. Else CPUs that have fused multiply-adds use them.
    routines: for a layer, by name or number, the routine that shall run it.
    plan: what tune() made, or the path of a file of ``python -m intaglio tune``, or its bytes: how
        each layer is computed, in the place of routines. What of it does not fit here stands in
        Model.plan_warnings.
    device: where layers may run besides the CPU: "cuda", the current NVIDIA GPU. tune() finds those
        that gain by it, copies included, and a plan has them; all others run on the CPU. Empty:
        nowhere.
    copy_file: read the file into memory instead of mapping it. Nobody may write a mapped file
        while the model lives; to replace it, rename another one over it.
    name: stands in messages instead of the path.

    For .onnx files only:

    external_data: the folder of constants that lie outside the file. Empty: the file's folder.
    without_passes: names of passes that shall not run; ``python -m intaglio inspect --passes``
        lists them.
    ort_fused: sums and products as ONNX Runtime's fused kernels compute them.
    nhwc_inputs: inputs of four dimensions are (N, H, W, C).
    float64_as_float32: read float64 numbers as float32.
    """
    limits = limits or Limits()
    if plan is not None and routines:
        raise ArgumentError("plan, routines: one of them, because a plan has routines")
    options = {
        "threads": _positive("threads", threads),
        "kernel": kernel,
        "max_bytes": limits.max_bytes,
        "max_work": limits.max_work,
        "max_rounds": limits.max_rounds,
        "input_shapes": [list(shape or ()) for shape in input_shapes],
        "constants": _constants(constants or {}),
        "integer_only": bool(integer_only),
        "unfused_sums": bool(unfused_sums),
        "routines": {str(layer): routine for layer, routine in (routines or {}).items()},
        "plan": plan_text(plan),
        "device": device,
        "copy_file": bool(copy_file),
        "external_data": os.fsdecode(external_data),
        "without_passes": _names("without_passes", without_passes),
        "ort_fused": bool(ort_fused),
        "nhwc_inputs": bool(nhwc_inputs),
        "float64_as_float32": bool(float64_as_float32),
    }
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _load(bytes(source), name or "model", options)
    path = os.fsdecode(source)
    if not os.path.exists(path):
        raise MissingFileError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if not external_data:  # as a pickled model must name it
        options["external_data"] = os.path.dirname(os.path.abspath(path))
    return _load(path, name or path, options)


def restore(
    data: bytes, name: str, options: dict[str, Any], shapes: list[tuple[int, ...]]
) -> _core.Model:
    """Makes a pickled model again."""
    model = _core._load(data, name, options)
    if [tensor.shape for tensor in model.inputs] != shapes:
        model.resize(list(shapes))
    return model


def _load(source: str | bytes, name: str, options: dict[str, Any]) -> _core.Model:
    try:
        # A path that is not UTF-8 has surrogates, which no message can have.
        name = name.encode("utf-8", "backslashreplace").decode()
        return _core._load(source, name, options)
    except (AttributeError, RuntimeError, OverflowError, TypeError) as error:
        # An option that C++ cannot take: its error names neither the option nor the type.
        if type(error).__module__.startswith("intaglio"):
            raise
        raise ArgumentError(f"an option has the wrong type or is out of range: {error}") from error


def _positive(what: str, value: int) -> int:
    number = operator.index(value)
    if not 1 <= number <= 4096:
        raise ArgumentError(f"{what}: a number from 1 to 4096, not {number}")
    return number


def _names(what: str, names: Iterable[str]) -> list[str]:
    if isinstance(names, str):
        raise ArgumentError(f"{what}: a list of names, not one string")
    return list(names)


def _constants(values: Mapping[str, Any]) -> list[tuple[str, str, list[int], bytes]]:
    """The values as C++ takes them, and as a pickled model keeps them."""
    if not isinstance(values, Mapping):
        raise ArgumentError("constants: a mapping from the names of inputs to arrays")
    if not values:
        return []
    import numpy  # the first load imports it anyway

    constants = []
    for name, value in values.items():
        try:
            array = numpy.asarray(value)
        except ValueError as error:
            raise ArgumentError(f"constants[{name!r}]: no array: {error}") from error
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        constants.append((str(name), array.dtype.name, list(array.shape), little.tobytes()))
    return constants
