#include "intaglio/nn/ops/support/fit_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/fixedpoint/registers.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

struct Sum {
  double a;  // scales
  double b;
  double out;
  int zero_a;  // of int8
  int zero_b;
  int zero_out;
};

SumOfBytes Defined(const Sum& s) {
  const double twice_max = 2 * std::max(s.a, s.b);
  SumOfBytes sum;
  sum.zero_a = s.zero_a + 128;
  sum.zero_b = s.zero_b + 128;
  sum.scale_a = *QuantizeMultiplier(s.a / twice_max);
  sum.scale_b = *QuantizeMultiplier(s.b / twice_max);
  sum.scale = *QuantizeMultiplier(twice_max / (s.out * (1 << SumOfBytes::kTermShift)));
  return sum;
}

// The fit, whose results are those of the definition where it has a linear function.
SumOfBytes Fitted(const Sum& s) {
  const LineRoutines& lines = **LinesOf("");
  const LineOutput output{true, s.zero_out, -128, 127};
  const SumOfBytes fitted = FitSum(lines, Defined(s), output);
  const DefinedSumOfBytes<Scalar> defined(Defined(s));
  std::array<uint8_t, 256> all{};
  std::iota(all.begin(), all.end(), uint8_t{0});
  for (const uint8_t b : all) {
    std::array<uint8_t, 256> got{};
    lines.add(fitted, output, {all.data(), &b, true, got.data(), 256});
    for (const uint8_t a : all) {
      const int32_t sum = defined(a ^ 0x80, b ^ 0x80) + s.zero_out;
      EXPECT_EQ(static_cast<int8_t>(got[a]), std::clamp(sum, -128, 127)) << +a << " + " << +b;
    }
  }
  return fitted;
}

TEST(FitSum, OfExactSums) {
  EXPECT_TRUE(
      Fitted({0.0447614267468452, 0.113118842244148, 0.0532362163066864, -17, 4, -128}).linear);
}

// The definition makes 226 of 225.4999962.
TEST(FitSum, WithOneSumAcrossATie) {
  EXPECT_TRUE(
      Fitted({0.0393935516476631, 0.104194961488247, 0.0509456731379032, -128, 4, -128}).linear);
}

// Six sums next to ties, evenly apart along a line, of which the definition takes the 1st, 2nd and
// 4th up.
TEST(FitSum, NoneWhereRoundingsGoBothWays) {
  EXPECT_FALSE(
      Fitted({0.189869150519371, 0.169904917478561, 0.187549546360969, -6, -31, -14}).linear);
}

TEST(FitSum, NoneBeyondTheRangeOfLinearFunctions) {
  EXPECT_FALSE(Fitted({0.5, 0.25, 0.01, 0, 0, 0}).linear);
}

}  // namespace
}  // namespace intaglio::nn
