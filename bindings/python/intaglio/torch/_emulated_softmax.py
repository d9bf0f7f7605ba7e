"""SOFTMAX of int8 in plain PyTorch: the fixed-point arithmetic of TFLite's kernel once more.

Numbers of int64 hold those that the kernel has in int32. "High" is the upper half of a doubled
product, rounded, by which numbers with 31 fraction bits are multiplied.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch

_ONE = (1 << 31) - 1
_EIGHTH = 1 << 28
_SUM_INTEGERS = 12  # sums have so many integer bits, differences to the maximum 5


def _high(a, b):
    product = a * b
    nudged = product + torch.where(product >= 0, 1 << 30, 1 - (1 << 30))
    return torch.where(nudged >= 0, nudged >> 31, -((-nudged) >> 31))


def _rounded_shift(x, bits):
    """x / 2^bits, the nearest, ties away from zero."""
    mask = (torch.ones_like(x) << bits) - 1
    above = (x & mask) > (mask >> 1) + (x < 0).to(torch.int64)
    return (x >> bits) + above.to(torch.int64)


def _exp_near_zero(a):
    """exp(a) of numbers in [-1/4, 0): the polynomial about -1/8."""
    x = a + _EIGHTH
    squares = _high(x, x)
    cubes, fourths = _high(squares, x), _high(squares, squares)
    third = torch.full_like(x, 715827883)
    small = _high(_rounded_shift(fourths, 2) + cubes, third)
    terms = x + _rounded_shift(small + squares, 1)
    start = torch.full_like(x, 1895147668)
    return start + _high(start, terms)


# exp(-2^k) for k from -2 on.
_FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)


def _exp(a):
    """exp of numbers that are not positive, with 26 fraction bits."""
    quarter = 1 << 24
    rest = (a & (quarter - 1)) - quarter
    negated = rest - a
    result = _exp_near_zero(rest << 5)
    for k, factor in enumerate(_FACTORS):
        times = _high(result, torch.full_like(result, factor))
        result = torch.where((negated & (quarter << k)) != 0, times, result)
    return torch.where(a == 0, torch.full_like(result, _ONE), result)


@lru_cache(maxsize=256)
def _table(beta: float, scale: float) -> torch.Tensor:
    """exp(-d * beta * scale) for differences d of 0 to 255; 0 where the kernel takes none."""
    real = min(beta * scale * (1 << 26), float(_ONE))
    fraction, exponent = math.frexp(real)
    mantissa = math.floor(fraction * (1 << 31) + 0.5)
    if mantissa == 1 << 31:
        mantissa, exponent = mantissa // 2, exponent + 1
    differences = torch.arange(256, dtype=torch.int64)
    limit = math.floor(31.0 * (1 << 26) / 2.0**exponent)
    taken = differences.clamp_max(min(limit, 255))
    scaled = _high(-(taken << exponent), torch.full_like(taken, mantissa))
    return torch.where(differences <= limit, _exp(scaled), torch.zeros_like(differences))


def _reciprocal(fraction):
    """1 / (1 + fraction) of numbers in [0, 1), by three steps of Newton's method."""
    half = (fraction >> 1) + (1 << 30)
    x = 1515870810 + _high(half, torch.full_like(half, -1010580540))
    for _ in range(3):
        x = x + (_high(x, (1 << 29) - _high(half, x)) << 2)
    return (x << 1).clamp_max(_ONE)


def softmax(codes: torch.Tensor, beta: float, scale: float) -> torch.Tensor:
    """Over the last dimension, as steps of 1/256."""
    x = codes.to(torch.int64)
    exps = _table(beta, scale).to(x.device)[x.amax(-1, keepdim=True) - x]
    sums = _rounded_shift(exps, _SUM_INTEGERS).sum(-1, keepdim=True).clamp_max(_ONE)
    # The sum is (1 + fraction) * 2^(12 - zeros), with 19 fraction bits before.
    zeros = 31 - torch.log2(sums.to(torch.float64)).floor().to(torch.int64)
    scale_of_rows = _reciprocal((sums << zeros) - (1 << 31))
    shift = _SUM_INTEGERS - zeros + 31 - 8
    shares = _rounded_shift(_high(exps, scale_of_rows), shift.clamp_max(31))
    shares = torch.where(shift > 31, torch.zeros_like(shares), shares)
    return (shares - 128).clamp(-128, 127).to(torch.int8)
