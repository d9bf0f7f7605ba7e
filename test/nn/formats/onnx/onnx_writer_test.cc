// What stands in .onnx files that the writer makes, and what it refuses.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/formats/onnx/writer.h"
#include "intaglio/nn/formats/write_model_file.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/elementwise/map_bytes.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn {
namespace {

namespace fs = std::filesystem;

onnx::ModelProto Written(const Graph& graph) {
  const Result<std::vector<uint8_t>> bytes = ExportOnnx(graph);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  onnx::ModelProto model;
  if (bytes.ok()) {
    EXPECT_TRUE(model.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())));
  }
  return model;
}

// The operators in their order.
std::vector<std::string> OperatorsOf(const onnx::ModelProto& model) {
  std::vector<std::string> operators;
  for (const onnx::NodeProto& node : model.graph().node()) operators.push_back(node.op_type());
  return operators;
}

std::vector<std::string> OperatorsOf(const Graph& graph) { return OperatorsOf(Written(graph)); }

using Names = std::vector<std::string>;

const onnx::NodeProto& NodeNamed(const onnx::ModelProto& model, const std::string& operator_name) {
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (node.op_type() == operator_name) return node;
  }
  ADD_FAILURE() << "no " << operator_name;
  static const onnx::NodeProto kNone;
  return kNone;
}

const Quantization kIn = PerTensor(0.05f, 3);
const Quantization kOut = PerTensor(0.1f, -5);

// x [1, 4, 4, 2] by filters of three channels.
Value Convolution(Builder& b, Value x, const std::string& name, Activation activation) {
  const std::vector<int8_t> weights(3 * 2 * 2 * 2, 5);
  const auto filter =
      b.Const<int8_t>(name + "/filter", weights, {3, 2, 2, 2}, PerAxis({0.01f, 0.02f, 0.03f}, 0));
  const auto bias =
      b.Const<int32_t>(name + "/bias", {1, -2, 3}, {3}, PerAxis({0.0005f, 0.001f, 0.0015f}, 0));
  return b.Conv2D(x, filter, bias, {.padding = Padding::Same(), .activation = activation}, kOut);
}

Graph OneConvolution(Activation activation) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 4, 4, 2}, kIn);
  b.Output(Convolution(b, x, "c", activation), "y");
  return std::move(*b.Finish());
}

TEST(OnnxWriter, DequantizesAndQuantizes) {
  const onnx::ModelProto model = Written(OneConvolution(Activation::kRelu6));
  EXPECT_EQ(OperatorsOf(model),
            (Names{"Transpose", "DequantizeLinear", "DequantizeLinear", "DequantizeLinear", "Conv",
                   "Clip", "QuantizeLinear", "Transpose"}));
  const onnx::NodeProto& conv = NodeNamed(model, "Conv");
  EXPECT_EQ(conv.input_size(), 3);
  EXPECT_EQ(model.ir_version(), 10);
  EXPECT_EQ(model.opset_import(0).version(), 21);
  EXPECT_EQ(model.graph().input(0).name(), "x");
  EXPECT_EQ(model.graph().output(0).name(), "y");
  for (const onnx::TensorProto& constant : model.graph().initializer()) {
    if (constant.name() != "c/filter") continue;
    EXPECT_EQ(constant.data_type(), onnx::TensorProto::INT8);
    const std::vector<int64_t> shape(constant.dims().begin(), constant.dims().end());
    EXPECT_EQ(shape, (std::vector<int64_t>{3, 2, 2, 2}));
    return;
  }
  ADD_FAILURE() << "the filter has another name";
}

// -5 is not the lowest number, so a Relu changes some; of numbers from 0 on it changes none.
TEST(OnnxWriter, LeavesOutActivationsThatTheOutputImplies) {
  const Names with = OperatorsOf(OneConvolution(Activation::kRelu));
  EXPECT_EQ(std::count(with.begin(), with.end(), "Relu"), 1);
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 3}, kIn);
  b.Output(b.Relu(x, PerTensor(0.05f, -128)), "y");
  EXPECT_EQ(OperatorsOf(*b.Finish()), (Names{"DequantizeLinear", "QuantizeLinear"}));
  // 255 steps of 0.1 are more than 6; 255 of 0.02 are less.
  for (const bool implied : {false, true}) {
    Builder bounded;
    const Value image = bounded.Input("x", Type::kInt8, {1, 3}, kIn);
    bounded.Output(bounded.Relu6(image, PerTensor(implied ? 0.02f : 0.1f, -128)), "y");
    const Names names = OperatorsOf(*bounded.Finish());
    EXPECT_EQ(std::count(names.begin(), names.end(), "Clip"), implied ? 0 : 1);
  }
}

