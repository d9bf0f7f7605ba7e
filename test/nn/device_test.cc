// Models of which some layers run on a device, whatever layers these are.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/test/nn/played_device.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

using Bytes = std::vector<std::vector<uint8_t>>;

// Two inputs, three outputs, a branch, tables in place, an alias, and concatenations of lines and
// of whole tensors.
Graph MakeBranches() {
  Builder b("branches");
  const Quantization q = PerTensor(0.05f, 3);
  const Value x = b.Input("x", Type::kInt8, {1, 4, 4, 8}, q);
  const Value y = b.Input("y", Type::kInt8, {1, 4, 4, 8}, q);
  const Value sum = b.Add(x, y, {}, q);
  const Value left = b.Relu(sum, q);
  const Value right = b.Add(sum, x, {}, q);
  const Value lines[] = {left, right};
  const Value joined = b.Concatenation(lines, {.axis = 3}, q);
  const Value flat = b.Reshape(joined, {1, 256});
  const Value tanh = b.Tanh(flat);
  const Value whole[] = {flat, b.Reshape(joined, {1, 256})};
  const Value twice = b.Concatenation(whole, {.axis = 0}, q);
  b.Output(b.Softmax(twice), "softmax");
  b.Output(tanh, "tanh");
  b.Output(left, "left");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

Constant Weights(Builder& b, Random& random, const Shape& shape) {
  return Const(b, random.Tensor(Type::kInt8, shape, 0.01f, 0), PerTensor(0.01f, 0));
}

// Convolutions that write lines of a concatenation, and products that share the quantized form of
// their input.
Graph MakeLines() {
  Random random(5);
  Builder b("lines");
  const Quantization q = PerTensor(0.05f, 3);
  const Value x = b.Input("x", Type::kInt8, {1, 4, 4, 8}, q);
  const Value left = b.Conv2D(x, Weights(b, random, {8, 1, 1, 8}), kNoBias, {}, q);
  const Value right = b.Conv2D(x, Weights(b, random, {24, 1, 1, 8}), kNoBias, {}, q);
  const Value lines[] = {left, right};
  b.Output(b.Concatenation(lines, {.axis = 3}, q), "joined");
  const Value reals = b.Input("reals", Type::kFloat32, {3, 16});
  const Value product = b.FullyConnected(reals, Weights(b, random, {8, 16}), kNoBias, {}, {});
  b.Output(product, "product");
  b.Output(b.FullyConnected(reals, Weights(b, random, {4, 16}), kNoBias, {}, {}), "other");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

// The routines of the layers whose bits are set.
std::vector<RoutineChoice> ChoicesOf(const Graph& graph, const PlayedDevice& device,
                                     unsigned layers) {
  std::vector<RoutineChoice> choices;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if ((layers >> i & 1) == 0) continue;
    choices.push_back({std::to_string(i), device.ListCandidates(graph, i)[0].name});
  }
  return choices;
}

PrepareOptions OptionsFor(const Graph& graph, const std::shared_ptr<const PlayedDevice>& device,
                          unsigned layers) {
  PrepareOptions options;
  options.device = device;
  options.routines = ChoicesOf(graph, *device, layers);
  return options;
}

Status RunOn(Model& model, unsigned seed, Bytes& results) {
  Random random(seed);
  Bytes bytes;
  std::vector<InputBuffer> in;
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < model.input_count(); ++i) {
    const Tensor& tensor = model.input(i);
    std::vector<uint8_t>& b = bytes.emplace_back(*CountBytes(tensor.shape, tensor.type));
    for (uint8_t& element : b) element = static_cast<uint8_t>(random.Element(Type::kInt8));
    for (size_t k = 0; tensor.type == Type::kFloat32 && k < b.size(); k += sizeof(float)) {
      const float value = random.Scale(0.1, 2);
      std::memcpy(&b[k], &value, sizeof(value));
    }
    in.push_back({b.data(), b.size(), model.input(i).type});
  }
  results.clear();
  for (size_t i = 0; i < model.output_count(); ++i) {
    results.emplace_back(*CountBytes(model.output(i).shape, model.output(i).type));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    out.push_back({results[i].data(), results[i].size(), model.output(i).type});
  }
  return model.Run(in, out);
}

class AnyLayers : public testing::TestWithParam<Graph (*)()> {};

