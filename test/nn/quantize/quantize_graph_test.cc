// Small networks, with scales computed by hand: what shares parameters, what is requantized, what
// stays float32.
#include "intaglio/nn/quantize/quantize_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/test/nn/quantize/network.h"

namespace intaglio::nn::quantize {
namespace {

Graph Finish(Builder& b, std::initializer_list<Value> outputs) {
  int i = 0;
  for (const Value& value : outputs) b.Output(value, "y" + std::to_string(i++));
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return *graph;
}

TensorId IdOf(const Graph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].name == name) return static_cast<TensorId>(i);
  }
  ADD_FAILURE() << name;
  return 0;
}

// The ranges of inputs, then of the results of layers, in their order.
Ranges RangesIn(const Graph& graph, const std::vector<RealRange>& ranges) {
  Ranges all(graph.tensors.size());
  size_t i = 0;
  for (const TensorId id : graph.inputs) all[static_cast<size_t>(id)] = ranges[i++];
  for (const Layer& layer : graph.layers) {
    for (const TensorId id : layer.outputs) all[static_cast<size_t>(id)] = ranges[i++];
  }
  EXPECT_EQ(i, ranges.size());
  return all;
}

Quantized Quantize(const Graph& graph, const std::vector<RealRange>& ranges,
                   const Rules& rules = {.interface = Type::kInt8}) {
  Result<Quantized> q = QuantizeGraph(graph, RangesIn(graph, ranges), rules);
  EXPECT_TRUE(q.ok()) << q.status().message();
  return q.ok() ? std::move(*q) : Quantized();
}

Parameters ParametersOf(const Graph& graph, TensorId id) {
  const Quantization& q = TensorAt(graph, id).quantization;
  return {q.scales.at(0), q.zero_points.at(0)};
}

template <class T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  std::vector<T> values(tensor.data_bytes / sizeof(T));
  std::memcpy(values.data(), tensor.data, tensor.data_bytes);
  return values;
}

Graph Dense(Reals weights = {1, -0.5f, 127, 2}, Reals bias = {1, -2}) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 2});
  const Constant w = b.Const<float>("w", std::move(weights), {2, 2});
  const Constant c = b.Const<float>("b", std::move(bias), {2});
  return Finish(b, {b.FullyConnected(x, w, c, {.activation = Activation::kRelu}, {})});
}

const std::vector<RealRange> kDenseRanges = {{-1, 1.55f}, {0, 255}};

TEST(QuantizeGraph, ComputesScalesByHand) {
  const Quantized q = Quantize(Dense(), kDenseRanges);
  ASSERT_EQ(q.graph.layers.size(), 1u);
  const Layer& layer = q.graph.layers[0];
  // 2.55 / 255, and -128 + 1 / .01.
  EXPECT_EQ(ParametersOf(q.graph, layer.inputs[0]), (Parameters{0.01f, -28}));
  EXPECT_EQ(ParametersOf(q.graph, layer.outputs[0]), (Parameters{1, -128}));
  const Tensor& w = TensorAt(q.graph, layer.inputs[1]);
  EXPECT_EQ(w.quantization.scales, (Reals{1.0f / 127, 1}));
  EXPECT_EQ(w.quantization.axis, 0);
  EXPECT_EQ(ValuesOf<int8_t>(w), (std::vector<int8_t>{127, -64, 127, 2}));  // -63.5 away from 0
  const Tensor& bias = TensorAt(q.graph, layer.inputs[2]);
  EXPECT_EQ(bias.quantization.scales, (Reals{0.01f * (1.0f / 127), 0.01f}));
  EXPECT_EQ(ValuesOf<int32_t>(bias), (std::vector<int32_t>{12700, -200}));
  EXPECT_EQ(layer.op.As<FullyConnected>()->activation, Activation::kRelu);
  EXPECT_EQ(TensorAt(q.graph, q.graph.inputs[0]).name, "x");
  EXPECT_EQ(TensorAt(q.graph, q.graph.outputs[0]).name, "y0");
}

