"""Where numbers are rounded in training: scales, zero points, and the gradients across them."""

from __future__ import annotations

import math

import numpy as np
import torch

from ..errors import ArgumentError

HIGHEST = 127  # the code of the greatest number; B bits use the 2^B codes up to here


def _float32(number: float) -> float:
    """The float32 that a file holds."""
    return float(np.float32(number))


class ActivationQuantizer(torch.nn.Module):
    """The parameters of one tensor of integers, or of several that share them.

    Ranges are averages (EMA) of what each writer of the tensors wrote, or the extremes of that.
    With `learned`, the scale starts at the range's and is trained, with the gradient of Esser et al.,
    2020, "Learned step size quantization". The parameter is the logarithm of its growth (Jain et al.,
    2020, "Trained quantization thresholds"), so that a rate suits scales of any size: behind folded
    batch normalization nothing else holds them.
    """

    def __init__(self, name: str, bits: int, decay: float, learned: bool) -> None:
        super().__init__()
        self.name = name
        self.bits = bits
        self.decay = decay
        self.fixed: tuple[float, float] | None = None  # a range that nothing changes
        self.extremes = False  # calibration takes extremes instead of averages
        self.register_buffer("low", torch.zeros(0))
        self.register_buffer("high", torch.zeros(0))
        self.register_buffer("seen", torch.zeros(0, dtype=torch.bool))
        self.register_buffer("learned_zero", torch.zeros((), dtype=torch.int64))
        self.step = torch.nn.Parameter(torch.zeros(())) if learned else None
        self.register_buffer("first", torch.zeros(()))  # of a learned scale

    def add_writer(self) -> int:
        self.low = torch.zeros(len(self.low) + 1)
        self.high = torch.zeros(len(self.high) + 1)
        self.seen = torch.zeros(len(self.seen) + 1, dtype=torch.bool)
        return len(self.low) - 1

    @property
    def lowest(self) -> int:
        return HIGHEST + 1 - (1 << self.bits)

    def observe(self, writer: int, low: torch.Tensor, high: torch.Tensor) -> None:
        """Takes up the extremes of what a writer wrote."""
        if not (torch.isfinite(low) and torch.isfinite(high)):
            raise ArgumentError(f"{self.name}: the numbers have NaN or infinity among them")
        if not self.seen[writer]:
            self.low[writer], self.high[writer], self.seen[writer] = low, high, True
        elif self.extremes:
            self.low[writer] = torch.minimum(self.low[writer], low)
            self.high[writer] = torch.maximum(self.high[writer], high)
        else:
            self.low[writer] = self.decay * self.low[writer] + (1 - self.decay) * low
            self.high[writer] = self.decay * self.high[writer] + (1 - self.decay) * high

    def forget(self) -> None:
        self.seen.fill_(False)

    def range(self) -> tuple[float, float]:
        if self.fixed is not None:
            return self.fixed
        if not bool(self.seen.any()):
            raise ArgumentError(f"{self.name}: no range is known; run calibrate() or train first")
        low = min(float(self.low[self.seen].min()), 0.0)
        return low, max(float(self.high[self.seen].max()), 0.0)

    def _of_range(self) -> tuple[float, int]:
        low, high = self.range()
        levels = (1 << self.bits) - 1
        scale = _float32((high - low) / levels) if high > low else _float32(1 / levels)
        scale = max(scale, _float32(1e-30))
        return scale, min(max(self.lowest + round(-low / scale), self.lowest), HIGHEST)

    def start_learning(self) -> None:
        """Takes the range's scale as the learned one."""
        if self.step is not None:
            scale, zero = self._of_range()
            self.step.data.zero_()
            self.first.fill_(scale)
            self.learned_zero.fill_(zero)

    @property
    def scale(self) -> float:
        if self.step is None:
            return self._of_range()[0]
        return _float32(float(self.first) * math.exp(float(self.step)))

    @property
    def zero(self) -> int:
        return self._of_range()[1] if self.step is None else int(self.learned_zero)

    def real(self, codes: torch.Tensor) -> torch.Tensor:
        return (codes.to(torch.float32) - self.zero) * self.scale

    def through(self, real: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
        """What the codes stand for. Gradients go to those of the unrounded numbers in range."""
        return _Rounded.apply(real, codes, self.step, self.scale, self.zero, self.lowest)


class _Rounded(torch.autograd.Function):
    """The straight-through estimator around what the kernels have rounded."""

    @staticmethod
    def forward(ctx, real, codes, step, scale, zero, lowest):
        rounded = (codes.to(torch.float32) - zero) * scale
        ctx.save_for_backward(real, *([] if step is None else [rounded]))
        ctx.parameters = (scale, zero, lowest)
        return rounded

    @staticmethod
    def backward(ctx, gradient):
        real, *rounded = ctx.saved_tensors
        scale, zero, lowest = ctx.parameters
        low, high = (lowest - zero - 0.5) * scale, (HIGHEST - zero + 0.5) * scale
        # The gradient where low < real < high, in one pass.
        inner = torch.ops.aten.hardtanh_backward(gradient, real, low, high)
        if not rounded:
            return inner, None, None, None, None, None
        # A result changes with its scale by round(v) - v in the range, and by its code outside.
        slope = (gradient * rounded[0]).sum() - (inner * real).sum()
        return inner, None, slope, None, None, None


class WeightQuantizer(torch.nn.Module):
    """Codes of B bits without the lowest, with one scale for each output channel, or one for all.

    With `freeze_above`, weights whose codes swing to and fro more often than that are frozen
    (Nagel et al., 2022, "Overcoming oscillations in quantization-aware training").
    """

    def __init__(
        self,
        weight: torch.Tensor,
        bits: int,
        per_channel: bool,
        learned: bool,
        freeze_above: float | None,
    ) -> None:
        super().__init__()
        self.bits = bits
        self.per_channel = per_channel
        self.freeze_above = freeze_above
        self.step = None
        if learned:
            count = len(weight) if per_channel else 1
            self.step = torch.nn.Parameter(torch.zeros(count))
            self.register_buffer("first", torch.zeros(count))
        if freeze_above is not None:
            for name in ("before", "direction", "frequency", "mean", "frozen"):
                self.register_buffer(name, torch.zeros_like(weight, requires_grad=False))
            self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    @property
    def most(self) -> int:
        return (1 << (self.bits - 1)) - 1

    def start_learning(self, weight: torch.Tensor) -> None:
        if self.step is not None:
            rows = weight.detach().reshape(len(weight) if self.per_channel else 1, -1)
            mean = rows.abs().mean(1).clamp_min(1e-8)
            self.step.data.zero_()
            self.first.copy_(2 * mean / math.sqrt(self.most))

    def scales(
        self, weight: torch.Tensor, least: torch.Tensor, factor: torch.Tensor | float | None
    ) -> torch.Tensor:
        """One float32 for each channel, none below `least`."""
        if self.step is not None:
            scale = (self.first * self.step.detach().exp()).expand(len(weight))
            if factor is not None:
                scale = (scale * factor).clamp_min(1e-30)
        else:
            rows = weight.detach().reshape(len(weight), -1)
            extent = rows.abs().amax(1) if self.per_channel else rows.abs().amax().expand(len(rows))
            scale = torch.where(extent > 0, extent, torch.ones_like(extent)) / self.most
        scale = torch.maximum(scale, least.to(scale.dtype))
        return scale if self.per_channel else scale.amax().expand(len(weight)).contiguous()

    def forward(
        self, weight: torch.Tensor, least: torch.Tensor, factor: torch.Tensor | float | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns what the codes stand for, codes as float32, and scales.

        factor: what batch normalization has multiplied each channel by, or a number that was folded
        into all. Learned scales belong to the weights before that, so that they need not follow it.
        """
        if not bool(torch.isfinite(weight).all()):
            raise ArgumentError("the weights have NaN or infinity among them")
        scales = self.scales(weight, least, factor)
        across = scales.reshape(-1, *[1] * (weight.dim() - 1))
        codes = torch.round(weight.detach() / across).clamp(-self.most, self.most)
        passes = None
        if self.freeze_above is not None:
            codes = self._without_oscillations(codes)
            passes = self.frozen == 0
        real = _RoundedWeights.apply(weight, codes, self.step, across, self.most, passes)
        return real, codes, scales

    def _without_oscillations(self, codes: torch.Tensor) -> torch.Tensor:
        if self.training and torch.is_grad_enabled():
            momentum = 0.02
            if self.steps == 0:
                self.before.copy_(codes)
                self.mean.copy_(codes)
            change = torch.sign(codes - self.before)
            swings = (change != 0) & (change == -self.direction)
            self.frequency.mul_(1 - momentum).add_(swings.to(codes.dtype), alpha=momentum)
            self.direction.copy_(torch.where(change != 0, change, self.direction))
            self.mean.mul_(1 - momentum).add_(codes, alpha=momentum)
            newly = (self.frequency > self.freeze_above) & (self.frozen == 0)
            self.before.copy_(
                torch.where(
                    newly, torch.round(self.mean), torch.where(self.frozen > 0, self.before, codes)
                )
            )
            self.frozen.add_(newly.to(codes.dtype))
            self.steps += 1
        return torch.where(self.frozen > 0, self.before, codes)


class _RoundedWeights(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, codes, step, scales, most, passes):
        ctx.save_for_backward(weight, codes, scales)
        ctx.parameters = (most, passes, None if step is None else len(step))
        return codes * scales

    @staticmethod
    def backward(ctx, gradient):
        weight, codes, scales = ctx.saved_tensors
        most, passes, count = ctx.parameters
        exact = weight / scales
        inside = torch.round(exact).abs() <= most
        of_weight = gradient * inside
        if passes is not None:
            of_weight = of_weight * passes
        of_step = None
        if count is not None:
            slope = torch.where(inside, codes - exact, codes)
            of_step = (gradient * slope * scales).reshape(count, -1).sum(1)
        return of_weight, None, of_step, None, None, None