TEST_P(AnyLayers, GiveTheSameBits) {
  const Graph graph = GetParam()();
  ASSERT_LE(graph.layers.size(), 10u);
  Result<Model> on_host = Model::Prepare(graph);
  ASSERT_TRUE(on_host.ok()) << on_host.status().message();
  Bytes expected[2], results;
  for (const unsigned seed : {0u, 1u}) ASSERT_TRUE(RunOn(*on_host, seed, expected[seed]).ok());
  for (unsigned layers = 0; layers < 1u << graph.layers.size(); ++layers) {
    const auto device = std::make_shared<PlayedDevice>();
    Result<Model> model = Model::Prepare(graph, OptionsFor(graph, device, layers));
    ASSERT_TRUE(model.ok()) << model.status().message();
    for (const unsigned seed : {0u, 1u}) {  // the second run finds what the first one left
      const Status status = RunOn(*model, seed, results);
      ASSERT_TRUE(status.ok()) << layers << " " << status.message();
      EXPECT_EQ(results, expected[seed]) << layers;
      EXPECT_TRUE(device->idle());
    }
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      EXPECT_EQ(model->layers()[i].routine.rfind("played:", 0) == 0, (layers >> i & 1) != 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Device, AnyLayers, testing::Values(MakeBranches, MakeLines));

// sum, relu, right, joined, flat, tanh, ...
TEST(Device, TensorsCrossOnceWhereTheyAreReadOnBothSides) {
  const Graph graph = MakeBranches();
  const auto count = [&](unsigned layers) {
    const auto device = std::make_shared<PlayedDevice>();
    Result<Model> model = Model::Prepare(graph, OptionsFor(graph, device, layers));
    Bytes results;
    EXPECT_TRUE(RunOn(*model, 0, results).ok());
    return std::pair(device->to_device, device->to_host);
  };
  using Count = std::pair<int, int>;
  const auto all = (1u << graph.layers.size()) - 1;
  EXPECT_EQ(count(0), Count(0, 0));
  EXPECT_EQ(count(all), Count(2, 3));        // the inputs and outputs alone
  EXPECT_EQ(count(1), Count(2, 1));          // the sum has two readers on the host
  EXPECT_EQ(count(2 + 4), Count(2, 2));      // both read the sum, and one of them an input
  EXPECT_EQ(count(1 + 2 + 4), Count(2, 2));  // no copies between them; "left" is an output, too
}

TEST(Device, AFailureIsAnErrorOfTheRun) {
  const Graph graph = MakeBranches();
  const auto device = std::make_shared<PlayedDevice>();
  Result<Model> model = Model::Prepare(graph, OptionsFor(graph, device, 1 + 8));
  ASSERT_TRUE(model.ok());
  Bytes results, expected;
  ASSERT_TRUE(RunOn(*model, 0, expected).ok());
  for (int works = 0; works < 7; ++works) {
    device->works_until_failure = works;
    const Status status = RunOn(*model, 0, results);
    EXPECT_NE(status.message().find("fell off the bus"), std::string::npos) << works;
    EXPECT_TRUE(device->idle()) << works;
    device->works_until_failure = -1;
    ASSERT_TRUE(RunOn(*model, 0, results).ok());
    EXPECT_EQ(results, expected);
  }
  device->refuses_memory = true;
  EXPECT_EQ(model->Share().status().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(Model::Prepare(graph, OptionsFor(graph, device, 1)).status().code(),
            StatusCode::kOutOfMemory);
  EXPECT_TRUE(Model::Prepare(graph, OptionsFor(graph, device, 0)).ok());  // it is not needed
  device->refuses_memory = false;
  device->refuses_to_prepare = true;
  const std::string message =
      Model::Prepare(graph, OptionsFor(graph, device, 1)).status().message();
  EXPECT_NE(message.find("the played device refuses"), message.npos) << message;
}

TEST(Device, WrongOptionsAreErrors) {
  const Graph graph = MakeBranches();
  const auto device = std::make_shared<PlayedDevice>();
  PrepareOptions options = OptionsFor(graph, device, 1);
  options.backend = device;
  EXPECT_EQ(Model::Prepare(graph, options).status().code(), StatusCode::kInvalidArgument);
  options = OptionsFor(graph, device, 1);
  options.device = nullptr;
  EXPECT_FALSE(Model::Prepare(graph, options).ok());
  options = OptionsFor(graph, device, 1);
  options.routines[0].threads = 1;
  EXPECT_FALSE(Model::Prepare(graph, options).ok());
  Result<Model> model = Model::Prepare(graph, OptionsFor(graph, device, 1));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->Update({}).code(), StatusCode::kUnsupported);
}

TEST(Device, TimesAreThoseOfLayersThatAreDone) {
  const Graph graph = MakeBranches();
  const auto device = std::make_shared<PlayedDevice>();
  Result<Model> model = Model::Prepare(graph, OptionsFor(graph, device, 1 + 2 + 8));
  ASSERT_TRUE(model.ok());
  Bytes expected;
  ASSERT_TRUE(RunOn(*model, 0, expected).ok());
  const int waits = device->waits;
  std::vector<uint8_t> x(128), y(128);
  std::vector<InputBuffer> in = {MakeInput(x), MakeInput(y)};
  in[0].type = in[1].type = Type::kInt8;
  Bytes results;
  std::vector<OutputBuffer> out;
  for (const auto& bytes : expected) results.emplace_back(bytes.size());
  for (size_t i = 0; i < results.size(); ++i) {
    out.push_back({results[i].data(), results[i].size(), model->output(i).type});
  }
  std::vector<std::chrono::nanoseconds> times(graph.layers.size());
  ASSERT_TRUE(model->Run(in, out, times).ok());
  EXPECT_GE(device->waits - waits, 3);  // one for each layer
}

// Every instance has memory of its own on the device, and so has a model that was resized.
TEST(Device, InstancesAndOtherShapes) {
  const Graph graph = MakeBranches();
  const auto device = std::make_shared<PlayedDevice>();
  Result<Model> on_host = Model::Prepare(graph);
  Result<Model> model = Model::Prepare(graph, OptionsFor(graph, device, 2 + 8 + 64));
  ASSERT_TRUE(on_host.ok() && model.ok());
  Result<Model> other = model->Share();
  ASSERT_TRUE(other.ok()) << other.status().message();
  Bytes expected, results;
  ASSERT_TRUE(RunOn(*on_host, 3, expected).ok());
  for (Model* const m : {&*model, &*other}) {
    ASSERT_TRUE(m->WarmUp().ok());
    ASSERT_TRUE(RunOn(*m, 3, results).ok());
    EXPECT_EQ(results, expected);
  }
  // Buffers of the caller, used in place.
  std::vector<int8_t> x(128, 5), y(128, -7), left(128), left_of_host(128);
  for (Model* const m : {&*on_host, &*model}) {
    ASSERT_TRUE(m->BindInput(0, MakeInput(x)).ok());
    ASSERT_TRUE(m->BindInput(1, MakeInput(y)).ok());
    ASSERT_TRUE(m->BindOutput(2, MakeOutput(m == &*model ? left : left_of_host)).ok());
    const Status status = m->RunBound();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(left, left_of_host);
  for (size_t i = 0; i < 2; ++i) {
    const auto* const a = static_cast<const uint8_t*>(on_host->OutputData(i));
    EXPECT_TRUE(
        std::equal(a, a + expected[i].size(), static_cast<const uint8_t*>(model->OutputData(i))));
  }
}

TEST(Device, AllTensorsAreOnTheHostIfTheyAreKept) {
  const Graph graph = MakeBranches();
  const auto device = std::make_shared<PlayedDevice>();
  PrepareOptions options = OptionsFor(graph, device, 1 + 2 + 8);
  options.keep_all_tensors = true;
  Result<Model> model = Model::Prepare(graph, options);
  Result<Model> on_host = Model::Prepare(graph, {.keep_all_tensors = true});
  ASSERT_TRUE(model.ok() && on_host.ok());
  Bytes results;
  ASSERT_TRUE(RunOn(*model, 0, results).ok());
  ASSERT_TRUE(RunOn(*on_host, 0, results).ok());
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    const auto* const a = static_cast<const uint8_t*>(on_host->TensorData(id));
    const auto* const b = static_cast<const uint8_t*>(model->TensorData(id));
    const size_t bytes = *CountBytes(graph.tensors[i].shape, graph.tensors[i].type);
    EXPECT_TRUE(std::equal(a, a + bytes, b)) << i;
  }
}

// A cell with a state, and a sum that reads it.
Graph MakeState() {
  Builder b("state");
  const Value x = b.Input("x", Type::kFloat32, {1, 1});
  Graph graph = [&] {
    b.Output(b.Layer(Neg{}, {x.id}, Type::kFloat32, {}), "y");
    return *b.Finish();
  }();
  Tensor variable = graph.tensors[0];
  variable.name = "state";
  variable.variable = true;
  graph.tensors.push_back(variable);
  Tensor sum = graph.tensors[0];
  sum.name = "sum";
  graph.tensors.push_back(sum);
  graph.layers.push_back({Add{}, {1, 2}, {3}, {}});
  graph.outputs = {3};
  return graph;
}

TEST(Device, LayersWithVariablesStayOnTheHost) {
  const Graph graph = MakeState();
  const auto device = std::make_shared<PlayedDevice>();
  const std::string message =
      Model::Prepare(graph, OptionsFor(graph, device, 2)).status().message();
  EXPECT_NE(message.find("has the variable 'state', so it cannot run on a device"), message.npos)
      << message;
  const Result<Model> model = Model::Prepare(graph, OptionsFor(graph, device, 1));
  EXPECT_TRUE(model.ok()) << model.status().message();
}

}  // namespace
}  // namespace intaglio::nn