TEST(QuantizeGraph, TakesWeightsPerTensorAndOfFewerBits) {
  const Rules rules = {.interface = Type::kInt8,
                       .layers = {{.weight_bits = 4, .per_channel = false}}};
  const Quantized q = Quantize(Dense(), kDenseRanges, rules);
  const Tensor& w = TensorAt(q.graph, q.graph.layers[0].inputs[1]);
  EXPECT_EQ(w.quantization.scales, (Reals{127.0f / 7}));
  EXPECT_EQ(ValuesOf<int8_t>(w), (std::vector<int8_t>{0, 0, 7, 0}));
}

TEST(QuantizeGraph, WidensChannelsUnderALargeBias) {
  const Quantized q = Quantize(Dense({0, 0, 1, 1}, {3, 0}), kDenseRanges);
  EXPECT_NE(q.layers[0].note.find("1 of 2 channels"), std::string::npos) << q.layers[0].note;
  const Layer& layer = q.graph.layers[0];
  const double scale = TensorAt(q.graph, layer.inputs[2]).quantization.scales[0];
  const auto bias = ValuesOf<int32_t>(TensorAt(q.graph, layer.inputs[2]));
  EXPECT_NEAR(bias[0] * scale, 3, 1e-6);
}

TEST(QuantizeGraph, KeepsFloatEndsAndTheirNames) {
  const Quantized q = Quantize(Dense(), kDenseRanges, {});
  ASSERT_EQ(q.graph.layers.size(), 3u);
  EXPECT_STREQ(NameOf(q.graph.layers[0].op), "QUANTIZE");
  EXPECT_STREQ(NameOf(q.graph.layers[2].op), "DEQUANTIZE");
  const Tensor& in = TensorAt(q.graph, q.graph.inputs[0]);
  EXPECT_EQ(in.name, "x");
  EXPECT_EQ(in.type, Type::kFloat32);
  EXPECT_EQ(TensorAt(q.graph, q.graph.outputs[0]).name, "y0");
  EXPECT_EQ(TensorAt(q.graph, q.graph.outputs[0]).type, Type::kFloat32);
}

// Layers write int8. Between types of 8 bits an output loses nothing.
TEST(QuantizeGraph, OutputsHaveTheTypeOfTheInterface) {
  const std::pair<Type, Parameters> kOutputs[] = {
      {Type::kInt8, {1, -128}}, {Type::kUInt8, {1, 0}}, {Type::kInt16, {255.0f / 32767, 0}}};
  for (const auto& [type, parameters] : kOutputs) {
    for (const bool keep_float : {false, true}) {
      for (const Form form : {Form::kIntegers, Form::kPairs}) {
        const Rules rules = {
            .form = form, .interface = type, .layers = {{.keep_float = keep_float}}};
        const Quantized q = Quantize(Dense(), kDenseRanges, rules);
        ASSERT_EQ(q.graph.outputs.size(), 1u);
        const Tensor& y = TensorAt(q.graph, q.graph.outputs[0]);
        EXPECT_EQ(TensorAt(q.graph, q.graph.inputs[0]).type, type);
        EXPECT_EQ(y.type, type);
        EXPECT_EQ(y.name, "y0");
        EXPECT_EQ(ParametersOf(q.graph, q.graph.outputs[0]), parameters);
        for (const Tensor& other : q.graph.tensors) {
          EXPECT_TRUE(&other == &y || other.name != "y0");
        }
      }
    }
  }
}

// x - RELU - MAX_POOL -+
// x - RESHAPE ----------- all of one scale, which covers all ranges.
TEST(QuantizeGraph, SharesParametersAlongMovesAndJoins) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4, 4, 1});
  const Value relu = b.Relu(x, {});
  const Value pool = b.MaxPool2D(relu, {.filter = {2, 2}, .stride = {2, 2}});
  const Value flat = b.Reshape(pool, {1, 4});
  const Value other = b.Relu6(x, {});
  const Value reshaped = b.Reshape(other, {1, 16});
  const Value parts[] = {flat, reshaped};
  const Graph graph = Finish(b, {b.Concatenation(parts, {.axis = 1}, {})});
  const Quantized q = Quantize(graph, {{-9, 9}, {0, 9}, {0, 8}, {0, 8}, {0, 6}, {0, 6}, {0, 8.5f}});
  EXPECT_EQ(CountLayers(q.graph, "QUANTIZE"), 0u);
  const Parameters shared = ChooseParameters({0, 9}, {});
  for (const Layer& layer : q.graph.layers) {
    EXPECT_EQ(ParametersOf(q.graph, layer.outputs[0]), shared) << layer.label;
  }
  EXPECT_NE(ParametersOf(q.graph, q.graph.inputs[0]), shared);
}

