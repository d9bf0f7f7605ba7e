// Scales, zero points and integers, by hand.
#include "intaglio/nn/quantize/parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace intaglio::nn::quantize {
namespace {

constexpr Levels kInt8 = {};
constexpr Levels kUInt8 = {Type::kUInt8, 8, false};
constexpr Levels kInt16 = {Type::kInt16, 16, true};

TEST(Parameters, OfRangesByHand) {
  // 255 steps of 1/64 from -1: the zero point is -128 + 64.
  EXPECT_EQ(ChooseParameters({-1, 2.984375f}, kInt8), (Parameters{1.0f / 64, -64}));
  EXPECT_EQ(ChooseParameters({-1, 2.984375f}, kUInt8), (Parameters{1.0f / 64, 64}));
  EXPECT_EQ(ChooseParameters({0, 255}, kInt8), (Parameters{1, -128}));
  EXPECT_EQ(ChooseParameters({-255, 0}, kInt8), (Parameters{1, 127}));
  EXPECT_EQ(ChooseParameters({2, 255}, kInt8), (Parameters{1, -128}));  // 0 is in it
  EXPECT_EQ(ChooseParameters({-0.25f, 0.5f}, kInt16), (Parameters{0.5f / 32767, 0}));
  // ReLU6 in 4 bits: S = 6 / 15.
  EXPECT_EQ(ChooseParameters({0, 6}, {Type::kUInt8, 4, false}), (Parameters{0.4f, 240}));
  EXPECT_EQ(ChooseParameters({}, kInt8), (Parameters{1, -128}));
  EXPECT_EQ(ChooseParameters({}, kInt16), (Parameters{1, 0}));
  EXPECT_EQ(ChooseParameters({0, 1e-42f}, kInt8).scale, kLeastScale);
}

TEST(Parameters, LevelsOfTypesAndBits) {
  EXPECT_EQ(LowestOf(kInt8), -128);
  EXPECT_EQ(HighestOf(kInt8), 127);
  EXPECT_EQ(LowestOf(kUInt8), 0);
  EXPECT_EQ(HighestOf(kUInt8), 255);
  EXPECT_EQ(LowestOf(kInt16), -32767);
  EXPECT_EQ(HighestOf(kInt16), 32767);
  EXPECT_EQ(LowestOf({Type::kInt16, 16, false}), -32768);
  EXPECT_EQ(LowestOf({Type::kInt8, 4, true}), -7);
  EXPECT_EQ(HighestOf({Type::kInt8, 4, true}), 7);
  // Few bits are the greatest integers of the type.
  EXPECT_EQ(LowestOf({Type::kUInt8, 4, false}), 240);
  EXPECT_EQ(HighestOf({Type::kUInt8, 4, false}), 255);
  EXPECT_EQ(LowestOf({Type::kInt8, 7, false}), 0);
  EXPECT_EQ(HighestOf({Type::kInt8, 7, false}), 127);
}

// 0 has no error, and no number of the range is off by more than half a step; the ends may be
// nudged by half a step more.
TEST(Parameters, CoverTheirRange) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> real(-3, 3);
  for (int i = 0; i < 10000; ++i) {
    const float a = std::exp(real(engine)) * real(engine);
    const float b = std::exp(real(engine)) * real(engine);
    const RealRange range = {std::min(a, b), std::max(a, b)};
    for (const int bits : {4, 5, 6, 7, 8}) {
      const Levels levels = {Type::kInt8, bits, false};
      const Parameters p = ChooseParameters(range, levels);
      EXPECT_EQ(QuantizeNumber(0, p, levels), p.zero_point);
      for (const float x : {range.min, range.max}) {
        const int32_t q = QuantizeNumber(x, p, levels);
        EXPECT_LE(std::fabs(p.scale * static_cast<float>(q - p.zero_point) - x), 0.5001f * p.scale);
      }
    }
  }
}

TEST(Parameters, NumbersRoundAwayFromZeroAndSaturate) {
  const Parameters p = {0.5f, 3};
  EXPECT_EQ(QuantizeNumber(0.25f, p, kInt8), 4);
  EXPECT_EQ(QuantizeNumber(-0.25f, p, kInt8), 2);
  EXPECT_EQ(QuantizeNumber(0.2499f, p, kInt8), 3);
  EXPECT_EQ(QuantizeNumber(1e30f, p, kInt8), 127);
  EXPECT_EQ(QuantizeNumber(-1e30f, p, kInt8), -128);
}

TEST(Weights, HaveSymmetricScales) {
  const RealRange channels[] = {{-127, 3}, {-1, 2}, {0, 0}};
  EXPECT_EQ(WeightScales(channels, 8, true), (std::vector<float>{1, 2.0f / 127, kLeastScale}));
  EXPECT_EQ(WeightScales(channels, 4, false), (std::vector<float>{127.0f / 7}));
}

TEST(Bias, IsAMultipleOfTheProductOfScales) {
  EXPECT_EQ(QuantizeBias(1.0f, 0.5 * 0.25, Type::kInt32), 8);
  EXPECT_EQ(QuantizeBias(0.0625f, 0.125, Type::kInt32), 1);  // half away from zero
  EXPECT_EQ(QuantizeBias(-0.0625f, 0.125, Type::kInt32), -1);
  EXPECT_EQ(QuantizeBias(1e30f, 0.125, Type::kInt32), 1 << 30);
  EXPECT_EQ(QuantizeBias(-1e30f, 0.125, Type::kInt64), -(int64_t{1} << 40));
}

TEST(Bias, WidensScalesUntilItFits) {
  std::vector<float> scales = {1.0f, kLeastScale, 0.5f};
  const float bias[] = {100, -3, 0};
  EXPECT_EQ(WidenForBias(bias, 0.1f, Type::kInt32, scales), 1u);
  EXPECT_EQ(scales[0], 1.0f);
  EXPECT_EQ(scales[2], 0.5f);
  const double product = double{scales[1]} * double{0.1f};
  EXPECT_LE(3 / product, 0x1p30);
  EXPECT_GE(3 / product, 0x1p30 * (1 - 1e-6));
  EXPECT_NEAR(static_cast<double>(QuantizeBias(-3, product, Type::kInt32)) * product, -3, 1e-6);
  std::vector<float> one = {kLeastScale};
  EXPECT_EQ(WidenForBias(bias, 0.1f, Type::kInt32, one), 1u);
  EXPECT_GE(one[0], 100 / 0x1p30 / 0.1f);
}

}  // namespace
}  // namespace intaglio::nn::quantize
