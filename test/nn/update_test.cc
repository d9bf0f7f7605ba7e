// Model::Update: a model whose constants and quantizations were replaced gives the bits of one that
// is prepared with them, by every kernel and every routine.
#include <cstring>
#include <set>
#include <string>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/routine/routine_of.h"
#include "intaglio/test/nn/raw_run.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

using test::RawTensors;

constexpr int kChannels = 32;  // so that Winograd's algorithm is taken

// Copies, in the memory of its input, where both scales are alike; else flips the lowest bits.
struct CopyOrFlip {
  static const OperatorRow kRow;
};

Result<PreparedLayer> PrepareCopyOrFlip(const LayerView& layer, const LayerOptions&) {
  const bool alike = layer.input(0).quantization.scales == layer.output().quantization.scales;
  const size_t count = *CountBytes(layer.output().shape, Type::kInt8);
  PreparedLayer prepared;
  prepared.alias = alike;
  prepared.routine = RoutineOf([=](const RunArguments& arguments) {
    const auto* const x = static_cast<const int8_t*>(arguments.inputs[0]);
    auto* const y = static_cast<int8_t*>(arguments.outputs[0]);
    for (size_t i = 0; i < count; ++i) y[i] = static_cast<int8_t>(x[i] ^ (alike ? 0 : 1));
  });
  return prepared;
}

constinit const OperatorRow CopyOrFlip::kRow = {
    .name = "COPY_OR_FLIP",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = SetOf(Type::kInt8),
    .infer = [](const LayerView& layer) -> ShapesResult {
      return std::vector<Shape>{layer.input(0).shape};
    },
    .candidates = Candidate{.algorithm = "copy", .prepare = PrepareCopyOrFlip, .backend = "test"}};

// Networks that differ in their numbers only, and in whether CopyOrFlip copies.
class Network {
 public:
  Network(unsigned seed, bool alike) : random_(seed), b_("update"), alike_(alike) {}

  Graph Make() {
    const Value x = b_.Input("x", Type::kInt8, {2, 10, 10, 4}, Some(0.02, 0.03));
    const Value first = b_.Conv2D(x, Weights({kChannels, 3, 3, 4}, 0), Bias(kChannels),
                                  {.padding = Padding::Same()}, Some(0.1, 0.2));
    const Value wide =
        b_.Conv2D(first, Weights({kChannels, 3, 3, kChannels}, 0), Bias(kChannels),
                  {.padding = Padding::Same(), .activation = Activation::kRelu}, Some(0.2, 0.5));
    const Value deep = b_.DepthwiseConv2D(
        wide, Weights({1, 3, 3, kChannels}, 3), Bias(kChannels),
        {.padding = Padding::Same(), .activation = Activation::kRelu6}, flipped_);
    Quantization scale = flipped_;
    if (!alike_) scale.scales[0] *= 2;
    const Value part = b_.Layer(CopyOrFlip{}, {deep.id}, Type::kInt8, scale);
    const Value both[] = {b_.Add(deep, part, {}, part_), b_.Add(deep, wide, {}, part_)};
    const Value joined = b_.Concatenation(both, {3, Activation::kNone}, part_);
    const Value pooled = b_.MaxPool2D(joined, {.filter = {2, 2}, .stride = {2, 2}});
    const Value mean = b_.Mean(pooled, {.axes = {1, 2}, .keep_dims = false}, Some(0.02, 0.05));
    b_.Output(
        b_.FullyConnected(mean, Weights({10, 2 * kChannels}, 0), Bias(10), {}, Some(0.1, 0.3)),
        "y");
    Result<Graph> graph = b_.Finish();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return std::move(*graph);
  }

