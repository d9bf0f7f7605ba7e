// Childnets: routines that are graphs of layers, and how each of those is computed.
#include "intaglio/nn/routine/childnet.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/test/nn/count_allocations.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

constexpr int kDepth = 48;
constexpr int kOutputs = 37;

struct Dense {
  Type type = Type::kInt8;
  int rows = 1;
  bool per_channel = true;
  Activation activation = Activation::kNone;
  std::optional<Scaling> scaling = std::nullopt;
  bool keeps_shape = false;
};

Constant WeightsOf(Builder& b, Random& random, const Dense& dense) {
  if (dense.type == Type::kFloat32) {
    std::vector<float> values(size_t{kOutputs} * kDepth);
    for (float& value : values) value = static_cast<float>(random.Element(Type::kInt8)) / 64;
    return b.Const<float>("w", std::move(values), {kOutputs, kDepth});
  }
  std::vector<float> scales;
  for (int i = 0; i < (dense.per_channel ? kOutputs : 1); ++i) {
    scales.push_back(random.Scale(0.002, 0.02));
  }
  Quantization q = PerAxis(scales, 0);
  if (dense.type == Type::kUInt8) q.zero_points[0] = 120;
  return Const(b, random.Tensor(dense.type, {kOutputs, kDepth}), q);
}

