"""prepare(), the module that it makes, and export()."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from .. import _core
from ..errors import ArgumentError
from . import _attention, _steps
from ._errors import MismatchError
from ._plan import Plan, Settings
from ._quantizers import ActivationQuantizer, WeightQuantizer
from ._trace import Steps, trace

_MOVES = (_steps.Concatenate, _steps.Permute, _steps.Pool, _steps.Upsample, _steps.Reshape)
_WEIGHTED = (_steps.Product, _attention.Constant)
_RULE_KEYS = {"layers", "weights", "activations", "per_channel", "learned", "freeze_above"}


def prepare(
    module: torch.nn.Module,
    example_inputs: torch.Tensor | Sequence[torch.Tensor],
    recipe: Sequence[dict[str, Any]] | None = None,
    bits: str = "w8a8",
    *,
    per_channel: bool = True,
    learned_steps: bool = False,
    freeze_above: float | None = None,
    delay: int = 0,
    decay: float = 0.99,
    norm_momentum: float | None = None,
    threads: int = 1,
    kernel: str = "",
) -> QuantizedModule:
    """Makes a copy of a module that computes by the runtime's integer kernels, and can be trained.

    example_inputs: one batch, or a tuple of them where forward() takes several. Shapes and first
        ranges come from it: some hundred typical samples are best.
    recipe: rules, of which the last that matches a layer and has the key decides:
        ``[{"layers": "block3", "weights": 4, "activations": 8}]``. ``layers`` is a regular
        expression that occurs in the layer's name; other keys are weights and activations (bits),
        per_channel, learned, freeze_above.
    bits: of weights and activations, 2 to 8. Inputs and outputs of the network have 8.
    per_channel: weights have one scale for each output channel; else one for all.
    learned_steps: scales are parameters of the module, trained with the rest (LSQ).
    freeze_above: freezes weights that change to and fro in more than this share of the steps, such
        as .02.
    delay: the number of training steps in which activations are not rounded yet.
    decay: of the averages of ranges (EMA).
    norm_momentum: of the averages of batch normalization, in training; 0 keeps them. None: those of
        the module.
    threads, kernel: of the runtime, as in intaglio.load.

    Parameters are new objects: make the optimizer after this call.
    """
    examples = (
        (example_inputs,) if isinstance(example_inputs, torch.Tensor) else tuple(example_inputs)
    )
    weights, activations = _parse_bits(bits)
    defaults = {
        "weights": weights,
        "activations": activations,
        "per_channel": per_channel,
        "learned": learned_steps,
        "freeze_above": freeze_above,
    }
    traced = trace(copy.deepcopy(module), examples)
    steps = Steps(traced)
    settings = Settings(threads=threads, kernel=kernel)
    qm = QuantizedModule(
        steps, _Rules(recipe or [], defaults), settings, decay, delay, norm_momentum
    )
    qm.example_shapes = [tuple(e.shape[1:]) for e in examples]
    qm.calibrate([examples])
    qm.train(module.training)
    return qm


def export(qm: QuantizedModule, path: str | os.PathLike[str], *, io: str = "float32") -> None:
    """Writes a .tflite file that computes what the module computes in eval().

    Images in the file are (N, H, W, C), not (N, C, H, W) as in PyTorch. N is 1; readers resize it.
    io: the type of inputs and outputs: "float32", with a QUANTIZE and a DEQUANTIZE at the ends, or
        "int8".
    """
    if io not in ("float32", "int8"):
        raise ArgumentError(f"io: 'float32' or 'int8', not {io!r}")
    qm.plan(1, real=io == "float32").network(type(qm).__name__).save(os.fspath(path))


class _Rules:
    def __init__(self, recipe: Sequence[dict[str, Any]], defaults: dict[str, Any]) -> None:
        self.recipe = list(recipe)
        self.defaults = defaults
        self.matched = [False] * len(self.recipe)
        for rule in self.recipe:
            unknown = set(rule) - _RULE_KEYS
            if unknown or "layers" not in rule:
                raise ArgumentError(
                    f"recipe: {rule} has no 'layers', or a key that is none of {sorted(_RULE_KEYS)}"
                )

    def of(self, label: str) -> dict[str, Any]:
        rule = dict(self.defaults)
        for i, wanted in enumerate(self.recipe):
            if re.search(wanted["layers"], label):
                self.matched[i] = True
                rule.update(wanted)
        for key in ("weights", "activations"):
            if not isinstance(rule[key], int) or not 2 <= rule[key] <= 8:
                raise ArgumentError(f"{label}: {rule[key]!r} bits of {key}; 2 to 8 are supported")
        return rule

    def check(self) -> None:
        for rule, matched in zip(self.recipe, self.matched):
            if not matched:
                raise ArgumentError(f"recipe: the pattern {rule['layers']!r} matches no layer")


def _parse_bits(bits: str) -> tuple[int, int]:
    match = re.fullmatch(r"w([2-8])a([2-8])", bits)
    if not match:
        raise ArgumentError(f"bits: 'w8a8', 'w4a8' and the like, with 2 to 8 bits, not {bits!r}")
    return int(match[1]), int(match[2])


class QuantizedModule(torch.nn.Module):
    """A network whose forward pass is that of the runtime. prepare() makes one."""

    def __init__(
        self, steps: Steps, rules: _Rules, settings: Settings, decay, delay, norm_momentum
    ) -> None:
        super().__init__()
        self.settings = settings
        self.delay = delay
        self.register_buffer("steps_done", torch.zeros((), dtype=torch.int64))
        self.steps = torch.nn.ModuleList(steps.steps.values())
        self.outputs = steps.outputs
        self.example_shapes: list[tuple[int, ...]] = []
        self._observes: bool | None = None
        self._by_name = steps.steps
        for step in self.steps:
            step.executor.settings = settings
            if isinstance(step, _WEIGHTED):
                product = isinstance(step, _steps.Product)
                rule = rules.of(step.label)
                step.weights = WeightQuantizer(
                    step.module.weight if product else step.numbers,
                    rule["weights"],
                    rule["per_channel"] and product,
                    rule["learned"],
                    rule["freeze_above"],
                )
                if product and step.norm is not None:
                    own = step.norm.momentum if step.norm.momentum is not None else 0.1
                    step.norm_momentum = own if norm_momentum is None else norm_momentum
        self._share_quantizers(steps, rules, decay)
        rules.check()

    def _share_quantizers(self, steps: Steps, rules: _Rules, decay: float) -> None:
        root = {name: name for name in steps.steps}

        def find(name: str) -> str:
            while root[name] != name:
                name = root[name]
            return name

        for a, b in steps.shared:
            root[find(a)] = find(b)
        groups: dict[str, list[_steps.Step]] = {}
        for step in self.steps:
            if not isinstance(step, _attention.Constant):
                groups.setdefault(find(step.name), []).append(step)
        for group in groups.values():
            self._make_quantizer(group, rules, decay)

    def _make_quantizer(self, group: list[_steps.Step], rules: _Rules, decay: float) -> None:
        rounding = [step for step in group if not isinstance(step, _MOVES)]
        at_ends = any(isinstance(s, _steps.InputStep) or s.name in self.outputs for s in group)
        wanted = [rules.of(step.label) for step in group]
        writers = [rules.of(step.label) for step in rounding]
        bits = 8 if at_ends else max(rule["activations"] for rule in writers or wanted)
        learned = not at_ends and all(rule["learned"] for rule in writers)
        fixing = [step for step in rounding if step.fixed_range is not None]
        alone = len(rounding) == 1
        fixed = None
        if fixing and alone:
            fixed = fixing[0].fixed_range
            bits = fixing[0].fixed_bits or bits
        elif alone and rounding[0].activation == "relu6" and bits < 8 and not learned:
            fixed = (0.0, 6.0)  # which RELU6 of the file computes without a layer more
        elif fixing:
            raise ArgumentError(f"{fixing[0].label}: a result of fixed range that is concatenated")
        quantizer = ActivationQuantizer(group[0].label, bits, decay, learned and fixed is None)
        quantizer.fixed = fixed
        for step in group:
            step.quantizer = quantizer
            if step in rounding:
                step.writer = quantizer.add_writer()

    # ---- running

    @property
    def quantizes(self) -> bool:
        """Whether activations are rounded: in eval() always, in training after the delay."""
        return not self.training or int(self.steps_done) >= self.delay

    def forward(self, *inputs: torch.Tensor):
        values = self._run(inputs, self.quantizes, self.training and torch.is_grad_enabled())
        if self.training and torch.is_grad_enabled():
            self.steps_done += 1
        results = tuple(values[name].real for name in self.outputs)
        return results[0] if len(results) == 1 else results

    def _run(
        self, inputs: Sequence[torch.Tensor], quantizes: bool, observes: bool
    ) -> dict[str, _steps.Value]:
        if [tuple(x.shape[1:]) for x in inputs] != self.example_shapes:
            shapes = [tuple(x.shape) for x in inputs]
            raise ArgumentError(
                f"inputs of {shapes}; the module was prepared for (N, ...) of {self.example_shapes}"
            )
        given = iter(inputs)
        values: dict[str, _steps.Value] = {}
        for step in self.steps:
            if isinstance(step, _steps.InputStep):
                sources = [_steps.Value(next(given), None)]
                quantizers = []
            else:
                sources = [values[name] for name in step.sources]
                quantizers = [self._by_name[name].quantizer for name in step.sources]
            values[step.name] = step(sources, quantizers, quantizes, observes)
        for step in self.steps:
            step.observe()
        return values

    def calibrate(self, batches: Iterable[Any]) -> None:
        """Takes ranges anew: the extremes over these batches, each a tensor or a tuple of them.

        This is quantization after training. In training, averages go on from there.
        """
        mode = self.training
        self.eval()
        quantizers = self.quantizers()
        for quantizer in quantizers:
            quantizer.forget()
            quantizer.extremes = True
        with torch.no_grad():
            for step in self.steps:
                if isinstance(step, _WEIGHTED):
                    step.start_learning()  # before the ranges, which the rounded weights make
            for batch in batches:
                batch = (batch,) if isinstance(batch, torch.Tensor) else tuple(batch)
                self._run(batch, False, True)
        for quantizer in quantizers:
            quantizer.extremes = False
            quantizer.start_learning()
        self.train(mode)

    def quantizers(self) -> list[ActivationQuantizer]:
        """Those of activations."""
        constants = _attention.Constant
        steps = (step for step in self.steps if not isinstance(step, constants))
        return list(dict.fromkeys(step.quantizer for step in steps))

    def freeze_norm(self) -> None:
        """Keeps the statistics of batch normalization from now on."""
        for step in self.steps:
            if isinstance(step, _steps.Product):
                step.norm_momentum = 0.0

    def emulate(self, on: bool = True) -> QuantizedModule:
        """Computes in plain PyTorch instead of by the kernels, with the same bits, as GPUs do."""
        self.settings.emulates = on
        return self

    # ---- files

    def plan(self, batch: int, real: bool) -> Plan:
        """The whole network of integers."""
        plan = Plan()
        ids: dict[str, int] = {}
        shapes = iter(self.example_shapes)
        for step in self.steps:
            quantizers = [self._by_name[name].quantizer for name in step.sources]
            if not isinstance(step, _steps.InputStep):  # a constant has no sources
                ids[step.name] = step.write(plan, [ids[name] for name in step.sources], quantizers)
                continue
            shape = next(shapes)
            shape = (batch, *shape[1:], shape[0]) if len(shape) == 3 else (batch, *shape)
            if real:
                ids[step.name] = step.write(plan, [plan.input(step.name + "/real", shape)], [])
            else:
                ids[step.name] = plan.input(step.name, shape, step.quantizer)
        outputs = [ids[name] for name in self.outputs]
        if real:
            outputs = [
                plan.layer("DEQUANTIZE", {}, [i], f"{name}/real", None, f"{name}/real")
                for i, name in zip(outputs, self.outputs)
            ]
        plan.outputs = outputs
        return plan

    def verify(
        self, path: str | os.PathLike[str], inputs, kernel: str = "", threads: int = 1
    ) -> int:
        """Compares every activation of the file with the simulation. Inputs are as for forward().

        Returns the number of activations that were compared. Raises MismatchError for the first
        layer that differs at all.
        """
        inputs = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
        simulated = self.activations(*inputs)
        runner = _core._open_runner(os.fspath(path), threads, kernel)
        tensors = runner.tensors()
        given = []
        input_steps = [step for step in self.steps if isinstance(step, _steps.InputStep)]
        if len(input_steps) != len(runner.inputs()):
            raise MismatchError(
                f"{path}: {len(runner.inputs())} inputs, the module has {len(input_steps)}"
            )
        for i, step, x in zip(runner.inputs(), input_steps, inputs):
            is_real = not tensors[i][2]
            real = _steps.to_file(x.detach().cpu().float(), step.image)
            array = real if is_real else simulated[step.name]
            given.append(np.ascontiguousarray(array))
        runner.resize([list(array.shape) for array in given])
        runner.run(given)
        return _compare(runner, simulated, os.fspath(path))

    @torch.no_grad()
    def activations(self, *inputs: torch.Tensor) -> dict[str, np.ndarray]:
        """The codes of every tensor of integers, and the numbers of float32 between them, by their
        names in the file, in the file's layout."""
        mode = self.training
        self.eval()
        self.settings.captured = {}
        try:
            self._run(inputs, True, False)
            return {name: codes.cpu().numpy() for name, codes in self.settings.captured.items()}
        finally:
            self.settings.captured = None
            self.train(mode)


def _compare(runner, simulated: dict[str, np.ndarray], path: str) -> int:
    by_name = {tensor[0]: i for i, tensor in enumerate(runner.tensors()) if not tensor[4]}
    labels = {output: label for label, outputs, _ in runner.layers() for output in outputs}
    count = 0
    for name, codes in simulated.items():
        if name not in by_name:
            raise MismatchError(f"{path}: there is no tensor '{name}'")
        found = runner.read(by_name[name])
        if found.shape != codes.shape:
            raise MismatchError(
                f"{path}: tensor '{name}' is {found.shape}, simulated {codes.shape}"
            )
        kind = np.float64 if codes.dtype == np.float32 else np.int32
        difference = np.abs(found.astype(kind) - codes.astype(kind))
        if not np.array_equal(found, codes, equal_nan=codes.dtype == np.float32):
            layer = labels.get(by_name[name], "an input")
            raise MismatchError(
                f"{path}: layer {layer}, tensor '{name}': {int((difference > 0).sum())} of "
                f"{difference.size} numbers differ from the simulation, by {difference.max()} "
                "at most"
            )
        count += codes.size
    return count
