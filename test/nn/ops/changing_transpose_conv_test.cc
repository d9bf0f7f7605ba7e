// TRANSPOSE_CONV gives the same bits whether its weights are constants or inputs of the model.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn::test {
namespace {

constexpr int kDepth = 5;

struct Case {
  Type type;
  Type weights;
  int channels;
  Extent stride;
  bool by_onnx = false;
  bool has_bias = true;

  Quantization quantization(float scale, int32_t zero_point) const {
    if (type == Type::kFloat32) return {};
    return {{scale}, {type == Type::kInt16 || zero_point == 0 ? 0 : zero_point}};
  }
};

// Inputs: x and, if they change, weights.
Graph GraphOf(const Case& c, const std::vector<uint8_t>* weights) {
  const Shape shape = {c.channels, 3, 2, kDepth};
  const TransposeConv op = {.shape = {2, 3 * c.stride.height, 4 * c.stride.width, c.channels},
                            .stride = c.stride,
                            .padding = Padding::Same(),
                            .activation = Activation::kRelu};
  const bool is_float = c.type == Type::kFloat32;
  const int32_t middle = c.type == Type::kUInt8 ? 128 : 0;
  const int32_t weight_zero = c.weights == Type::kUInt8 ? 119 : 0;
  Builder b;
  const Value x = b.Input("x", c.type, {2, 3, 4, kDepth}, c.quantization(0.05f, middle + 3));
  Quantization wq = is_float ? Quantization{} : Quantization{{0.02f}, {weight_zero}};
  std::vector<TensorId> inputs = {x.id};
  inputs.push_back(b.Input("w", c.weights, shape, wq).id);
  if (c.has_bias) {
    const auto channels = static_cast<size_t>(c.channels);
    const Quantization bias_q = {{0.05f * 0.02f}, {0}};
    if (is_float) {
      inputs.push_back(b.Const<float>("b", std::vector<float>(channels, 0.25f), {c.channels}).id);
    } else if (c.type == Type::kInt16) {
      inputs.push_back(
          b.Const<int64_t>("b", std::vector<int64_t>(channels, 77), {c.channels}, bias_q).id);
    } else {
      inputs.push_back(
          b.Const<int32_t>("b", std::vector<int32_t>(channels, 77), {c.channels}, bias_q).id);
    }
  }
  b.Output(b.Layer(op, inputs, c.type, c.quantization(0.1f, middle - 7)), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (c.by_onnx) graph->layers[0].numerics = Numerics{.scaling = Scaling::kFloatHalfEven};
  if (weights == nullptr) return *std::move(graph);
  Tensor& w = graph->tensors[static_cast<size_t>(inputs[1])];
  w.constant = true;
  w.data = weights->data();
  w.data_bytes = weights->size();
  graph->inputs.pop_back();
  return *std::move(graph);
}

void Check(const Case& c) {
  SCOPED_TRACE(std::string(NameOf(c.type)) + " by " + NameOf(c.weights) + ", " +
               std::to_string(c.channels) + " channels, stride " + std::to_string(c.stride.height));
  const Graph changing = GraphOf(c, nullptr);
  Result<Model> model = Model::Prepare(changing, {.threads = 2});
  ASSERT_TRUE(model.ok()) << model.status().message();
  // Each run has weights of its own.
  for (const unsigned seed : {1u, 2u, 3u}) {
    const RawTensors inputs = RandomInputs(changing, seed);
    RawTensors got;
    ASSERT_EQ(RunRaw(*model, inputs, got), "");
    const RawTensors want = RunGraph(GraphOf(c, &inputs[1]), {inputs[0]});
    ASSERT_EQ(got, want) << "seed " << seed;
  }
}

TEST(ChangingTransposeConv, GivesTheBitsOfConstants) {
  for (const int channels : {1, 3, 20}) {
    for (const Extent stride : {Extent{2, 2}, Extent{1, 3}, Extent{3, 2}}) {
      Check({Type::kFloat32, Type::kFloat32, channels, stride});
      Check({Type::kInt8, Type::kInt8, channels, stride});
      Check({Type::kUInt8, Type::kUInt8, channels, stride});
      Check({Type::kInt16, Type::kInt8, channels, stride});
      Check({.type = Type::kUInt8,
             .weights = Type::kInt8,
             .channels = channels,
             .stride = stride,
             .by_onnx = true});
      Check({.type = Type::kInt8,
             .weights = Type::kInt8,
             .channels = channels,
             .stride = stride,
             .has_bias = false});
    }
  }
}

}  // namespace
}  // namespace intaglio::nn::test
