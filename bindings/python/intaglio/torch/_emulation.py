"""Plans in plain PyTorch: the arithmetic of TFLite's reference kernels once more, as it is defined.

The oracle of the kernels in tests, and the way to train on GPUs. Sums of products are those of a
float convolution on integers, exact while all partial sums are below 2^24, or 2^53 in float64.
Numbers of float32 are rounded after each operation, as IEEE 754 says, and added in the order of the
kernels, so they have the same bits, too.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from ._emulated_softmax import softmax
from ._plan import Plan, PlanLayer, PlanTensor


def run(plan: Plan, inputs: list[torch.Tensor]) -> dict[int, torch.Tensor]:
    """All tensors of the plan that are not constant, by number."""
    tensors = dict(zip(plan.inputs, inputs))
    device = inputs[0].device
    for layer in plan.layers:
        known = [plan.tensors[i] for i in layer.inputs]
        values = []
        for i, tensor in zip(layer.inputs, known):
            constant = tensor.array is not None
            values.append(
                torch.from_numpy(np.array(tensor.array)).to(device) if constant else tensors[i]
            )
        out = plan.tensors[layer.output]
        tensors[layer.output] = _OPERATORS[layer.operator](layer, known, values, out)
    return tensors


# ---- numbers


def _multiplier(real: float) -> tuple[int, int]:
    """The mantissa of 31 bits and the exponent nearest to a real number."""
    if real == 0:
        return 0, 0
    fraction, exponent = math.frexp(real)
    mantissa = math.floor(fraction * (1 << 31) + 0.5)
    if mantissa == 1 << 31:
        mantissa, exponent = mantissa // 2, exponent + 1
    if exponent < -31:
        return 0, 0
    return ((1 << 31) - 1, 30) if exponent > 30 else (mantissa, exponent)


def _scaled(x: torch.Tensor, mantissa: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    """x times the multipliers, rounded twice: at the high half of the product, and at the shift."""
    left = exponent.clamp_min(0)
    right = (-exponent).clamp_min(0)
    x = (x << left).clamp(-(1 << 31), (1 << 31) - 1)
    product = x * mantissa
    product = product + torch.where(product >= 0, 1 << 30, 1 - (1 << 30))
    high = torch.where(product >= 0, product >> 31, -((-product) >> 31))
    mask = (torch.ones_like(right) << right) - 1
    above = (high & mask) > (mask >> 1) + (high < 0).to(torch.int64)
    return (high >> right) + above.to(torch.int64)


def _times(x: torch.Tensor, reals: list[float]) -> torch.Tensor:
    """x times one real number, or one for each of the last dimension."""
    pairs = torch.tensor([_multiplier(real) for real in reals], dtype=torch.int64, device=x.device)
    return _scaled(x, pairs[:, 0], pairs[:, 1])


def _away(x: torch.Tensor) -> torch.Tensor:
    """The nearest integer, ties away from zero."""
    whole = torch.trunc(x)
    return whole + torch.sign(x) * ((x - whole).abs() >= 0.5).to(x.dtype)


def _bounds(activation: str, out: PlanTensor) -> tuple[int, int]:
    low, high = -128, 127
    if activation in ("relu", "relu6"):
        low = max(low, out.zeros[0])
    if activation == "relu6":
        six = np.float32(6) / np.float32(out.scales[0])
        high = min(high, out.zeros[0] + int(np.floor(six + np.float32(0.5))))
    return low, high


def _codes(x: torch.Tensor, out: PlanTensor, activation: str = "") -> torch.Tensor:
    return (x + out.zeros[0]).clamp(*_bounds(activation, out)).to(torch.int8)


def _centered(x: torch.Tensor, tensor: PlanTensor) -> torch.Tensor:
    return x.to(torch.int64) - tensor.zeros[0]


# ---- products


def _exact_type(weights: torch.Tensor, most: int) -> torch.dtype:
    sums = weights.to(torch.int64).abs().flatten(1).sum(1)
    return torch.float32 if int(sums.max()) * most < 1 << 24 else torch.float64


def _batch_matmul(layer, known, values, out):
    a, b = (_centered(x, tensor) for x, tensor in zip(values, known))
    a = a.transpose(-1, -2) if layer.parameters["adjoint_a"] else a
    b = b.transpose(-1, -2) if layer.parameters["adjoint_b"] else b
    kind = torch.float32 if a.shape[-1] * 255 * 255 < 1 << 24 else torch.float64
    sums = torch.matmul(a.to(kind), b.to(kind)).round().to(torch.int64)
    scales = np.float32(known[0].scales[0]) * np.float32(known[1].scales[0])
    return _codes(_times(sums, [float(scales) / out.scales[0]]), out)


def _convolution(layer, known, values, out):
    p = layer.parameters
    depthwise = layer.operator == "DEPTHWISE_CONV_2D"
    weights = values[1].permute(3, 0, 1, 2) if depthwise else values[1].permute(0, 3, 1, 2)
    x = _centered(values[0], known[0])
    channels = x.shape[3]
    groups = channels // weights.shape[1]
    kind = _exact_type(weights, max(127 - known[0].zeros[0], known[0].zeros[0] + 128))
    x = x.permute(0, 3, 1, 2).to(kind)
    if p.get("same"):
        x = F.pad(x, _same(x.shape[2:], weights.shape[2:], p["stride"], p["dilation"]))
    sums = F.conv2d(x, weights.to(kind), None, tuple(p["stride"]), 0, tuple(p["dilation"]), groups)
    return _finish(layer, known, values, out, sums.permute(0, 2, 3, 1).round().to(torch.int64))


def _same(extents, kernel, strides, dilations) -> list[int]:
    pads: list[int] = []
    for extent, k, s, d in zip(extents, kernel, strides, dilations):
        total = max(0, (-(-extent // s) - 1) * s + (k - 1) * d + 1 - extent)
        pads = [total // 2, total - total // 2, *pads]
    return pads


def _fully_connected(layer, known, values, out):
    kind = _exact_type(values[1], max(127 - known[0].zeros[0], known[0].zeros[0] + 128))
    sums = _centered(values[0], known[0]).to(kind) @ values[1].to(kind).t()
    return _finish(layer, known, values, out, sums.round().to(torch.int64))


def _finish(layer: PlanLayer, known, values, out, sums):
    sums = sums + values[2].to(torch.int64)
    if layer.to_float:
        scales = np.float32(known[0].scales[0]) * np.array(known[1].scales, np.float32)
        return sums.to(torch.float32) * torch.from_numpy(scales).to(sums.device)
    reals = [known[0].scales[0] * scale / out.scales[0] for scale in known[1].scales]
    activation = layer.parameters.get("activation", "")
    if layer.operator == "FULLY_CONNECTED":
        exact = sums.to(torch.float64) * torch.tensor(
            reals, dtype=torch.float64, device=sums.device
        )
        return _codes(_away(exact).clamp(-(2.0**31), 2.0**31 - 1).to(torch.int64), out, activation)
    return _codes(_times(sums, reals), out, activation)


# ---- the rest


def _sum(layer, known, values, out):
    if known[0].dtype == "float32":
        return values[0] - values[1] if layer.operator == "SUB" else values[0] + values[1]
    twice = float(np.float32(2) * np.float32(max(known[0].scales[0], known[1].scales[0])))
    first, second = (
        _times(_centered(x, tensor) << 20, [tensor.scales[0] / twice])
        for x, tensor in zip(values, known)
    )
    total = first - second if layer.operator == "SUB" else first + second
    real = twice / float(np.float32(1 << 20) * np.float32(out.scales[0]))
    return _codes(_times(total, [real]), out, layer.parameters["activation"])


def _mul(layer, known, values, out):
    if known[0].dtype == "float32":
        return values[0] * values[1]
    scales = [np.float32(tensor.scales[0]) for tensor in (*known, out)]
    product = _centered(values[0], known[0]) * _centered(values[1], known[1])
    real = float(scales[0] * scales[1] / scales[2])
    return _codes(_times(product, [real]), out, layer.parameters["activation"])


def _sum_of_floats(x: torch.Tensor) -> torch.Tensor:
    """Over the last dimension, in the order of the kernels: one after the other if they are few,
    else as 16 sums side by side, whose halves are added up at last."""
    lanes = 16 if x.shape[-1] >= 32 else 1
    sums = torch.zeros_like(x[..., :lanes])
    for begin in range(0, x.shape[-1], lanes):
        part = x[..., begin : begin + lanes]
        sums[..., : part.shape[-1]] += part
    while lanes > 1:
        lanes //= 2
        sums = sums[..., :lanes] + sums[..., lanes:]
    return sums


def _divided(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The float32 nearest to the quotient, which PyTorch's own division need not give."""
    return (a.to(torch.float64) / b.to(torch.float64)).to(torch.float32)


