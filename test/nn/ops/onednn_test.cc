// Layers of float32 by oneDNN: within the bound of any order of sums, beside sums in float64. Only
// in builds with INTAGLIO_ONEDNN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::test {
namespace {

constexpr char kName[] = "cpu:float32/onednn";

std::vector<float> Random(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = any(random);
  return values;
}

struct Sizes {
  int batch;
  int height;
  int width;
  int channels;
  int outputs;
  int kernel_height;
  int kernel_width;
  Conv2D op = {};
};

struct Layer {
  std::vector<float> x;
  std::vector<float> w;
  std::vector<float> bias;
  Graph graph;
};

Graph FinishGraph(Builder& b) {
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

Layer MakeConv(const Sizes& s) {
  const auto count = [](int a, int b, int c, int d) {
    return static_cast<size_t>(a) * static_cast<size_t>(b) * static_cast<size_t>(c) *
           static_cast<size_t>(d);
  };
  Layer layer{Random(count(s.batch, s.height, s.width, s.channels), 1),
              Random(count(s.outputs, s.kernel_height, s.kernel_width, s.channels), 2),
              Random(static_cast<size_t>(s.outputs), 3),
              {}};
  Builder b("onednn");
  const Value x = b.Input("x", Type::kFloat32, {s.batch, s.height, s.width, s.channels}, {});
  const auto w =
      b.Const<float>("w", layer.w, {s.outputs, s.kernel_height, s.kernel_width, s.channels});
  const auto bias = b.Const<float>("bias", layer.bias, {s.outputs});
  b.Output(b.Conv2D(x, w, bias, s.op, {}), "y");
  layer.graph = FinishGraph(b);
  return layer;
}

Layer MakeProduct(int rows, int depth, int outputs) {
  Layer layer{Random(static_cast<size_t>(rows * depth), 1),
              Random(static_cast<size_t>(depth * outputs), 2),
              Random(static_cast<size_t>(outputs), 3),
              {}};
  Builder b("onednn");
  const Value x = b.Input("x", Type::kFloat32, {rows, depth}, {});
  const auto w = b.Const<float>("w", layer.w, {outputs, depth});
  const auto bias = b.Const<float>("bias", layer.bias, {outputs});
  b.Output(b.FullyConnected(x, w, bias, {.activation = Activation::kRelu}, {}), "y");
  layer.graph = FinishGraph(b);
  return layer;
}

Result<Model> PrepareNamed(const Graph& graph) {
  return Model::Prepare(graph, {.routines = {{"0", kName}}});
}

std::vector<float> RunOnce(Model& model, const std::vector<float>& x) {
  std::vector<float> y(*CountElements(model.output(0).shape), -100);
  const InputBuffer in[] = {MakeInput(x)};
  const OutputBuffer out[] = {MakeOutput(y)};
  const Status status = model.Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

// Any order of n products and a bias rounds each at most n + 1 times. A bound only moves results
// nearer to each other.
void ExpectNear(float got, double sum, double absolute, int n, Activation activation) {
  double want = sum;
  if (activation != Activation::kNone) want = std::max(want, 0.0);
  if (activation == Activation::kRelu6) want = std::min(want, 6.0);
  const double u = std::ldexp(n + 2, -24);
  ASSERT_LE(std::abs(got - want), u / (1 - u) * absolute);
}

void ExpectConv(const Sizes& s, const Layer& layer, const Model& model,
                const std::vector<float>& y) {
  const Shape& out = model.output(0).shape;
  const bool same = s.op.padding.kind == Padding::Kind::kSame;
  const auto before = [&](int outs, int stride, int kernel, int dilation, int side) {
    return same ? std::max(0, (outs - 1) * stride + (kernel - 1) * dilation + 1 - side) / 2 : 0;
  };
  const int top =
      before(out[1], s.op.stride.height, s.kernel_height, s.op.dilation.height, s.height);
  const int left = before(out[2], s.op.stride.width, s.kernel_width, s.op.dilation.width, s.width);
  size_t at = 0;
  for (int n = 0; n < out[0]; ++n) {
    for (int oy = 0; oy < out[1]; ++oy) {
      for (int ox = 0; ox < out[2]; ++ox) {
        for (int o = 0; o < s.outputs; ++o) {
          double sum = layer.bias[static_cast<size_t>(o)];
          double absolute = std::abs(sum);
          for (int k = 0; k < s.kernel_height * s.kernel_width; ++k) {
            const int iy =
                oy * s.op.stride.height - top + k / s.kernel_width * s.op.dilation.height;
            const int ix = ox * s.op.stride.width - left + k % s.kernel_width * s.op.dilation.width;
            if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
            for (int c = 0; c < s.channels; ++c) {
              const int pixel = (n * s.height + iy) * s.width + ix;
              const int tap = o * s.kernel_height * s.kernel_width + k;
              const double product = double{layer.x[static_cast<size_t>(pixel * s.channels + c)]} *
                                     layer.w[static_cast<size_t>(tap * s.channels + c)];
              sum += product;
              absolute += std::abs(product);
            }
          }
          ExpectNear(y[at++], sum, absolute, s.kernel_height * s.kernel_width * s.channels,
                     s.op.activation);
        }
      }
    }
  }
  EXPECT_EQ(at, y.size());
}

TEST(OneDnn, ConvolutionsAreWithinTheirBound) {
  const Padding same = Padding::Same();
  const Sizes kSizes[] = {
      {1, 8, 9, 16, 24, 3, 3, {.padding = same, .activation = Activation::kRelu}},
      {2, 7, 7, 5, 33, 1, 1, {}},
      {1, 15, 14, 3, 16, 7, 7, {.stride = {2, 2}, .padding = same}},
      {1, 11, 10, 8, 8, 3, 3, {.stride = {2, 1}, .padding = same}},
      {3, 12, 12, 4, 6, 3, 2, {.dilation = {2, 3}, .padding = same}},
      {1, 9, 9, 64, 64, 3, 3, {.padding = Padding::Valid(), .activation = Activation::kRelu6}},
      {1, 6, 17, 10, 20, 1, 7, {.padding = same}}};
  for (const Sizes& s : kSizes) {
    const Layer layer = MakeConv(s);
    SCOPED_TRACE(std::to_string(s.height) + "x" + std::to_string(s.width));
    Result<Model> model = PrepareNamed(layer.graph);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->layers()[0].routine, kName);
    ExpectConv(s, layer, *model, RunOnce(*model, layer.x));
  }
}

TEST(OneDnn, ProductsAreWithinTheirBound) {
  for (const int rows : {1, 5}) {
    constexpr int kDepth = 100;
    constexpr int kOutputs = 37;
    const Layer layer = MakeProduct(rows, kDepth, kOutputs);
    Result<Model> model = PrepareNamed(layer.graph);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const std::vector<float> y = RunOnce(*model, layer.x);
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t row = i / kOutputs;
      const size_t o = i % kOutputs;
      double sum = layer.bias[o];
      double absolute = std::abs(sum);
      for (size_t k = 0; k < kDepth; ++k) {
        const double product = double{layer.x[row * kDepth + k]} * layer.w[o * kDepth + k];
        sum += product;
        absolute += std::abs(product);
      }
      ExpectNear(y[i], sum, absolute, kDepth, Activation::kRelu);
    }
  }
}

TEST(OneDnn, HasToBeNamedAndFit) {
  const Layer layer = MakeConv({1, 8, 8, 8, 8, 3, 3});
  const Result<Model> model = Model::Prepare(layer.graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->layers()[0].routine, "cpu:float32/gemm");
  int listed = 0;
  for (const CandidateInfo& candidate : model->ListRoutines(0)) {
    if (candidate.name != kName) continue;
    EXPECT_EQ(candidate.numeric, NumericClass::kBounded);
    ++listed;
  }
  EXPECT_EQ(listed, 1);

  Builder b("groups");
  const Value x = b.Input("x", Type::kFloat32, {1, 8, 8, 8}, {});
  const auto w = b.Const<float>("w", Random(72 * 4, 2), {8, 3, 3, 4});
  const auto bias = b.Const<float>("bias", Random(8, 3), {8});
  b.Output(b.Conv2D(x, w, bias, {}, {}), "y");
  const Status refused = PrepareNamed(FinishGraph(b)).status();
  EXPECT_NE(refused.message().find("it has groups"), std::string::npos) << refused.message();
}

TEST(OneDnn, CountsItsMemory) {
  const Layer layer = MakeConv({1, 8, 8, 64, 64, 3, 3});
  PrepareOptions options = {.routines = {{"0", kName}}};
  const Result<Model> model = Model::Prepare(layer.graph, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_GE(model->layers()[0].constant_bytes, size_t{9} * 64 * 64 * sizeof(float));
  options.limits.max_bytes = model->taken_bytes() - 1;
  EXPECT_EQ(Model::Prepare(layer.graph, options).status().code(), StatusCode::kOutOfMemory);
}

TEST(OneDnn, InstancesRunAtOnce) {
  const Layer layer = MakeConv({1, 20, 20, 32, 32, 3, 3});
  Result<Model> model = PrepareNamed(layer.graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<float> expected = RunOnce(*model, layer.x);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      Result<Model> shared = model->Share();
      ASSERT_TRUE(shared.ok()) << shared.status().message();
      for (int run = 0; run < 20; ++run) ASSERT_EQ(RunOnce(*shared, layer.x), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace intaglio::nn::test
