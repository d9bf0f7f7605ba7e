// Fits equal double rounding at every accumulator, on every vocabulary; the proof says yes to
// nothing else.
#include "intaglio/fixedpoint/fit_double_rounding.h"

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

using Task = DoubleRoundingTask;
using Fit = DoubleRoundingFit;

std::string Text(const Task& t) {
  return "mantissa " + std::to_string(t.mantissa) + ", shift " + std::to_string(t.right_shift) +
         ", acc " + std::to_string(t.least) + " .. " + std::to_string(t.most) + ", [" +
         std::to_string(t.lowest) + ", " + std::to_string(t.highest) + "]";
}

// All accumulators of a task, or every `step`th, a multiple of 64 of them, and what they have to
// give.
struct Staircase {
  std::vector<int32_t> acc, want;

  explicit Staircase(const Task& t, int step = 1) {
    for (int64_t a = t.least; a <= t.most; a += step) Add(t, static_cast<int32_t>(a));
    while (acc.size() % 64 != 0) Add(t, static_cast<int32_t>(t.most));
  }
  void Add(const Task& t, int32_t a) {
    acc.push_back(a);
    want.push_back(
        std::clamp(DoubleRoundingOracle(a, t.mantissa, 0, t.right_shift), t.lowest, t.highest));
  }
};

std::vector<int32_t> RunOn(const OperationTable& table, const char* name,
                           const std::vector<int32_t>& a, int32_t b, int32_t c, int32_t d) {
  const std::vector<int32_t> bs(a.size(), b), cs(a.size(), c), ds(a.size(), d);
  const int32_t* const in[4] = {a.data(), bs.data(), cs.data(), ds.data()};
  std::vector<int32_t> out(a.size());
  Find(table, name)->run(in, out.data(), static_cast<int64_t>(out.size()));
  return out;
}

// Whether a fit gives the staircase, by the operations of a vocabulary.
bool Gives(const OperationTable& table, const Fit& fit, const Task& t, const Staircase& stairs) {
  std::vector<int32_t> f = stairs.acc;
  for (int32_t& a : f) a = Scalar::Add(a, fit.base);
  if (fit.stretch != 1 || fit.shift != 0) {
    f = RunOn(table, "FusedMulAdd", f, std::bit_cast<int32_t>(fit.stretch),
              std::bit_cast<int32_t>(fit.shift), 0);
  }
  f = RunOn(table, "DoubleRoundingFitted", f, std::bit_cast<int32_t>(fit.scale),
            std::bit_cast<int32_t>(fit.addend), fit.origin);
  for (int32_t& y : f) y = std::clamp(y, t.lowest, t.highest);
  return f == stairs.want;
}

Task RandomTask(std::mt19937& random) {
  Task t;
  t.right_shift = static_cast<int>(random() % 15);
  const auto bits = static_cast<int32_t>(random() & ((1 << 30) - 1));
  t.mantissa = (1 << 30) + (random() % 4 == 0 ? bits & ~0xffffff : bits);
  const auto reach = static_cast<int64_t>(random() % (1u << std::min(18, 8 + t.right_shift)));
  const int64_t middle = random() % 2 == 0 ? 0 : static_cast<int64_t>(random() % 10000) - 5000;
  t.least = middle - reach;
  t.most = middle + reach;
  const int zero_point = static_cast<int>(random() % 511) - 255;
  t.lowest = -zero_point + (random() % 2 == 0 ? 0 : static_cast<int>(random() % 100));
  t.highest = 255 - zero_point - (random() % 2 == 0 ? 0 : static_cast<int>(random() % 100));
  return t;
}

// The windows of int8 and uint8 output, zero points in the middle and at the ends, and of a clamp.
const std::vector<std::pair<int, int>> kWindows = {{-128, 127},  {0, 255},  {-255, 0}, {1, 255},
                                                   {-6, 0},      {0, 6},    {-1, 0},   {5, 5},
                                                   {-383, -128}, {128, 383}};

class FitOn : public testing::TestWithParam<Isa> {};