// What the reader of .onnx files makes of a Relu or a Clip before QuantizeLinear.
TEST(OnnxWriter, KeepsTheBoundsOfTheNumerics) {
  struct Bounds {
    int32_t min;
    int32_t max;
    const char* name;
  };
  for (const Bounds& bounds : {Bounds{-5, 127, "Relu"}, Bounds{-5, 30, "Clip"},
                               Bounds{-128, 30, "Clip"}, Bounds{-20, 127, "Clip"}}) {
    Graph graph = OneConvolution(Activation::kNone);
    Numerics numerics;
    numerics.scaling = Scaling::kFloatHalfEven;
    numerics.float32_scales = true;
    numerics.clamp_min = bounds.min;
    numerics.clamp_max = bounds.max;
    graph.layers[0].numerics = numerics;
    const Names names = OperatorsOf(graph);
    EXPECT_EQ(std::count(names.begin(), names.end(), bounds.name), 1) << bounds.name;
    const Result<Graph> again = ImportOnnx(*ExportOnnx(graph), "again");
    ASSERT_TRUE(again.ok()) << again.status().message();
    const test::RawTensors inputs = test::RandomInputs(graph, 7);
    EXPECT_EQ(test::RunGraph(*again, inputs), test::RunGraph(graph, inputs)) << bounds.min;
  }
}

TEST(OnnxWriter, WritesNoTransposesThatCancel) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 4, 4, 2}, kIn);
  const Value pair[] = {Convolution(b, x, "a", Activation::kRelu),
                        Convolution(b, x, "b", Activation::kNone)};
  const Value sum = b.Add(pair[0], pair[1], {}, kOut);
  const Value both[] = {sum, pair[0]};
  const Value joined = b.Concatenation(both, {.axis = 3}, kOut);
  b.Output(b.MaxPool2D(joined, {.filter = {2, 2}, .stride = {2, 2}}), "y");
  const Names names = OperatorsOf(*b.Finish());
  EXPECT_EQ(std::count(names.begin(), names.end(), "Transpose"), 2)
      << "of the input and the output";
}

TEST(OnnxWriter, MovesQuantizedNumbersAsTheyAre) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {2, 3, 4}, kIn);
  const Value turned = b.Layer(Transpose{{2, 0, 1}}, {x.id}, Type::kInt8, kIn);
  b.Output(b.Pad(b.Reshape(turned, {8, 3}), {{{1, 0}, {0, 2}}}), "y");
  EXPECT_EQ(OperatorsOf(*b.Finish()), (Names{"Transpose", "Reshape", "Pad"}));
}

TEST(OnnxWriter, GivesEachValueAName) {
  Builder b;
  const Value x = b.Input("t", Type::kFloat32, {2});
  const Value y = b.Layer(Abs{}, {x.id}, Type::kFloat32, {});
  const Value z = b.Layer(Neg{}, {y.id}, Type::kFloat32, {});
  b.Output(y, "t");
  b.Output(z, "t");
  const onnx::ModelProto model = Written(*b.Finish());
  std::set<std::string> names = {model.graph().input(0).name()};
  for (const onnx::NodeProto& node : model.graph().node()) {
    EXPECT_TRUE(names.insert(node.output(0)).second) << node.output(0);
  }
  EXPECT_EQ(names, (std::set<std::string>{"t", "t_1", "t_2"}));
}

// An output of the format is made by a node, and no node makes two.
TEST(OnnxWriter, GivesEachOutputANode) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {2});
  Graph graph;
  b.Output(b.Layer(Abs{}, {x.id}, Type::kFloat32, {}), "y");
  graph = *b.Finish();
  graph.outputs = {graph.outputs[0], graph.outputs[0], graph.inputs[0]};
  EXPECT_EQ(OperatorsOf(graph), (Names{"Abs", "Identity", "Identity"}));
}