Graph MakeDense(const Dense& dense, unsigned seed = 3) {
  Random random(seed);
  Builder b("dense");
  const bool is_float = dense.type == Type::kFloat32;
  const Shape shape = dense.keeps_shape ? Shape{dense.rows, 1, kDepth} : Shape{dense.rows, kDepth};
  const Value x = b.Input("x", dense.type, shape, is_float ? Quantization() : PerTensor(0.02f, 3));
  const FullyConnected op{.activation = dense.activation, .keep_num_dims = dense.keeps_shape};
  b.Output(b.FullyConnected(x, WeightsOf(b, random, dense), kNoBias, op,
                            is_float ? Quantization() : PerTensor(0.05f, 7)),
           "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (dense.scaling) graph->layers[0].numerics = Numerics{.scaling = *dense.scaling};
  return std::move(*graph);
}

std::vector<uint8_t> RunOnce(Model& model) {
  const Tensor& input = model.input(0);
  Random random(11);
  std::vector<uint8_t> x(*CountBytes(input.shape, input.type));
  if (input.type == Type::kFloat32) {
    for (size_t i = 0; i < x.size(); i += sizeof(float)) {
      const float value = static_cast<float>(random.Element(Type::kInt8)) / 32;
      std::memcpy(&x[i], &value, sizeof(value));
    }
  } else {
    for (uint8_t& element : x) element = static_cast<uint8_t>(random.Element(Type::kUInt8));
  }
  std::vector<uint8_t> y(*CountBytes(model.output(0).shape, model.output(0).type));
  const InputBuffer in[] = {{x.data(), x.size(), input.type}};
  const OutputBuffer out[] = {{y.data(), y.size(), model.output(0).type}};
  const Status status = model.Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

std::vector<uint8_t> RunBy(const Graph& graph, const std::string& routine, int threads = 1) {
  PrepareOptions options = {.threads = threads};
  options.routines = {{"0", routine}};
  Result<Model> model = Model::Prepare(graph, options);
  if (!model.ok()) {
    ADD_FAILURE() << routine << ": " << model.status().message();
    return {};
  }
  if (!routine.empty()) {
    EXPECT_EQ(model->layers()[0].routine, routine);
  }
  return RunOnce(*model);
}

// Kernels without fused multiply-adds add float32 in another way.
FloatSums SumsOf(const std::string& kernel) { return FloatLoopsOf(kernel, FloatSums::kFused).sums; }

// Every way to compute each layer of a childnet: with every kernel, and on fewer threads.
std::vector<std::string> NamesOfWays(const LayerView& layer, const std::string& childnet) {
  const Result<Graph> graph = ChildnetNamed(layer, childnet);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  const bool is_float = layer.input(0).type == Type::kFloat32;
  std::vector<std::string> names = {childnet};
  if (!graph.ok()) return names;
  for (size_t i = 0; i < graph->layers.size(); ++i) {
    for (const KernelInfo& kernel : ListKernels()) {
      if (!kernel.usable || (is_float && SumsOf(kernel.name) != SumsOf(BestKernel()))) continue;
      for (const std::string& routine :
           NamesOfRoutines(LayerView(*graph, i), kernel.name, true, true)) {
        names.push_back(WithChildChoices(childnet, {{i, {routine, kernel.name, 1}}}));
      }
    }
    names.push_back(WithChildChoices(childnet, {{i, {"", "", 2}}}));
  }
  return names;
}

TEST(Childnets, ADenseLayerThroughAConvolutionHasTheSameBits) {
  std::vector<Dense> all;
  for (const int rows : {1, 3, 64}) {
    for (const Type type : {Type::kInt8, Type::kUInt8, Type::kFloat32}) {
      for (const bool per_channel : {false, true}) {
        if (per_channel && type != Type::kInt8) continue;
        all.push_back({type, rows, per_channel, Activation::kRelu});
        all.push_back(
            {.type = type, .rows = rows, .per_channel = per_channel, .keeps_shape = true});
      }
    }
    for (const Scaling scaling :
         {Scaling::kDoubleRounding, Scaling::kSingleRounding, Scaling::kFloatHalfEven}) {
      all.push_back({.rows = rows, .scaling = scaling});
    }
  }
  for (const Dense& dense : all) {
    const Graph graph = MakeDense(dense);
    const std::string childnet = dense.type == Type::kFloat32
                                     ? "cpu:float32/conv"
                                     : std::string("cpu:q") + NameOf(dense.type) + "/conv";
    const std::vector<uint8_t> expected = RunBy(graph, "");
    const std::vector<std::string> names = NamesOfWays(LayerView(graph, 0), childnet);
    EXPECT_GT(names.size(), 6u);
    for (const std::string& name : names) {
      for (const int threads : {1, 2}) {
        EXPECT_EQ(RunBy(graph, name, threads), expected) << name << " rows " << dense.rows;
      }
    }
  }
}

// Any convolution of 3x3 filters, whose last tiles are cut.
Graph MakeConvolution(int batch, int height, int width, int channels, int outputs, bool same,
                      Activation activation) {
  Random random(5);
  Builder b("convolution");
  const auto constant = [&](const std::string& name, const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(*CountElements(shape)));
    for (float& value : values) value = static_cast<float>(random.Element(Type::kInt8)) / 100;
    return b.Const<float>(name, std::move(values), shape);
  };
  const Value x = b.Input("x", Type::kFloat32, {batch, height, width, channels}, {});
  const Conv2D op{.padding = same ? Padding::Same() : Padding::Valid(), .activation = activation};
  const Constant w = constant("w", {outputs, 3, 3, channels});
  const Constant bias = same ? constant("bias", {outputs}) : kNoBias;
  b.Output(b.Conv2D(x, w, bias, op, {}), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

TEST(Childnets, WinogradInLayersHasTheBitsOfTheRoutineInOnePiece) {
  const Graph graphs[] = {MakeConvolution(1, 9, 14, 5, 7, true, Activation::kRelu),
                          MakeConvolution(2, 8, 3, 16, 33, false, Activation::kNone),
                          MakeConvolution(1, 17, 17, 33, 64, true, Activation::kRelu6),
                          MakeConvolution(3, 1, 1, 1, 1, true, Activation::kNone)};
  for (const Graph& graph : graphs) {
    const std::vector<uint8_t> expected = RunBy(graph, "cpu:float32/winograd");
    const std::vector<std::string> names =
        NamesOfWays(LayerView(graph, 0), "cpu:float32/winograd-layers");
    EXPECT_GT(names.size(), 6u);
    for (const std::string& name : names) {
      for (const int threads : {1, 3}) {
        EXPECT_EQ(RunBy(graph, name, threads), expected) << name << " by " << threads;
      }
    }
  }
  const Result<Model> model = Model::Prepare(graphs[0]);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->layers()[0].routine, "cpu:float32/gemm");  // it has to be named
}

// Their transformed weights are no constants of the network, so nobody else may find them packed.
TEST(Childnets, OwnConstantsAreNotMixedUp) {
  Graph graph = MakeConvolution(1, 9, 14, 5, 7, true, Activation::kRelu);
  Graph twice = graph;
  std::vector<float> other(size_t{7} * 9 * 5, 0.5f);
  const size_t tensors = graph.tensors.size();
  for (const Tensor& tensor : graph.tensors) twice.tensors.push_back(tensor);
  Layer second = graph.layers[0];
  for (TensorId& id : second.inputs) id += static_cast<TensorId>(tensors);
  for (TensorId& id : second.outputs) id += static_cast<TensorId>(tensors);
  second.inputs[0] = graph.inputs[0];
  Tensor& weights = twice.tensors[static_cast<size_t>(second.inputs[1])];
  weights.data = other.data();
  weights.owner = nullptr;
  twice.layers.push_back(second);
  twice.outputs = second.outputs;
  twice.tensors[tensors + static_cast<size_t>(graph.inputs[0])].constant = false;
  const auto run = [&](const std::string& routine) {
    Result<Model> model =
        Model::Prepare(twice, {.threads = 2, .routines = {{"0", routine}, {"1", routine}}});
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? RunOnce(*model) : std::vector<uint8_t>();
  };
  EXPECT_EQ(run("cpu:float32/winograd-layers"), run("cpu:float32/winograd"));
}

TEST(Childnets, WinogradTakesFloatsAlone) {
  const Graph graph = MakeConvolution(1, 8, 8, 4, 6, true, Activation::kNone);
  for (const Type type : {Type::kUInt8, Type::kInt16, Type::kUInt16, Type::kInt32, Type::kInt64}) {
    for (const size_t input : {1, 2}) {
      Graph other = graph;
      Layer& layer = other.layers[0];
      const std::vector<uint8_t> bytes(6 * 4 * 9 * 8);
      Tensor tensor;
      tensor.name = "other";
      tensor.type = type;
      tensor.shape = input == 1 ? Shape{6, 3, 3, 4} : Shape{6};
      tensor.constant = true;
      tensor.data = bytes.data();
      tensor.data_bytes = *CountBytes(tensor.shape, type);
      layer.inputs.resize(3, kNoTensor);
      layer.inputs[input] = static_cast<TensorId>(other.tensors.size());
      other.tensors.push_back(tensor);
      EXPECT_FALSE(ChildnetNamed(LayerView(other, 0), "cpu:float32/winograd-layers").ok());
      const PrepareOptions options{.routines = {{"0", "cpu:float32/winograd-layers"}}};
      EXPECT_FALSE(Model::Prepare(other, options).ok());
    }
  }
}

// Besides what its layers pack, the childnet keeps 36 numbers for each 9 weights.
TEST(Childnets, ConstantsOfTheirOwnCount) {
  const Graph graph = MakeConvolution(1, 8, 8, 64, 64, true, Activation::kNone);
  const auto bytes_of = [&](const std::string& routine) {
    const Result<Model> model = Model::Prepare(graph, {.routines = {{"0", routine}}});
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? model->layers()[0].constant_bytes : 0;
  };
  const size_t own = size_t{36} * 64 * 64 * sizeof(float);
  EXPECT_GE(bytes_of("cpu:float32/winograd-layers"), bytes_of("cpu:float32/winograd") + own);
}

TEST(Childnets, ConstantsMayLieAnywhere) {
  const Graph graph = MakeConvolution(1, 8, 8, 4, 6, true, Activation::kNone);
  Graph other = graph;
  Tensor& weights = other.tensors[static_cast<size_t>(other.layers[0].inputs[1])];
  std::vector<uint8_t> bytes(weights.data_bytes + 1);
  std::memcpy(bytes.data() + 1, weights.data, weights.data_bytes);
  weights.data = bytes.data() + 1;
  EXPECT_TRUE(ChildnetNamed(LayerView(other, 0), "cpu:float32/winograd-layers").ok());
  EXPECT_EQ(RunBy(other, "cpu:float32/winograd-layers"),
            RunBy(graph, "cpu:float32/winograd-layers"));
}

TEST(Childnets, ARoundingThatAConvolutionCannotHaveIsRefused) {
  // Float64 multipliers above 1 have no integers here.
  Graph graph = MakeDense({});
  graph.tensors[0].quantization.scales[0] = 40;
  const std::vector<uint8_t> expected = RunBy(graph, "");
  EXPECT_FALSE(expected.empty());
  const Status status = Model::Prepare(graph, {.routines = {{"0", "cpu:qint8/conv"}}}).status();
  EXPECT_NE(status.message().find("no integers stand for its float64 multipliers"),
            std::string::npos)
      << status.message();
}

TEST(Childnets, AnErrorSaysWhatIsWrongWithAName) {
  const Graph graph = MakeDense({});
  const auto error_of = [&](const std::string& routine) {
    return Model::Prepare(graph, {.routines = {{"0", routine}}}).status().message();
  };
  const auto expect = [&](const std::string& routine, const std::string& part) {
    EXPECT_NE(error_of(routine).find(part), std::string::npos)
        << routine << ": " << error_of(routine);
  };
  expect("cpu:qint8/gemm[1=cpu:qint8/gemm]", "it has no layers to choose routines for");
  expect("cpu:qint8/conv[", "do not end with ']'");
  expect("cpu:qint8/conv[1=cpu:qint8/gemm", "do not end with ']'");
  for (const char* const list : {"[]", "[1]", "[x=]", "[1=,]", "[-1=]", "[1=*0]", "[1=*x]",
                                 "[99999999999=]", "[=]", "[1=a,,2=b]"}) {
    expect(std::string("cpu:qint8/conv") + list, "are no list like");
  }
  expect("cpu:qint8/conv[3=]", "a choice for layer 3 is too many");
  expect("cpu:qint8/conv[1=,1=]", "a choice for layer 1 comes twice");
  expect("cpu:qint8/conv[1=cpu:qint8/magic]", "routine 'cpu:qint8/magic' does not run it");
  expect("cpu:qint8/conv[1=cpu:qint8/gemm?rows_part_of_l2=5]", "rows_part_of_l2");
  expect("cpu:qint8/conv[1=@mmx]", "mmx");
  expect("cpu:qint8/conv?tiles=3", "it has no parameter 'tiles'");
  expect("cpu:qint8/conv?layers=3", "it has no parameter 'layers'");
  expect("cpu:qint8/conv[1=cpu:qint8/gemm[0=]]", "it has no layers to choose routines for");
  expect("cpu:qint8/conv[1=a[1=b[1=c[1=d[1=e]]]]]", "are nested more than 4 deep");
  expect("cpu:qint8/conv[1=a[1=b[1=c[1=d]]]]", "routine 'a[1=b[1=c[1=d]]]' does not run it");
}

TEST(Childnets, NamesAreReadAsTheyAreWritten) {
  const std::vector<ChildChoice> choices = {
      {0, {"", "", 3}},
      {1, {"cpu:a/b?c=1&d=2[0=cpu:e/f[2=cpu:g/h@k*1]@l*2,1=]", "m", 4}},
      {7, {"cpu:n/o", "", 0}}};
  const std::string name = WithChildChoices("cpu:p/q?r=5", choices);
  EXPECT_EQ(name,
            "cpu:p/q?r=5[0=*3,1=cpu:a/b?c=1&d=2[0=cpu:e/f[2=cpu:g/h@k*1]@l*2,1=]@m*4,7=cpu:n/o]");
  EXPECT_EQ(CandidateIn(name), "cpu:p/q");
  EXPECT_EQ(ParametersIn(name), "?r=5");
  EXPECT_EQ(ParameterIn(name, "r"), 5);
  EXPECT_EQ(ParameterIn(name, "c"), std::nullopt);
  const Result<std::vector<ChildChoice>> read = ChildChoicesIn(name);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), choices.size());
  for (size_t i = 0; i < choices.size(); ++i) {
    EXPECT_EQ((*read)[i].layer, choices[i].layer);
    EXPECT_EQ((*read)[i].choice.routine, choices[i].choice.routine);
    EXPECT_EQ((*read)[i].choice.kernel, choices[i].choice.kernel);
    EXPECT_EQ((*read)[i].choice.threads, choices[i].choice.threads);
  }
  EXPECT_EQ(WithChildChoices("cpu:p/q", {}), "cpu:p/q");
  EXPECT_EQ(CandidateIn("cpu:p/q[1=cpu:r/s?t=1]"), "cpu:p/q");
  EXPECT_EQ(ParametersIn("cpu:p/q[1=cpu:r/s?t=1]"), "");
}

