// Requantization by one multiply-add equals its mode at every accumulator, on every vocabulary; the
// proof says yes to nothing else.
#include "intaglio/fixedpoint/fit_multiply_add.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "intaglio/test/fixedpoint/foreign_float_environment.h"
#include "intaglio/test/fixedpoint/isa.h"
#include "intaglio/test/fixedpoint/oracle.h"

namespace intaglio::test {
namespace {

using Task = MultiplyAddTask;
using Fit = MultiplyAddFit;

constexpr RequantMode kModes[] = {RequantMode::kDoubleRounding, RequantMode::kSingleRounding,
                                  RequantMode::kFloatHalfEven};

std::string Text(const Task& t) {
  return "mode " + std::to_string(static_cast<int>(t.mode)) + ", mantissa " +
         std::to_string(t.multiplier.mantissa) + ", exponent " +
         std::to_string(t.multiplier.exponent) + ", acc " + std::to_string(t.least) + " .. " +
         std::to_string(t.most) + ", zero point " + std::to_string(t.zero_point) + ", [" +
         std::to_string(t.lowest) + ", " + std::to_string(t.highest) + "]";
}

int32_t Oracle(const Task& t, int32_t acc) {
  const QuantizedMultiplier m = t.multiplier;
  switch (t.mode) {
    case RequantMode::kDoubleRounding:
      return DoubleRoundingOracle(acc, m.mantissa, m.left_shift(), m.right_shift());
    case RequantMode::kSingleRounding:
      return SingleRoundingOracle(acc, m.mantissa, m.total_shift());
    default: {
      int exponent;
      const float fraction = std::frexp(t.scale, &exponent);
      return FloatHalfEvenOracle(acc, {std::llround(std::ldexp(fraction, 24)), exponent - 24});
    }
  }
}

// All accumulators of a task, a multiple of 64 of them, and what they have to give.
struct Staircase {
  std::vector<int32_t> acc, want;

