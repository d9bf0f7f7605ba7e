// Every operator that the quantizer knows, alone: its integers lie within a step or two of what
// float32 computes. Inputs and weights are multiples of their scales, so that only the rounding of
// the result is left.
#include "intaglio/nn/ops/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "intaglio/nn/passes/pass_list.h"
#include "intaglio/nn/quantize/demands.h"
#include "intaglio/test/nn/quantize/network.h"

namespace intaglio::nn::quantize {
namespace {

struct Case {
  Operator op;
  std::vector<Shape> inputs;           // of the activations
  std::vector<Tensor> constants = {};  // the inputs behind them
  size_t outputs = 1;
  double steps = 1.01;  // of the output, at most
  bool constants_first = false;
};

std::mt19937& Engine() {
  static std::mt19937 engine(7);
  return engine;
}

// Numbers k * step with k in [low, high], both of which occur.
Reals Multiples(size_t count, double step, int low, int high) {
  std::uniform_int_distribution<int> whole(low, high);
  Reals values(count);
  for (float& x : values) x = static_cast<float>(whole(Engine()) * step);
  if (count > 1) {
    values[0] = static_cast<float>(low * step);
    values[count - 1] = static_cast<float>(high * step);
  }
  return values;
}

template <class T>
Tensor ConstantOf(std::vector<T> values, Shape shape) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  Tensor tensor;
  tensor.name = "constant";
  tensor.type = TypeOf<T>;
  tensor.shape = std::move(shape);
  tensor.constant = true;
  tensor.data = owner->data();
  tensor.data_bytes = owner->size() * sizeof(T);
  tensor.owner = owner;
  return tensor;
}

// Each channel of the axis holds both -127 and 127 of its own scale.
Tensor WeightsOf(Shape shape, size_t axis) {
  size_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<size_t>(shape[i]);
  const auto channels = static_cast<size_t>(shape[axis]);
  const auto count = static_cast<size_t>(*CountElements(shape));
  Reals values = Multiples(count, 1, -127, 127);
  std::vector<int> seen(channels);
  for (size_t i = 0; i < count; ++i) {
    const size_t channel = i / inner % channels;
    if (seen[channel] < 2) values[i] = seen[channel]++ == 0 ? 127.0f : -127.0f;
    values[i] *= std::exp2(-10.0f - static_cast<float>(channel % 3));
  }
  return ConstantOf(std::move(values), std::move(shape));
}

Tensor BiasOf(int channels) {
  return ConstantOf(Multiples(static_cast<size_t>(channels), 1.0 / 64, -60, 60), {channels});
}

Tensor IntsOf(std::vector<int32_t> values) {
  const int count = static_cast<int>(values.size());
  return ConstantOf(std::move(values), {count});
}

Tensor RealsOf(const Shape& shape) {
  return ConstantOf(Multiples(static_cast<size_t>(*CountElements(shape)), 1.0 / 64, -128, 127),
                    shape);
}

const Shape kImage = {1, 6, 5, 4};
const Shape kRow = {3, 8};

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {Conv2D{.padding = Padding::Same(), .activation = Activation::kRelu},
       {kImage},
       {WeightsOf({6, 3, 3, 4}, 0), BiasOf(6)}},
      {Conv2D{}, {kImage}, {WeightsOf({5, 1, 1, 4}, 0)}},
      {DepthwiseConv2D{.padding = Padding::Same(), .activation = Activation::kRelu6},
       {kImage},
       {WeightsOf({1, 3, 3, 8}, 3), BiasOf(8)}},
      {FullyConnected{}, {kRow}, {WeightsOf({5, 8}, 0), BiasOf(5)}},
      {TransposeConv{.shape = {1, 12, 10, 3}, .stride = {2, 2}, .padding = Padding::Same()},
       {kImage},
       {WeightsOf({3, 3, 3, 4}, 0), BiasOf(3)}},
      {BatchMatMul{}, {{2, 3, 8}, {2, 8, 5}}},
      {BatchMatMul{.adjoint_b = true}, {{2, 3, 8}}, {RealsOf({2, 4, 8})}},
      {Add{.activation = Activation::kRelu}, {kImage, kImage}},
      {Add{}, {kImage}, {RealsOf({4})}},
      {Sub{}, {kImage, {1, 1, 1, 4}}},
      {Mul{}, {kImage, kImage}},
      {SquaredDifference{}, {kImage, kImage}},
      {Prelu{}, {kImage}, {RealsOf({1, 1, 4})}, 1, 1.6},
      {Relu{}, {kImage}},
      {Relu6{}, {kImage}},
      {ReluN1To1{}, {kImage}},
      {LeakyRelu{.alpha = 0.1f}, {kImage}},
      {HardSwish{}, {kImage}, {}, 1, 2},
      {Elu{}, {kImage}},
      {Gelu{}, {kImage}, {}, 1, 1.5},
      {Abs{}, {kImage}},
      {Mean{.axes = {1, 2}}, {kImage}},
      {Sum{.axes = {1, 2}}, {kImage}, {}, 1, 1.6},
      {Softmax{}, {kRow}, {}, 1, 2},
      {Logistic{}, {kRow}},
      {Tanh{}, {kRow}, {}, 1, 2},
      {L2Normalization{}, {kRow}, {}, 1, 2},
      {LogSoftmax{}, {kRow}, {}, 1, 1.5},
      {Concatenation{.axis = -1}, {kImage, {1, 6, 5, 3}, kImage}},
      {Pack{.axis = 1}, {kRow, kRow}},
      {Maximum{}, {kRow, kRow}},
      {Minimum{}, {kRow}, {ConstantOf<float>({0.5f}, {1})}},
      {AveragePool2D{.filter = {2, 2}, .stride = {1, 1}}, {kImage}},
      {MaxPool2D{.filter = {2, 2}, .stride = {2, 2}}, {kImage}},
      {ReduceMax{.axes = {1}}, {kRow}},
      {ReduceMin{.axes = {1}}, {kRow}},
      {ArgMax{.axis = 1}, {kRow}},
      {ArgMin{.axis = 1}, {kRow}},
      {TopK{.k = 3}, {kRow}, {}, 2},
      {Pad{.paddings = {{1, 1}, {0, 2}}}, {kRow}},
      {Pad{.paddings = {{1, 1}, {0, 2}}, .has_value = true, .value = 0.5}, {kRow}},
      {MirrorPad{.paddings = {{1, 1}, {0, 2}}}, {kRow}},
      {Reshape{.shape = {8, 3}}, {kRow}},
      {Squeeze{.axes = {0}}, {{1, 8}}},
      {ExpandDims{.axis = 0}, {kRow}},
      {Transpose{.permutation = {1, 0}}, {kRow}},
      {Slice{.begin = {1, 2}, .size = {-1, 4}}, {kRow}},
      {StridedSlice{.begin = {0, 1}, .end = {3, 8}, .strides = {1, 2}}, {kRow}},
      {Split{.axis = 1, .count = 2}, {kRow}, {}, 2},
      {SplitV{.axis = 1, .sizes = {3, 5}}, {kRow}, {}, 2},
      {Unpack{.axis = 0, .count = 3}, {kRow}, {}, 3},
      {Gather{.axis = 1}, {kRow}, {IntsOf({4, 0})}},
      {GatherNd{}, {kRow}, {ConstantOf<int32_t>({2, 1}, {2, 1})}},
      {Tile{.multiples = {2, 1}}, {kRow}},
      {BroadcastTo{.shape = {2, 3, 8}}, {kRow}},
      {SpaceToDepth{.block = 2}, {{1, 4, 6, 3}}},
      {DepthToSpace{.block = 2}, {kImage}},
      {SpaceToBatch{.block = {2}, .paddings = {{0, 0}}}, {{1, 4, 6}}},
      {BatchToSpace{.block = {2}, .crops = {{0, 0}}}, {{2, 4, 6}}},
      {Reverse{.axes = {1}}, {kRow}},
      {ResizeBilinear{.height = 12, .width = 10}, {kImage}, {}, 1, 1.6},
      {ResizeNearestNeighbor{.height = 9, .width = 7}, {kImage}},
      {DynamicUpdateSlice{}, {kRow, {1, 8}}, {IntsOf({1, 0})}},
      {DynamicSlice{.dimensions = {{.size = 2}, {.any_begin = true}}}, {kRow}, {IntsOf({1, 0})}},
  };
  // The data come behind a condition or indices.
  std::vector<uint8_t> bits(24);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = i % 3 == 0 ? 1 : 0;
  Tensor condition = ConstantOf(bits, kRow);
  condition.type = Type::kBool;
  cases.push_back({Select{}, {kRow, kRow}, {condition}, 1, 1.01, true});
  cases.push_back({SelectV2{}, {kRow, kRow}, {condition}, 1, 1.01, true});
  cases.push_back({EmbeddingLookup{}, {kRow}, {IntsOf({2, 0})}, 1, 1.01, true});
  return cases;
}

