#include "intaglio/fixedpoint/requantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/fixedpoint/requantize_bounded.h"
#include "intaglio/fixedpoint/requantize_real64.h"
#include "intaglio/fixedpoint/requantize_wide.h"
#include "intaglio/test/fixedpoint/oracle.h"

namespace intaglio::test {
namespace {

std::vector<int32_t> Mantissas() {
  auto mantissas = Boundaries(1 << 30, INT32_MAX, 12, 5);
  mantissas.push_back(0);
  mantissas.push_back(3 << 29);        // ties in plenty
  mantissas.push_back((5 << 28) + 1);  // ties all but
  return mantissas;
}

TEST(Requantize, FixedPointModesOnBoundaries) {
  const auto accumulators = Boundaries(INT32_MIN, INT32_MAX, 100, 6);
  for (const int32_t mantissa : Mantissas()) {
    for (int32_t exponent = -31; exponent <= 30; ++exponent) {
      const QuantizedMultiplier m = {mantissa, exponent};
      for (const int32_t acc : accumulators) {
        ASSERT_EQ(RequantizeScalar(RequantMode::kDoubleRounding, acc, m, 0),
                  DoubleRoundingOracle(acc, mantissa, m.left_shift(), m.right_shift()))
            << acc << " * " << mantissa << " * 2^" << exponent - 31;
        ASSERT_EQ(RequantizeScalar(RequantMode::kSingleRounding, acc, m, 0),
                  SingleRoundingOracle(acc, mantissa, m.total_shift()))
            << acc << " * " << mantissa << " * 2^" << exponent - 31;
      }
    }
  }
}

// Products that lie on a tie of the last rounding, or beside one.
TEST(Requantize, FixedPointModesOnTies) {
  for (int right = 0; right <= 31; ++right) {
    for (int32_t quotient = -70; quotient <= 70; ++quotient) {
      for (int32_t offset = -2; offset <= 2; ++offset) {
        // acc * 2^30 * 2^-(31 + right) = quotient + 1/2, nearly.
        const Wide wide = (2 * quotient + 1) * PowerOfTwo(right) + offset;
        if (wide != Saturate(wide)) continue;
        const int32_t acc = Saturate(wide);
        const QuantizedMultiplier m = {1 << 30, -right};
        ASSERT_EQ(RequantizeScalar(RequantMode::kDoubleRounding, acc, m, 0),
                  DoubleRoundingOracle(acc, 1 << 30, 0, right))
            << acc << " / 2^" << right + 1;
        ASSERT_EQ(RequantizeScalar(RequantMode::kSingleRounding, acc, m, 0),
                  SingleRoundingOracle(acc, 1 << 30, 31 + right))
            << acc << " / 2^" << right + 1;
      }
    }
  }
}

TEST(Requantize, ModesDifferWhereTheyShould) {
  // -12 / 2^3 of the paper: -1.5 goes away from zero in one mode, up in the second, to even in the
  // third.
  const QuantizedMultiplier eighth = {1 << 30, -2};
  EXPECT_EQ(RequantizeScalar(RequantMode::kDoubleRounding, -12, eighth, 0.125f), -2);
  EXPECT_EQ(RequantizeScalar(RequantMode::kSingleRounding, -12, eighth, 0.125f), -1);
  EXPECT_EQ(RequantizeScalar(RequantMode::kFloatHalfEven, -12, eighth, 0.125f), -2);
  EXPECT_EQ(RequantizeScalar(RequantMode::kFloatHalfEven, -4, eighth, 0.125f), 0);
  EXPECT_EQ(RequantizeScalar(RequantMode::kDoubleRounding, -4, eighth, 0.125f), -1);
  // 2.25 + 1/4 becomes 2.5 in the first rounding and 3 in the second.
  EXPECT_EQ(RequantizeScalar(RequantMode::kDoubleRounding, 9, {(1 << 30) + (1 << 28), -1}, 0), 3);
  EXPECT_EQ(RequantizeScalar(RequantMode::kSingleRounding, 9, {(1 << 30) + (1 << 28), -1}, 0), 3);
}

TEST(Requantize, BoundedFormsAgree) {
  const auto any = Boundaries(INT32_MIN, INT32_MAX, 100, 7);
  const auto small = Boundaries(-(1 << 30), (1 << 30) - 1, 100, 8);
  for (const int32_t mantissa : Mantissas()) {
    for (int shift = 0; shift <= 31; ++shift) {
      const DoubleRoundingBounded<Scalar> bounded(mantissa, shift);
      for (const int32_t acc : small) {
        ASSERT_EQ(bounded(acc), DoubleRoundingOracle(acc, mantissa, 0, shift))
            << acc << " * " << mantissa << " >> " << shift;
      }
    }
    for (int shift = 32; shift <= 62; ++shift) {
      const SingleRoundingBounded<Scalar> bounded(mantissa, shift);
      for (const int32_t acc : any) {
        ASSERT_EQ(bounded(acc), SingleRoundingOracle(acc, mantissa, shift))
            << acc << " * " << mantissa << " >> " << shift;
      }
    }
  }
}

Scaled ScaledOf(float x) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return {static_cast<int32_t>(std::ldexp(fraction, 24)), exponent - 24};
}

TEST(Requantize, FloatHalfEven) {
  auto accumulators = Boundaries(INT32_MIN, INT32_MAX, 300, 9);
  for (int32_t i = -2000; i <= 2000; ++i) accumulators.push_back(i);
  std::vector<float> scales = {0, 0.5f, 0.125f, 1.0f, 0.1f, 1e-3f, 3e-9f, 1e-30f, 1e30f, 3e38f};
  for (const int32_t bits : Boundaries(0x20000000, 0x50000000, 40, 10)) {
    scales.push_back(std::bit_cast<float>(bits));
  }
  for (const float scale : scales) {
    for (const int32_t acc : accumulators) {
      const int32_t expected = FloatHalfEvenOracle(acc, ScaledOf(scale));
      ASSERT_EQ(RequantizeScalar(RequantMode::kFloatHalfEven, acc, {}, scale), expected)
          << acc << " * " << scale;
      if (std::abs(static_cast<double>(acc) * scale) < 2147483000.0) {
        ASSERT_EQ(RequantizeFloatHalfEvenBounded<Scalar>(acc, scale), expected)
            << acc << " * " << scale;
      }
    }
  }
}

TEST(Requantize, FloatHalfEvenSaturates) {
  EXPECT_EQ(RequantizeFloatHalfEven<Scalar>(INT32_MAX, 1.0f), 2147483520);
  EXPECT_EQ(RequantizeFloatHalfEven<Scalar>(2147483520, 1.0f), 2147483520);
  EXPECT_EQ(RequantizeFloatHalfEven<Scalar>(INT32_MIN, 1.0f), INT32_MIN);
  EXPECT_EQ(RequantizeFloatHalfEven<Scalar>(INT32_MIN, 1.5f), INT32_MIN);
}

// Against the float64 multiplication of this machine.
TEST(Requantize, Real64) {
  std::mt19937_64 random_bits(16);
  std::uniform_real_distribution<double> log2(-70, 40);
  std::vector<double> reals = {0, 0.5, 0.25, 1, 1.5, 1e-310, 1e300};
  for (int i = 0; i < 300; ++i) reals.push_back(std::exp2(log2(random_bits)));
  const auto accumulators = Boundaries(INT32_MIN, INT32_MAX, 300, 17);
  for (const double real : reals) {
    for (const int32_t acc : accumulators) {
      const double product = std::round(acc * real);
      const double clamped = std::min(std::max(product, -2147483648.0), 2147483647.0);
      ASSERT_EQ(RequantizeReal64(acc, real), static_cast<int32_t>(clamped)) << acc << " * " << real;
    }
  }
}

TEST(Requantize, Real64OfInt64) {
  std::mt19937_64 random_bits(19);
  std::uniform_real_distribution<double> log2(-70, 10);
  std::vector<int64_t> accumulators = {0, 1, -1, int64_t{1} << 43, -(int64_t{1} << 43)};
  for (int i = 0; i < 2000; ++i) {
    accumulators.push_back(static_cast<int64_t>(random_bits()) >> (20 + random_bits() % 40));
  }
  for (int i = 0; i < 300; ++i) {
    const double real = i == 0 ? 0.5 : i == 1 ? 0.25 : std::exp2(log2(random_bits));
    for (const int64_t acc : accumulators) {
      const double product = std::round(static_cast<double>(acc) * real);
      const double clamped = std::min(std::max(product, -2147483648.0), 2147483647.0);
      ASSERT_EQ(RequantizeReal64(acc, real), static_cast<int32_t>(clamped)) << acc << " * " << real;
    }
  }
}

TEST(Requantize, Real64OfMinusZeroIsZero) {
  for (const int32_t acc : {0, 1, -1, 35, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(RequantizeReal64(acc, -0.0), 0);
    EXPECT_EQ(RequantizeReal64(int64_t{acc}, -0.0), 0);
    EXPECT_EQ(RequantizeFloatHalfEven<Scalar>(acc, -0.0f), 0);
  }
}

TEST(Requantize, WideMultipliersBeyondTheLimitSaturateInt16) {
  for (int32_t exponent = 17; exponent <= 30; ++exponent) {
    const WideMultiplier limited = MakeWideMultiplier({1 << 30, exponent});
    EXPECT_EQ(RequantizeWide(0, limited), 0);
    EXPECT_GE(RequantizeWide(1, limited), 32767);
    EXPECT_LE(RequantizeWide(-1, limited), -32768);
  }
}

TEST(Requantize, WideAgainstTheOracle) {
  std::vector<int64_t> accumulators;
  for (const int32_t low : Boundaries(INT32_MIN, INT32_MAX, 40, 18)) {
    for (const int64_t high : {0, 1, -1, 12345, 32767, -32768}) {
      accumulators.push_back(high * (int64_t{1} << 32) + (int64_t{low} & 0xffffffff));
    }
  }
  for (const int32_t mantissa : Mantissas()) {
    const Wide reduced = std::min<Wide>(TiesUp(mantissa, PowerOfTwo(16)), 32767);
    for (int32_t exponent = -31; exponent <= 16; ++exponent) {
      for (const int64_t acc : accumulators) {
        // The terms of the quotient are doubled, because the divisor 2^(15 - exponent) may be one
        // half.
        ASSERT_EQ(RequantizeWide(acc, MakeWideMultiplier({mantissa, exponent})),
                  Saturate(TiesUp(2 * acc * reduced, PowerOfTwo(16 - exponent))))
            << acc << " * " << mantissa << " * 2^" << exponent - 31;
      }
    }
  }
}

}  // namespace
}  // namespace intaglio::test
