"""The steps that transformers need beside those of _steps.py."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from ._quantizers import WeightQuantizer
from ._steps import Step, Value, to_file


class MatMul(Step):
    """The product of two activations, of matrices in their last two dimensions."""

    def __init__(self, name, label, sources, transposes) -> None:
        super().__init__(name, label, sources)
        self.transposes = tuple(transposes)  # whether each operand lies the other way round

    def compute(self, inputs):
        a, b = (x.transpose(-1, -2) if t else x for x, t in zip(inputs, self.transposes))
        return torch.matmul(a, b)

    def write(self, plan, inputs, quantizers):
        parameters = dict(zip(("adjoint_a", "adjoint_b"), self.transposes))
        return self.finish(
            plan,
            lambda name: plan.layer(
                "BATCH_MATMUL", parameters, inputs, name, self.quantizer, self.label
            ),
        )


class Softmax(Step):
    """Over the last dimension. TFLite has one form of the result: 0 to 255 steps of 1/256."""

    fixed_range = (0.0, 255 / 256)
    fixed_bits = 8

    def compute(self, inputs):
        return torch.softmax(inputs[0], -1)

    def write(self, plan, inputs, quantizers):
        return plan.layer("SOFTMAX", {"beta": 1.0}, inputs, self.name, self.quantizer, self.label)


class LayerNorm(Step):
    """Over the last dimension, in float32: TFLite has no layer for it, and integers have neither
    enough bits for the squares nor a root. Every operation is rounded by itself, so that its bits
    are the same on every CPU."""

    def __init__(self, name, label, sources, module) -> None:
        super().__init__(name, label, sources)
        self.module = module

    def compute(self, inputs):
        m = self.module
        return F.layer_norm(inputs[0], m.normalized_shape, m.weight, m.bias, m.eps)

    def write(self, plan, inputs, quantizers):
        rank = len(self.source_shape)
        over_rows = {"axes": [rank - 1], "keep_dims": True}

        def layer(operator, parts, name, parameters=None):
            parameters = {"activation": ""} if parameters is None else parameters
            places = (f"{self.name}/{name}", None, f"{self.label}/{name}")
            return plan.layer(operator, parameters, parts, *places)

        def constant(name, numbers):
            array = np.asarray(numbers, np.float32)
            return plan.constant(f"{self.label}/{name}", array.reshape(-1))

        real = layer("DEQUANTIZE", inputs, "dequantized", {})
        mean = layer("MEAN", [real], "mean", over_rows)
        centered = layer("SUB", [real, mean], "centered")
        squares = layer("MUL", [centered, centered], "squares")
        variance = layer("MEAN", [squares], "variance", over_rows)
        above = layer("ADD", [variance, constant("epsilon", self.module.eps)], "above_zero")
        inverse = layer("RSQRT", [above], "inverse", {})
        result = layer("MUL", [centered, inverse], "normalized")
        for kind, operator in (("weight", "MUL"), ("bias", "ADD")):
            numbers = getattr(self.module, kind)
            if numbers is not None:
                operand = constant(kind, numbers.detach().cpu().numpy())
                result = layer(operator, [result, operand], "with_" + kind)
        parts = [result]
        return self.finish(
            plan, lambda name: plan.layer("QUANTIZE", {}, parts, name, self.quantizer, self.label)
        )


class Scale(Step):
    """The product with a number, where no weights before it can take it up."""

    def __init__(self, name, label, sources, factor) -> None:
        super().__init__(name, label, sources)
        self.factor = factor

    def compute(self, inputs):
        return self.activate(inputs[0] * self.factor)

    def write(self, plan, inputs, quantizers):
        code = np.full((1,), 1 if self.factor > 0 else -1, np.int8)
        factor = plan.constant(self.label + "/factor", code, [abs(self.factor)])
        parts = [inputs[0], factor]
        parameters = {"activation": self.activation or ""}
        return self.finish(
            plan,
            lambda name: plan.layer("MUL", parameters, parts, name, self.quantizer, self.label),
        )


class _ScaleOfConstant:
    """What readers of a constant ask a quantizer for."""

    zero = 0
    step = None

    def __init__(self, constant: Constant) -> None:
        self._constant = constant

    @property
    def scale(self) -> float:
        constant = self._constant
        return float(constant.weights.scales(constant.numbers, constant.least, None)[0])


class Constant(Step):
    """A parameter or a buffer that is added to activations or multiplied by them. One scale, and
    codes without the lowest, as of weights."""

    def __init__(self, name, label, numbers: torch.Tensor) -> None:
        super().__init__(name, label, [])
        if isinstance(numbers, torch.nn.Parameter):
            self.numbers = torch.nn.Parameter(numbers.detach().clone(), numbers.requires_grad)
        else:
            self.register_buffer("numbers", numbers.clone())
        self.quantizer = _ScaleOfConstant(self)  # type: ignore[assignment]
        self.weights: WeightQuantizer = None  # type: ignore[assignment]

    @property
    def least(self) -> torch.Tensor:
        return torch.zeros(len(self.numbers), device=self.numbers.device)

    def start_learning(self) -> None:
        self.weights.start_learning(self.numbers)

    def forward(self, inputs, quantizers, quantizes, observes):
        real, codes, _ = self.weights(self.numbers, self.least)
        if not quantizes:
            return Value(real, None)
        return Value(real, to_file(codes.detach(), self.image).to(torch.int8))

    def write(self, plan, inputs, quantizers):
        with torch.no_grad():
            _, codes, _ = self.weights(self.numbers, self.least)
        array = to_file(codes, self.image).to(torch.int8).cpu().contiguous().numpy()
        return plan.constant(self.label, array, [self.quantizer.scale])
