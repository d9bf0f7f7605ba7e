#!/usr/bin/env python3
"""Writes the golden vectors beside it: docs/numerics.md in unbounded integers.

Nothing here shares code with the library. Run it without arguments; the files must not change
unless the arithmetic does.
"""

import csv
import pathlib
import random
import struct
from fractions import Fraction

LOWEST, HIGHEST = -(2**31), 2**31 - 1


def saturate(x):
    return max(LOWEST, min(HIGHEST, x))


def wrap(x):
    return (x + 2**31) % 2**32 - 2**31


def ties_up(x):
    return (2 * x.numerator + x.denominator) // (2 * x.denominator)


def ties_away(x):
    return -ties_up(-x) if x < 0 else ties_up(x)


def ties_even(x):
    return round(x)  # of a Fraction: half to even


def high_mul(a, b):
    return saturate(ties_up(Fraction(a * b, 2**31)))


def divide(x, exponent):
    return ties_away(Fraction(x, 2**exponent))


# Requantization.


def double_rounding(acc, mantissa, exponent):
    product = high_mul(saturate(acc << max(exponent, 0)), mantissa)
    return divide(product, max(-exponent, 0))


def single_rounding(acc, mantissa, exponent):
    return saturate(ties_up(Fraction(acc * mantissa, 2 ** (31 - exponent))))


def float32(x):
    """The Fraction nearest to x with 24 significant bits, ties to even; exponents unbounded."""
    if x == 0:
        return Fraction(0)
    exponent = 0
    while abs(x) * Fraction(2) ** exponent < 2**23:
        exponent += 1
    while abs(x) * Fraction(2) ** exponent >= 2**24:
        exponent -= 1
    return ties_even(x * Fraction(2) ** exponent) / Fraction(2) ** exponent


def float_half_even(acc, scale):
    product = float32(float32(Fraction(acc)) * scale)
    return ties_even(max(Fraction(LOWEST), min(Fraction(2**31 - 128), product)))


def real64(acc, real):
    return saturate(ties_away(Fraction(acc * real)))  # a float64 product


def quantize_multiplier(real):
    if real == 0:
        return 0, 0
    exponent = 0
    while real * Fraction(2) ** -exponent >= 1:
        exponent += 1
    while real * Fraction(2) ** -exponent < Fraction(1, 2):
        exponent -= 1
    mantissa = ties_away(real * Fraction(2) ** (31 - exponent))
    if mantissa == 2**31:
        mantissa, exponent = 2**30, exponent + 1
    return (0, 0) if exponent < -31 else (mantissa, exponent)


# Functions. Arguments and results are raw: multiples of 2^(integer bits - 31).


def shift_left(x, count):
    return saturate(x << count)


def exp_on_interval(a):
    x = wrap(a + 2**28)
    x2 = high_mul(x, x)
    x3 = high_mul(x2, x)
    x4 = high_mul(x2, x2)
    cubic_and_quartic = high_mul(wrap(divide(x4, 2) + x3), 715827883)
    terms = wrap(x + divide(wrap(cubic_and_quartic + x2), 1))
    return wrap(1895147668 + high_mul(1895147668, terms))


EXP_FACTORS = {-2: 1672461947, -1: 1302514674, 0: 790015084, 1: 290630308, 2: 39332535,
               3: 720401, 4: 242}


def exp(bits, a):
    if a == 0:
        return HIGHEST
    if bits > 5 and a < -(2 ** (36 - bits)):
        return 0
    quarter = 2 ** (29 - bits)
    rest = a % quarter - quarter
    quarters = (rest - a) // quarter
    y = exp_on_interval(shift_left(rest, bits))
    for power, factor in EXP_FACTORS.items():
        if power < bits and quarters >> (power + 2) & 1:
            y = high_mul(y, factor)
    return y


def two_over_one_plus_x(a):
    half = (a + 2**31) // 2
    x = wrap(1515870810 + high_mul(half, -1010580540))
    for _ in range(3):
        x = wrap(x + shift_left(high_mul(x, wrap(2**29 - high_mul(half, x))), 2))
    return x


def one_over_one_plus_x(a):
    return shift_left(two_over_one_plus_x(a), 1)


def one_minus_x_over_one_plus_x(a):
    return shift_left(wrap(two_over_one_plus_x(a) - 2**29), 2)


def logistic(bits, a):
    if a == 0:
        return 2**30
    y = one_over_one_plus_x(exp(bits, wrap(-abs(a))))
    return y if a > 0 else HIGHEST - y


def tanh(bits, a):
    if a == 0:
        return 0
    y = one_minus_x_over_one_plus_x(exp(bits + 1, -abs(a)))
    return y if a > 0 else -y


def one_over_sqrt(a):
    slope = wrap(high_mul(a, 622041430) - 1247203712)
    y = wrap(2027832103 + shift_left(high_mul(slope, a), 1))
    for _ in range(3):
        residual = wrap(2**28 - high_mul(a, high_mul(y, y)))
        y = wrap(y + divide(high_mul(y, shift_left(residual, 3)), 1))
    return y


def inverse_sqrt(x):
    a, exponent = max(x, 1), 15
    while a < 2**29:
        a, exponent = 4 * a, exponent - 1
    return one_over_sqrt(a), exponent


def tflite_inverse_sqrt(x):
    if x <= 1:
        return HIGHEST, 0
    right_shift = 11
    while x >= 2**29:
        x, right_shift = x // 4, right_shift + 1
    while x < 2**27:
        x, right_shift = 4 * x, right_shift - 1
    a, y = x // 2, 2**28
    for _ in range(5):
        cube = shift_left(high_mul(high_mul(y, y), y), 6)
        y = shift_left(wrap(high_mul(3 * 2**27, y) - high_mul(divide(a, 1), cube)), 3)
    multiplier = high_mul(y, 1518500250)
    return multiplier << max(-right_shift, 0), max(right_shift, 0)


