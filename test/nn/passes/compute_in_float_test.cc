#include "intaglio/nn/passes/compute_in_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/float_form.h"
#include "intaglio/test/nn/raw_run.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

using test::RawTensors;

constexpr int kChannels = 8;

Constant Weights(Builder& b, Random& random, const Shape& shape, int axis) {
  std::vector<float> scales;
  for (int i = 0; i < kChannels; ++i) scales.push_back(random.Scale(0.002, 0.02));
  return Const(b, random.Tensor(Type::kInt8, shape), PerAxis(scales, axis));
}

Value Pointwise(Builder& b, Random& random, Value x, Quantization out,
                Activation activation = Activation::kNone) {
  const Constant weights = Weights(b, random, {kChannels, 1, 1, kChannels}, 0);
  const Constant bias = b.Const<int32_t>("bias", {100, -200, 3, 4, 5, 6, 700, 8}, {kChannels});
  return b.Conv2D(x, weights, bias, {.activation = activation}, std::move(out));
}

Value ByteInput(Builder& b) {
  return b.Input("x", Type::kInt8, {1, 4, 4, kChannels}, PerTensor(0.02f, 3));
}

Graph Finish(Builder& b) {
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

FloatRewrite Rewrite(const Graph& graph, const std::vector<size_t>& layers) {
  Result<FloatRewrite> rewrite = ComputeInFloat(graph, layers);
  if (!rewrite.ok()) {
    ADD_FAILURE() << rewrite.status().message();
    return {};
  }
  const Status valid = Validate(rewrite->graph);
  EXPECT_TRUE(valid.ok()) << valid.message();
  EXPECT_EQ(rewrite->origins.size(), rewrite->graph.layers.size());
  return std::move(*rewrite);
}

std::string OperatorsOf(const Graph& graph) {
  std::string text;
  for (const Layer& layer : graph.layers)
    text += (text.empty() ? "" : " ") + std::string(NameOf(layer.op));
  return text;
}

// The most steps by which outputs of int8 differ.
int Distance(const RawTensors& a, const RawTensors& b) {
  int most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < a[i].size(); ++k) {
      most = std::max(most, std::abs(static_cast<int8_t>(a[i][k]) - static_cast<int8_t>(b[i][k])));
    }
  }
  return most;
}

int DistanceOf(const Graph& graph, const Graph& other) {
  const RawTensors inputs = test::RandomInputs(graph, 5);
  return Distance(test::RunGraph(graph, inputs), test::RunGraph(other, inputs));
}

TEST(ComputeInFloat, NothingChangesWithoutLayers) {
  Random random(1);
  Builder b("same");
  b.Output(Pointwise(b, random, ByteInput(b), PerTensor(0.1f, 2)), "y");
  const Graph graph = Finish(b);
  const FloatRewrite same = Rewrite(graph, {});
  EXPECT_EQ(same.graph.layers.size(), 1u);
  EXPECT_EQ(same.graph.tensors.size(), graph.tensors.size());
  EXPECT_EQ(DistanceOf(graph, same.graph), 0);
}

TEST(ComputeInFloat, OneLayerBetweenTwoAdapters) {
  Random random(2);
  Builder b("one");
  b.Output(Pointwise(b, random, ByteInput(b), PerTensor(0.1f, 2)), "y");
  const Graph graph = Finish(b);
  const FloatRewrite one = Rewrite(graph, {0});
  EXPECT_EQ(OperatorsOf(one.graph), "DEQUANTIZE CONV_2D QUANTIZE");
  EXPECT_EQ(one.origins[0].layer, LayerOrigin::kAdapter);
  EXPECT_TRUE(one.origins[0].to_float);
  EXPECT_EQ(one.origins[1].layer, 0u);
  EXPECT_FALSE(one.origins[2].to_float);
  EXPECT_EQ(one.origins[2].tensor, graph.outputs[0]);
  EXPECT_EQ(one.graph.outputs, graph.outputs);
  EXPECT_LE(DistanceOf(graph, one.graph), 1);  // as ties round
}

TEST(ComputeInFloat, ReadersShareAnAdapter) {
  Random random(3);
  Builder b("shared");
  const Value x = Pointwise(b, random, ByteInput(b), PerTensor(0.1f, 2));
  const Value left = Pointwise(b, random, x, PerTensor(0.2f, 1));
  const Value right = Pointwise(b, random, x, PerTensor(0.2f, 1));
  b.Output(b.Add(left, right, {}, PerTensor(0.3f, 0)), "y");
  const Graph graph = Finish(b);
  // Both readers in float32: one DEQUANTIZE of x.
  EXPECT_EQ(OperatorsOf(Rewrite(graph, {{1, 2}}).graph),
            "CONV_2D DEQUANTIZE CONV_2D CONV_2D QUANTIZE QUANTIZE ADD");
  // The writer in float32: one QUANTIZE of x.
  EXPECT_EQ(OperatorsOf(Rewrite(graph, {0}).graph),
            "DEQUANTIZE CONV_2D QUANTIZE CONV_2D CONV_2D ADD");
  // The writer and one reader.
  EXPECT_EQ(OperatorsOf(Rewrite(graph, {{0, 2}}).graph),
            "DEQUANTIZE CONV_2D QUANTIZE CONV_2D CONV_2D QUANTIZE ADD");
  const FloatRewrite all = Rewrite(graph, {{0, 1, 2, 3}});
  EXPECT_EQ(OperatorsOf(all.graph), "DEQUANTIZE CONV_2D CONV_2D CONV_2D ADD QUANTIZE");
  EXPECT_LE(DistanceOf(graph, all.graph), 2);
}

