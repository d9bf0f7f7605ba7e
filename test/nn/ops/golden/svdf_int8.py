"""SVDF of int8 with states of int8, as TensorFlow Lite for Microcontrollers computes it (svdf_common.cc).

TFLite's own kernels refuse that form, so this is the reference: whole numbers of Python, written from
the definition.
"""

import math

import numpy as np


def multiplier(real):
    """(mantissa, exponent): real is about mantissa * 2^(exponent - 31)."""
    fraction, exponent = math.frexp(real)
    mantissa = math.floor(fraction * 2**31 + 0.5)
    return (2**30, exponent + 1) if mantissa == 2**31 else (mantissa, exponent)


def rounded(numerator, bits):
    """numerator / 2^bits, halves away from zero."""
    half = 2**bits >> 1
    return (numerator + half) >> bits if numerator >= 0 else -((-numerator + half) >> bits)


def rescale(x, mantissa_and_exponent):
    """Doubling high multiplication, then a shift; each rounds, the first halves towards +inf."""
    mantissa, exponent = mantissa_and_exponent
    product = x * 2**max(exponent, 0) * mantissa
    return rounded((product + 2**30) >> 31, max(-exponent, 0))


def clamp(x):
    return min(max(x, -128), 127)


class Svdf:
    """One layer and its state. feature and time are matrices, bias a vector or None; a scale and a
    zero point stand for each of x, state and y, a scale for each of the weights."""

    def __init__(self, rank, feature, feature_scale, time, time_scale, bias, x, state, y, batch=1):
        self.rank, self.feature, self.time = rank, feature.astype(int), time.astype(int)
        self.bias = np.zeros(len(feature) // rank, int) if bias is None else bias.astype(int)
        (x_scale, self.x_zero), (state_scale, self.state_zero), (y_scale, self.y_zero) = x, state, y
        f32 = np.float32
        self.of_feature = multiplier(float(f32(x_scale) * f32(feature_scale) / f32(state_scale)))
        self.of_time = multiplier(float(f32(state_scale) * f32(time_scale) / f32(y_scale)))
        self.state = np.full((batch, *time.shape), self.state_zero, int)

    def __call__(self, x):
        sums = (x.astype(int) - self.x_zero) @ self.feature.T
        newest = np.vectorize(lambda s: clamp(rescale(int(s), self.of_feature)))(sums)
        newest = (newest + self.state_zero + 128) % 256 - 128  # the kernel's addition wraps
        self.state = np.concatenate([self.state[:, :, 1:], newest[:, :, None]], axis=2)
        over_time = ((self.state - self.state_zero) * self.time).sum(axis=2)
        units = over_time.reshape(len(x), -1, self.rank).sum(axis=2) + self.bias
        scaled = np.vectorize(lambda s: clamp(rescale(int(s), self.of_time) + self.y_zero))(units)
        return scaled.astype(np.int8)