 private:
  Quantization Some(double low, double high) {
    return PerTensor(random_.Scale(low, high), random_.Int(-20, 20));
  }
  Constant Weights(const Shape& shape, int axis) {
    std::vector<float> scales;
    for (int i = 0; i < shape[static_cast<size_t>(axis)]; ++i) {
      scales.push_back(random_.Scale(0.002, 0.02));
    }
    return Const(b_, random_.Tensor(Type::kInt8, shape), PerAxis(scales, axis));
  }
  Constant Bias(int count) {
    std::vector<int32_t> values;
    for (int i = 0; i < count; ++i) values.push_back(random_.Int(-5000, 5000));
    return b_.Const<int32_t>("bias", values, {count});
  }

  Random random_;
  Builder b_;
  bool alike_;
  Quantization part_ = Some(0.1, 0.3);
  Quantization flipped_ = Some(0.1, 0.3);
};

Graph MakeNetwork(unsigned seed, bool alike = true) { return Network(seed, alike).Make(); }

// All that makes `to` of a graph of the same layers.
std::vector<TensorUpdate> UpdatesTo(const Graph& to) {
  std::vector<TensorUpdate> updates;
  for (size_t i = 0; i < to.tensors.size(); ++i) {
    const Tensor& tensor = to.tensors[i];
    updates.push_back(
        {static_cast<TensorId>(i), tensor.data, tensor.data_bytes, tensor.quantization});
  }
  return updates;
}

RawTensors Outputs(Model& model) {
  RawTensors results;
  EXPECT_EQ(test::RunRaw(model, test::RandomInputs(model.graph(), 3), results), "");
  return results;
}

RawTensors RunGraph(const Graph& graph, const PrepareOptions& options = {}) {
  Result<Model> model = Model::Prepare(graph, options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.ok() ? Outputs(*model) : RawTensors();
}

void MakeIt(Model& model, const Graph& to) {
  const Status status = model.Update(UpdatesTo(to));
  ASSERT_TRUE(status.ok()) << status.message();
}

// Every layer by each of its routines in turn, the others by their own.
TEST(Update, GivesTheBitsOfAFreshModel) {
  const Graph from = MakeNetwork(1);
  const Graph to = MakeNetwork(2);
  std::set<std::string> routines;
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    const RawTensors expected = RunGraph(to, {.kernel = kernel.name});
    EXPECT_NE(expected, RunGraph(from, {.kernel = kernel.name}));
    const Result<Model> first = Model::Prepare(from, {.kernel = kernel.name});
    ASSERT_TRUE(first.ok()) << first.status().message();
    for (size_t i = 0; i < from.layers.size(); ++i) {
      for (const CandidateInfo& way : first->ListRoutines(i)) {
        const RoutineChoice choice{.layer = std::to_string(i), .routine = way.name};
        Result<Model> model =
            Model::Prepare(from, {.threads = 2, .kernel = kernel.name, .routines = {choice}});
        if (!model.ok()) continue;  // a routine of other layers
        SCOPED_TRACE(std::string(kernel.name) + " " + choice.layer + " " + way.name);
        routines.insert(way.name);
        Outputs(*model);
        MakeIt(*model, to);
        EXPECT_EQ(Outputs(*model), expected);
        EXPECT_EQ(model->layers()[i].routine, way.name);
      }
    }
  }
  EXPECT_EQ(routines.count("cpu:qint8/winograd"), 1u);
  EXPECT_EQ(routines.count("cpu:qint8/gemm-real64"), 1u);
}

// Elements that come to lie where others were freed are not taken for these.
TEST(Update, AgainAndAgain) {
  Result<Model> model = Model::Prepare(MakeNetwork(1));
  ASSERT_TRUE(model.ok());
  const size_t taken = model->taken_bytes();
  for (unsigned seed = 2; seed < 12; ++seed) {
    const Graph to = MakeNetwork(seed, seed % 3 != 0);
    MakeIt(*model, to);
    EXPECT_EQ(Outputs(*model), RunGraph(to)) << seed;
  }
  EXPECT_EQ(model->taken_bytes(), taken);
}