TEST(ComputeInFloat, ConstantsBecomeFloatOnce) {
  Random random(4);
  Builder b("constants");
  const Value x = ByteInput(b);
  const Constant weights = Weights(b, random, {kChannels, 1, 1, kChannels}, 0);
  const Value y = b.Conv2D(x, weights, kNoBias, {}, PerTensor(0.1f, 2));
  b.Output(b.Conv2D(y, weights, kNoBias, {}, PerTensor(0.1f, 2)), "y");
  const Graph graph = Finish(b);
  const FloatRewrite both = Rewrite(graph, {{0, 1}});
  const TensorId real = both.graph.layers[1].inputs[1];
  EXPECT_EQ(real, both.graph.layers[2].inputs[1]);
  const Tensor& made = both.graph.tensors[static_cast<size_t>(real)];
  const Tensor& old = graph.tensors[static_cast<size_t>(weights.id)];
  for (size_t i = 0; i < kChannels * kChannels; ++i) {
    EXPECT_EQ(static_cast<const float*>(made.data)[i],
              old.quantization.scales[i / kChannels] *
                  static_cast<float>(static_cast<const int8_t*>(old.data)[i]));
  }
}

// The network comes from reals and goes back to them.
Graph MakeWrapped(bool output_of_integers) {
  Random random(5);
  Builder b("wrapped");
  const Value x = b.Input("x", Type::kFloat32, {1, 4, 4, kChannels});
  const Value q = b.Quantize(x, Type::kInt8, PerTensor(0.02f, 3));
  const Value y = Pointwise(b, random, q, PerTensor(0.1f, 2));
  b.Output(b.Dequantize(y), "reals");
  if (output_of_integers) b.Output(y, "integers");
  return Finish(b);
}

TEST(ComputeInFloat, AdaptersOfTheGraphVanish) {
  EXPECT_EQ(OperatorsOf(Rewrite(MakeWrapped(false), {1}).graph), "CONV_2D");
  EXPECT_EQ(OperatorsOf(Rewrite(MakeWrapped(true), {1}).graph), "CONV_2D QUANTIZE");
  const Graph graph = MakeWrapped(true);
  const FloatRewrite rewrite = Rewrite(graph, {1});
  EXPECT_EQ(rewrite.graph.outputs, graph.outputs);
  // Its input comes as it is: the last output differs from the old one by what was rounded there.
  const RawTensors inputs = {std::vector<uint8_t>(4 * 4 * kChannels * sizeof(float), 0)};
  const RawTensors before = test::RunGraph(graph, inputs);
  const RawTensors after = test::RunGraph(rewrite.graph, inputs);
  EXPECT_LE(Distance({before[1]}, {after[1]}), 1);
}

TEST(ComputeInFloat, AnAdapterOfTheGraphServesOthers) {
  Random random(6);
  Builder b("serves");
  const Value x = ByteInput(b);
  const Value y = Pointwise(b, random, x, PerTensor(0.1f, 2));
  b.Output(b.Dequantize(x), "reals");
  b.Output(y, "y");
  const Graph graph = Finish(b);
  EXPECT_EQ(OperatorsOf(graph), "CONV_2D DEQUANTIZE");
  const FloatRewrite rewrite = Rewrite(graph, {0});
  EXPECT_EQ(OperatorsOf(rewrite.graph), "DEQUANTIZE CONV_2D QUANTIZE");
  EXPECT_EQ(rewrite.origins[0].layer, 1u);
  EXPECT_EQ(rewrite.graph.outputs, graph.outputs);
}