Graph GraphOf(const Case& c) {
  Graph graph;
  Layer layer{c.op, {}, {}, ""};
  const auto add = [&](Tensor tensor) {
    graph.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph.tensors.size()) - 1;
  };
  const auto add_constants = [&] {
    for (const Tensor& constant : c.constants) layer.inputs.push_back(add(constant));
  };
  if (c.constants_first) add_constants();
  for (const Shape& shape : c.inputs) {
    Tensor tensor;
    tensor.name = "x" + std::to_string(graph.inputs.size());
    tensor.type = Type::kFloat32;
    tensor.shape = shape;
    graph.inputs.push_back(add(tensor));
    layer.inputs.push_back(graph.inputs.back());
  }
  if (!c.constants_first) add_constants();
  for (size_t i = 0; i < c.outputs; ++i) {
    Tensor tensor;
    tensor.name = "y" + std::to_string(i);
    tensor.type = Type::kFloat32;
    if (c.op.Is<ArgMax>() || c.op.Is<ArgMin>() || (c.op.Is<TopK>() && i == 1)) {
      tensor.type = Type::kInt32;
    }
    graph.outputs.push_back(add(tensor));
    layer.outputs.push_back(graph.outputs.back());
  }
  graph.layers.push_back(layer);
  const Result<std::vector<Shape>> shapes = InferShapes(graph, 0);
  EXPECT_TRUE(shapes.ok()) << shapes.status().message();
  for (size_t i = 0; shapes.ok() && i < c.outputs; ++i) {
    graph.tensors[static_cast<size_t>(layer.outputs[i])].shape = (*shapes)[i];
  }
  return graph;
}