def _mean(layer, known, values, out):
    x = values[0]
    axes = layer.parameters["axes"]
    if known[0].dtype == "float32":  # of LayerNorm's rows
        return _divided(_sum_of_floats(x), torch.tensor(x.shape[-1]))
    count = math.prod(x.shape[axis] for axis in axes)
    mantissa, exponent = _multiplier(known[0].scales[0] / out.scales[0])
    shift = max(0, min(count.bit_length() - 1, 32, 31 + exponent))
    sums = _centered(x, known[0]).sum(axes, keepdim=layer.parameters["keep_dims"])
    pair = torch.tensor([(mantissa << shift) // count, exponent - shift], device=x.device)
    return _codes(_scaled(sums, pair[0], pair[1]), out)


def _pool(layer, known, values, out):
    p = layer.parameters
    x = values[0].permute(0, 3, 1, 2).to(torch.float64)
    if layer.operator == "MAX_POOL_2D":
        return F.max_pool2d(x, p["filter"], p["stride"]).permute(0, 2, 3, 1).to(torch.int8)
    pads = _same(x.shape[2:], p["filter"], p["stride"], (1, 1)) if p["same"] else [0] * 4

    def windows(tensor):
        padded = F.pad(tensor, pads)
        sums = F.avg_pool2d(padded, p["filter"], p["stride"], divisor_override=1)
        return sums.round().to(torch.int64)

    sums, count = windows(x), windows(torch.ones_like(x))
    half = torch.where(sums > 0, count // 2, -(count // 2))
    mean = torch.div(sums + half, count, rounding_mode="trunc")
    return mean.clamp(-128, 127).permute(0, 2, 3, 1).to(torch.int8)


def _nearest(x: torch.Tensor, height: int, width: int) -> torch.Tensor:
    rows = x.repeat_interleave(height // x.shape[1], 1)
    return rows.repeat_interleave(width // x.shape[2], 2)


def _relu(layer, known, values, out):
    real = float(np.float32(known[0].scales[0]) / np.float32(out.scales[0]))
    return _codes(_times(_centered(values[0], known[0]), [real]), out, layer.operator.lower())


def _quantize(layer, known, values, out):
    if known[0].dtype == "float32":
        exact = _away(values[0] / np.float32(out.scales[0])).clamp(-(2.0**30), 2.0**30)
        return _codes(exact.to(torch.int64), out)
    return _codes(_times(_centered(values[0], known[0]), [known[0].scales[0] / out.scales[0]]), out)


def _pad(layer, known, values, out):
    pads = [extent for pair in reversed(layer.parameters["paddings"]) for extent in pair]
    return F.pad(values[0], pads, value=layer.parameters.get("value", out.zeros[0]))


_OPERATORS = {
    "ADD": _sum,
    "AVERAGE_POOL_2D": _pool,
    "BATCH_MATMUL": _batch_matmul,
    "CONCATENATION": lambda layer, known, values, out: torch.cat(values, layer.parameters["axis"]),
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _convolution,
    "DEQUANTIZE": lambda layer, known, values, out: (
        (values[0].float() - known[0].zeros[0]) * known[0].scales[0]
    ),
    "FULLY_CONNECTED": _fully_connected,
    "MAX_POOL_2D": _pool,
    "MEAN": _mean,
    "MAXIMUM": lambda layer, known, values, out: torch.maximum(*values),
    "MUL": _mul,
    "PAD": _pad,
    "QUANTIZE": _quantize,
    "RELU": _relu,
    "RELU6": _relu,
    "RESHAPE": lambda layer, known, values, out: values[0].reshape(
        len(values[0]), *layer.parameters["shape"][1:]
    ),
    "RESIZE_NEAREST_NEIGHBOR": lambda layer, known, values, out: _nearest(
        values[0], *layer.parameters["size"]
    ),
    "RSQRT": lambda layer, known, values, out: _divided(
        torch.ones_like(values[0]), torch.sqrt(values[0].to(torch.float64)).to(torch.float32)
    ),
    "SOFTMAX": lambda layer, known, values, out: softmax(
        values[0], layer.parameters["beta"], known[0].scales[0]
    ),
    "SUB": _sum,
    "TRANSPOSE": lambda layer, known, values, out: (
        values[0].permute(*layer.parameters["permutation"]).contiguous()
    ),
}
