// Layers of float32 inputs and int8 weights that read one tensor share its int8 form: the same bits
// as each alone.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn::test {
namespace {

// Adds a layer that reads the value.
using MakeLayer = std::function<Value(Builder&, Value)>;

// Weights of any numbers, by one scale or, of the axis, by different ones.
Constant Weights(Builder& b, const Shape& shape, int scales, int axis) {
  std::mt19937 random(static_cast<unsigned>(shape[0] * 100 + shape[1]));
  std::vector<int8_t> numbers(static_cast<size_t>(*CountElements(shape)));
  for (int8_t& n : numbers) n = static_cast<int8_t>(random() % 255 - 127);
  Quantization q{{}, std::vector<int32_t>(static_cast<size_t>(scales), 0), axis};
  for (int i = 0; i < scales; ++i) q.scales.push_back(0.01f * static_cast<float>(i + 1));
  return b.Const<int8_t>("w", numbers, shape, q);
}

MakeLayer Conv(int channels, int filter, bool per_channel) {
  return [=](Builder& b, Value x) {
    Conv2D op;
    op.padding = Padding::Same();
    const Constant w = Weights(b, {channels, filter, filter, 7}, per_channel ? channels : 1, 0);
    return b.Layer(op, {x.id, w.id, kNoTensor}, Type::kFloat32, {});
  };
}

Value DepthwiseOf(Builder& b, Value x) {
  DepthwiseConv2D op;
  op.padding = Padding::Same();
  return b.Layer(op, {x.id, Weights(b, {1, 3, 3, 7}, 7, 3).id, kNoTensor}, Type::kFloat32, {});
}

MakeLayer Connected(int outputs, bool asymmetric, int depth = 40) {
  return [=](Builder& b, Value x) {
    FullyConnected op;
    op.asymmetric_inputs = asymmetric;
    return b.Layer(op, {x.id, Weights(b, {outputs, depth}, 1, 0).id, kNoTensor}, Type::kFloat32,
                   {});
  };
}

// A model of these layers, which all read the input.
Model ModelOf(const Shape& shape, const std::vector<MakeLayer>& layers) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, shape, {});
  for (const MakeLayer& layer : layers) b.Output(layer(b, x), "y");
  Result<Model> model = Model::Prepare(*b.Finish(), {.threads = 2});
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(*model);
}

// Of the layers, those of equal `forms` must share scratch, and no others; where there are none,
// any.
void Check(const Shape& shape, const std::vector<MakeLayer>& layers,
           const std::vector<int>& forms) {
  Model together = ModelOf(shape, layers);
  for (size_t i = 0; i < forms.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_EQ(together.layers()[i].scratch_offset == together.layers()[j].scratch_offset,
                forms[i] == forms[j])
          << i << ", " << j;
    }
  }
  for (const unsigned seed : {1, 2}) {  // what the run before left is not taken
    const RawTensors inputs = RandomInputs(together.graph(), seed);
    RawTensors got;
    ASSERT_EQ(RunRaw(together, inputs, got), "");
    for (size_t i = 0; i < layers.size(); ++i) {
      Model alone = ModelOf(shape, {layers[i]});
      RawTensors want;
      ASSERT_EQ(RunRaw(alone, inputs, want), "");
      EXPECT_EQ(got[i], want[0]) << i;
    }
  }
}

TEST(HybridLayers, OfOneInputShareItsForm) {
  Check({2, 5, 6, 7},
        {Conv(5, 1, false), Conv(4, 3, true), DepthwiseOf, Conv(70, 3, false), Conv(9, 1, true)},
        {0, 1, 1, 0, 1});
}

// Whose scratch goes on behind it, by more and by less; the last one's by most, so that no other
// plan takes less memory.
TEST(HybridLayers, MayWriteBehindTheForm) {
  Check({3, 40},
        {Connected(5, true), Connected(60, true), Connected(7, true), Connected(600, true)},
        {0, 0, 0, 0});
}

TEST(HybridLayers, OfOtherRowsShareNothing) {
  Check({4, 40}, {Connected(5, true), Connected(6, true, 80), Connected(7, true)}, {});
  Check({4, 40}, {Connected(5, false), Connected(6, true), Connected(7, false)}, {});
}

