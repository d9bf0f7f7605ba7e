#include "intaglio/fixedpoint/quantize_multiplier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace intaglio::test {
namespace {

void ExpectMultiplier(double real, int32_t mantissa, int32_t exponent) {
  const auto m = QuantizeMultiplier(real);
  ASSERT_TRUE(m.ok()) << real << ": " << m.status().message();
  EXPECT_EQ(m->mantissa, mantissa) << real;
  EXPECT_EQ(m->exponent, exponent) << real;
}

TEST(QuantizeMultiplier, Examples) {
  ExpectMultiplier(0, 0, 0);
  ExpectMultiplier(-0.0, 0, 0);
  ExpectMultiplier(0.5, 1 << 30, 0);
  ExpectMultiplier(1, 1 << 30, 1);
  ExpectMultiplier(0.75, 3 << 29, 0);
  ExpectMultiplier(3, 3 << 29, 2);
  ExpectMultiplier(0.1, 1717986918, -3);
  ExpectMultiplier(std::ldexp(0.5, -31), 1 << 30, -31);
}

TEST(QuantizeMultiplier, MantissaThatRoundsUpMovesToTheNextExponent) {
  ExpectMultiplier(std::nextafter(1.0, 0.0), 1 << 30, 1);
  ExpectMultiplier(1 - std::ldexp(1.0, -32), 1 << 30, 1);  // a tie, away from zero
  ExpectMultiplier(1 - std::ldexp(1.5, -32), INT32_MAX, 0);
}

TEST(QuantizeMultiplier, TinyBecomesZero) {
  ExpectMultiplier(std::ldexp(0.5, -32), 0, 0);
  ExpectMultiplier(std::ldexp(0.999, -32), 0, 0);
  ExpectMultiplier(std::nextafter(std::ldexp(0.5, -31), 0.0), 1 << 30, -31);  // rounds up first
  ExpectMultiplier(1e-30, 0, 0);
  ExpectMultiplier(std::numeric_limits<double>::denorm_min(), 0, 0);
}

TEST(QuantizeMultiplier, LargestIsBelow2To30) {
  ExpectMultiplier(std::ldexp(1 - std::ldexp(1.0, -31), 30), INT32_MAX, 30);
}

void ExpectRefused(double real, const std::string& expected) {
  const auto m = QuantizeMultiplier(real);
  ASSERT_FALSE(m.ok()) << real;
  EXPECT_EQ(m.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(m.status().message(), "requantization multiplier " + expected);
}

TEST(QuantizeMultiplier, RefusesWhatIsNoMultiplier) {
  ExpectRefused(std::nan(""), "nan is not finite");
  ExpectRefused(HUGE_VAL, "inf is not finite");
  ExpectRefused(-HUGE_VAL, "-inf is not finite");
  ExpectRefused(-0.25, "-0.25 is negative");
  ExpectRefused(-1e-300, "-1e-300 is negative");
}

TEST(QuantizeMultiplier, FromTwoToThe30OnIsTheLargest) {
  ExpectMultiplier(std::nextafter(1073741824.0, 0.0), INT32_MAX, 30);
  ExpectMultiplier(1073741824, INT32_MAX, 30);
  ExpectMultiplier(1e300, INT32_MAX, 30);
}

// The mantissa is the nearest one: no other multiplier of the same exponent is nearer.
TEST(QuantizeMultiplier, IsNearest) {
  std::mt19937_64 random_bits(11);
  std::uniform_real_distribution<double> log2(-31.9, 29.9);
  for (int i = 0; i < 100000; ++i) {
    const double real = std::exp2(log2(random_bits));
    const auto m = QuantizeMultiplier(real);
    ASSERT_TRUE(m.ok());
    ASSERT_GE(m->mantissa, 1 << 30);
    // Exact in double: the mantissa has 31 bits.
    const double value = std::ldexp(m->mantissa, m->exponent - 31);
    ASSERT_LE(std::abs(value - real), std::ldexp(0.5, m->exponent - 31)) << real;
  }
}

TEST(QuantizedMultiplier, ShiftsOfEitherSign) {
  constexpr QuantizedMultiplier kUp = {1 << 30, 3};
  EXPECT_EQ(kUp.left_shift(), 3);
  EXPECT_EQ(kUp.right_shift(), 0);
  EXPECT_EQ(kUp.total_shift(), 28);
  constexpr QuantizedMultiplier kDown = {1 << 30, -5};
  EXPECT_EQ(kDown.left_shift(), 0);
  EXPECT_EQ(kDown.right_shift(), 5);
  EXPECT_EQ(kDown.total_shift(), 36);
}

}  // namespace
}  // namespace intaglio::test