TEST(ComputeInFloat, RequantizingIsNothingInFloat) {
  Random random(7);
  Builder b("requantized");
  const Value x = b.Input("x", Type::kUInt8, {1, 4, 4, kChannels}, PerTensor(0.02f, 131));
  const Value q = b.Quantize(x, Type::kInt8, PerTensor(0.02f, 3));
  const Value y = Pointwise(b, random, q, PerTensor(0.1f, 2));
  b.Output(b.Quantize(y, Type::kInt8, PerTensor(0.09f, 2)), "y");
  const Graph graph = Finish(b);
  const FloatRewrite all = Rewrite(graph, {{0, 1, 2}});
  EXPECT_EQ(OperatorsOf(all.graph), "DEQUANTIZE CONV_2D QUANTIZE");
  EXPECT_LE(DistanceOf(graph, all.graph), 1);
  // Integers behind a move that vanished.
  const FloatRewrite first = Rewrite(graph, {0});
  EXPECT_EQ(OperatorsOf(first.graph), "DEQUANTIZE QUANTIZE CONV_2D QUANTIZE");
  EXPECT_EQ(DistanceOf(graph, first.graph), 0);
}

// Files say ReLU by a range that begins at 0, or by bounds of the numerics.
TEST(ComputeInFloat, KeepsBoundsThatAreActivations) {
  struct Case {
    int zero_point;
    int32_t clamp_min;
    int32_t clamp_max;
    float scale;
    const char* why;
    Activation activation;
  };
  constexpr int32_t kLow = INT32_MIN;
  constexpr int32_t kHigh = INT32_MAX;
  for (const Case& c : {Case{-128, kLow, kHigh, 0.1f, "", Activation::kRelu},
                        Case{-127, kLow, kHigh, 0.1f, "", Activation::kNone},
                        Case{0, 0, kHigh, 0.1f, "", Activation::kRelu},
                        Case{0, 0, 60, 0.1f, "", Activation::kRelu6},
                        Case{0, -10, 10, 0.1f, "", Activation::kReluN1To1},
                        Case{0, 0, 40, 0.1f, "its bounds are those of no activation", {}},
                        Case{0, kLow, 60, 0.1f, "its bounds are those of no activation", {}}}) {
    Random random(8);
    Builder b("bounds");
    b.Output(Pointwise(b, random, ByteInput(b), PerTensor(c.scale, c.zero_point)), "y");
    Graph graph = Finish(b);
    graph.layers[0].numerics = Numerics{
        .scaling = Scaling::kFloatHalfEven, .clamp_min = c.clamp_min, .clamp_max = c.clamp_max};
    EXPECT_EQ(WhyNotFloat(graph, 0), c.why);
    if (*c.why != '\0') continue;
    const FloatRewrite rewrite = Rewrite(graph, {0});
    EXPECT_EQ(rewrite.graph.layers[1].op.As<Conv2D>()->activation, c.activation);
    EXPECT_EQ(rewrite.graph.layers[2].numerics->scaling, Scaling::kFloatHalfEven);
    EXPECT_LE(DistanceOf(graph, rewrite.graph), 1) << c.zero_point;
  }
}

TEST(ComputeInFloat, ConstantsWithoutZeroPointHaveNoMinusZero) {
  for (const Type type : {Type::kInt8, Type::kInt16}) {
    const int16_t zero = 0;
    Tensor constant;
    constant.type = type;
    constant.shape = {1};
    constant.constant = true;
    constant.data = &zero;
    constant.data_bytes = SizeOf(type);
    const Tensor real = DequantizeConstant(constant, {0.5});
    EXPECT_FALSE(std::signbit(*static_cast<const float*>(real.data)));
  }
}

TEST(ComputeInFloat, RefusesLayersWithoutAFloatForm) {
  Random random(9);
  Builder b("refused");
  const Value x = ByteInput(b);
  const Value cast = b.Layer(Cast{}, {x.id}, Type::kInt32, {});
  b.Output(cast, "cast");
  b.Output(b.Dequantize(x), "reals");
  b.Output(b.MaxPool2D(x, {.filter = {2, 2}, .stride = {1, 1}}), "pool");
  Graph graph = Finish(b);
  EXPECT_EQ(ListFloatLayers(graph), std::vector<size_t>{2});
  const std::vector<size_t> layers = {0};
  const std::string error = ComputeInFloat(graph, layers).status().message();
  EXPECT_NE(error.find("CAST"), std::string::npos) << error;
  EXPECT_NE(error.find("cannot be computed in float32"), std::string::npos) << error;
  const std::vector<size_t> none = {7};
  EXPECT_NE(ComputeInFloat(graph, none).status().message().find("no layer 7"), std::string::npos);
  for (const Type type : {Type::kInt16, Type::kUInt16}) {
    graph.tensors[static_cast<size_t>(graph.layers[2].outputs[0])].type = type;
    EXPECT_EQ(WhyNotFloat(graph, 2), std::string("it has a tensor of ") + NameOf(type));
  }
  graph.tensors[static_cast<size_t>(graph.layers[2].outputs[0])].type = Type::kInt8;
  // A pool whose quantizations differ takes integers as they are.
  graph.tensors[static_cast<size_t>(graph.layers[2].outputs[0])].quantization = PerTensor(0.5f, 1);
  EXPECT_NE(WhyNotFloat(graph, 2), "");
}

}  // namespace
}  // namespace intaglio::nn
