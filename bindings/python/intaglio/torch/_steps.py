"""The steps of a network in training. Each runs a layer of integers by the runtime's kernels, knows
its gradient, and writes itself into a plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F

from ._plan import Executor, Plan
from ._quantizers import ActivationQuantizer, WeightQuantizer


@dataclasses.dataclass
class Value:
    """The result of a step: real numbers in PyTorch's layout, with gradients, and the codes that
    they stand for in the file's layout; None while activations are not quantized yet."""

    real: torch.Tensor
    codes: torch.Tensor | None


_IMAGE = (0, 2, 3, 1)  # PyTorch's dimensions of an image in the order of the file


def to_file(tensor: torch.Tensor, image: bool) -> torch.Tensor:
    """Images from (N, C, H, W) to (N, H, W, C)."""
    return tensor.permute(_IMAGE) if image else tensor


def from_file(tensor: torch.Tensor, image: bool) -> torch.Tensor:
    return tensor.permute(0, 3, 1, 2) if image else tensor


class Step(torch.nn.Module):
    """One layer with one output. `sources` names the steps that it reads."""

    activation: str | None = None  # "relu" or "relu6", computed with the layer
    image = False  # whether the result is (N, H, W, C) in the file, and (N, C, H, W) here
    # Of the result, whatever its numbers are; None: as they are and as the rules say.
    fixed_range: tuple[float, float] | None = None
    fixed_bits: int | None = None

    def __init__(self, name: str, label: str, sources: list[str]) -> None:
        super().__init__()
        self.name = name
        self.label = label
        self.sources = sources
        self.executor = Executor()
        self.quantizer: ActivationQuantizer = None  # type: ignore[assignment]
        self.writer = -1  # of the quantizer; negative: the step rounds nothing
        self.extremes: tuple[torch.Tensor, torch.Tensor] | None = None  # of this pass
        self.source_shape: tuple[int, ...] = ()  # of the first source, in PyTorch's layout

    def write(self, plan: Plan, inputs: list[int], quantizers: list[ActivationQuantizer]) -> int:
        """Writes the layers of integers into a plan. Returns the output."""
        raise NotImplementedError

    def compute(self, inputs: list[torch.Tensor]) -> torch.Tensor:
        """The layer on real numbers, without rounding but with its activation."""
        raise NotImplementedError

    def forward(
        self,
        inputs: list[Value],
        quantizers: list[ActivationQuantizer],
        quantizes: bool,
        observes: bool,
    ) -> Value:
        exact = None
        if observes or not quantizes or torch.is_grad_enabled():
            exact = self.compute([value.real for value in inputs])
        if observes:
            self.note(exact)
        if not quantizes:
            return Value(exact, None)
        codes = self._run(inputs, quantizers)
        return self._value(exact, codes)

    def note(self, exact: torch.Tensor) -> None:
        if self.writer >= 0:
            self.extremes = torch.aminmax(exact.detach())

    def observe(self) -> None:
        """Tells the quantizer the extremes. Not before the pass ends, because all of a pass has the
        same scales."""
        if self.extremes is not None:
            self.quantizer.observe(self.writer, *self.extremes)
            self.extremes = None

    def _value(self, exact: torch.Tensor | None, codes: torch.Tensor) -> Value:
        if exact is None:
            return Value(from_file(self.quantizer.real(codes), self.image), codes)
        return Value(self.quantizer.through(exact, from_file(codes, self.image)), codes)

    def _run(self, inputs: list[Value], quantizers: list[ActivationQuantizer]) -> torch.Tensor:
        plan = Plan()
        ids = [
            plan.input(f"input{i}", value.codes.shape, quantizer)
            for i, (value, quantizer) in enumerate(zip(inputs, quantizers))
        ]
        output = self.write(plan, ids, quantizers)
        return self.executor.run(plan, [value.codes for value in inputs], [output])[0]

    def activate(self, tensor: torch.Tensor) -> torch.Tensor:
        if self.activation == "relu":
            return torch.relu(tensor)
        return tensor.clamp(0, 6) if self.activation == "relu6" else tensor

    def finish(self, plan: Plan, layer: Callable[[str], int]) -> int:
        """Writes the layer, and MAXIMUM after it where its codes may be less than those of B bits.

        They saturate above at the type's end. RELU and RELU6 have no codes below the zero point."""
        q = self.quantizer
        if q.lowest == -128 or self.activation in ("relu", "relu6"):
            return layer(self.name)
        wide = layer(self.name + "/unclamped")
        bound = np.full((1,), q.lowest, np.int8)
        least = plan.constant(self.name + "/least", bound, [q.scale], [q.zero])
        return plan.layer("MAXIMUM", {}, [wide, least], self.name, q, self.label + "/clamp")