TEST_P(FitOn, EveryAccumulator) {
  if (!GetParam().supported()) GTEST_SKIP() << "this CPU lacks " << GetParam().name;
  const OperationTable table = GetParam().operations();
  std::mt19937 random(5);
  const auto any = static_cast<int32_t>((1 << 30) + (random() & ((1 << 30) - 1)));
  int plain = 0;
  int stretched = 0;
  int turn = 0;
  for (int shift = 0; shift <= 31; ++shift) {
    for (const int32_t mantissa : {1 << 30, (1 << 30) + 1, 3 << 29, INT32_MAX, any, any + 64}) {
      for (const auto& [lowest, highest] : kWindows) {
        // Of the long ones a part, each shift with other windows and mantissas.
        constexpr int kEvery = 5 * kOneCaseIn;
        if (shift > 5 && turn++ % kEvery != shift % 5) continue;
        const int64_t bound = int64_t{1} << std::clamp(shift + 9, 10, 17);
        const Task t{mantissa, shift, -bound, bound, lowest, highest};
        const auto fit = FitDoubleRounding(t);
        if (!fit) continue;
        (fit->stretch == 1 ? plain : stretched) += 1;
        ASSERT_TRUE(Gives(table, *fit, t, Staircase(t))) << Text(t);
      }
    }
  }
  EXPECT_GT(plain, 300 / kOneCaseIn);
  EXPECT_GT(stretched, 5 / kOneCaseIn);
}

std::vector<Isa> AllIsas() {
  std::vector<Isa> all = Isas();
  all.push_back({"scalar", [] { return true; }, ScalarOperations});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Every, FitOn, testing::ValuesIn(AllIsas()),
                         [](const auto& info) { return std::string(info.param.name); });

// Of numbers near those of a fit some are right and most are wrong: the proof tells them apart.
TEST(FitDoubleRounding, ProofSaysYesToWhatIsRightAndToNothingElse) {
  const OperationTable table = WidestOperations();
  std::mt19937 random(6);
  int right = 0;
  int wrong = 0;
  for (int i = 0; i < 2000 / (3 + kOneCaseIn); ++i) {
    Task t = RandomTask(random);
    auto fit = FitDoubleRounding(t);
    if (!fit) continue;
    if (i % 2 == 0) t.highest = std::min(t.highest, t.lowest + 8);  // there is more room
    const Staircase stairs(t);
    ASSERT_TRUE(IsDoubleRounding(*fit, t)) << Text(t);
    ASSERT_TRUE(Gives(table, *fit, t, stairs)) << Text(t);
    const float direction = random() % 2 == 0 ? 0.0f : 1e9f;
    switch (i % 5) {
      case 0:
        fit->scale = std::nextafter(fit->scale, direction);
        break;
      case 1:
        fit->addend = std::nextafter(fit->addend, direction);
        break;
      case 2:
        fit->base += direction == 0 ? -1 : 1;
        break;
      case 3:
        fit->origin += direction == 0 ? -1 : 1;
        break;
      default:
        fit->shift += direction == 0 ? -64 : 64;
    }
    const bool is = Gives(table, *fit, t, stairs);
    (is ? right : wrong) += 1;
    ASSERT_EQ(IsDoubleRounding(*fit, t), is) << Text(t);
  }
  EXPECT_GT(right, 20 / kOneCaseIn);
  EXPECT_GT(wrong, 100 / kOneCaseIn);
}

// The search proves its fits by inequalities of its own: the proof that computes both functions at
// every threshold says the same.
TEST(FitDoubleRounding, BothProofsSayYes) {
  std::mt19937 random(8);
  int found = 0;
  for (int i = 0; i < 100000 / kOneCaseIn; ++i) {
    Task t = RandomTask(random);
    t.right_shift = static_cast<int>(random() % 21);
    const auto reach = static_cast<int64_t>(random() % (1u << (9 + random() % 21)));
    const auto middle = static_cast<int64_t>(random() % (1u << (random() % 28)));
    t.least = (random() % 2 == 0 ? -middle : middle) - reach;
    t.most = t.least + 2 * reach;
    const auto fit = FitDoubleRounding(t);
    if (!fit) continue;
    ++found;
    ASSERT_TRUE(IsDoubleRounding(*fit, t)) << Text(t);
  }
  EXPECT_GT(found, 50000 / kOneCaseIn);
}

// Accumulators to which F grows by whole binades, and all others of 32 bits.
TEST(FitDoubleRounding, LargeBounds) {
  const OperationTable table = WidestOperations();
  Task t{1234567890, 10, -(1 << 20), 1 << 20, -128, 127};
  const auto fit = FitDoubleRounding(t);
  ASSERT_TRUE(fit.has_value());
  EXPECT_TRUE(Gives(table, *fit, t, Staircase(t)));
  t.least = -40000000;
  t.most = 40000000;
  const auto wide = FitDoubleRounding(t);
  ASSERT_TRUE(wide.has_value());
  EXPECT_TRUE(Gives(table, *wide, t, Staircase(t, 97)));
  for (const int64_t bound : {int64_t{1} << 29, int64_t{1} << 30, int64_t{INT32_MAX},
                              int64_t{1} << 31, int64_t{1} << 40}) {
    t.least = -bound;
    t.most = bound;
    EXPECT_FALSE(FitDoubleRounding(t).has_value()) << bound;
    EXPECT_FALSE(IsDoubleRounding(*fit, t)) << bound;
  }
}

