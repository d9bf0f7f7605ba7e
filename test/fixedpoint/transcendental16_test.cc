// logistic and tanh on 16 bits: every operand against the real function. That the bits are
// TFLite's is for the recorded models of test/nn/ops to say.
#include "intaglio/fixedpoint/transcendental16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace intaglio {
namespace {

// The largest distance from f, in units of the result's last place.
template <class Function, class Real>
double Distance(const Function& function, const Real& f, int integer_bits) {
  double distance = 0;
  for (int32_t x = -32768; x <= 32767; ++x) {
    const double real = f(std::ldexp(x, integer_bits - 15)) * 32768;
    distance = std::max(distance, std::fabs(function(static_cast<int16_t>(x)) - real));
  }
  return distance;
}

// Lambdas, for what is always inlined has no address.
template <int kIntegers>
double DistanceOfTanh() {
  return Distance([](int16_t x) { return Tanh16<kIntegers>(x); },
                  [](double x) { return std::tanh(x); }, kIntegers);
}

TEST(Transcendental16, StaysCloseToTheRealFunctions) {
  const auto logistic = [](int16_t x) { return Logistic16<3>(x); };
  EXPECT_LT(Distance(
                logistic, [](double x) { return 1 / (1 + std::exp(-x)); }, 3),
            6.4);
  EXPECT_LT(DistanceOfTanh<0>(), 12.1);
  EXPECT_LT(DistanceOfTanh<1>(), 12.1);
  EXPECT_LT(DistanceOfTanh<2>(), 12.1);
  EXPECT_LT(DistanceOfTanh<3>(), 12.1);
  EXPECT_LT(DistanceOfTanh<4>(), 12.1);
  EXPECT_LT(DistanceOfTanh<5>(), 12.1);
  EXPECT_LT(DistanceOfTanh<6>(), 12.1);
}

template <int kIntegers>
void ExpectTheExpsOfEach() {
  std::vector<int16_t> exps(0x8000, -1);
  q15::AllExpsOnNegativeValues<kIntegers>(exps.data());
  for (int32_t i = 0; i < 0x8000; ++i) {
    ASSERT_EQ(exps[static_cast<size_t>(i)], q15::ExpOnNegativeValues<kIntegers>(-(i + 1)))
        << i << " of " << kIntegers << " integer bits";
  }
}

TEST(Transcendental16, AllExpsAreThoseOfEach) {
  ExpectTheExpsOfEach<0>();
  ExpectTheExpsOfEach<1>();
  ExpectTheExpsOfEach<3>();
  ExpectTheExpsOfEach<5>();
  ExpectTheExpsOfEach<6>();
  ExpectTheExpsOfEach<7>();
}

TEST(Transcendental16, IsSymmetric) {
  for (int32_t x = 1; x <= 32767; ++x) {
    const auto positive = static_cast<int16_t>(x);
    const auto negative = static_cast<int16_t>(-x);
    ASSERT_EQ(Tanh16<3>(negative), -Tanh16<3>(positive)) << x;
    ASSERT_EQ(Logistic16<3>(negative), 32767 - Logistic16<3>(positive)) << x;
  }
  EXPECT_EQ(Tanh16<3>(0), 0);
  EXPECT_EQ(Logistic16<3>(0), 1 << 14);
}

}  // namespace
}  // namespace intaglio
