// The three parts of a model: their bits are those of the whole, and the middle one has integers
// only.
#include "intaglio/nn/passes/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/formats/tflite/writer.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/integer_only.h"
#include "intaglio/test/fixedpoint/foreign_float_environment.h"
#include "intaglio/test/nn/ops/golden_file.h"
#include "intaglio/test/nn/raw_run.h"
#include "intaglio/test/nn/shared_models.h"

namespace intaglio::nn {
namespace {

using test::RawTensors;

// The part after a trip through a file.
Graph Saved(const Graph& part) {
  Result<std::vector<uint8_t>> bytes = ExportTflite(part);
  if (!bytes.ok()) {
    ADD_FAILURE() << bytes.status().message();
    return part;
  }
  const auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(*bytes));
  Result<Graph> again = ImportTflite(*owner, owner, part.name);
  if (!again.ok()) {
    ADD_FAILURE() << again.status().message();
    return part;
  }
  return std::move(*again);
}

using Runs = std::vector<RawTensors>;

// Runs instances of the graphs one after the other. Returns the first error, or nothing.
std::string RunChain(const std::vector<Graph>& graphs, bool integer_main, const Runs& inputs,
                     Runs& outputs) {
  std::vector<Model> models;
  for (const Graph& graph : graphs) {
    PrepareOptions options;
    options.integer_only = integer_main && models.size() == 1;
    Result<Model> model = Model::Prepare(graph, options);
    if (!model.ok()) return "prepare: " + model.status().message();
    models.push_back(std::move(*model));
  }
  for (RawTensors tensors : inputs) {
    for (Model& model : models) {
      RawTensors results;
      if (!test::RunRaw(model, tensors, results).empty()) return "run";
      tensors = std::move(results);
    }
    outputs.push_back(std::move(tensors));
  }
  return {};
}

std::string RunParts(const Parts& parts, const Runs& inputs, Runs& outputs) {
  return RunChain(
      {Saved(parts.quantize_inputs), Saved(parts.quantized_main), Saved(parts.dequantize_outputs)},
      true, inputs, outputs);
}

RawTensors Compose(const Parts& parts, const RawTensors& inputs) {
  Runs outputs;
  EXPECT_EQ(RunParts(parts, {inputs}, outputs), "");
  return outputs.empty() ? RawTensors() : outputs[0];
}

Runs SomeInputs(const Graph& graph) {
  return {test::RandomInputs(graph, 0), test::RandomInputs(graph, 1), test::RandomInputs(graph, 2)};
}

std::string ErrorOf(const Graph& graph, const PartitionOptions& options = {}) {
  const Result<Parts> parts = Partition(graph, options);
  return parts.ok() ? "ok" : parts.status().message();
}

Graph Finish(Builder& b) {
  Result<Graph> graph = b.Finish();
  if (graph.ok()) return std::move(*graph);
  ADD_FAILURE() << graph.status().message();
  return {};
}

const Quantization kIn = PerTensor(0.05f, -3);
const Quantization kOut = PerTensor(0.125f, 5);

Value Convolve(Builder& b, Value x) {
  const Constant filter = b.Const<int8_t>("filter", {1, -2, 3, -4, 5, -6, 7, -8}, {2, 2, 2, 1},
                                          PerAxis({0.5f, 0.3f}, 0));
  return b.Conv2D(x, filter, kNoBias, {.padding = Padding::Same()}, kOut);
}

// float32 in and out.
Graph RealNetwork() {
  Builder b("real");
  const Value x = b.Input("x", Type::kFloat32, {1, 4, 4, 1});
  const Value y = Convolve(b, b.Quantize(x, Type::kInt8, kIn));
  b.Output(b.Dequantize(y), "y");
  return Finish(b);
}

void ExpectSameBits(const Graph& graph) {
  const Result<Parts> parts = Partition(graph);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  EXPECT_TRUE(CheckIntegerOnly(parts->quantized_main).ok());
  Runs expected;
  Runs outputs;
  EXPECT_EQ(RunChain({graph}, false, SomeInputs(graph), expected), "");
  EXPECT_EQ(RunParts(*parts, SomeInputs(graph), outputs), "");
  EXPECT_EQ(outputs, expected);
}

size_t LayersOf(const Graph& graph) { return graph.layers.size(); }

TEST(Partition, SplitsAtTheBorders) {
  const Graph graph = RealNetwork();
  const Result<Parts> parts = Partition(graph);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  EXPECT_EQ(LayersOf(parts->quantize_inputs), 1u);
  EXPECT_EQ(LayersOf(parts->quantized_main), 1u);
  EXPECT_EQ(LayersOf(parts->dequantize_outputs), 1u);
  EXPECT_EQ(parts->quantized_main.name, "real/quantized_main");
  for (const Tensor& tensor : parts->quantized_main.tensors) {
    EXPECT_NE(tensor.type, Type::kFloat32) << tensor.name;
  }
  ExpectSameBits(graph);
}

// What a model computes of its real inputs before it quantizes them, and after it dequantized.
TEST(Partition, KeepsRealWorkAtTheEnds) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4, 4, 1});
  const Value scaled = b.Layer(Neg{}, {x.id}, Type::kFloat32, {});
  const Value y = b.Dequantize(Convolve(b, b.Quantize(scaled, Type::kInt8, kIn)));
  b.Output(b.Layer(Abs{}, {y.id}, Type::kFloat32, {}), "y");
  const Graph graph = Finish(b);
  const Result<Parts> parts = Partition(graph);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  EXPECT_EQ(LayersOf(parts->quantize_inputs), 2u);
  EXPECT_EQ(LayersOf(parts->dequantize_outputs), 2u);
  ExpectSameBits(graph);
}