// Any function of 8 bits comes back as one.
TEST(OnnxWriter, KeepsFunctionsOfBytes) {
  for (const Type type : {Type::kInt8, Type::kUInt8}) {
    MapBytes map;
    for (size_t i = 0; i < 256; ++i) map.table[i] = static_cast<uint8_t>(i * i + 7);
    Builder b;
    const Value x = b.Input("x", type, {256});
    b.Output(b.Layer(map, {x.id}, Type::kUInt8, {}), "y");
    const Graph graph = *b.Finish();
    const Result<std::vector<uint8_t>> bytes = ExportOnnx(graph);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const Result<Graph> again = ImportOnnx(*bytes, "again");
    ASSERT_TRUE(again.ok()) << again.status().message();
    ASSERT_EQ(again->layers.size(), 1u);
    EXPECT_TRUE(again->layers[0].op.Is<MapBytes>());
    const test::RawTensors inputs = test::RandomInputs(graph, 3);
    EXPECT_EQ(test::RunGraph(*again, inputs), test::RunGraph(graph, inputs));
  }
}

TEST(OnnxWriter, AsksForTheOpsetOfItsOperators) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {2});
  b.Output(b.Layer(Swish{}, {x.id}, Type::kFloat32, {}), "y");
  EXPECT_EQ(Written(*b.Finish()).opset_import(0).version(), 24);
}

TEST(OnnxWriter, SaysWhichLayerItCannotWrite) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 2, 2, 1});
  const ResizeNearestNeighbor both = {4, 4, true, true};
  b.Output(b.Layer(both, {x.id}, Type::kFloat32, {}), "y");
  const Status status = ExportOnnx(*b.Finish()).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "RESIZE_NEAREST_NEIGHBOR #0 'y': the format aligns corners or counts from centers");
}

TEST(OnnxWriter, RefusesVariables) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {2});
  const Value v = b.Input("v", Type::kFloat32, {2});
  b.Output(b.Add(x, v, {}, {}), "y");
  Graph graph = *b.Finish();
  graph.tensors[static_cast<size_t>(graph.inputs[1])].variable = true;
  graph.inputs.pop_back();
  EXPECT_EQ(ExportOnnx(graph).status().message(), "ADD #0 'y': the .onnx format has no variables");
}

TEST(OnnxWriter, RefusesWhatIsNoGraph) {
  Graph graph = OneConvolution(Activation::kNone);
  graph.layers[0].inputs[0] = 99;
  EXPECT_EQ(ExportOnnx(graph).status().code(), StatusCode::kInvalidArgument);
}

TEST(OnnxWriter, RefusesMoreThanAFileHolds) {
  static const std::vector<uint8_t> kBytes(size_t{1} << 20);
  Builder b;
  const Value x = b.Input("x", Type::kUInt8, {1 << 20});
  std::vector<TensorId> parts = {x.id};
  for (int i = 0; i < 1 << 10; ++i) {
    parts.push_back(b.ConstView<uint8_t>("c" + std::to_string(i), kBytes, {1 << 20}).id);
  }
  b.Output(b.Layer(Concatenation{0}, parts, Type::kUInt8, {}), "y");
  const Status status = ExportOnnx(*b.Finish()).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "the model comes to about 1073741824 bytes; files of less than 1 GiB are written");
}

// y = x w + b, where w has 16 KiB and b 256 bytes.
Graph OneProduct() {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {2, 64});
  std::vector<float> weights(64 * 64);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 37) - 18;
  const auto w = b.Const<float>("w", std::move(weights), {64, 64});
  const auto bias = b.Const<float>("b", std::vector<float>(64, 0.5f), {64});
  b.Output(b.Layer(FullyConnected{}, {x.id, w.id, bias.id}, Type::kFloat32, {}), "y");
  return *b.Finish();
}

TEST(OnnxWriter, LargeConstantsMayLieBesideTheModel) {
  const Graph graph = OneProduct();
  const Result<ModelFile> file = ExportOnnxFile(graph, "beside", true);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->constants_name, "beside");
  EXPECT_LT(file->bytes.size(), 1024u);
  EXPECT_EQ(file->constants.size(), 64u * 64 * sizeof(float));
  EXPECT_FALSE(ImportOnnx(file->bytes, "m").ok()) << "without its constants";
  OnnxOptions options;
  options.external_files = {{"beside", file->constants, nullptr}};
  const Result<Graph> read = ImportOnnx(file->bytes, "m", options);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const test::RawTensors inputs = test::RandomInputs(graph, 6);
  EXPECT_EQ(test::RunGraph(*read, inputs), test::RunGraph(graph, inputs));
  const Result<ModelFile> together = ExportOnnxFile(graph, "beside");
  ASSERT_TRUE(together.ok());
  EXPECT_EQ(together->constants_name, "");
  EXPECT_EQ(together->bytes, *ExportOnnx(graph));
}