// Packed weights are those that the layer itself would pack, the reshapes copy nothing, and a run
// allocates nothing.
TEST(Childnets, CostNoMemoryAndNoCopies) {
  const Graph graph = MakeDense({.rows = 64});
  const Result<Model> plain = Model::Prepare(graph);
  Result<Model> model = Model::Prepare(graph, {.routines = {{"0", "cpu:qint8/conv"}}});
  ASSERT_TRUE(plain.ok() && model.ok()) << model.status().message();
  EXPECT_EQ(model->layers()[0].macs, plain->layers()[0].macs);
  EXPECT_EQ(model->layers()[0].kernel, plain->layers()[0].kernel);
  EXPECT_LE(model->constant_bytes(), plain->constant_bytes() + 4096);
  ASSERT_TRUE(model->WarmUp().ok());
  std::vector<int8_t> x(64 * kDepth);
  std::vector<int8_t> y(64 * kOutputs);
  const InputBuffer in[] = {MakeInput(x)};
  const OutputBuffer out[] = {MakeOutput(y)};
  const int64_t before = CountAllocations();
  ASSERT_TRUE(model->Run(in, out).ok());
  EXPECT_EQ(CountAllocations(), before);
  const Result<Graph> child = ChildnetNamed(LayerView(graph, 0), "cpu:qint8/conv");
  ASSERT_TRUE(child.ok());
  ASSERT_EQ(child->layers.size(), 3u);
  EXPECT_STREQ(NameOf(child->layers[1].op), "CONV_2D");
  EXPECT_FALSE(ChildnetNamed(LayerView(graph, 0), "cpu:qint8/gemm").ok());
}

// A model of a childnet has constants of another size after an update.
TEST(Childnets, AreUpdatedAndResized) {
  Graph graph = MakeDense({.rows = 2});
  Result<Model> model = Model::Prepare(graph, {.routines = {{"0", "cpu:qint8/conv"}}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_TRUE(model->Resize({{5, kDepth}}).ok());
  Result<Model> plain = Model::Prepare(graph);
  ASSERT_TRUE(plain.ok() && plain->Resize({{5, kDepth}}).ok());
  EXPECT_EQ(RunOnce(*model), RunOnce(*plain));
  std::vector<int8_t> other(size_t{kOutputs} * kDepth, 5);
  const TensorUpdate update[] = {{graph.layers[0].inputs[1], other.data(), other.size()}};
  ASSERT_TRUE(model->Update(update).ok());
  ASSERT_TRUE(plain->Update(update).ok());
  EXPECT_EQ(RunOnce(*model), RunOnce(*plain));
}

}  // namespace
}  // namespace intaglio::nn
