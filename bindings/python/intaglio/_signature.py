"""Signatures of .tflite files: Model.signatures and Model.signature()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from .errors import ArgumentError, MissingNameError, UnknownNameError

if TYPE_CHECKING:
    import numpy


class Signature:
    """A model as a function of the names that one signature of its file gives.

    ``f = model.signature("serving_default")``, then ``f(image=image)`` runs the model and returns
    a dict of new arrays. Model.run() says which arrays will do. The model's state, shape and
    errors are its own: a signature only has other names.
    """

    def __init__(
        self, model: _core.Model, key: str, inputs: dict[str, int], outputs: dict[str, int]
    ) -> None:
        self._model = model
        self._key = key
        self._inputs = inputs  # by name: a position in the model's order
        self._outputs = outputs

    @property
    def model(self) -> _core.Model:
        """The model that runs."""
        return self._model

    @property
    def key(self) -> str:
        """The file's name for this signature."""
        return self._key

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return tuple(self._inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(self._outputs)

    def __call__(self, /, **inputs: Any) -> dict[str, numpy.ndarray]:
        """Runs the model and returns its outputs, by the names of this signature."""
        for name in inputs:
            if name not in self._inputs:
                raise UnknownNameError(
                    f"signature '{self._key}' has no input '{name}'; {_known(self._inputs)}"
                )
        by_position = {}
        for name, position in self._inputs.items():
            if name not in inputs:
                raise MissingNameError(f"signature '{self._key}': the input '{name}' is missing")
            by_position[position] = inputs[name]
        answers = self._model.run([by_position[i] for i in range(len(by_position))])
        return {name: answers[position] for name, position in self._outputs.items()}

    def __repr__(self) -> str:
        names = ", ".join(self._inputs), ", ".join(self._outputs)
        return f"<intaglio.Signature '{self._key}': {names[0]} -> {names[1]}>"


def names(model: _core.Model) -> dict[str, dict[str, list[str]]]:
    """What Model.signatures is."""
    return {
        key: {"inputs": list(inputs), "outputs": list(outputs)}
        for key, inputs, outputs in model._signatures
    }


def find(model: _core.Model, key: str | None) -> Signature:
    """What Model.signature does."""
    there = {key: (inputs, outputs) for key, inputs, outputs in model._signatures}
    if not there:
        raise UnknownNameError("the model has no signatures")
    if key is None:
        if len(there) > 1:
            raise ArgumentError(f"key: the model has several signatures; {_known(there)}")
        (key,) = there
    if key not in there:
        raise UnknownNameError(f"the model has no signature '{key}'; {_known(there)}")
    inputs, outputs = there[key]
    count = len(model.inputs)
    if len(inputs) < count:
        left = min(set(range(count)) - set(inputs.values()))
        raise MissingNameError(
            f"signature '{key}' has no name for the input '{model.inputs[left].name}'"
        )
    return Signature(model, key, inputs, outputs)


def _known(names: dict[str, Any]) -> str:
    return "there are: " + ", ".join(f"'{name}'" for name in names)