std::vector<InputBytes> SamplesFor(const Case& c, Type type) {
  std::vector<InputBytes> samples(3);
  for (InputBytes& sample : samples) {
    for (const Shape& shape : c.inputs) {
      const auto count = static_cast<size_t>(*CountElements(shape));
      const bool wide = type == Type::kInt16;
      sample.push_back(ToBytes(
          Multiples(count, wide ? 0x1p-14 : 0x1p-6, wide ? -32767 : -128, wide ? 32767 : 127)));
    }
  }
  return samples;
}

Rules RulesFor(Type type, Form form) {
  LayerRule rule;
  rule.activations = type;
  rule.per_channel = type != Type::kUInt8;
  return {.form = form, .layers = {rule}};
}

// uint8 has one scale for all weights, on which those of other channels do not lie.
double ToleranceOf(const Case& c, Type type) {
  const bool products = DemandOf(c.op)->has_weights();
  if (type == Type::kUInt8 && products) return 7;
  if (type == Type::kInt16) return c.steps + 1;
  return c.steps;
}

void ExpectNear(const Case& c, Type type, Form form) {
  const Graph graph = GraphOf(c);
  const std::vector<InputBytes> samples = SamplesFor(c, type);
  const Result<Calibration> calibration = Calibrate(graph, From(samples));
  ASSERT_TRUE(calibration.ok()) << calibration.status().message();
  Result<Quantized> q = QuantizeGraph(graph, calibration->ranges, RulesFor(type, form));
  ASSERT_TRUE(q.ok()) << q.status().message();
  ASSERT_TRUE(q->layers[0].quantized) << q->layers[0].reason;
  if (form == Form::kPairs) {  // as the reader of .onnx files does
    FoldBudget budget(1 << 20, 1 << 24);
    RunPasses(q->graph, {budget});
  }
  for (const InputBytes& sample : samples) {
    const auto expected = OutputsOf(graph, sample);
    const auto actual = OutputsOf(q->graph, sample);
    ASSERT_EQ(expected.size(), actual.size());
    for (size_t o = 0; o < expected.size(); ++o) {
      const TensorId integer = q->integers[static_cast<size_t>(graph.outputs[o])];
      if (integer == kNoTensor) {
        EXPECT_EQ(expected[o], actual[o]);
        continue;
      }
      const double step = TensorAt(q->graph, integer).quantization.scales[0];
      for (size_t i = 0; i < expected[o].size(); ++i) {
        ASSERT_NEAR(expected[o][i], actual[o][i], ToleranceOf(c, type) * step)
            << "element " << i << " of " << expected[o].size() << ", step " << step;
      }
    }
  }
}