TEST(Partition, OfAnIntegerModelIsTheModel) {
  Builder b;
  b.Output(Convolve(b, b.Input("x", Type::kInt8, {1, 4, 4, 1}, kIn)), "y");
  const Graph graph = Finish(b);
  const Result<Parts> parts = Partition(graph);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  EXPECT_EQ(LayersOf(parts->quantize_inputs), 0u);
  EXPECT_EQ(LayersOf(parts->quantized_main), 1u);
  EXPECT_EQ(LayersOf(parts->dequantize_outputs), 0u);
  ExpectSameBits(graph);
}

// Layers quantize the second input first and finish the second output first.
TEST(Partition, KeepsTheOrderOfInputsAndOutputs) {
  Builder b;
  const Value first = b.Input("first", Type::kFloat32, {3});
  const Value unused = b.Input("unused", Type::kInt8, {2}, kIn);
  const Value second = b.Input("second", Type::kFloat32, {5});
  (void)unused;
  const Value q2 = b.Quantize(second, Type::kInt8, kIn);
  const Value q1 = b.Quantize(first, Type::kInt8, kIn);
  const Value y2 = b.Dequantize(b.Relu(q2, kOut));
  const Value y1 = b.Dequantize(b.Relu(q1, kOut));
  b.Output(y1, "y1");
  b.Output(y2, "y2");
  const Graph graph = Finish(b);
  const Result<Parts> parts = Partition(graph);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  const Graph& main = parts->quantized_main;
  const auto shape = [&](TensorId id) { return main.tensors[static_cast<size_t>(id)].shape; };
  ASSERT_EQ(main.inputs.size(), 2u);
  EXPECT_EQ(shape(main.inputs[0]), Shape{3});
  EXPECT_EQ(shape(main.inputs[1]), Shape{5});
  ASSERT_EQ(main.outputs.size(), 2u);
  EXPECT_EQ(shape(main.outputs[0]), Shape{3});
  EXPECT_EQ(shape(main.outputs[1]), Shape{5});
  EXPECT_EQ(parts->quantize_inputs.inputs.size(), 3u);
  ExpectSameBits(graph);
}

// For layers that the builder does not make.
TensorId AddTensor(Graph& graph, const char* name, Type type, Shape shape, Quantization q = {}) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.quantization = std::move(q);
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

TensorId AddVariable(Graph& graph, const char* name, Shape shape, Quantization q) {
  const TensorId id = AddTensor(graph, name, Type::kInt8, std::move(shape), std::move(q));
  graph.tensors.back().variable = true;
  return id;
}

