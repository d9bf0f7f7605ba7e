"""Layers of integers as data: what a step of training runs, and what a file holds.

A plan lists tensors and layers. Executor computes it by the runtime's kernels, _emulation.py in
plain PyTorch, and network() makes the graph of a file of it. Tensors are in the file's layout:
images are (N, H, W, C).
"""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from .. import _core


@dataclasses.dataclass
class PlanTensor:
    name: str
    shape: tuple[int, ...] | None  # None: it follows from the layer
    dtype: str = "int8"
    array: np.ndarray | None = None  # of a constant
    scales: tuple[float, ...] = ()
    zeros: tuple[int, ...] = ()
    axis: int = 0

    def same_numbers(self, other: PlanTensor) -> bool:
        if self.scales != other.scales or self.zeros != other.zeros:
            return False
        return self.array is None or np.array_equal(self.array, other.array)


@dataclasses.dataclass
class PlanLayer:
    operator: str
    parameters: dict[str, Any]
    inputs: list[int]
    output: int
    label: str
    to_float: bool = False  # sums become float32, without an activation of the file


class Plan:
    def __init__(self) -> None:
        self.tensors: list[PlanTensor] = []
        self.layers: list[PlanLayer] = []
        self.inputs: list[int] = []
        self.outputs: list[int] = []

    def _add(self, tensor: PlanTensor) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def input(self, name: str, shape: Sequence[int], quantizer=None) -> int:
        """An input of the plan: float32 where there is no quantizer."""
        tensor = PlanTensor(name, tuple(shape), "int8" if quantizer else "float32")
        if quantizer:
            tensor.scales, tensor.zeros = (float(quantizer.scale),), (quantizer.zero,)
        self.inputs.append(self._add(tensor))
        return self.inputs[-1]

    def constant(self, name: str, array: np.ndarray, scales=(), zeros=None, axis: int = 0) -> int:
        scales = tuple(float(s) for s in scales)
        zeros = (0,) * len(scales) if zeros is None else tuple(zeros)
        tensor = PlanTensor(name, array.shape, str(array.dtype), array, scales, zeros, axis)
        return self._add(tensor)

    def layer(
        self,
        operator: str,
        parameters: dict[str, Any],
        inputs: list[int],
        name: str,
        quantizer=None,
        label: str = "",
        to_float: bool = False,
    ) -> int:
        """A layer with one output, which has the quantizer's scale; float32 where there is none."""
        tensor = PlanTensor(name, None, "int8" if quantizer else "float32")
        if quantizer:
            tensor.scales, tensor.zeros = (float(quantizer.scale),), (quantizer.zero,)
        output = self._add(tensor)
        self.layers.append(PlanLayer(operator, parameters, list(inputs), output, label, to_float))
        return output

    def signature(self) -> str:
        """Equal for plans that differ in elements, scales and zero points only."""
        tensors = [(t.shape, t.dtype, t.array is None, len(t.scales), t.axis) for t in self.tensors]
        layers = [(l.operator, l.parameters, l.inputs, l.output, l.to_float) for l in self.layers]
        return repr((tensors, layers, self.inputs, self.outputs))

    def network(self, name: str) -> _core._Network:
        network = _core._Network(name)
        made = {layer.output: layer for layer in self.layers}
        for i, t in enumerate(self.tensors):
            scales, zeros = list(t.scales), list(t.zeros)
            if t.array is not None:
                network.constant(t.name, np.ascontiguousarray(t.array), scales, zeros, t.axis)
            elif i in made:
                l = made[i]
                network.layer(
                    l.operator,
                    l.parameters,
                    l.inputs,
                    t.name,
                    scales,
                    zeros,
                    l.label,
                    t.dtype == "float32",
                )
            else:
                network.tensor(t.name, t.dtype, list(t.shape), scales, zeros, t.axis)
        network.interface(self.inputs, self.outputs)
        return network


class Executor:
    """Computes the plans of one step, by the runtime's kernels or by the emulation.

    A runtime model is prepared once for each shape of inputs. Later plans change its constants and
    scales.
    """

    _MOST_SHAPES = 4

    def __init__(self) -> None:
        self._runners: OrderedDict[str, tuple[_core._Runner, list[PlanTensor]]] = OrderedDict()
        self.settings: Settings | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Executor:
        made = Executor()
        made.settings = copy.deepcopy(self.settings, memo)  # the copied module's
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()
        self.settings = state["settings"]

    def run(self, plan: Plan, inputs: list[torch.Tensor], wanted: list[int]) -> list[torch.Tensor]:
        assert self.settings is not None
        if self.settings.emulates or inputs[0].device.type != "cpu":
            from . import _emulation

            tensors = _emulation.run(plan, inputs)
        else:
            runner = self._runner(plan)
            runner.run([tensor.contiguous().numpy() for tensor in inputs])
            read = set(wanted)
            if self.settings.captured is not None:
                read |= {layer.output for layer in plan.layers if not layer.to_float}
            tensors = {i: torch.from_numpy(runner.read(i)) for i in read}
        if self.settings.captured is not None:
            for layer in plan.layers:
                if not layer.to_float:
                    self.settings.captured[plan.tensors[layer.output].name] = tensors[layer.output]
        return [tensors[i] for i in wanted]

    def _runner(self, plan: Plan) -> _core._Runner:
        plan.outputs = [layer.output for layer in plan.layers]
        key = plan.signature()
        if key in self._runners:
            self._runners.move_to_end(key)
            runner, before = self._runners[key]
            changed = [i for i, t in enumerate(plan.tensors) if not t.same_numbers(before[i])]
            if changed:
                runner.update([_update(i, plan.tensors[i]) for i in changed])
        else:
            runner = plan.network("step").prepare(self.settings.threads, self.settings.kernel)
            while len(self._runners) >= self._MOST_SHAPES:
                self._runners.popitem(last=False)
        self._runners[key] = (runner, plan.tensors)
        return runner


@dataclasses.dataclass
class Settings:
    """What all steps of a module share."""

    threads: int = 1
    kernel: str = ""
    emulates: bool = False
    captured: dict[str, torch.Tensor] | None = None  # the activations of a run, by name


def _update(i: int, tensor: PlanTensor) -> tuple:
    array = None if tensor.array is None else np.ascontiguousarray(tensor.array)
    return i, array, list(tensor.scales), list(tensor.zeros), tensor.axis