# Inputs.


def boundaries(rng, count):
    values = {LOWEST, LOWEST + 1, -1, 0, 1, HIGHEST - 1, HIGHEST}
    while len(values) < count:
        values.add(rng.randrange(LOWEST, HIGHEST + 1) >> rng.randrange(31))
        values.add(saturate(rng.choice((-1, 1)) * 2 ** rng.randrange(32) + rng.randrange(-1, 2)))
    return sorted(values)


def write(name, header, rows):
    with open(pathlib.Path(__file__).parent / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def multiply_rows(rng):
    values = boundaries(rng, 60)
    yield "high_mul_32", LOWEST, LOWEST, high_mul(LOWEST, LOWEST)
    for a in values:
        for b in rng.sample(values, 3):
            yield "high_mul_32", a, b, high_mul(a, b)
        exponent = rng.randrange(32)
        yield "divide_by_power_of_two", a, exponent, divide(a, exponent)
        yield "saturating_shift_left", a, exponent, shift_left(a, exponent)
    for a in (-(2**15), -(2**15) + 1, -12345, -3, -1, 0, 1, 2, 16384, 32767):
        for b in (-(2**15), -16384, 1, 3, 16384, 32767):
            yield "high_mul_16", a, b, min(ties_up(Fraction(a * b, 2**15)), 2**15 - 1)


def requantize_rows(rng):
    mantissas = [2**30, 3 * 2**29, 2**31 - 1, 1518500250, 2**30 + 1]
    for exponent in list(range(-31, 8)) + [15, 29, 30]:
        ties = [(2 * q + 1) * 2 ** max(-exponent, 0) + d for q in (-3, -2, -1, 0, 1, 2)
                for d in (-1, 0, 1)]
        pool = boundaries(rng, 40) + [t for t in ties if LOWEST <= t <= HIGHEST]
        for acc in rng.sample(pool, 10):
            mantissa = rng.choice(mantissas + [rng.randrange(2**30, 2**31)])
            yield (acc, mantissa, exponent, double_rounding(acc, mantissa, exponent),
                   single_rounding(acc, mantissa, exponent))


def float_rows(rng):
    for _ in range(60):
        scale = struct.unpack("<f", struct.pack("<I", rng.randrange(0x35000000, 0x41000000)))[0]
        for acc in rng.sample(boundaries(rng, 40), 3):
            yield acc, scale.hex(), float_half_even(acc, Fraction(scale))
    for acc in range(-9, 10):
        yield acc, (0.5).hex(), float_half_even(acc, Fraction(1, 2))


def real64_rows(rng):
    for _ in range(70):
        real = 2.0 ** rng.uniform(-40, 3)
        for acc in rng.sample(boundaries(rng, 40), 2):
            yield acc, real.hex(), real64(acc, real)
    for acc in range(-5, 6):
        yield acc, (0.5).hex(), real64(acc, 0.5)


def multiplier_rows(rng):
    reals = [0.0, 0.5, 1.0, 0.75, 3.0, 0.1, 1 - 2.0**-53, 1 - 2.0**-32, 1 - 1.5 * 2.0**-32,
             2.0**-32, 2.0**-33, 0.999 * 2.0**-32, 2.0**-32 * (1 - 2.0**-53), 1e-30, 5e-324,
             2.0**30 - 1]
    reals += [2.0 ** rng.uniform(-32.5, 29.9) for _ in range(80)]
    for real in reals:
        yield (real.hex(), *quantize_multiplier(Fraction(real)))


def function_rows(rng):
    values = boundaries(rng, 30)
    for bits in (0, 2, 4, 5, 8, 12):
        steps = [-(2 ** (31 - bits + p)) + d for p in range(-2, min(bits, 5)) for d in (-9, 0, 1)]
        for a in steps + values:
            if a <= 0:
                yield "exp_on_negative_values", bits, a, exp(bits, a)
            if a in steps:
                continue
            yield "logistic", bits, a, logistic(bits, a)
            if a != LOWEST:
                yield "tanh", bits, a, tanh(bits, a)
    for a in values:
        if a >= 0:
            yield "one_over_one_plus_x", 0, a, one_over_one_plus_x(a)
            yield "one_minus_x_over_one_plus_x", 0, a, one_minus_x_over_one_plus_x(a)
        a = 2**29 + a % (3 * 2**29)
        yield "one_over_sqrt", 1, a, one_over_sqrt(a)


def inverse_sqrt_rows(rng):
    for x in boundaries(rng, 120):
        if x >= 0:
            yield (x, *inverse_sqrt(x), *tflite_inverse_sqrt(x))


def main():
    rng = random.Random(20171215)
    write("multiply.csv", ("operation", "a", "b", "result"), multiply_rows(rng))
    write("requantize.csv", ("accumulator", "mantissa", "exponent", "double_rounding",
                             "single_rounding"), requantize_rows(rng))
    write("float_half_even.csv", ("accumulator", "scale", "result"), float_rows(rng))
    write("real64.csv", ("accumulator", "real", "result"), real64_rows(rng))
    write("quantize_multiplier.csv", ("real", "mantissa", "exponent"), multiplier_rows(rng))
    write("functions.csv", ("function", "integer_bits", "input", "output"), function_rows(rng))
    write("inverse_sqrt.csv", ("x", "mantissa", "exponent", "tflite_multiplier",
                               "tflite_right_shift"), inverse_sqrt_rows(rng))


if __name__ == "__main__":
    main()