// An audio network. It keeps the last two frames of its input in a variable, as streaming models
// do.
TEST(Partition, KeepsTheStateOfAStream) {
  Graph graph;
  const TensorId x = AddTensor(graph, "x", Type::kFloat32, {1, 4});
  const TensorId q = AddTensor(graph, "q", Type::kInt8, {1, 4}, kIn);
  const TensorId v = AddVariable(graph, "v", {2, 4}, kIn);
  const TensorId old = AddTensor(graph, "old", Type::kInt8, {2, 4}, kIn);
  const TensorId all = AddTensor(graph, "all", Type::kInt8, {3, 4}, kIn);
  const TensorId kept = AddTensor(graph, "kept", Type::kInt8, {2, 4}, kIn);
  const TensorId sum = AddTensor(graph, "sum", Type::kInt8, {4}, kOut);
  const TensorId y = AddTensor(graph, "y", Type::kFloat32, {4});
  graph.layers = {{Quantize{}, {x}, {q}, {}},
                  {ReadVariable{}, {v}, {old}, {}},
                  {Concatenation{0}, {old, q}, {all}, {}},
                  {Slice{{1, 0}, {2, 4}}, {all}, {kept}, {}},
                  {AssignVariable{}, {kept, v}, {}, {}},
                  {Sum{{0}}, {all}, {sum}, {}},
                  {Dequantize{}, {sum}, {y}, {}}};
  graph.inputs = {x};
  graph.outputs = {y};
  ExpectSameBits(graph);
}

TEST(Partition, RefusesAVariableOfTwoParts) {
  Graph graph;
  const TensorId v = AddVariable(graph, "v", {4}, kIn);
  const TensorId y = AddTensor(graph, "y", Type::kInt8, {4}, kIn);
  const TensorId real = AddTensor(graph, "real", Type::kFloat32, {4});
  graph.layers = {{Relu{}, {v}, {y}, {}}, {Dequantize{}, {v}, {real}, {}}};
  graph.outputs = {y};
  EXPECT_EQ(ErrorOf(graph),
            "DEQUANTIZE #1 'real': shares the variable 'v' with a layer or an "
            "output of another part");
  std::swap(graph.layers[0], graph.layers[1]);
  EXPECT_EQ(ErrorOf(graph),
            "RELU #1 'y': shares the variable 'v' with a layer or an output of another part");
  graph.layers = {{Relu{}, {v}, {y}, {}}};
  ExpectSameBits(graph);
  graph.outputs = {y, v};
  EXPECT_EQ(ErrorOf(graph),
            "RELU #0 'y': shares the variable 'v' with a layer or an output of another part");
}

// Layers quantize the last input first, and the first input leads to the last output.
TEST(Partition, KeepsTheOrderOfCrossedTensors) {
  Builder b;
  std::vector<Value> values;
  for (const int size : {3, 4, 5, 6}) values.push_back(b.Input("x", Type::kFloat32, {size}));
  std::reverse(values.begin(), values.end());
  for (Value& value : values) value = b.Quantize(value, Type::kInt8, kIn);
  std::swap(values[1], values[2]);  // the main part has another order than both ends
  for (Value& value : values) value = b.Relu(value, kOut);
  std::swap(values[1], values[2]);
  for (const Value& value : values) b.Output(b.Dequantize(value), "y");
  const Graph graph = Finish(b);
  const Result<Parts> parts = Partition(graph);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  const auto shapes = [](const Graph& part, const std::vector<TensorId>& ids) {
    std::vector<Shape> found;
    for (const TensorId id : ids) found.push_back(part.tensors[static_cast<size_t>(id)].shape);
    return found;
  };
  const Graph& main = parts->quantized_main;
  EXPECT_EQ(shapes(main, main.inputs), (std::vector<Shape>{{3}, {4}, {5}, {6}}));
  EXPECT_EQ(shapes(main, main.outputs), (std::vector<Shape>{{6}, {5}, {4}, {3}}));
  ExpectSameBits(graph);
}

// The golden files have every operator, and states that last over several runs.
TEST(PartitionGolden, GivesTheSameBitsOrNamesALayer) {
  size_t split = 0;
  for (const std::string& path : test::GoldenFiles()) {
    for (const test::GoldenCase& c : test::ReadGoldenFile(path)) {
      if (!c.error.empty()) continue;
      SCOPED_TRACE(c.name);
      const Result<Graph> graph = ImportTflite(c.model, nullptr, "case");
      ASSERT_TRUE(graph.ok()) << graph.status().message();
      const Result<Parts> parts = Partition(*graph);
      if (!parts.ok()) continue;
      Runs inputs;
      for (const test::GoldenRun& run : c.runs) inputs.push_back(run.inputs);
      Runs expected;
      Runs outputs;
      EXPECT_EQ(RunChain({*graph}, false, inputs, expected), "");
      EXPECT_EQ(RunParts(*parts, inputs, outputs), "");
      EXPECT_EQ(outputs, expected);
      ++split;
    }
  }
  EXPECT_GT(split, 200u);
}

