// MEAN of the largest counts, against exact sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::test {
namespace {

// Of 2^log_count numbers, as many as fit, so that TFLite's multiplier is that of the scales with a
// smaller exponent. The output has zero point 0 and scale 1.
template <class T>
void CheckMean(int log_count, int32_t zero_point, float scale, const std::vector<T>& in) {
  Builder builder("mean");
  const int lines = 1 << log_count / 2;
  const int width = 1 << (log_count - log_count / 2);
  const Value x = builder.Input("x", TypeOf<T>, {1, lines, width, 1}, PerTensor(scale, zero_point));
  builder.Output(builder.Mean(x, {.axes = {1, 2}, .keep_dims = false}, PerTensor(1, 0)), "y");
  auto graph = builder.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  auto model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::vector<T> out(1);
  const InputBuffer inputs[] = {MakeInput<T>(in)};
  const OutputBuffer outputs[] = {MakeOutput<T>(out)};
  ASSERT_TRUE(model->Run(inputs, outputs).ok());

  const int64_t sum = std::accumulate(in.begin(), in.end(), int64_t{0}) -
                      static_cast<int64_t>(in.size()) * zero_point;
  const auto multiplier = QuantizeMultiplier(scale);
  ASSERT_TRUE(multiplier.ok());
  const int exponent = multiplier->exponent - log_count;
  const int64_t want =
      RequantizeDoubleRounding<Scalar>(static_cast<int32_t>(sum), multiplier->mantissa,
                                       std::max(exponent, 0), std::max(-exponent, 0));
  EXPECT_EQ(out[0],
            std::clamp<int64_t>(want, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()))
      << "zero point " << zero_point << ", scale " << scale << ", sum " << sum;
}

template <class T>
void CheckMeans(int log_count, std::initializer_list<int32_t> zero_points) {
  const size_t count = size_t{1} << log_count;
  std::vector<T> mixed(count);
  for (size_t i = 0; i < count; ++i) mixed[i] = static_cast<T>(i * 40503);
  for (const int32_t zero_point : zero_points) {
    for (const float scale : {.5f, 1.f, .013f}) {
      CheckMean(log_count, zero_point, scale, std::vector<T>(count, std::numeric_limits<T>::min()));
      CheckMean(log_count, zero_point, scale, std::vector<T>(count, std::numeric_limits<T>::max()));
      CheckMean(log_count, zero_point, scale, mixed);
    }
  }
}

TEST(Mean, OfTheLargestCounts) {
  CheckMeans<int8_t>(22, {-128, 0, 127});
  CheckMeans<uint8_t>(22, {0, 128, 255});
  CheckMeans<int16_t>(14, {-32768, 0, 32767});
  CheckMeans<int16_t>(15, {-32768, -20000, 0, 20000, 32767});
}

// Of `width` numbers, as numerics.md says.
float SumInLanes(const float* numbers, size_t width) {
  std::vector<float> sums(16);
  for (size_t i = 0; i < width; ++i) sums[i % 16] += numbers[i];
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

TEST(Mean, ManyFloatsSideBySide) {
  for (const int width : {31, 32, 33, 47, 500, 4096}) {
    Builder builder("mean");
    const Value x = builder.Input("x", Type::kFloat32, {3, width}, {});
    builder.Output(builder.Mean(x, {.axes = {1}, .keep_dims = false}, {}), "y");
    auto graph = builder.Finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    auto model = Model::Prepare(std::move(*graph));
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto count = static_cast<size_t>(width);
    std::vector<float> in(3 * count);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 40503 % 65536) / 77.0f;
    std::vector<float> out(3);
    const InputBuffer inputs[] = {MakeInput<float>(in)};
    const OutputBuffer outputs[] = {MakeOutput<float>(out)};
    ASSERT_TRUE(model->Run(inputs, outputs).ok());
    for (size_t row = 0; row < 3; ++row) {
      const float* const numbers = in.data() + row * count;
      const float sum =
          width < 32 ? std::accumulate(numbers, numbers + count, 0.0f) : SumInLanes(numbers, count);
      EXPECT_EQ(out[row], sum / static_cast<float>(width)) << width;
    }
  }
}

}  // namespace
}  // namespace intaglio::nn::test