TEST(QuantizeGraph, FixesAndRequantizes) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Value a = b.Logistic(x);
  const Value t = b.Tanh(x);
  const Value parts[] = {a, t, a};
  const Graph graph = Finish(b, {b.Concatenation(parts, {.axis = 1}, {}), b.Reshape(a, {4, 1})});
  const Quantized q = Quantize(graph, {{-4, 4}, {0, 1}, {-1, 1}, {-1, 1}, {0, 1}});
  EXPECT_EQ(ParametersOf(q.graph, FindLayer(q.graph, "LOGISTIC")->outputs[0]),
            (Parameters{1.0f / 256, -128}));
  EXPECT_EQ(ParametersOf(q.graph, FindLayer(q.graph, "TANH")->outputs[0]),
            (Parameters{1.0f / 128, 0}));
  // What follows by a move has the same parameters. The concatenation has its own: each input is
  // requantized once.
  EXPECT_EQ(ParametersOf(q.graph, q.graph.outputs[1]), (Parameters{1.0f / 256, -128}));
  EXPECT_EQ(CountLayers(q.graph, "QUANTIZE"), 2u);
  const Layer* const join = FindLayer(q.graph, "CONCATENATION");
  EXPECT_EQ(join->inputs[0], join->inputs[2]);
  for (const TensorId id : join->inputs) {
    EXPECT_EQ(ParametersOf(q.graph, id), ParametersOf(q.graph, join->outputs[0]));
  }
}

TEST(QuantizeGraph, JoinsEqualFixedOnesAsTheyAre) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Value parts[] = {b.Logistic(x), b.Logistic(x)};
  const Graph graph = Finish(b, {b.Concatenation(parts, {.axis = 1}, {})});
  const Quantized q = Quantize(graph, {{-4, 4}, {0, 1}, {0, 1}, {0, 0.5f}});
  EXPECT_EQ(CountLayers(q.graph, "QUANTIZE"), 0u);
  EXPECT_EQ(ParametersOf(q.graph, q.graph.outputs[0]), (Parameters{1.0f / 256, -128}));
}

// The layer in the middle is float32: one DEQUANTIZE for its two readers' sake, one QUANTIZE.
TEST(QuantizeGraph, PutsOnePairAroundFloatLayers) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Value relu = b.Relu(x, {});
  const Value e = b.Layer(Exp{}, {relu.id}, Type::kFloat32, {});
  const Value s = b.Layer(Sin{}, {relu.id}, Type::kFloat32, {});
  const Value sum = b.Add(e, s, {}, {});
  const Value product = b.Layer(Mul{}, {e.id, sum.id}, Type::kFloat32, {});
  const Graph graph = Finish(b, {product});
  const Quantized q = Quantize(graph, {{-1, 1}, {0, 1}, {0, 3}, {0, 1}, {0, 4}, {0, 12}});
  EXPECT_EQ(CountLayers(q.graph, "DEQUANTIZE"), 1u);
  EXPECT_EQ(CountLayers(q.graph, "QUANTIZE"), 2u);
  EXPECT_EQ(q.layers[1].reason, "EXP has no form of integers here");
  EXPECT_TRUE(q.layers[3].quantized);
}

