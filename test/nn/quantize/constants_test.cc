#include "intaglio/nn/quantize/constants.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "intaglio/nn/quantize/observer.h"

namespace intaglio::nn::quantize {
namespace {

Tensor WeightsOf(const std::vector<float>& values, Shape shape) {
  Tensor tensor;
  tensor.type = Type::kFloat32;
  tensor.shape = std::move(shape);
  tensor.constant = true;
  return WithValues(tensor, values);
}

// Numbers whose quotients by the scale lie at, next to and far from the borders of rounding.
std::vector<float> NumbersAround(float scale) {
  std::vector<float> numbers;
  for (int k = -260; k <= 260; ++k) {
    const float border = static_cast<float>(k) * 0.5f * scale;
    numbers.push_back(border);
    numbers.push_back(std::nextafter(border, HUGE_VALF));
    numbers.push_back(std::nextafter(border, -HUGE_VALF));
  }
  for (const float x : {0.0f, -0.0f, std::numeric_limits<float>::denorm_min(),
                        std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()}) {
    numbers.push_back(x);
  }
  return numbers;
}

void ExpectQuantized(const std::vector<float>& numbers, float scale, int bits) {
  const int count = static_cast<int>(numbers.size());
  const Tensor weights = WeightsOf(numbers, {1, count});
  const Tensor bytes = QuantizeWeights(weights, 0, {scale}, Type::kInt8, bits);
  const Tensor moved = QuantizeWeights(weights, 0, {scale}, Type::kUInt8, bits);
  ASSERT_EQ(bytes.data_bytes, numbers.size());
  ASSERT_EQ(moved.data_bytes, numbers.size());
  const auto* const q = static_cast<const int8_t*>(bytes.data);
  const auto* const u = static_cast<const uint8_t*>(moved.data);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int expected = QuantizeNumber(numbers[i], {scale, 0}, {Type::kInt8, bits, true});
    ASSERT_EQ(q[i], expected) << numbers[i] << " / " << scale;
    ASSERT_EQ(u[i], expected + 128) << numbers[i] << " / " << scale;
  }
}

TEST(Constants, WeightsAreRoundedAsSingleNumbersAre) {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    const uint32_t exponent = 70 + (bits >> 23) % 120;
    const float scale = std::bit_cast<float>(exponent << 23 | (bits & 0x7fffff));
    ExpectQuantized(NumbersAround(scale), scale, 2 + i % 7);
  }
  ExpectQuantized(NumbersAround(kLeastScale), kLeastScale, 8);
}

TEST(Constants, EachChannelOfWeightsHasItsScale) {
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::vector<float> scales = {1, 0.5f, 2};
  const std::vector<int8_t> rows = {1, 2, 3, 4, 10, 12, 14, 16, 5, 5, 6, 6};
  const std::vector<int8_t> columns = {1, 4, 2, 4, 10, 3, 7, 16, 5, 10, 22, 6};
  const Tensor by_row = QuantizeWeights(WeightsOf(numbers, {3, 4}), 0, scales, Type::kInt8, 8);
  const Tensor by_column = QuantizeWeights(WeightsOf(numbers, {4, 3}), 1, scales, Type::kInt8, 8);
  EXPECT_EQ(std::memcmp(by_row.data, rows.data(), rows.size()), 0);
  EXPECT_EQ(std::memcmp(by_column.data, columns.data(), columns.size()), 0);
  EXPECT_EQ(by_column.quantization.scales, scales);
}

TEST(Constants, MayLieAtAnyAddress) {
  const std::vector<float> numbers = {1, -2, 3, 100};
  std::vector<uint8_t> bytes(1 + numbers.size() * sizeof(float));
  std::memcpy(&bytes[1], numbers.data(), numbers.size() * sizeof(float));
  Tensor tensor = WeightsOf(numbers, {2, 2});
  tensor.data = &bytes[1];
  const Tensor quantized = QuantizeWeights(tensor, 0, {1}, Type::kInt8, 8);
  const std::vector<int8_t> expected = {1, -2, 3, 100};
  EXPECT_EQ(std::memcmp(quantized.data, expected.data(), expected.size()), 0);
  const Result<std::vector<RealRange>> ranges = RangesOfChannels(tensor, 0);
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(*ranges, (std::vector<RealRange>{{-2, 1}, {0, 100}}));
}

TEST(Constants, NumbersThatAreNotFiniteAreFoundAnywhere) {
  for (size_t size = 1; size < 40; ++size) {
    std::vector<float> values(size, 3e38f);
    EXPECT_FALSE(FindNotFinite(values).has_value());
    for (size_t i = 0; i < size; ++i) {
      for (const float bad : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
        values[i] = bad;
        EXPECT_EQ(FindNotFinite(values), i);
        values[i] = 0;
      }
    }
  }
}

}  // namespace
}  // namespace intaglio::nn::quantize