// The quantized input is an output too: through the middle, and back.
TEST(Partition, PassesOnWhatTheMiddleDoesNotUse) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4, 4, 1});
  const Value q = b.Quantize(x, Type::kInt8, kIn);
  b.Output(b.Dequantize(q), "rounded");
  b.Output(b.Dequantize(Convolve(b, q)), "y");
  ExpectSameBits(Finish(b));
}

TEST(Partition, NamesWhatForcesFloatInBetween) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {4}, kIn);
  const Value real = b.Dequantize(b.Relu(x, kIn));
  const Value sine = b.Layer(Sin{}, {real.id}, Type::kFloat32, {});
  b.Output(b.Relu(b.Quantize(sine, Type::kInt8, kOut), kOut), "y");
  EXPECT_EQ(ErrorOf(Finish(b)),
            "DEQUANTIZE #1 'DEQUANTIZE_1': needs floating point between quantized layers: "
            "output 0 'DEQUANTIZE_1' is float32");
}

TEST(Partition, NamesTheFirstLayerOfARealModel) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {4});
  const Value y = b.Layer(Sin{}, {x.id}, Type::kFloat32, {});
  b.Output(b.Layer(Cos{}, {y.id}, Type::kFloat32, {}), "y");
  EXPECT_EQ(ErrorOf(Finish(b)),
            "SIN #0 'SIN_0': needs floating point: the model's input 'x' is float32 and is not "
            "quantized before this layer");
}

TEST(Partition, RefusesAnInputThatIsARealOutput) {
  Builder b;
  b.Output(b.Input("x", Type::kFloat32, {4}), "x");
  EXPECT_EQ(ErrorOf(Finish(b)), "the model's input 'x' is float32 and one of its outputs");
}

// Its tensors are integers, its arithmetic is not.
TEST(Partition, NamesFloatArithmeticOnIntegers) {
  Builder b;
  const Value x = b.Input("x", Type::kUInt8, {1, 2, 2, 1}, PerTensor(0.5f, 7));
  const Value y = b.Relu(x, PerTensor(0.5f, 7));
  const Value large = b.Layer(ResizeBilinear{3, 3}, {y.id}, Type::kUInt8, PerTensor(0.5f, 7));
  b.Output(b.Relu(large, PerTensor(0.5f, 7)), "y");
  const Graph graph = Finish(b);
  const std::string expected = "it interpolates uint8 'RELU_0' in float32";
  EXPECT_EQ(ErrorOf(graph),
            "RESIZE_BILINEAR #1 'RESIZE_BILINEAR_1': needs floating point between "
            "quantized layers: " +
                expected);
  const Result<Model> model = Model::Prepare(graph, {.integer_only = true});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().message(),
            "RESIZE_BILINEAR #1 'RESIZE_BILINEAR_1': needs floating point: " + expected);
}

// Twice the size: no weight has more bits than integers hold.
TEST(Partition, TakesInterpolationByFewBits) {
  Builder b;
  const Quantization q = PerTensor(0.5f, 7);
  const Value x = b.Input("x", Type::kUInt8, {1, 2, 2, 1}, q);
  b.Output(b.Layer(ResizeBilinear{4, 4}, {x.id}, Type::kUInt8, q), "y");
  EXPECT_TRUE(Model::Prepare(Finish(b), {.integer_only = true}).ok());
}