TEST(QuantizeGraph, MovesBetweenFloatLayersStayFloat) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Value e = b.Layer(Exp{}, {x.id}, Type::kFloat32, {});
  const Value s = b.Layer(Sin{}, {b.Reshape(e, {4, 1}).id}, Type::kFloat32, {});
  const Quantized q = Quantize(Finish(b, {s}), {{-1, 1}, {0, 3}, {0, 3}, {0, 1}}, {});
  EXPECT_EQ(q.graph.layers.size(), 3u);
  EXPECT_EQ(q.layers[1].reason, "it moves numbers of float32");
}

TEST(QuantizeGraph, KeepsWhatARuleKeeps) {
  const Quantized q = Quantize(Dense(), kDenseRanges, {.layers = {{.keep_float = true}}});
  EXPECT_EQ(q.graph.layers.size(), 1u);
  EXPECT_EQ(TensorAt(q.graph, q.graph.layers[0].inputs[1]).type, Type::kFloat32);
  EXPECT_EQ(q.layers[0].reason, "a rule keeps it");
  EXPECT_FALSE(q.layers[0].quantized);
}

TEST(QuantizeGraph, KeptResizesAreThoseOfTflite) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 2, 2, 1});
  ResizeBilinear op{4, 6};
  op.height_scale = 2;
  op.width_scale = 3;
  const Graph graph = Finish(b, {b.Layer(op, {x.id}, Type::kFloat32, {})});
  const auto scale_of = [&](Form form) {
    const Quantized q =
        Quantize(graph, {{-1, 1}, {-1, 1}}, {.form = form, .layers = {{.keep_float = true}}});
    return q.graph.layers[0].op.As<ResizeBilinear>()->height_scale;
  };
  EXPECT_EQ(scale_of(Form::kIntegers), 0);
  EXPECT_EQ(scale_of(Form::kPairs), 2);
}

// What stays float32 in a .tflite file has the format's rules.
TEST(QuantizeGraph, KeptQuotientsAreThoseOfTflite) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Value y = b.Input("y", Type::kFloat32, {1, 4});
  const Div op{.keeps_infinities = true};
  const Graph graph = Finish(b, {b.Layer(op, {x.id, y.id}, Type::kFloat32, {})});
  const auto keeps_infinities = [&](Form form) {
    const Quantized q = Quantize(graph, {{-1, 1}, {1, 2}, {-1, 1}}, {.form = form, .layers = {{}}});
    return q.graph.layers[0].op.As<Div>()->keeps_infinities;
  };
  EXPECT_FALSE(keeps_infinities(Form::kIntegers));
  EXPECT_TRUE(keeps_infinities(Form::kPairs));
}

// The samples showed an infinity, or no file is made.
TEST(QuantizeGraph, KeptQuotientsKeepInfinitiesThatAreSeen) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 2});
  const Value y = b.Input("y", Type::kFloat32, {1, 2});
  const Div op{.keeps_infinities = true};
  const Graph graph = Finish(b, {b.Layer(op, {x.id, y.id}, Type::kFloat32, {})});
  const auto keeps_infinities = [&](const Ranges& ranges, const Rules& rules) {
    const Result<Quantized> q = QuantizeGraph(graph, ranges, rules);
    EXPECT_TRUE(q.ok()) << q.status().message();
    return q.ok() && q->graph.layers[0].op.As<Div>()->keeps_infinities;
  };
  for (const float divisor : {0.0f, 2.0f}) {
    bool more = true;
    const NextSample next = [&](InputBytes& inputs) -> Result<bool> {
      inputs = {ToBytes(Reals{1, 2}), ToBytes(Reals{1, divisor})};
      return std::exchange(more, false);
    };
    const Result<Calibration> seen = Calibrate(graph, next);
    ASSERT_TRUE(seen.ok()) << seen.status().message();
    EXPECT_EQ(keeps_infinities(seen->ranges, {}), divisor == 0);
    EXPECT_TRUE(keeps_infinities(seen->ranges, {.keeps_float_rules = true}));
  }
  // An input whose range is not known.
  Ranges ranges = RangesIn(graph, {{-1, 1}, {1, 2}, {-1, 1}});
  EXPECT_FALSE(keeps_infinities(ranges, {}));
  ranges[static_cast<size_t>(graph.inputs[1])] = {};
  EXPECT_TRUE(keeps_infinities(ranges, {}));
}