  explicit Staircase(const Task& t) {
    for (int64_t a = t.least; a <= t.most; ++a) Add(t, static_cast<int32_t>(a));
    while (acc.size() % 64 != 0) Add(t, static_cast<int32_t>(t.most));
  }
  void Add(const Task& t, int32_t a) {
    acc.push_back(a);
    want.push_back(static_cast<int32_t>(
        std::clamp<int64_t>(int64_t{Oracle(t, a)} + t.zero_point, t.lowest, t.highest)));
  }
};

// Whether a fit gives the staircase, by the operations of a vocabulary.
bool Gives(const OperationTable& table, const Fit& fit, const Task& t, const Staircase& stairs) {
  const size_t n = stairs.acc.size();
  std::vector<int32_t> f = stairs.acc;
  for (int32_t& a : f) a = Scalar::Add(a, fit.base);
  const std::vector<int32_t> scales(n, std::bit_cast<int32_t>(fit.scale));
  const std::vector<int32_t> addends(n, std::bit_cast<int32_t>(fit.addend));
  const std::vector<int32_t> none(n);
  const int32_t* const in[4] = {f.data(), scales.data(), addends.data(), none.data()};
  std::vector<int32_t> x(n);
  Find(table, "FusedMulAdd")->run(in, x.data(), static_cast<int64_t>(n));
  for (int32_t& y : x) {
    y = std::clamp<int32_t>(static_cast<int16_t>(y & 0xffff), t.lowest, t.highest);
  }
  return x == stairs.want;
}

Task MakeTask(RequantMode mode, int32_t mantissa, int shift, int zero_point) {
  Task t;
  t.mode = mode;
  t.multiplier = {mantissa, -shift};
  t.scale = std::ldexp(static_cast<float>(mantissa), -31 - shift);
  t.most = int64_t{1} << std::clamp(shift + 8, 10, 16);
  t.least = -t.most;
  t.zero_point = zero_point;
  t.lowest = -128;
  t.highest = 127;
  return t;
}

int32_t AnyMantissa(std::mt19937& random) {
  return static_cast<int32_t>((1 << 30) + (random() & ((1 << 30) - 1)));
}

class MultiplyAddOn : public testing::TestWithParam<Isa> {};

TEST_P(MultiplyAddOn, EveryAccumulator) {
  if (!GetParam().supported()) GTEST_SKIP() << "this CPU lacks " << GetParam().name;
  const OperationTable table = GetParam().operations();
  std::mt19937 random(5);
  int found[3] = {};
  int turn = 0;
  for (const RequantMode mode : kModes) {
    for (int shift = 0; shift <= 31; ++shift) {
      for (const int32_t mantissa : {1 << 30, (1 << 30) + 1, INT32_MAX, AnyMantissa(random)}) {
        for (const int zero_point : {-128, 0, 127, 200}) {
          // Of the long ones a part, each shift with others.
          constexpr int kEvery = 5 * kOneCaseIn;
          if (shift > 4 && turn++ % kEvery != shift % 5) continue;
          Task t = MakeTask(mode, mantissa, shift, zero_point);
          if (zero_point == 200) t.lowest = 0, t.highest = 255;
          const auto fit = FitMultiplyAdd(t);
          if (!fit) continue;
          ++found[static_cast<int>(mode)];
          ASSERT_TRUE(Gives(table, *fit, t, Staircase(t))) << Text(t);
        }
      }
    }
  }
  for (const int count : found) EXPECT_GT(count, 30 / kOneCaseIn);
}

std::vector<Isa> AllIsas() {
  std::vector<Isa> all = Isas();
  all.push_back({"scalar", [] { return true; }, ScalarOperations});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Every, MultiplyAddOn, testing::ValuesIn(AllIsas()),
                         [](const auto& info) { return std::string(info.param.name); });

// Numbers near those of a fit are wrong, and those of a narrower output are right as often as not:
// the proof tells them apart.
TEST(FitMultiplyAdd, ProofSaysYesToWhatIsRightAndToNothingElse) {
  const OperationTable table = WidestOperations();
  std::mt19937 random(6);
  int right = 0;
  int wrong = 0;
  for (int i = 0; i < 1600 / (3 + kOneCaseIn); ++i) {
    Task t = MakeTask(kModes[i % 3], AnyMantissa(random), static_cast<int>(random() % 12), -128);
    t.most += static_cast<int64_t>(random() % 1000);
    Task narrower = t;
    if (i % 4 == 0) narrower.highest = -128 + static_cast<int>(random() % 200);
    auto fit = FitMultiplyAdd(narrower);
    if (!fit) continue;
    ASSERT_TRUE(IsMultiplyAdd(*fit, narrower)) << Text(narrower);
    const float direction = random() % 2 == 0 ? 0.0f : 1e9f;
    if (i % 4 == 1) fit->scale = std::nextafter(fit->scale, direction);
    if (i % 4 == 2) fit->addend = std::nextafter(fit->addend, direction);
    if (i % 4 == 3) fit->base += direction == 0 ? -1 : 1;
    const bool is = Gives(table, *fit, t, Staircase(t));
    (is ? right : wrong) += 1;
    ASSERT_EQ(IsMultiplyAdd(*fit, t), is) << Text(t);
  }
  EXPECT_GT(right, 20 / kOneCaseIn);
  EXPECT_GT(wrong, 100 / kOneCaseIn);
}

// An accumulator whose result leaves 16 bits would wrap around to one within the output's range.
TEST(FitMultiplyAdd, ResultsBeyondInt16HaveNone) {
  Task t = MakeTask(RequantMode::kSingleRounding, 1 << 30, 3, 0);  // 1 / 16
  t.most = int64_t{32767} * 16;
  t.least = -t.most;
  const auto fit = FitMultiplyAdd(t);
  ASSERT_TRUE(fit.has_value());
  EXPECT_TRUE(Gives(WidestOperations(), *fit, t, Staircase(t)));
  t.most += 16;
  EXPECT_FALSE(IsMultiplyAdd(*fit, t));
  EXPECT_FALSE(FitMultiplyAdd(t).has_value());
}

TEST(FitMultiplyAdd, FindsOneForNearlyEveryMultiplierThatMatters) {
  std::mt19937 random(7);
  for (const RequantMode mode : kModes) {
    for (int shift = 1; shift <= 9; ++shift) {
      int found = 0;
      for (int i = 0; i < 50; ++i) {
        found += FitMultiplyAdd(MakeTask(mode, AnyMantissa(random), shift, -128)) ? 1 : 0;
      }
      EXPECT_GE(found, mode == RequantMode::kFloatHalfEven && shift > 6 ? 30 : 48)
          << static_cast<int>(mode) << " " << shift;
    }
  }
}

TEST(FitMultiplyAdd, RefusesWhatHasNoFit) {
  const Task t = MakeTask(RequantMode::kSingleRounding, 1234567890, 8, -128);
  ASSERT_TRUE(FitMultiplyAdd(t).has_value());
  const auto refused = [&](const auto& change) {
    Task task = t;
    change(task);
    EXPECT_FALSE(FitMultiplyAdd(task).has_value()) << Text(task);
  };
  refused([](Task& a) { a.multiplier.exponent = 0; });
  refused([](Task& a) { a.multiplier.exponent = 30; });
  refused([](Task& a) { a.highest = 128; });
  refused([](Task& a) { a.lowest = 1, a.highest = 0; });
  refused([](Task& a) { a.zero_point = 2000; });
  refused([](Task& a) { a.most = int64_t{1} << 31; });
  refused([](Task& a) { a.mode = RequantMode::kFloatHalfEven, a.scale = -0.01f; });
  // Results on both sides of 0, whose ties double rounding treats differently.
  refused([](Task& a) { a.mode = RequantMode::kDoubleRounding, a.zero_point = 0; });
}

TEST(FitMultiplyAdd, IsTheSameInEveryFloatEnvironment) {
  std::mt19937 random(9);
  for (int i = 0; i < 600; ++i) {
    Task t = MakeTask(kModes[i % 3], AnyMantissa(random), i % 23, i % 5 == 0 ? 0 : i % 256 - 128);
    if (i % 7 == 0) t.scale = 1e-41f;
    const auto usual = FitMultiplyAdd(t);
    Fit wrong = usual.value_or(Fit{});
    ++wrong.base;
    const bool usually = IsMultiplyAdd(wrong, t);
    for (const FloatMode& mode : kForeignFloatModes) {
      const ForeignFloatEnvironment foreign(mode);
      const auto before = FloatControl();
      const auto fit = FitMultiplyAdd(t);
      ASSERT_EQ(fit.has_value(), usual.has_value()) << mode.name << ": " << Text(t);
      EXPECT_EQ(IsMultiplyAdd(wrong, t), usually) << mode.name << ": " << Text(t);
      EXPECT_EQ(FloatControl(), before) << mode.name;
      if (!fit) continue;
      EXPECT_TRUE(IsMultiplyAdd(*usual, t)) << mode.name << ": " << Text(t);
      EXPECT_EQ(fit->base, usual->base);
      EXPECT_EQ(std::bit_cast<int32_t>(fit->scale), std::bit_cast<int32_t>(usual->scale));
      EXPECT_EQ(std::bit_cast<int32_t>(fit->addend), std::bit_cast<int32_t>(usual->addend));
    }
  }
}

// Of all accumulators, whatever the multiplier.
TEST(FitMultiplyAdd, ConstantResults) {
  for (const RequantMode mode : kModes) {
    for (const int shift : {0, 1, 8, 17, 31}) {
      Task t = MakeTask(mode, 1234567890, shift, -7);
      for (const auto& [least, most] : {std::pair(5, 5), std::pair(-100, 100)}) {
        t.least = least;
        t.most = most;
        t.lowest = t.highest = 3;
        const auto fit = FitMultiplyAdd(t);
        ASSERT_TRUE(fit.has_value()) << Text(t);
        EXPECT_TRUE(Gives(WidestOperations(), *fit, t, Staircase(t))) << Text(t);
      }
    }
    Task t = MakeTask(mode, 0, 0, 40);
    const auto fit = FitMultiplyAdd(t);
    ASSERT_TRUE(fit.has_value()) << Text(t);
    EXPECT_TRUE(Gives(WidestOperations(), *fit, t, Staircase(t))) << Text(t);
  }
}

}  // namespace
}  // namespace intaglio::test
