#include "intaglio/fixedpoint/multiply.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "intaglio/fixedpoint/fixed_point.h"
#include "intaglio/fixedpoint/registers.h"
#include "intaglio/test/fixedpoint/oracle.h"

namespace intaglio::test {
namespace {

TEST(Multiply, HighMul32OnBoundaries) {
  const auto values = Boundaries(INT32_MIN, INT32_MAX, 800, 1);
  for (const int32_t a : values) {
    for (const int32_t b : values) {
      ASSERT_EQ(SaturatingRoundingDoublingHighMul<Scalar>(a, b), HighMulOracle(a, b))
          << a << " * " << b;
      if (a != INT32_MIN || b != INT32_MIN) {
        ASSERT_EQ(RoundingDoublingHighMul<Scalar>(a, b), HighMulOracle(a, b)) << a << " * " << b;
      }
    }
  }
}

TEST(Multiply, HighMul32RoundsTiesUp) {
  // 3 * 2^29 / 2^31 = 3/4, 2 * 2^29 / 2^31 = 1/2.
  EXPECT_EQ(SaturatingRoundingDoublingHighMul<Scalar>(2, 1 << 29), 1);
  EXPECT_EQ(SaturatingRoundingDoublingHighMul<Scalar>(-2, 1 << 29), 0);
  EXPECT_EQ(SaturatingRoundingDoublingHighMul<Scalar>(-3, 1 << 29), -1);
  EXPECT_EQ(SaturatingRoundingDoublingHighMul<Scalar>(INT32_MIN, INT32_MIN), INT32_MAX);
}

// All pairs of int16 where asked, else all a with some b.
TEST(Multiply, HighMul16) {
  const auto all = Boundaries(INT16_MIN, INT16_MAX, 40, 2);
  for (int32_t a = INT16_MIN; a <= INT16_MAX; ++a) {
    const auto check = [a](int32_t b) {
      const int64_t exact = int64_t{a} * b;
      const int64_t floor = (exact + (1 << 14) - ((exact + (1 << 14)) & 0x7fff)) / (1 << 15);
      const auto a16 = static_cast<int16_t>(a);
      const auto b16 = static_cast<int16_t>(b);
      return SaturatingRoundingDoublingHighMul16<Scalar>(a16, b16) ==
             (floor > INT16_MAX ? INT16_MAX : floor);
    };
    if (Exhaustive()) {
      for (int32_t b = INT16_MIN; b <= INT16_MAX; ++b) ASSERT_TRUE(check(b)) << a << " * " << b;
    } else {
      for (const int32_t b : all) ASSERT_TRUE(check(b)) << a << " * " << b;
    }
  }
}

template <int kExponent>
void ExpectConstantShiftsAgree(int32_t x) {
  ASSERT_EQ((RoundingDivideByPowerOfTwo<Scalar, kExponent>(x)),
            RoundingDivideByPowerOfTwo<Scalar>(x, kExponent))
      << x;
  ASSERT_EQ((SaturatingShiftLeft<Scalar, kExponent>(x)), SaturatingShiftLeft<Scalar>(x, kExponent))
      << x;
}

// All of int16, at the bottom, in the middle and at the top of an int32.
TEST(Multiply, PowersOfTwo) {
  for (int32_t x16 = INT16_MIN; x16 <= INT16_MAX; ++x16) {
    for (const int place : {0, 7, 16}) {
      const int32_t x = x16 * (1 << place) + (place > 0 ? x16 & 1 : 0);
      for (int shift = 0; shift < 32; ++shift) {
        ASSERT_EQ(RoundingDivideByPowerOfTwo<Scalar>(x, shift), TiesAway(x, PowerOfTwo(shift)))
            << x << " / 2^" << shift;
        ASSERT_EQ(SaturatingShiftLeft<Scalar>(x, shift), Saturate(x * PowerOfTwo(shift)))
            << x << " * 2^" << shift;
      }
    }
  }
}

TEST(Multiply, PowersOfTwoOnBoundaries) {
  for (const int32_t x : Boundaries(INT32_MIN, INT32_MAX, 1000, 3)) {
    for (int shift = 0; shift < 32; ++shift) {
      ASSERT_EQ(RoundingDivideByPowerOfTwo<Scalar>(x, shift), TiesAway(x, PowerOfTwo(shift)))
          << x << " / 2^" << shift;
      ASSERT_EQ(SaturatingShiftLeft<Scalar>(x, shift), Saturate(x * PowerOfTwo(shift)))
          << x << " * 2^" << shift;
    }
    ExpectConstantShiftsAgree<0>(x);
    ExpectConstantShiftsAgree<1>(x);
    ExpectConstantShiftsAgree<15>(x);
    ExpectConstantShiftsAgree<30>(x);
    ExpectConstantShiftsAgree<31>(x);
  }
}

TEST(FixedPoint, RescaleRoundsAndSaturates) {
  for (const int32_t x : Boundaries(INT32_MIN, INT32_MAX, 1000, 4)) {
    const auto fixed = FixedPoint<Scalar, 4>::FromRaw(x);
    ASSERT_EQ(Rescale<7>(fixed).raw(), TiesAway(x, PowerOfTwo(3)));
    ASSERT_EQ(Rescale<1>(fixed).raw(), Saturate(x * PowerOfTwo(3)));
    ASSERT_EQ(Rescale<4>(fixed).raw(), x);
  }
}

TEST(FixedPoint, OneIsOneOrTheLargestBelow) {
  EXPECT_EQ((FixedPoint<Scalar, 0>::One().raw()), INT32_MAX);
  EXPECT_EQ((FixedPoint<Scalar, 1>::One().raw()), 1 << 30);
  EXPECT_EQ((FixedPoint<Scalar, 31>::One().raw()), 1);
}

}  // namespace
}  // namespace intaglio::test