// So have integers.
TEST(QuantizeGraph, GreatestNumbersKeepNoNan) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Value y = b.Input("y", Type::kFloat32, {1, 4});
  const Maximum op{.keeps_nan = true};
  const Graph graph = Finish(b, {b.Layer(op, {x.id, y.id}, Type::kFloat32, {})});
  for (const bool keep_float : {false, true}) {
    const Rules rules = {.interface = Type::kInt8, .layers = {{.keep_float = keep_float}}};
    const Quantized q = Quantize(graph, {{-1, 1}, {-1, 1}, {-1, 1}}, rules);
    const auto maximum = std::find_if(q.graph.layers.begin(), q.graph.layers.end(),
                                      [](const Layer& layer) { return layer.op.Is<Maximum>(); });
    ASSERT_NE(maximum, q.graph.layers.end());
    EXPECT_FALSE(maximum->op.As<Maximum>()->keeps_nan);
  }
}

TEST(QuantizeGraph, MixesTypes) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Value first = b.Relu(x, {});
  const Graph graph = Finish(b, {b.Relu6(first, {})});
  const Rules rules = {.interface = Type::kInt8,
                       .layers = {{.activations = Type::kInt16}, {.activations = Type::kInt8}}};
  const Quantized q = Quantize(graph, {{-1, 1}, {0, 1}, {0, 1}}, rules);
  ASSERT_EQ(q.graph.layers.size(), 4u);  // to int16, RELU, to int8, RELU6
  EXPECT_EQ(TensorAt(q.graph, q.graph.layers[1].outputs[0]).type, Type::kInt16);
  EXPECT_EQ(ParametersOf(q.graph, q.graph.layers[1].inputs[0]), (Parameters{1.0f / 32767, 0}));
  EXPECT_EQ(TensorAt(q.graph, q.graph.layers[3].inputs[0]).type, Type::kInt8);
}

TEST(QuantizeGraph, OfInt16HasBiasesOfInt64) {
  const Quantized q =
      Quantize(Dense(), kDenseRanges,
               {.interface = Type::kInt16, .layers = {{.activations = Type::kInt16}}});
  const Layer& layer = q.graph.layers[0];
  EXPECT_EQ(TensorAt(q.graph, layer.inputs[2]).type, Type::kInt64);
  EXPECT_EQ(ParametersOf(q.graph, layer.inputs[0]), (Parameters{1.55f / 32767, 0}));
}

TEST(QuantizeGraph, DynamicChangesWeightsOnly) {
  const Graph graph = Dense();
  const Result<Quantized> q = QuantizeGraph(graph, {}, {.form = Form::kDynamic});
  ASSERT_TRUE(q.ok()) << q.status().message();
  const Layer& layer = q->graph.layers[0];
  EXPECT_EQ(TensorAt(q->graph, layer.inputs[1]).type, Type::kInt8);
  EXPECT_EQ(TensorAt(q->graph, layer.inputs[2]).type, Type::kFloat32);
  const InputBytes x = {ToBytes(Reals{1, 0.5f})};
  const double expected[] = {1.75, 126};  // 1 - .25 + 1, 127 + 1 - 2
  const auto actual = OutputsOf(q->graph, x)[0];
  EXPECT_NEAR(actual[0], expected[0], 0.02);
  EXPECT_NEAR(actual[1], expected[1], 1);
}

// ADD refuses an output whose scale is 2^20 times smaller than its inputs': it stays float32.
TEST(QuantizeGraph, LeavesWhatTheRuntimeRefuses) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Value y = b.Input("y", Type::kFloat32, {1, 4});
  const Graph graph = Finish(b, {b.Relu(b.Add(x, y, {}, {}), {})});
  const Quantized q = Quantize(graph, {{-1e6f, 1e6f}, {-1e6f, 1e6f}, {-0.1f, 0.1f}, {0, 0.1f}}, {});
  EXPECT_FALSE(q.layers[0].quantized);
  EXPECT_NE(q.layers[0].reason.find("must be below 1"), std::string::npos) << q.layers[0].reason;
  EXPECT_TRUE(q.layers[1].quantized);
}

