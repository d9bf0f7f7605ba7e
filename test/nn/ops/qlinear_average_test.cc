// QLINEAR_AVERAGE_POOL_2D and QLINEAR_MEAN against plain loops. What ONNX Runtime makes of them is
// recorded in test/nn/formats/onnx.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn::test {
namespace {

constexpr int kBatch = 2;
constexpr int kHeight = 9;
constexpr int kWidth = 11;

Numerics HalfEven() {
  Numerics numerics;
  numerics.scaling = Scaling::kFloatHalfEven;
  return numerics;
}

struct Case {
  Type type = Type::kUInt8;
  int channels = 1;
  float from_scale = 0.037f;
  float to_scale = 0.029f;

  int lowest() const { return type == Type::kInt8 ? -128 : 0; }
  Quantization from() const { return {{from_scale}, {119 + lowest()}}; }
  Quantization to() const { return {{to_scale}, {130 + lowest()}}; }
  int Value(uint8_t byte) const { return type == Type::kInt8 ? static_cast<int8_t>(byte) : byte; }
  std::string name() const {
    return std::string(NameOf(type)) + ", " + std::to_string(channels) + " channels, " +
           std::to_string(from_scale);
  }
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Type type : {Type::kUInt8, Type::kInt8}) {
    for (const int channels : {1, 3, 33, 70, 192}) cases.push_back({type, channels});
    cases.push_back({type, 20, 0.5f, 0.5f});  // ties
    cases.push_back({type, 20, 0.25f, 0.001f});
    cases.push_back({type, 20, 1e-30f, 3e7f});
  }
  return cases;
}

Graph GraphOf(const Case& c, const Operator& op, const Shape& shape) {
  Builder builder;
  const Value in = builder.Input("x", c.type, shape, c.from());
  builder.Output(builder.Layer(op, {in.id}, c.type, c.to()), "y");
  Result<Graph> graph = builder.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  graph->layers[0].numerics = HalfEven();
  return *std::move(graph);
}

uint8_t Quantized(const Case& c, float steps) {
  const auto low = static_cast<float>(c.lowest());
  return static_cast<uint8_t>(
      static_cast<int>(std::clamp(std::nearbyint(steps), low, low + 255.0f)));
}

// What the pool makes of a window that begins here.
uint8_t Mean(const Case& c, const QLinearAveragePool2D& op, const std::vector<uint8_t>& image,
             int top, int left, int channel) {
  float sum = 0;
  int count = 0;
  for (int y = top; y < top + op.filter.height; ++y) {
    for (int x = left; x < left + op.filter.width; ++x) {
      const bool inside = y >= 0 && y < kHeight && x >= 0 && x < kWidth;
      const bool counts = y >= -op.counted.top && y < kHeight + op.counted.bottom &&
                          x >= -op.counted.left && x < kWidth + op.counted.right;
      count += counts ? 1 : 0;
      if (!inside) continue;
      const auto at = static_cast<size_t>((y * kWidth + x) * c.channels + channel);
      sum += c.from_scale * static_cast<float>(c.Value(image[at]) - c.from().zero_points[0]);
    }
  }
  const float steps = sum / static_cast<float>(count) / c.to_scale;
  return Quantized(c, steps + static_cast<float>(c.to().zero_points[0]));
}

void CheckPool(const Case& c, const QLinearAveragePool2D& op) {
  SCOPED_TRACE(c.name());
  const Graph graph = GraphOf(c, op, {kBatch, kHeight, kWidth, c.channels});
  const Shape out = graph.tensors[static_cast<size_t>(graph.outputs[0])].shape;
  const RawTensors inputs = RandomInputs(graph, static_cast<unsigned>(c.channels));
  std::vector<uint8_t> want;
  const size_t image_bytes = inputs[0].size() / kBatch;
  for (size_t n = 0; n < kBatch; ++n) {
    const auto begin = inputs[0].begin() + static_cast<ptrdiff_t>(n * image_bytes);
    const std::vector<uint8_t> image(begin, begin + static_cast<ptrdiff_t>(image_bytes));
    for (int at = 0; at < out[1] * out[2] * c.channels; ++at) {
      const int pixel = at / c.channels;
      want.push_back(Mean(c, op, image, pixel / out[2] * op.stride.height - op.padding.top,
                          pixel % out[2] * op.stride.width - op.padding.left, at % c.channels));
    }
  }
  for (const int threads : {1, 3}) {
    ASSERT_EQ(RunGraph(graph, inputs, {.threads = threads})[0], want) << threads << " threads";
  }
}

TEST(QLinearAveragePool, PaddingDoesNotCount) {
  for (const Case& c : Cases()) {
    CheckPool(c, {{3, 3}, {1, 1}, Padding::Explicit(1, 1, 1, 1)});
    CheckPool(c, {{2, 5}, {2, 3}, Padding::Explicit(0, 1, 2, 1)});
  }
}

TEST(QLinearAveragePool, PaddingCounts) {
  for (const Case& c : Cases()) {
    CheckPool(c, {{3, 3}, {1, 1}, Padding::Explicit(1, 1, 1, 1), Padding::Explicit(1, 1, 1, 1)});
    // The last windows lie in padding that counts.
    CheckPool(c, {{2, 2}, {1, 1}, Padding::Explicit(2, 2, 2, 2), Padding::Explicit(2, 2, 2, 2)});
  }
}

TEST(QLinearAveragePool, APartOfThePaddingCounts) {
  for (const Case& c : Cases()) {
    CheckPool(c, {{3, 4}, {2, 3}, Padding::Explicit(1, 2, 1, 3), Padding::Explicit(1, 1, 1, 2)});
  }
}

TEST(QLinearAveragePool, WindowsThatCountNothingAreRefused) {
  const Case c;
  const QLinearAveragePool2D op = {{2, 2}, {1, 1}, Padding::Explicit(0, 2, 0, 0)};
  const Result<Model> model = Model::Prepare(GraphOf(c, op, {1, kHeight, kWidth, 1}));
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("in a window of 2 elements none counts"),
            std::string::npos)
      << model.status().message();
}

TEST(QLinearMean, SumsAreExact) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name());
    const Graph graph =
        GraphOf(c, QLinearMean{{1, -2}, true}, {kBatch, kHeight, kWidth, c.channels});
    const RawTensors inputs = RandomInputs(graph, static_cast<unsigned>(c.channels));
    constexpr int kPixels = kHeight * kWidth;
    const float scale = c.from_scale / (c.to_scale * static_cast<float>(kPixels));
    std::vector<uint8_t> want;
    for (int at = 0; at < kBatch * c.channels; ++at) {
      int sum = 0;
      for (int pixel = 0; pixel < kPixels; ++pixel) {
        const int i = (at / c.channels * kPixels + pixel) * c.channels + at % c.channels;
        sum += c.Value(inputs[0][static_cast<size_t>(i)]) - c.from().zero_points[0];
      }
      const float steps = std::nearbyint(static_cast<float>(sum) * scale);
      want.push_back(Quantized(c, steps + static_cast<float>(c.to().zero_points[0])));
    }
    ASSERT_EQ(RunGraph(graph, inputs)[0], want);
  }
}

}  // namespace
}  // namespace intaglio::nn::test