// Where most memory is in use between two layers, the form of their input is made twice.
TEST(HybridLayers, ShareNothingThatCostsMemory) {
  const auto model = [](bool last_is_asymmetric) {
    Builder b;
    const Value x = b.Input("x", Type::kFloat32, {1, 40, 40, 7}, {});
    const Value first = Conv(7, 1, false)(b, x);
    const Value large = Conv(90, 1, false)(b, first);
    const Value mean = b.Layer(nn::Mean{{1, 2, 3}, true}, {large.id}, Type::kFloat32, {});
    const Value last = Conv(7, 1, last_is_asymmetric)(b, x);
    b.Output(b.Layer(nn::Add{}, {last.id, mean.id}, Type::kFloat32, {}), "y");
    Result<Model> made = Model::Prepare(*b.Finish());
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(*made);
  };
  EXPECT_EQ(model(false).arena_bytes(), model(true).arena_bytes());
}

// The variable changes between the two layers, so the second must not use the form that the first
// one made.
TEST(HybridLayers, ShareNothingOfAVariableThatChanges) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {2, 40}, {});
  const Constant weights = Weights(b, {60, 40}, 1, 0);
  b.Output(x, "x");
  Graph graph = *b.Finish();
  const auto add = [&](const char* name, Shape shape) {
    Tensor& tensor = graph.tensors.emplace_back();
    tensor.name = name;
    tensor.type = Type::kFloat32;
    tensor.shape = std::move(shape);
    return static_cast<TensorId>(graph.tensors.size()) - 1;
  };
  const TensorId v = add("v", {2, 40});
  graph.tensors.back().variable = true;
  const TensorId before = add("before", {2, 60});
  const TensorId after = add("after", {2, 60});
  graph.layers = {{FullyConnected{}, {v, weights.id, kNoTensor}, {before}, {}},
                  {AssignVariable{}, {x.id, v}, {}, {}},
                  {FullyConnected{}, {v, weights.id, kNoTensor}, {after}, {}}};
  graph.outputs = {before, after};
  Result<Model> model = Model::Prepare(graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  RawTensors last;
  for (const unsigned seed : {1, 2}) {
    const RawTensors inputs = RandomInputs(graph, seed);
    RawTensors got;
    ASSERT_EQ(RunRaw(*model, inputs, got), "");
    Model alone =
        ModelOf({2, 40}, {[](Builder& other, Value value) {
                  return other.Layer(FullyConnected{},
                                     {value.id, Weights(other, {60, 40}, 1, 0).id, kNoTensor},
                                     Type::kFloat32, {});
                }});
    RawTensors want;
    ASSERT_EQ(RunRaw(alone, inputs, want), "");
    EXPECT_EQ(got[1], want[0]);
    if (!last.empty()) {
      EXPECT_EQ(got[0], last[1]);
    }
    last = got;
  }
}

// Each item has its own scale, wherever tiles end: its lines end where the lines of the next item
// begin.
TEST(HybridLayers, ScaleEachItemOfABatchByItself) {
  for (const bool per_channel : {false, true}) {
    for (const int size : {1, 3, 5}) {
      Model both = ModelOf({2, size, size, 7}, {Conv(20, 3, per_channel)});
      Model one = ModelOf({1, size, size, 7}, {Conv(20, 3, per_channel)});
      RawTensors inputs = RandomInputs(both.graph(), 3);
      const size_t half = inputs[0].size() / 2;
      for (size_t at = half; at < 2 * half; at += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, &inputs[0][at], sizeof(value));
        value *= 1000;
        std::memcpy(&inputs[0][at], &value, sizeof(value));
      }
      RawTensors got;
      ASSERT_EQ(RunRaw(both, inputs, got), "");
      std::vector<uint8_t> want;
      for (const size_t begin : {size_t{0}, half}) {
        const auto first = inputs[0].begin() + static_cast<ptrdiff_t>(begin);
        RawTensors part;
        ASSERT_EQ(RunRaw(one, {{first, first + static_cast<ptrdiff_t>(half)}}, part), "");
        want.insert(want.end(), part[0].begin(), part[0].end());
      }
      EXPECT_EQ(got[0], want) << size << (per_channel ? " per channel" : "");
    }
  }
}

// One item is cut for more threads than there is room for their results.
TEST(HybridLayers, TakeAnyNumberOfThreads) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 40, 40, 1024}, {});
  Conv2D op;
  op.stride = {16, 16};
  b.Output(b.Layer(op, {x.id, Weights(b, {2, 1, 1, 1024}, 1, 0).id, kNoTensor}, Type::kFloat32, {}),
           "y");
  const Graph graph = *b.Finish();
  RawTensors inputs = RandomInputs(graph, 4);
  const float most = 100;  // lies in the last part
  std::memcpy(&inputs[0][inputs[0].size() - sizeof(most)], &most, sizeof(most));
  EXPECT_EQ(RunGraph(graph, inputs, {.threads = 100}), RunGraph(graph, inputs));
}

}  // namespace
}  // namespace intaglio::nn::test