TEST(Update, PlansAnewWhereALayerWantsOtherMemory) {
  const Graph alike = MakeNetwork(1, true);
  const Graph other = MakeNetwork(1, false);
  Result<Model> model = Model::Prepare(alike);
  ASSERT_TRUE(model.ok());
  const void* const arena = model->InputData(0);
  MakeIt(*model, MakeNetwork(2, true));
  EXPECT_EQ(model->InputData(0), arena);
  MakeIt(*model, other);
  EXPECT_EQ(Outputs(*model), RunGraph(other));
  MakeIt(*model, alike);
  EXPECT_EQ(Outputs(*model), RunGraph(alike));
}

TEST(Update, PreparesOnlyTheLayersOfTheTensor) {
  const Graph from = MakeNetwork(1);
  const Graph other = MakeNetwork(2);
  Result<Model> model = Model::Prepare(from, {.keep_all_tensors = true});
  ASSERT_TRUE(model.ok());
  const TensorId weights = from.layers[1].inputs[1];
  const Tensor& tensor = other.tensors[static_cast<size_t>(weights)];
  const TensorUpdate update[] = {{weights, tensor.data, tensor.data_bytes, tensor.quantization}};
  ASSERT_TRUE(model->Update(update).ok());
  Graph expected = from;
  expected.tensors[static_cast<size_t>(weights)] = tensor;
  EXPECT_EQ(Outputs(*model), RunGraph(expected));
  EXPECT_EQ(std::memcmp(model->TensorData(weights), tensor.data, tensor.data_bytes), 0);
}

TEST(Update, OtherInstancesKeepTheirConstants) {
  const Graph from = MakeNetwork(1);
  const Graph to = MakeNetwork(2);
  Result<Model> model = Model::Prepare(from);
  ASSERT_TRUE(model.ok());
  Result<Model> before = model->Share();
  MakeIt(*model, to);
  Result<Model> after = model->Share();
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(Outputs(*before), RunGraph(from));
  EXPECT_EQ(Outputs(*after), RunGraph(to));
}

TEST(Update, LastsThroughAResize) {
  Result<Model> model = Model::Prepare(MakeNetwork(1));
  Result<Model> fresh = Model::Prepare(MakeNetwork(2));
  ASSERT_TRUE(model.ok() && fresh.ok());
  MakeIt(*model, MakeNetwork(2));
  for (const int batch : {5, 1}) {
    ASSERT_TRUE(model->Resize({{batch, 10, 10, 4}}).ok());
    ASSERT_TRUE(fresh->Resize({{batch, 10, 10, 4}}).ok());
    EXPECT_EQ(Outputs(*model), Outputs(*fresh));
    MakeIt(*model, MakeNetwork(3));
    MakeIt(*fresh, MakeNetwork(3));
    EXPECT_EQ(Outputs(*model), Outputs(*fresh));
  }
}

TEST(Update, AnErrorLeavesTheModelAsItWas) {
  const Graph from = MakeNetwork(1);
  Result<Model> model = Model::Prepare(from);
  ASSERT_TRUE(model.ok());
  const TensorId weights = from.layers[0].inputs[1];
  const TensorId x = from.inputs[0];
  const char byte = 0;
  const auto fails = [&](const TensorUpdate& update, const std::string& message) {
    const TensorUpdate updates[] = {update};
    const Status status = model->Update(updates);
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
  };
  fails({99, nullptr, 0, {}}, "there is no tensor 99");
  fails({-1, nullptr, 0, {}}, "there is no tensor -1");
  fails({weights, &byte, 1, {}}, "has 1152 bytes");
  fails({x, &byte, 1, {}}, "is no constant");
  fails({x, nullptr, 0, PerTensor(0.1f, 300)}, "zero point 300");
  fails({weights, nullptr, 0, PerAxis({1, 2}, 0)}, "2 scales along axis 0");
  EXPECT_EQ(Outputs(*model), RunGraph(from));

  std::vector<int8_t> y(20);
  ASSERT_TRUE(model->BindOutput(0, MakeOutput(y)).ok());
  EXPECT_NE(model->Update({}).message().find("bound"), std::string::npos);
}

}  // namespace
}  // namespace intaglio::nn