class InputStep(Step):
    """Rounds the module's input."""

    def __init__(self, name: str) -> None:
        super().__init__(name, name, [])

    def compute(self, inputs):
        return inputs[0]

    def write(self, plan, inputs, quantizers):
        return self.finish(
            plan, lambda name: plan.layer("QUANTIZE", {}, inputs, name, self.quantizer, self.label)
        )

    def _run(self, inputs, quantizers):
        plan = Plan()
        real = to_file(inputs[0].real.detach().to(torch.float32), self.image)
        output = self.write(plan, [plan.input("real", real.shape)], [])
        return self.executor.run(plan, [real], [output])[0]


class _RealProduct(torch.autograd.Function):
    """The exact sums of the kernels, with the gradient of the product of real numbers."""

    @staticmethod
    def forward(ctx, x, weight, bias, computed, layer):
        ctx.save_for_backward(x, weight)
        ctx.layer = layer
        return computed[0]  # in a list, so that it is no input

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return (*ctx.layer.gradients(x, weight, gradient), None, None)


class Product(Step):
    """Conv2d or Linear, with the batch normalization and the activation behind it."""

    def __init__(
        self, name: str, label: str, sources: list[str], module, activation: str | None
    ) -> None:
        super().__init__(name, label, sources)
        self.module = module
        self.norm: torch.nn.Module | None = None
        self.factor = 1.0  # of weights and bias, before batch normalization
        self.activation = activation
        self.weights: WeightQuantizer = None  # type: ignore[assignment]
        self.norm_momentum = 0.0  # of the statistics; 0: they stay as they are
        self.file_names = {"weight": label + "/weight", "bias": label + "/bias"}

    # Weights and bias, with batch normalization folded by its averages (Jacob et al., 2018, eq. 14).
    def folded(self) -> tuple[torch.Tensor, torch.Tensor]:
        weight, bias = self.module.weight, self.module.bias
        if bias is None:
            bias = torch.zeros(len(weight), device=weight.device)
        if self.factor != 1:
            weight, bias = weight * self.factor, bias * self.factor
        if self.norm is None:
            return weight, bias
        factor = self._norm_factor()
        offset = 0 if self.norm.bias is None else self.norm.bias
        bias = (bias - self.norm.running_mean) * factor + offset
        return weight * factor.reshape(-1, *[1] * (weight.dim() - 1)), bias

    def _norm_factor(self) -> torch.Tensor:
        factor = torch.rsqrt(self.norm.running_var + self.norm.eps)
        return factor if self.norm.weight is None else factor * self.norm.weight

    def learned_factor(self) -> torch.Tensor | float | None:
        """The factor of learned scales (WeightQuantizer.forward)."""
        if not self.weights.per_channel:
            return None
        if self.norm is None:
            return None if self.factor == 1 else abs(self.factor)
        return self._norm_factor().detach().abs() * abs(self.factor)

    def start_learning(self) -> None:
        own = self.weights.per_channel
        self.weights.start_learning(self.module.weight if own else self.folded()[0])

    def _update_norm(self, sums: torch.Tensor, bias: torch.Tensor) -> None:
        """The averages take up the moments of this batch, which follow from the folded sums."""
        with torch.no_grad():
            rows = to_file(sums, self.image).reshape(-1, sums.shape[1])
            factor = self._norm_factor()
            live = factor.abs() > 1e-6
            safe = torch.where(live, factor, torch.ones_like(factor))
            shift = 0 if self.norm.bias is None else self.norm.bias
            middle = rows.mean(0)
            mean = (middle - shift) / safe + self.norm.running_mean
            # Several times as fast as torch.var.
            variance = (rows - middle).square_().sum(0) / (max(len(rows) - 1, 1) * safe**2)
            m = self.norm_momentum * live.to(mean.dtype)
            self.norm.running_mean.add_(m * (mean - self.norm.running_mean))
            self.norm.running_var.add_(m * (variance - self.norm.running_var))

    def gradients(self, x, weight, gradient):
        m = self.module
        if isinstance(m, torch.nn.Linear):
            rows = gradient.reshape(-1, gradient.shape[-1])
            return gradient @ weight, rows.t() @ x.reshape(-1, x.shape[-1]), rows.sum(0)
        return torch.ops.aten.convolution_backward(
            gradient,
            x,
            weight,
            [len(weight)],
            m.stride,
            self.padding,
            m.dilation,
            False,
            [0, 0],
            m.groups,
            [True] * 3,
        )

    @property
    def padding(self) -> list[int]:
        m = self.module
        if m.padding == "valid":
            return [0, 0]
        if m.padding == "same":  # the tracer refuses kernels that need different sides
            return [d * (k - 1) // 2 for d, k in zip(m.dilation, m.kernel_size)]
        return list(m.padding)

    def product(self, x, weight, bias):
        m = self.module
        if isinstance(m, torch.nn.Linear):
            return F.linear(x, weight, bias)
        return F.conv2d(x, weight, bias, m.stride, self.padding, m.dilation, m.groups)

    def _least_scales(self, bias: torch.Tensor, input_scale: float) -> torch.Tensor:
        """So that the bias fits into its int32."""
        return (bias.detach().abs() / (input_scale * float(1 << 30))).to(torch.float32)

    def forward(self, inputs, quantizers, quantizes, observes):
        x = inputs[0]
        weight, bias = self.folded()
        input_scale = quantizers[0].scale if quantizes else 1.0
        least = self._least_scales(bias, input_scale)
        real_weight, codes, scales = self.weights(weight, least, self.learned_factor())
        if not quantizes:
            sums = self.product(x.real, real_weight, bias)
            if self.norm_momentum and observes:
                self._update_norm(sums, bias)
            exact = self.activate(sums)
            if observes:
                self.note(exact)
            return Value(exact, None)

        plan = Plan()
        ids = [plan.input("input0", x.codes.shape, quantizers[0])]
        with_sums = observes or torch.is_grad_enabled()
        output, sums_id = self._write(plan, ids, quantizers, codes, scales, bias, with_sums)
        wanted = [output] + ([sums_id] if with_sums else [])
        results = self.executor.run(plan, [x.codes], wanted)
        if not with_sums:
            return self._value(None, results[0])
        sums = _RealProduct.apply(x.real, real_weight, bias, [from_file(results[1], self.image)], self)
        if self.norm_momentum and observes:
            self._update_norm(sums, bias)
        exact = self.activate(sums)
        if observes:
            self.note(exact)
        return self._value(exact, results[0])

    def write(self, plan, inputs, quantizers):
        with torch.no_grad():
            weight, bias = self.folded()
            least = self._least_scales(bias, quantizers[0].scale)
            _, codes, scales = self.weights(weight, least, self.learned_factor())
            return self._write(plan, inputs, quantizers, codes, scales, bias, False)[0]

    def _write(self, plan, inputs, quantizers, codes, scales, bias, with_sums):
        m = self.module
        per_channel = self.weights.per_channel
        array = codes.detach().to(torch.int8).cpu()
        axis = 0
        parameters = {}
        inputs = list(inputs)
        if isinstance(m, torch.nn.Linear):
            operator = "FULLY_CONNECTED"
            parameters["keep_num_dims"] = True
        else:
            depthwise = m.groups == m.in_channels and m.groups > 1
            operator = "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D"
            array = array.permute(1, 2, 3, 0) if depthwise else array.permute(0, 2, 3, 1)
            axis = 3 if depthwise else 0
            parameters.update(stride=m.stride, dilation=m.dilation)
            parameters["same"], inputs[0] = write_padding(
                plan,
                self,
                inputs[0],
                m.kernel_size,
                m.stride,
                m.dilation,
                self.padding,
                quantizers[0],
            )
        scale_list = scales.detach().cpu().numpy().astype(np.float32)
        # The product in float64 of the two float32 is the grid of the sums.
        grid = scale_list.astype(np.float64) * quantizers[0].scale
        exact = np.rint(bias.detach().cpu().numpy().astype(np.float64) / grid)
        bias_codes = np.clip(exact, -(2**31) + 1, 2**31 - 1).astype(np.int32)
        stored = scale_list if per_channel else scale_list[:1]
        grid = grid if per_channel else grid[:1]
        w = plan.constant(self.file_names["weight"], array.contiguous().numpy(), stored, axis=axis)
        b = plan.constant(self.file_names["bias"], bias_codes, grid.astype(np.float32))
        parts = [inputs[0], w, b]
        fused = {**parameters, "activation": self.activation or ""}
        output = self.finish(
            plan, lambda name: plan.layer(operator, fused, parts, name, self.quantizer, self.label)
        )
        sums = (
            plan.layer(operator, parameters, parts, self.name + "/sums", None, "", True)
            if with_sums
            else -1
        )
        return output, sums


def is_same(shape, kernel, stride, dilation, padding) -> bool:
    """Whether TensorFlow's SAME puts as many numbers around an image."""
    for extent, k, s, d, p in zip(shape[2:], kernel, stride, dilation, padding):
        reach = (k - 1) * d + 1
        out = (extent + 2 * p - reach) // s + 1
        total = max(0, (out - 1) * s + reach - extent)
        if out != -(-extent // s) or total // 2 != p:
            return False
    return True


def write_padding(plan, step, source, kernel, stride, dilation, padding, quantizer, value=None):
    """Whether TensorFlow's SAME has these zeros around, and the source, or its padded copy."""
    if not any(padding):
        return False, source
    if value is None and is_same(step.source_shape, kernel, stride, dilation, padding):
        return True, source
    y, x = padding
    parameters = {"paddings": [(0, 0), (y, y), (x, x), (0, 0)]}
    if value is not None:
        parameters["value"] = value
    label = step.label + "/pad"
    return False, plan.layer("PAD", parameters, [source], step.name + "/padded", quantizer, label)


class Pair(Step):
    """ADD, SUB or MUL of two tensors, whose shapes broadcast."""

    _FUNCTIONS = {"ADD": torch.add, "SUB": torch.sub, "MUL": torch.mul}

    def __init__(self, name, label, sources, operator) -> None:
        super().__init__(name, label, sources)
        self.operator = operator

    def compute(self, inputs):
        return self.activate(self._FUNCTIONS[self.operator](*inputs))

    def write(self, plan, inputs, quantizers):
        parameters = {"activation": self.activation or ""}
        return self.finish(
            plan,
            lambda name: plan.layer(
                self.operator, parameters, inputs, name, self.quantizer, self.label
            ),
        )


class Concatenate(Step):
    """Inputs and output have the same parameters."""

    def __init__(self, name, label, sources, axis) -> None:
        super().__init__(name, label, sources)
        self.axis = axis

    def compute(self, inputs):
        return torch.cat(inputs, self.axis)

    def write(self, plan, inputs, quantizers):
        rank = len(self.source_shape)
        axis = self.axis % rank
        if self.image:
            axis = _IMAGE.index(axis)
        return plan.layer(
            "CONCATENATION", {"axis": axis}, inputs, self.name, self.quantizer, self.label
        )


class Pool(Step):
    """AvgPool2d and MaxPool2d, which keep the parameters of their input."""

    def __init__(self, name, label, sources, kernel, stride, padding, largest, counts) -> None:
        super().__init__(name, label, sources)
        self.kernel, self.stride, self.padding, self.largest = kernel, stride, padding, largest
        self.counts = counts  # the zeros around, in averages

    def compute(self, inputs):
        if self.largest:
            return F.max_pool2d(inputs[0], self.kernel, self.stride, self.padding)
        return F.avg_pool2d(
            inputs[0], self.kernel, self.stride, self.padding, count_include_pad=self.counts
        )

    def write(self, plan, inputs, quantizers):
        # The least code stands for minus infinity. SAME counts nothing around.
        value = quantizers[0].lowest if self.largest else quantizers[0].zero
        value = value if self.largest or self.counts else None
        same, source = write_padding(
            plan,
            self,
            inputs[0],
            self.kernel,
            self.stride,
            (1, 1),
            self.padding,
            quantizers[0],
            value,
        )
        operator = "MAX_POOL_2D" if self.largest else "AVERAGE_POOL_2D"
        parameters = {"filter": self.kernel, "stride": self.stride, "same": same}
        return plan.layer(operator, parameters, [source], self.name, self.quantizer, self.label)


class Upsample(Step):
    """Each pixel several times, by whole factors. Keeps the parameters of its input."""

    def __init__(self, name, label, sources, factors) -> None:
        super().__init__(name, label, sources)
        self.factors = factors

    def compute(self, inputs):
        rows = inputs[0].repeat_interleave(self.factors[0], 2)
        return rows.repeat_interleave(self.factors[1], 3)

    def write(self, plan, inputs, quantizers):
        size = tuple(e * f for e, f in zip(self.source_shape[2:], self.factors))
        # The middles of pixels are far from where rounding could choose another one.
        parameters = {"size": size, "half_pixel_centers": True}
        operator = "RESIZE_NEAREST_NEIGHBOR"
        return plan.layer(operator, parameters, inputs, self.name, self.quantizer, self.label)


class Mean(Step):
    """Over some dimensions, as AdaptiveAvgPool2d(1) over height and width."""

    def __init__(self, name, label, sources, dims, keeps, from_image) -> None:
        super().__init__(name, label, sources)
        self.dims, self.keeps, self.from_image = list(dims), keeps, from_image

    def compute(self, inputs):
        return self.activate(inputs[0].mean(self.dims, keepdim=self.keeps))

    def write(self, plan, inputs, quantizers):
        axes = [_IMAGE.index(d) for d in self.dims] if self.from_image else self.dims
        parameters = {"axes": sorted(axes), "keep_dims": self.keeps}
        return self.finish(
            plan,
            lambda name: plan.layer("MEAN", parameters, inputs, name, self.quantizer, self.label),
        )


class Activate(Step):
    """An activation that no layer computes with its own result."""

    def compute(self, inputs):
        return self.activate(inputs[0])

    def write(self, plan, inputs, quantizers):
        operator = {"relu": "RELU", "relu6": "RELU6", None: "QUANTIZE"}[self.activation]
        return self.finish(
            plan, lambda name: plan.layer(operator, {}, inputs, name, self.quantizer, self.label)
        )


class Clamp(Step):
    """To a fixed range: the numbers that its output can have."""

    def __init__(self, name, label, sources, low, high) -> None:
        super().__init__(name, label, sources)
        self.fixed_range = (float(low), float(high))

    def compute(self, inputs):
        return inputs[0].clamp(*self.fixed_range)

    def write(self, plan, inputs, quantizers):
        return self.finish(
            plan, lambda name: plan.layer("QUANTIZE", {}, inputs, name, self.quantizer, self.label)
        )


class Permute(Step):
    """PyTorch's dimensions in another order, and the file's from one layout to another."""

    def __init__(self, name, label, sources, permutation, from_image) -> None:
        super().__init__(name, label, sources)
        self.permutation = tuple(permutation)
        self.from_image = from_image

    def compute(self, inputs):
        return inputs[0].permute(self.permutation)

    def _of_file(self) -> list[int]:
        plain = tuple(range(len(self.permutation)))
        before, after = (_IMAGE if image else plain for image in (self.from_image, self.image))
        return [before.index(self.permutation[d]) for d in after]

    def _run(self, inputs, quantizers):
        moved = self._of_file()
        return inputs[0].codes if moved == sorted(moved) else super()._run(inputs, quantizers)

    def write(self, plan, inputs, quantizers):
        moved = self._of_file()
        if moved == sorted(moved):
            return inputs[0]
        parameters = {"permutation": moved}
        return plan.layer("TRANSPOSE", parameters, inputs, self.name, self.quantizer, self.label)


class Reshape(Step):
    """To (N, *shape), in the order of PyTorch's elements. Images made so have one pixel."""

    def __init__(self, name, label, sources, shape, from_image) -> None:
        super().__init__(name, label, sources)
        self.shape = tuple(shape)
        self.from_image = from_image

    def compute(self, inputs):
        return inputs[0].reshape(len(inputs[0]), *self.shape)

    def write(self, plan, inputs, quantizers):
        source = inputs[0]
        if self.from_image and self.source_shape[2:] != (1, 1):
            parameters = {"permutation": [0, 3, 1, 2]}
            source = plan.layer(
                "TRANSPOSE",
                parameters,
                [source],
                self.name + "/moved",
                self.quantizer,
                self.label + "/move",
            )
        shape = (1, 1, self.shape[0]) if self.image else self.shape
        parameters = {"shape": [-1, *shape]}
        return plan.layer("RESHAPE", parameters, [source], self.name, self.quantizer, self.label)
