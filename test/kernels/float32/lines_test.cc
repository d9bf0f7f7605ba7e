// Ranges, conversions and scaled sums of float32 against plain loops, for every length of a last
// vector.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "intaglio/test/kernels/float32/every_loops.h"

namespace intaglio::test {
namespace {

class FloatLines : public EveryFloatLoops {};
INTAGLIO_INSTANTIATE_EVERY_FLOAT_LOOPS(FloatLines);

TEST_P(FloatLines, RangeFindsEveryElement) {
  for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
    std::vector<float> x(static_cast<size_t>(count), 0.5f);
    for (ptrdiff_t at = 0; at < count; ++at) {
      const auto i = static_cast<size_t>(at);
      const auto other = static_cast<size_t>(count - 1 - at);
      x[other] = kNan;
      x[i] = -3;
      float least = 1;
      float greatest = -1;
      loops_.range(x.data(), count, &least, &greatest);
      ASSERT_EQ(least, -3) << count << " " << at;
      x[i] = 7;
      loops_.range(x.data(), count, &least, &greatest);
      ASSERT_EQ(greatest, 7) << count << " " << at;
      ASSERT_EQ(least, 0) << count << " " << at;
      x[i] = x[other] = 0.5f;
    }
  }
}

int8_t Quantized(const LineQuantizer& q, float x) {
  const float rounded = std::round(x * q.inverse) + q.zero_point;
  if (std::isnan(rounded)) return static_cast<int8_t>(q.low);
  return static_cast<int8_t>(std::clamp(rounded, q.low, q.high));
}

TEST_P(FloatLines, QuantizesAsOneElement) {
  std::vector<float> x = {kNan, INFINITY, -INFINITY, -0.0f, 1e30f, -1e30f};
  // Ties, and their neighbours, whose sum with a half would round up to the next integer.
  for (int i = -300; i <= 300; ++i) {
    const float tie = static_cast<float>(i) + 0.5f;
    for (const float v : {tie, std::nextafter(tie, 1e9f), std::nextafter(tie, -1e9f)}) {
      x.push_back(v);
      x.push_back(v * 0.37f);
    }
  }
  x.push_back(std::nextafter(0.5f, 0.0f));
  for (const LineQuantizer& q : {LineQuantizer{1, 0, -127, 127}, LineQuantizer{2.7f, -9, -128, 127},
                                 LineQuantizer{1, 5, -128, 127}, LineQuantizer{1, -128, -128, 127},
                                 LineQuantizer{0, 0, -127, 127}}) {
    std::vector<int8_t> got(x.size());
    loops_.quantize(q, x.data(), static_cast<ptrdiff_t>(x.size()), got.data());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(int{got[i]}, int{Quantized(q, x[i])}) << x[i] << " of scale " << q.inverse;
    }
  }
}

TEST_P(FloatLines, QuantizesNoMoreThanIsThere) {
  const std::vector<float> x = MakeReals(kMostElements, 200, 1);
  const LineQuantizer q{1, 3, -128, 127};
  for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
    std::vector<int8_t> got(kMostElements + 1, 99);
    loops_.quantize(q, x.data(), count, got.data());
    for (ptrdiff_t i = 0; i <= kMostElements; ++i) {
      const auto at = static_cast<size_t>(i);
      ASSERT_EQ(int{got[at]}, i < count ? int{Quantized(q, x[at])} : 99) << count << " " << i;
    }
  }
}

int8_t HalfEven(const HalfEvenLine& q, float x) {
  // A division and a rounding, as the loop's.
  const float rounded = std::nearbyint(x / q.scale);
  const float low = static_cast<float>(q.low - q.zero_point);
  const float high = static_cast<float>(q.high - q.zero_point);
  if (std::isnan(rounded)) return static_cast<int8_t>(q.low);
  return static_cast<int8_t>(static_cast<int32_t>(std::clamp(rounded, low, high)) + q.zero_point);
}

// Ties, their neighbours, and what is no number; for every count.
TEST_P(FloatLines, QuantizesTiesToEven) {
  std::vector<float> x = {kNan, INFINITY, -INFINITY, -0.0f, 1e30f, -1e30f};
  for (int i = -140; i <= 270; ++i) {
    const float tie = static_cast<float>(i) + 0.5f;
    for (const float v : {tie, std::nextafter(tie, 1e9f), std::nextafter(tie, -1e9f)}) {
      x.push_back(v);
      x.push_back(v * .37f);
    }
  }
  for (const HalfEvenLine& q : {HalfEvenLine{1, 0, -128, 127}, HalfEvenLine{.37f, -9, -128, 127},
                                HalfEvenLine{.37f, 128, 0, 255}, HalfEvenLine{1, 7, 7, 99}}) {
    for (size_t count = 0; count <= x.size(); count += count < kMostElements ? 1 : 101) {
      std::vector<uint8_t> got(x.size() + 1, 99);
      loops_.quantize_half_even(q, x.data(), static_cast<ptrdiff_t>(count), got.data());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(int{got[i]}, int{static_cast<uint8_t>(HalfEven(q, x[i]))}) << x[i] << " " << i;
      }
      ASSERT_EQ(got[count], 99);
    }
  }
}