TEST(Operators, AreNearTheirRealResults) {
  for (const Case& c : Cases()) {
    for (const Type type : {Type::kInt8, Type::kUInt8, Type::kInt16}) {
      const Demand* const demand = DemandOf(c.op);
      ASSERT_NE(demand, nullptr) << NameOf(c.op);
      if ((demand->types & SetOf(type)) == 0) continue;
      SCOPED_TRACE(std::string(NameOf(c.op)) + " " + NameOf(type));
      ExpectNear(c, type, Form::kIntegers);
    }
  }
}

TEST(Operators, AreNearTheirRealResultsInPairs) {
  for (const Case& c : Cases()) {
    if ((DemandOf(c.op)->types & SetOf(Type::kInt8)) == 0) continue;
    SCOPED_TRACE(NameOf(c.op));
    ExpectNear(c, Type::kInt8, Form::kPairs);
  }
}

// The graph with a FLOOR, which stays float32, behind each result.
Graph WithoutOwnOutputs(Graph graph) {
  for (TensorId& id : graph.outputs) {
    if (TensorAt(graph, id).type != Type::kFloat32) continue;
    Tensor result = TensorAt(graph, id);
    result.name += "_floor";
    graph.tensors.push_back(std::move(result));
    const auto floor = static_cast<TensorId>(graph.tensors.size()) - 1;
    graph.layers.push_back({Floor{}, {id}, {floor}, ""});
    id = floor;
  }
  return graph;
}

// Numbers eight times as large as those that were observed, with both signs.
InputBytes Beyond(const Graph& graph, InputBytes sample) {
  for (size_t i = 0; i < sample.size(); ++i) {
    if (TensorAt(graph, graph.inputs[i]).type != Type::kFloat32) continue;
    Reals reals = FromBytes<float>(sample[i]);
    for (size_t k = 0; k < reals.size(); ++k) reals[k] *= k % 2 == 0 ? 8.0f : -8.0f;
    sample[i] = ToBytes(reals);
  }
  return sample;
}