TEST(FitDoubleRounding, FindsOneForNearlyEveryMultiplierThatMatters) {
  std::mt19937 random(7);
  for (int shift = 0; shift <= 12; ++shift) {
    for (const auto& [lowest, highest] : {std::pair(-128, 127), std::pair(0, 255)}) {
      if (shift < 2 && lowest < 0) continue;
      int found = 0;
      for (int i = 0; i < 100; ++i) {
        const auto mantissa = static_cast<int32_t>((1 << 30) + (random() & ((1 << 30) - 1)));
        found += FitDoubleRounding({mantissa, shift, -(1 << 21), 1 << 21, lowest, highest}) ? 1 : 0;
      }
      EXPECT_GE(found, shift < 10 ? 100 : shift < 12 ? 98 : 88) << shift;
    }
  }
}

TEST(FitDoubleRounding, RefusesWhatHasNoFit) {
  const Task t{1234567890, 8, -(1 << 20), 1 << 20, -128, 127};
  ASSERT_TRUE(FitDoubleRounding(t).has_value());
  const auto refused = [](const Task& task) {
    EXPECT_FALSE(FitDoubleRounding(task).has_value()) << Text(task);
  };
  for (const int shift : {0, 1}) refused({t.mantissa, shift, t.least, t.most, -1, 127});
  for (const int shift : {21, 24}) refused({t.mantissa, shift, -(1 << 25), 1 << 25, -128, 127});
  refused({t.mantissa, t.right_shift, t.least, t.most, -128, 128});
  refused({t.mantissa, t.right_shift, t.least, t.most, INT32_MIN, INT32_MAX});
  refused({t.mantissa, t.right_shift, t.least, t.most, 2000, 2255});
  refused({t.mantissa, t.right_shift, t.least, t.most, 1, 0});
}

TEST(FitDoubleRounding, IsTheSameInEveryFloatEnvironment) {
  std::mt19937 random(9);
  for (int i = 0; i < 300; ++i) {
    const Task t = RandomTask(random);
    const auto usual = FitDoubleRounding(t);
    Fit wrong = usual.value_or(Fit{});
    ++wrong.base;
    const bool usually = IsDoubleRounding(wrong, t);
    for (const FloatMode& mode : kForeignFloatModes) {
      const ForeignFloatEnvironment foreign(mode);
      const auto before = FloatControl();
      const auto fit = FitDoubleRounding(t);
      ASSERT_EQ(fit.has_value(), usual.has_value()) << mode.name << ": " << Text(t);
      EXPECT_EQ(IsDoubleRounding(wrong, t), usually) << mode.name << ": " << Text(t);
      EXPECT_EQ(FloatControl(), before) << mode.name;
      if (!fit) continue;
      EXPECT_TRUE(IsDoubleRounding(*usual, t)) << mode.name << ": " << Text(t);
      EXPECT_EQ(fit->base, usual->base);
      EXPECT_EQ(fit->origin, usual->origin);
      for (float Fit::*number : {&Fit::stretch, &Fit::shift, &Fit::scale, &Fit::addend}) {
        EXPECT_EQ(std::bit_cast<int32_t>(*fit.*number), std::bit_cast<int32_t>(*usual.*number));
      }
    }
  }
}

// Of all accumulators, whatever the shift.
TEST(FitDoubleRounding, ConstantResults) {
  const OperationTable table = WidestOperations();
  const auto fits = [&](const Task& t) {
    const auto fit = FitDoubleRounding(t);
    ASSERT_TRUE(fit.has_value()) << Text(t);
    EXPECT_TRUE(Gives(table, *fit, t, Staircase(t))) << Text(t);
  };
  for (const int shift : {0, 1, 8, 16, 17, 31}) {
    for (const int32_t mantissa : {0, 1 << 30, 1234567890, INT32_MAX}) {
      fits({mantissa, shift, 5, 5, -128, 127});
      fits({mantissa, shift, -100, 100, 101, 300});
      fits({mantissa, shift, -100, 100, -7, -7});
    }
    fits({0, shift, -(1 << 18), 1 << 18, -128, 127});
  }
  for (const int shift : {20, 25, 30, 31}) {
    fits({INT32_MAX, shift, -(1 << 18), 1 << 18, -100, 100});
  }
  fits({INT32_MAX, 4, 470000000, 470010000, -128, 127});
  fits({INT32_MAX, 4, -470010000, -470000000, -128, 127});
  EXPECT_FALSE(FitDoubleRounding({INT32_MAX, 21, -(1 << 20), 1 << 20, -100, 100}).has_value());
}

}  // namespace
}  // namespace intaglio::test