TEST_P(FloatLines, MakesRealsAsOneElement) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int32_t> sums(-2000000, 2000000);
  constexpr int kLines = 3;
  std::vector<int32_t> acc(kLines * (kMostElements + 2));
  std::vector<int32_t> weight_sums(kMostElements);
  for (int32_t& value : acc) value = sums(random);
  for (int32_t& value : weight_sums) value = sums(random) / 1000;
  const std::vector<float> scales = MakeReals(kMostElements, 0.01f, 4);
  const std::vector<float> bias = MakeReals(kMostElements, 5, 5);
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const int32_t zero_point : {0, -128, 77}) {
    for (const auto& [high, in_turn] :
         {std::pair(6.0f, false), std::pair(kMost, false), std::pair(kMost, true)}) {
      LinesToReal line;
      line.in_turn = in_turn;
      line.scale = 0.3f;
      line.zero_point = zero_point;
      line.weight_sums = weight_sums.data();
      line.weight_scales = scales.data();
      line.bias = bias.data();
      line.high = high;
      line.lines = kLines;
      line.acc_stride = kMostElements + 2;
      line.to_stride = kMostElements + 1;
      for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
        std::vector<float> got(static_cast<size_t>(kLines * line.to_stride), 99);
        loops_.to_real(line, acc.data(), count, got.data());
        for (int l = 0; l < kLines; ++l) {
          const int32_t* const from = acc.data() + l * line.acc_stride;
          const float* const to = got.data() + l * line.to_stride;
          for (ptrdiff_t i = 0; i < count; ++i) {
            const auto c = static_cast<size_t>(i);
            const auto sum = static_cast<float>(from[i] - zero_point * weight_sums[c]);
            const float scaled = in_turn ? sum * scales[c] * 0.3f : sum * (scales[c] * 0.3f);
            ASSERT_EQ(to[i], std::clamp(scaled + bias[c], 0.0f, high)) << count << " " << i;
          }
          ASSERT_EQ(to[count], 99);
        }
      }
    }
  }
}

// Integers, ties and their neighbours, and what no type of 8 bits holds.
std::vector<float> NumbersToRound() {
  std::vector<float> x = {kNan,  INFINITY, -INFINITY,  0.0f,   -0.0f,
                          1e30f, -1e30f,   8388609.0f, -1e-40f};
  for (int twice = -530; twice <= 530; ++twice) {
    const float v = static_cast<float>(twice) / 2;
    for (const float near : {v, std::nextafter(v, 1e9f), std::nextafter(v, -1e9f)})
      x.push_back(near);
  }
  for (const float large : {4194303.5f, 8388607.5f, 8388608.0f}) {
    x.push_back(large);
    x.push_back(-large);
  }
  return x;
}

TEST_P(FloatLines, RoundsHalfToEven) {
  const std::vector<float> x = NumbersToRound();
  std::vector<float> got(x.size());
  loops_.round_half_even(x.data(), static_cast<ptrdiff_t>(x.size()), got.data());
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      EXPECT_TRUE(std::isnan(got[i]));
      continue;
    }
    ASSERT_EQ(got[i], std::nearbyint(x[i])) << x[i];
    ASSERT_EQ(std::signbit(got[i]), got[i] < 0 || (x[i] == 0 && std::signbit(x[i]))) << x[i];
  }
}

TEST_P(FloatLines, TruncatesIntoBytes) {
  const std::vector<float> x = NumbersToRound();
  for (const auto& [low, high] : {std::pair(-128, 127), std::pair(0, 255)}) {
    std::vector<uint8_t> got(x.size() + 1, 99);
    loops_.truncate(low, high, x.data(), static_cast<ptrdiff_t>(x.size()), got.data());
    ASSERT_EQ(got[x.size()], 99);
    for (size_t i = 0; i < x.size(); ++i) {
      const double cut = std::trunc(static_cast<double>(x[i]));
      const double expected = std::isnan(cut) ? high : std::clamp<double>(cut, low, high);
      ASSERT_EQ(got[i], static_cast<uint8_t>(static_cast<int>(expected))) << x[i];
    }
  }
}

TEST_P(FloatLines, RoundsEveryLength) {
  for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
    const std::vector<float> x = MakeReals(count, 100, static_cast<unsigned>(count));
    std::vector<float> rounded(x.size() + 1, 99);
    std::vector<uint8_t> bytes(x.size() + 1, 99);
    loops_.round_half_even(x.data(), count, rounded.data());
    loops_.truncate(-128, 127, x.data(), count, bytes.data());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(rounded[i], std::nearbyint(x[i])) << count;
      ASSERT_EQ(static_cast<int8_t>(bytes[i]), static_cast<int8_t>(x[i])) << count;
    }
    ASSERT_EQ(rounded[x.size()], 99);
    ASSERT_EQ(bytes[x.size()], 99);
  }
}

// The operands are numbers of 9 bits, so that the products are exact in float64.
TEST_P(FloatLines, AddsScaledAsFusedOperationsDo) {
  std::mt19937 random(17);
  std::uniform_int_distribution<int> byte(-255, 255);
  const ScaledSum sum{.scale_a = .0371f, .scale_b = 1.7f, .offset = -3.14f};
  for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
    std::vector<float> a(static_cast<size_t>(count));
    std::vector<float> b(a.size());
    for (float& v : a) v = static_cast<float>(byte(random));
    for (float& v : b) v = static_cast<float>(byte(random));
    std::vector<float> got = a;
    loops_.add_scaled(sum, b.data(), count, got.data());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(got[i], std::fma(a[i], sum.scale_a, std::fma(b[i], sum.scale_b, sum.offset)));
    }
  }
}

}  // namespace
}  // namespace intaglio::test
