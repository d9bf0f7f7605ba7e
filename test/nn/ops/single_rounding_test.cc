#include "intaglio/nn/ops/linear/single_rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "intaglio/fixedpoint/requantize_real64.h"

namespace intaglio::nn {
namespace {

constexpr Range kClamp{-128, 127};

int32_t Clamped(int32_t x) { return std::clamp(x, kClamp.min, kClamp.max); }

// Multipliers by which an accumulator becomes half an integer, or nearly: what stands for one must
// round that accumulator and its neighbours as the real one does.
TEST(SingleRoundingMultipliers, RoundNearHalvesAsRealOnesDo) {
  std::mt19937 random(1);
  int given = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    const int q = static_cast<int>(random() % 256) - 127;
    const auto acc = static_cast<int32_t>(1000 + random() % 100000) * (q > 0 ? 1 : -1);
    const double off = round % 2 == 0 ? 0 : static_cast<double>(random()) * 1e-19;
    const double real = (q - 0.5) / acc + off;
    const auto single = SingleRoundingMultipliers({real}, 0, kClamp);
    if (!single.has_value()) continue;
    ++given;
    for (int32_t x = acc - 2; x <= acc + 2; ++x) {
      const int32_t rounded =
          RequantizeSingleRounding<Scalar>(x, single->mantissa[0], 31 - single->exponent[0]);
      ASSERT_EQ(Clamped(rounded), Clamped(RequantizeReal64(x, real))) << x << " by " << real;
    }
  }
  EXPECT_GT(given, kRounds / 20);
  EXPECT_LT(given, kRounds);
}

// Those of real networks have one, as a rule.
TEST(SingleRoundingMultipliers, AreFound) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> multiplier(1e-4, 0.1);
  int given = 0;
  for (int round = 0; round < 1000; ++round) {
    given += SingleRoundingMultipliers({multiplier(random)}, 3, kClamp).has_value() ? 1 : 0;
  }
  EXPECT_GT(given, 900);
}

}  // namespace
}  // namespace intaglio::nn