// Asking takes no memory, and no more time than that of 65,536 outputs an axis.
TEST(Partition, NamesInterpolationOfAnySize) {
  const auto error = [](int in, int out) {
    Builder b;
    const Quantization q = PerTensor(0.5f, 7);
    const Value x = b.Input("x", Type::kUInt8, {1, in, 1, 1}, q);
    b.Output(b.Layer(ResizeBilinear{out, 1}, {x.id}, Type::kUInt8, q), "y");
    return CheckIntegerOnly(Finish(b)).message();
  };
  EXPECT_EQ(error(1 << 16, 1 << 16), "");
  const std::string refused =
      "RESIZE_BILINEAR #0 'y': needs floating point: it interpolates uint8 'x' in float32";
  EXPECT_EQ(error((1 << 16) + 1, (1 << 16) + 1), refused);
  EXPECT_EQ(error(1 << 30, 1 << 30), refused);
  EXPECT_EQ(error(1, 2'000'000'000), refused);
}

TEST(Partition, NamesRootsOfInt16) {
  Builder b;
  const Quantization q = PerTensor(0.5f, 0);
  const Value x = b.Input("x", Type::kInt16, {4}, q);
  const Value y = b.Relu(x, q);
  const Value root = b.Layer(Sqrt{}, {y.id}, Type::kInt16, q);
  b.Output(b.Relu(root, q), "y");
  EXPECT_EQ(ErrorOf(Finish(b)),
            "SQRT #1 'SQRT_1': needs floating point between quantized layers: it takes the roots "
            "of int16 'RELU_0' in float32");
}

TEST(Partition, RefusesWhatIsNoGraph) {
  Graph graph = RealNetwork();
  graph.outputs[0] = 99;
  EXPECT_NE(ErrorOf(graph).find("tensor #99"), std::string::npos);
  graph = RealNetwork();
  graph.layers[1].inputs[0] = graph.layers[1].outputs[0];
  EXPECT_NE(ErrorOf(graph).find("which nothing has written before"), std::string::npos);
}

// The sensor's numbers through the integer layers, against their real values through QUANTIZE.
template <class Raw>
void ExpectSensor(const Graph& graph, const Sensor& sensor, size_t layers) {
  const Result<Parts> parts = Partition(graph, {{sensor}});
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  const Graph& part = parts->quantize_inputs;
  EXPECT_TRUE(CheckIntegerOnly(part).ok());
  EXPECT_EQ(LayersOf(part), layers);
  const Tensor& input = part.tensors[static_cast<size_t>(part.inputs[0])];
  EXPECT_EQ(input.type, sensor.type);
  EXPECT_EQ(input.shape, (Shape{1, 4, 4, 1}));

  // One QUANTIZE rounds twice, of which the first may cost another quarter of a step.
  const double bound = layers == 1 ? 0.751 : 0.501;
  std::vector<uint8_t> bytes(16 * sizeof(Raw));
  for (int round = 0; round < 40; ++round) {
    std::vector<Raw> raw(16);
    for (size_t i = 0; i < raw.size(); ++i) {
      raw[i] = static_cast<Raw>(static_cast<int>(sensor.mean) + 7 * round - 140 +
                                3 * static_cast<int>(i));
    }
    std::memcpy(bytes.data(), raw.data(), bytes.size());
    const RawTensors quantized = test::RunGraph(Saved(part), {bytes}, {.integer_only = true});
    ASSERT_EQ(quantized.size(), 1u);
    for (size_t i = 0; i < raw.size(); ++i) {
      const double real = sensor.scale * (static_cast<double>(raw[i]) - sensor.mean);
      const double exact =
          std::clamp(real / static_cast<double>(kIn.scales[0]) + kIn.zero_points[0], -128.0, 127.0);
      EXPECT_NEAR(static_cast<int8_t>(quantized[0][i]), exact, bound) << +raw[i];
    }
  }
}

Graph QuantizedNetwork() {
  Builder b("quantized");
  b.Output(Convolve(b, b.Input("x", Type::kInt8, {1, 4, 4, 1}, kIn)), "y");
  return Finish(b);
}

TEST(PartitionSensor, FoldsIntoOneQuantize) {
  ExpectSensor<uint8_t>(RealNetwork(), {Type::kUInt8, 128, 1.0 / 128}, 1);
  ExpectSensor<uint8_t>(QuantizedNetwork(), {Type::kUInt8, 100, 0.0625}, 1);
  ExpectSensor<int8_t>(QuantizedNetwork(), {Type::kInt8, -5, 0.0625}, 1);
  ExpectSensor<int16_t>(RealNetwork(), {Type::kInt16, 2048, 0.011}, 1);
  ExpectSensor<int32_t>(RealNetwork(), {Type::kInt32, 1 << 20, 0.011}, 1);
}

TEST(PartitionSensor, FoldsAMeanBetweenNumbersIntoInt32) {
  ExpectSensor<uint8_t>(RealNetwork(), {Type::kUInt8, 127.5, 1.0 / 127.5}, 4);
  ExpectSensor<uint8_t>(QuantizedNetwork(), {Type::kUInt8, 123.675, 0.017}, 4);
  ExpectSensor<int16_t>(QuantizedNetwork(), {Type::kInt16, 511.75, 0.013}, 4);
  ExpectSensor<uint8_t>(RealNetwork(), {Type::kUInt8, 300, 0.02}, 4);
  ExpectSensor<int8_t>(RealNetwork(), {Type::kInt8, -1e6 - 0.25, 1e-6}, 4);
}

TEST(PartitionSensor, IsTheSameInEveryFloatEnvironment) {
  for (const Sensor& sensor :
       {Sensor{Type::kUInt8, 128, 0.03}, Sensor{Type::kUInt8, 123.675, 0.017},
        Sensor{Type::kInt16, 511.75, 0.013}}) {
    const auto bytes = [&] {
      const Result<Parts> parts = Partition(RealNetwork(), {{sensor}});
      return parts.ok() ? *ExportTflite(parts->quantize_inputs) : std::vector<uint8_t>();
    };
    const std::vector<uint8_t> expected = bytes();
    EXPECT_FALSE(expected.empty());
    for (const intaglio::test::FloatMode& mode : intaglio::test::kForeignFloatModes) {
      const intaglio::test::ForeignFloatEnvironment foreign(mode);
      EXPECT_EQ(bytes(), expected) << mode.name;
    }
  }
}

TEST(PartitionSensor, GivesTheWholeItsResult) {
  const Graph graph = RealNetwork();
  const Sensor sensor{Type::kUInt8, 127.5, 0.03};
  const Result<Parts> parts = Partition(graph, {{sensor}});
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  const RawTensors raw = test::RandomInputs(parts->quantize_inputs, 9);
  std::vector<uint8_t> real(16 * sizeof(float));
  for (size_t i = 0; i < 16; ++i) {
    const auto value = static_cast<float>(sensor.scale * (raw[0][i] - sensor.mean));
    std::memcpy(real.data() + i * sizeof(float), &value, sizeof(float));
  }
  EXPECT_EQ(Compose(*parts, raw), test::RunGraph(graph, {real}));
}

TEST(PartitionSensor, SaysWhatIsWrong) {
  const Graph graph = RealNetwork();
  const auto error = [&](const Sensor& sensor) { return ErrorOf(graph, {{sensor}}); };
  EXPECT_EQ(error({Type::kFloat32, 0, 1}),
            "the sensor of input 0 'x' gives float32; int8, uint8, int16 and int32 are supported");
  EXPECT_EQ(error({Type::kUInt8, 0, 0}),
            "the sensor of input 0 'x' has the scale 0.000000; scales are positive and finite");
  EXPECT_NE(error({Type::kUInt8, 0, 1e300}).find("has the scale"), std::string::npos);
  EXPECT_NE(error({Type::kUInt8, 0, NAN}).find("has the scale nan"), std::string::npos);
  EXPECT_NE(error({Type::kUInt8, INFINITY, 1}).find("has the mean inf"), std::string::npos);
  EXPECT_NE(error({Type::kUInt8, 1e12, 1}).find("which int32 does not hold beside its uint8"),
            std::string::npos);
  EXPECT_NE(error({Type::kInt32, 0.5, 1}).find("which int32 does not hold beside its int32"),
            std::string::npos);
  EXPECT_EQ(ErrorOf(graph, {{std::nullopt, std::nullopt}}),
            "the model has 1 inputs, but 2 sensors were given");

  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {4});
  const Value negative = b.Layer(Neg{}, {x.id}, Type::kFloat32, {});
  b.Output(b.Quantize(negative, Type::kInt8, kIn), "y");
  EXPECT_EQ(ErrorOf(Finish(b), {{Sensor{}}}),
            "the sensor of input 0 'x' feeds NEG #0 'NEG_0' with real numbers; only QUANTIZE can "
            "take a sensor's");

  Builder ids;
  ids.Output(ids.Input("x", Type::kInt32, {4}), "y");
  EXPECT_NE(ErrorOf(Finish(ids), {{Sensor{}}}).find("feeds int32 without quantization"),
            std::string::npos);
}

// Of the models that are there, those that the reader takes: the same bits, or a layer's name.
TEST(PartitionShared, GivesTheSameBitsOrNamesALayer) {
  const auto files = test::SharedModelFiles();
  if (files.empty()) GTEST_SKIP() << test::NoSharedModels();
  size_t split = 0;
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    const Result<Graph> graph = LoadTflite(file.string());
    if (!graph.ok() || !Model::Prepare(*graph).ok()) continue;
    const Result<Parts> parts = Partition(*graph);
    if (!parts.ok()) {
      EXPECT_NE(parts.status().message().find(" #"), std::string::npos) << parts.status().message();
      continue;
    }
    Runs expected;
    Runs outputs;
    const std::string error = RunChain({*graph}, false, SomeInputs(*graph), expected);
    EXPECT_EQ(RunParts(*parts, SomeInputs(*graph), outputs), error);
    EXPECT_EQ(outputs, expected);
    if (error.empty()) ++split;
  }
  EXPECT_GT(split, 40u) << "of " << files.size() << " models";
}

}  // namespace
}  // namespace intaglio::nn