TEST(QuantizeGraph, NamesWhatIsWrong) {
  const Graph graph = Dense();
  Ranges ranges = RangesIn(graph, kDenseRanges);
  const auto error = [&](const Rules& rules) {
    return QuantizeGraph(graph, ranges, rules).status().message();
  };
  EXPECT_NE(error({.layers = {{.weight_bits = 9}}}).find("y0': weights of 9 bits"),
            std::string::npos)
      << error({.layers = {{.weight_bits = 9}}});
  EXPECT_NE(error({.layers = {{.activations = Type::kInt32}}}).find("activations of int32"),
            std::string::npos);
  EXPECT_EQ(error({.layers = {{}, {}}}), "there are 2 rules for 1 layers");
  ranges[static_cast<size_t>(graph.inputs[0])] = {};
  EXPECT_NE(error({}).find("there is no range of tensor #0 'x'"), std::string::npos) << error({});
  ranges[static_cast<size_t>(graph.inputs[0])].problem = "x is ill";
  EXPECT_EQ(error({}), "x is ill");
  const Graph bad = Dense({1, NAN, 1, 1});
  EXPECT_NE(QuantizeGraph(bad, RangesIn(bad, kDenseRanges), {})
                .status()
                .message()
                .find("tensor 'w' has NaN in element 1"),
            std::string::npos);
}

TEST(Simplify, MakesNormalizationAPartOfWeights) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4, 4, 2});
  const Constant w = b.Const<float>("w", {1, 2, 3, 4}, {2, 1, 1, 2});
  const Value conv = b.Conv2D(x, w, kNoBias, {}, {});
  const Constant k = b.Const<float>("k", {2, 0.5f}, {2});
  const Constant c = b.Const<float>("c", {1, -1}, {2});
  const Value scaled = b.Layer(Mul{}, {conv.id, k.id}, Type::kFloat32, {});
  const Value moved = b.Layer(Add{}, {scaled.id, c.id}, Type::kFloat32, {});
  Graph graph = Finish(b, {b.Relu6(moved, {})});
  Simplify(graph);
  ASSERT_EQ(graph.layers.size(), 1u);
  EXPECT_EQ(graph.layers[0].op.As<Conv2D>()->activation, Activation::kRelu6);
  EXPECT_EQ(ValuesOf<float>(TensorAt(graph, graph.layers[0].inputs[1])), (Reals{2, 4, 1.5f, 2}));
}

TEST(Calibrate, WatchesEveryTensor) {
  const Graph graph = Dense({1, 0, 0, 1}, {0, 0});
  const std::vector<InputBytes> samples = {{ToBytes(Reals{1, -3})}, {ToBytes(Reals{-2, 0.5f})}};
  const Result<Calibration> c = Calibrate(graph, From(samples));
  ASSERT_TRUE(c.ok()) << c.status().message();
  EXPECT_EQ(c->samples, 2u);
  EXPECT_EQ(*c->ranges[static_cast<size_t>(IdOf(graph, "x"))].range, (RealRange{-3, 1}));
  EXPECT_EQ(*c->ranges[static_cast<size_t>(IdOf(graph, "y0"))].range, (RealRange{0, 1}));
  EXPECT_FALSE(c->ranges[static_cast<size_t>(IdOf(graph, "w"))].range.has_value());
  const std::vector<InputBytes> none;
  EXPECT_EQ(Calibrate(graph, From(none)).status().message(),
            "there is no sample to calibrate with");
  const std::vector<InputBytes> bad = {{ToBytes(Reals{1, NAN})}};
  const Result<Calibration> ill = Calibrate(graph, From(bad));
  ASSERT_TRUE(ill.ok());
  EXPECT_EQ(QuantizeGraph(graph, ill->ranges, {}).status().message(),
            "sample 0: tensor 'x' has NaN in element 1, which no range can hold");
}

}  // namespace
}  // namespace intaglio::nn::quantize