// Constants of so many bytes, most of which no layer reads: they count, and nothing touches them.
Graph OneProductBeside(size_t bytes, const void* memory) {
  Graph graph = OneProduct();
  size_t rest = bytes;
  for (const Tensor& tensor : graph.tensors) rest -= tensor.data_bytes;
  Tensor tensor;
  tensor.name = "unread";
  tensor.type = Type::kUInt8;
  tensor.shape = {static_cast<int>(rest)};
  tensor.constant = true;
  tensor.data = memory;
  tensor.data_bytes = rest;
  graph.tensors.push_back(std::move(tensor));
  return graph;
}

TEST(OnnxWriter, ConstantsOf512MebibytesLieBesideTheModel) {
  constexpr size_t kMost = size_t{512} << 20;
  void* const memory = mmap(nullptr, kMost, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const Result<ModelFile> together = ExportOnnxFile(OneProductBeside(kMost - 1, memory), "beside");
  const Result<ModelFile> apart = ExportOnnxFile(OneProductBeside(kMost, memory), "beside");
  munmap(memory, kMost);
  ASSERT_TRUE(together.ok()) << together.status().message();
  ASSERT_TRUE(apart.ok()) << apart.status().message();
  EXPECT_EQ(together->constants_name, "");
  EXPECT_EQ(apart->constants_name, "beside");
  EXPECT_EQ(apart->constants.size(), 64u * 64 * sizeof(float));
}

TEST(OnnxWriter, SavesConstantsBesideTheModel) {
  const fs::path folder = fs::path(testing::TempDir()) / "onnx_writer_apart_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string path = (folder / "model.onnx").string();
  const Graph graph = OneProduct();
  ASSERT_TRUE(SaveOnnx(graph, path, true).ok());
  EXPECT_EQ(fs::file_size(path + ".data"), 64u * 64 * sizeof(float));
  const Result<Graph> loaded = LoadOnnx(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_TRUE(SaveOnnx(*loaded, path, true).ok()) << "its constants are in the old file";
  const test::RawTensors inputs = test::RandomInputs(graph, 7);
  const test::RawTensors want = test::RunGraph(graph, inputs);
  EXPECT_EQ(test::RunGraph(*loaded, inputs), want);
  EXPECT_EQ(test::RunGraph(*LoadOnnx(path), inputs), want);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2) << "something was left behind";
  fs::remove_all(folder);
}

// A limit on the size of files stands for a full disk.
TEST(OnnxWriter, AFullDiskLeavesTheModelAndItsConstants) {
  const fs::path folder = fs::path(testing::TempDir()) / "onnx_writer_full_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string path = (folder / "model.onnx").string();
  ASSERT_TRUE(WriteModelFile(path, {{1}, "model.onnx.data", {2}}).ok());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::vector<uint8_t> large(5000, 3);
  const Status of_model = WriteModelFile(path, {large, "model.onnx.data", {4}});
  const Status of_constants = WriteModelFile(path, {{5}, "model.onnx.data", large});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(of_model.message(), path + ": cannot write: File too large");
  EXPECT_EQ(of_constants.message(), path + ".data: cannot write: File too large");
  EXPECT_EQ(std::ifstream(path).get(), 1);
  EXPECT_EQ(std::ifstream(path + ".data").get(), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2) << "something was left behind";
  fs::remove_all(folder);
}

TEST(OnnxWriter, SavesAFileWholeOrNotAtAll) {
  const fs::path folder = fs::path(testing::TempDir()) / "onnx_writer_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string path = (folder / "model.onnx").string();
  const Graph graph = OneConvolution(Activation::kRelu);
  ASSERT_TRUE(SaveOnnx(graph, path).ok());
  const Result<Graph> loaded = LoadOnnx(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_TRUE(SaveOnnx(*loaded, path).ok()) << "its constants are in the old file";
  const Result<Graph> again = LoadOnnx(path);
  ASSERT_TRUE(again.ok()) << again.status().message();
  const test::RawTensors inputs = test::RandomInputs(graph, 5);
  EXPECT_EQ(test::RunGraph(*again, inputs), test::RunGraph(*loaded, inputs));
  Graph wrong = graph;
  wrong.layers[0].inputs[0] = 99;
  EXPECT_FALSE(SaveOnnx(wrong, path).ok());
  EXPECT_TRUE(LoadOnnx(path).ok()) << "the old file is gone";
  const std::string nowhere = (folder / "no" / "model.onnx").string();
  EXPECT_EQ(SaveOnnx(graph, nowhere).code(), StatusCode::kIoError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "something was left behind";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace intaglio::nn