TEST(Operators, KeepFewBits) {
  size_t checked = 0;
  for (const Case& c : Cases()) {
    for (const Type type : {Type::kInt8, Type::kUInt8}) {
      if ((DemandOf(c.op)->types & SetOf(type)) == 0) continue;
      SCOPED_TRACE(std::string(NameOf(c.op)) + " " + NameOf(type));
      const Graph graph = WithoutOwnOutputs(GraphOf(c));
      const std::vector<InputBytes> samples = SamplesFor(c, type);
      const Result<Calibration> calibration = Calibrate(graph, From(samples));
      ASSERT_TRUE(calibration.ok()) << calibration.status().message();
      Rules rules;
      rules.layers.assign(graph.layers.size(), {.activations = type, .activation_bits = 4});
      const Result<Quantized> q = QuantizeGraph(graph, calibration->ranges, rules);
      ASSERT_TRUE(q.ok()) << q.status().message();
      Result<Model> model = Model::Prepare(q->graph, {.keep_all_tensors = true});
      ASSERT_TRUE(model.ok()) << model.status().message();
      InputBytes outputs;
      ASSERT_TRUE(RunOn(*model, Beyond(graph, samples[0]), outputs).ok());
      for (const TensorId id : graph.layers[0].outputs) {
        const TensorId integer = q->integers[static_cast<size_t>(id)];
        if (integer == kNoTensor) continue;
        const int32_t lowest = q->lowest[static_cast<size_t>(id)];
        const Tensor& tensor = TensorAt(q->graph, integer);
        const auto* const data = static_cast<const std::byte*>(model->TensorData(integer));
        const auto count = static_cast<size_t>(*CountElements(tensor.shape));
        for (const double number : Numbers(tensor, {data, data + count})) {
          ASSERT_GE(number, lowest);
        }
        checked += lowest == (type == Type::kInt8 ? 112 : 240) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(checked, 40u);  // the others share the parameters of inputs, or have fixed ones
}

TEST(Operators, AreAllTested) {
  std::set<const OperatorRow*> tested;
  for (const Case& c : Cases()) tested.insert(&c.op.row());
  for (const Demand& demand : ListDemands()) {
    EXPECT_EQ(tested.count(demand.row), 1u) << demand.row->name;
  }
}

TEST(Operators, TakeOnlyTheirTypes) {
  for (const Case& c : {Case{HardSwish{}, {kImage}}, Case{Elu{}, {kImage}}}) {
    const Graph graph = GraphOf(c);
    const std::vector<InputBytes> samples = SamplesFor(c, Type::kInt8);
    const Result<Calibration> calibration = Calibrate(graph, From(samples));
    const Result<Quantized> q =
        QuantizeGraph(graph, calibration->ranges, RulesFor(Type::kInt16, Form::kIntegers));
    ASSERT_TRUE(q.ok()) << q.status().message();
    EXPECT_EQ(q->layers[0].reason, std::string(NameOf(c.op)) + " has no form of int16");
    EXPECT_EQ(q->graph.layers.size(), 1u);
  }
}

// The distance of two pixels has 10 fractional bits in TFLite's rules. By factors whose inverse has
// more of them, positions are off by up to 8/3 + 18/7 of 1024 parts here, of up to 65,534 steps.
TEST(Operators, ResizeByFractionsOf10Bits) {
  const Case bytes = {ResizeBilinear{.height = 9, .width = 7}, {kImage}, {}, 1, 1.6};
  ExpectNear(bytes, Type::kInt8, Form::kIntegers);
  ExpectNear(bytes, Type::kUInt8, Form::kIntegers);
  Case wide = bytes;
  wide.steps = 65534 * (8.0 / 3 + 18.0 / 7) / 1024;
  ExpectNear(wide, Type::kInt16, Form::kIntegers);
}

// Integers of recurrent layers need ranges of gates and states, which are no tensors.
TEST(Operators, RecurrentLayersStayFloat) {
  EXPECT_EQ(DemandOf(Lstm{}), nullptr);
  EXPECT_EQ(DemandOf(Rnn{}), nullptr);
  EXPECT_EQ(DemandOf(UnidirectionalSequenceLstm{}), nullptr);
  EXPECT_EQ(DemandOf(UnidirectionalSequenceRnn{}), nullptr);
}

}  // namespace
}  // namespace intaglio::nn::quantize
