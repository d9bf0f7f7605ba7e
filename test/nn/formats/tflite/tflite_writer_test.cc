// What the writer refuses, and how files come to be.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/formats/tflite/schema_generated.h"
#include "intaglio/nn/formats/tflite/writer.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn {
namespace {

namespace fs = std::filesystem;

Result<Graph> Convolution(const Padding& padding) {
  Builder b("convolution");
  const Value x = b.Input("x", Type::kInt8, {1, 4, 4, 1}, PerTensor(0.5f, 1));
  const Constant filter =
      b.Const<int8_t>("filter", {1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2, 1}, PerAxis({0.5f, 0.25f}, 0));
  b.Output(b.Conv2D(x, filter, kNoBias, {.padding = padding}, PerTensor(2.0f, -3)), "y");
  return b.Finish();
}

std::string ErrorOf(const Graph& graph) {
  const Result<std::vector<uint8_t>> bytes = ExportTflite(graph);
  return bytes.ok() ? "ok" : bytes.status().message();
}

TEST(TfliteWriter, WritesEveryPaddingOfConvolutions) {
  for (const Padding& padding : {Padding::Same(), Padding::Valid(), Padding::Explicit(0, 0, 0, 0),
                                 Padding::Explicit(0, 1, 0, 1), Padding::Explicit(1, 0, 1, 0),
                                 Padding::Explicit(2, 1, 0, 3)}) {
    const Result<Graph> graph = Convolution(padding);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const Result<std::vector<uint8_t>> bytes = ExportTflite(*graph);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const Result<Graph> again = ImportTflite(*bytes, nullptr, "again");
    ASSERT_TRUE(again.ok()) << again.status().message();
    const test::RawTensors inputs = test::RandomInputs(*graph, 3);
    EXPECT_EQ(test::RunGraph(*again, inputs), test::RunGraph(*graph, inputs));
    // SAME puts the odd line behind, as the fourth padding does.
    const bool pads = padding.kind == Padding::Kind::kExplicit && padding.top + padding.left > 0;
    EXPECT_EQ(again->layers.size(), pads ? 2u : 1u);
  }
}

TEST(TfliteWriter, WritesPaddingOfDepthwiseConvolutionsAndOfFloats) {
  Builder b("depthwise");
  const Value x = b.Input("x", Type::kFloat32, {1, 5, 5, 2});
  const std::vector<float> values(18, 0.25f);
  const Constant filter = b.Const<float>("filter", values, {1, 3, 3, 2});
  DepthwiseConv2D op{.padding = Padding::Explicit(1, 1, 1, 1)};
  const Value same = b.DepthwiseConv2D(x, filter, kNoBias, op, {});
  op.stride = {2, 2};  // of even images, SAME would take other places
  b.Output(b.DepthwiseConv2D(same, filter, kNoBias, op, {}), "y");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Result<std::vector<uint8_t>> bytes = ExportTflite(*graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const Result<Graph> again = ImportTflite(*bytes, nullptr, "again");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->layers.size(), 3u);
  const test::RawTensors inputs = test::RandomInputs(*graph, 3);
  EXPECT_EQ(test::RunGraph(*again, inputs), test::RunGraph(*graph, inputs));
}

Value InputOf(Builder& b, Type type) {
  const Quantization q = type == Type::kFloat32 ? Quantization() : PerTensor(0.5f, 1);
  return b.Input("x", type, {1, 5, 5, 2}, q);
}

Result<Graph> Largest(const MaxPool2D& op, Type type) {
  Builder b("pool");
  b.Output(b.MaxPool2D(InputOf(b, type), op), "y");
  return b.Finish();
}

Result<Graph> Means(const AveragePool2D& op) {
  Builder b("pool");
  b.Output(b.AveragePool2D(InputOf(b, Type::kInt8), op), "y");
  return b.Finish();
}

TEST(TfliteWriter, WritesEveryPaddingOfMaxima) {
  for (const Type type : {Type::kFloat32, Type::kInt8, Type::kUInt8, Type::kInt16}) {
    for (const Padding& padding : {Padding::Same(), Padding::Valid(), Padding::Explicit(1, 1, 1, 1),
                                   Padding::Explicit(0, 1, 0, 1), Padding::Explicit(2, 0, 1, 2)}) {
      for (const int stride : {1, 2}) {
        const Result<Graph> graph =
            Largest({.filter = {3, 3}, .stride = {stride, stride}, .padding = padding}, type);
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        const Result<std::vector<uint8_t>> bytes = ExportTflite(*graph);
        ASSERT_TRUE(bytes.ok()) << bytes.status().message();
        const Result<Graph> again = ImportTflite(*bytes, nullptr, "again");
        ASSERT_TRUE(again.ok()) << again.status().message();
        const test::RawTensors inputs = test::RandomInputs(*graph, 3);
        EXPECT_EQ(test::RunGraph(*again, inputs), test::RunGraph(*graph, inputs));
        const bool same = stride == 1 && padding.top == 1 && padding.right == 1;
        const bool pads = padding.kind == Padding::Kind::kExplicit && !same;
        EXPECT_EQ(again->layers.size(), pads ? 2u : 1u);
      }
    }
  }
}

TEST(TfliteWriter, WritesPaddingOfMeansWhereItIsSame) {
  AveragePool2D op{.filter = {3, 3}, .padding = Padding::Explicit(1, 1, 1, 1)};
  const Result<Graph> graph = Means(op);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Result<std::vector<uint8_t>> bytes = ExportTflite(*graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const Result<Graph> again = ImportTflite(*bytes, nullptr, "again");
  ASSERT_TRUE(again.ok()) << again.status().message();
  const test::RawTensors inputs = test::RandomInputs(*graph, 3);
  EXPECT_EQ(test::RunGraph(*again, inputs), test::RunGraph(*graph, inputs));
  op.stride = {2, 2};  // of even images, SAME would take other places
  const Result<Graph> other = Means(op);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_NE(ErrorOf(*other).find("explicit padding of means"), std::string::npos);
}

TEST(TfliteWriter, RefusesResizesOfFloat32ByScales) {
  const auto resized = [](Type type, float scale) {
    Builder b("resize");
    const Value x = InputOf(b, type);
    ResizeBilinear op{10, 15};
    op.height_scale = scale * 2;
    op.width_scale = scale * 3;
    const Quantization q = type == Type::kFloat32 ? Quantization() : PerTensor(0.5f, 1);
    b.Output(b.Layer(op, {x.id}, type, q), "y");
    return b.Finish();
  };
  EXPECT_TRUE(ExportTflite(*resized(Type::kFloat32, 0)).ok());
  EXPECT_TRUE(ExportTflite(*resized(Type::kInt8, 1)).ok());  // whose rules are the same
  EXPECT_NE(ErrorOf(*resized(Type::kFloat32, 1)).find("a resize of float32"), std::string::npos);
}

TEST(TfliteWriter, RefusesWhatIsNoGraph) {
  Result<Graph> graph = Convolution(Padding::Same());
  ASSERT_TRUE(graph.ok());
  Graph cycle = *graph;
  cycle.layers[0].inputs[0] = cycle.layers[0].outputs[0];
  EXPECT_NE(ErrorOf(cycle).find("which nothing has written before"), std::string::npos);
  Graph no_tensor = *graph;
  no_tensor.outputs[0] = 99;
  EXPECT_NE(ErrorOf(no_tensor).find("tensor #99"), std::string::npos);
  Graph no_data = *graph;
  for (Tensor& tensor : no_data.tensors) tensor.data = nullptr;
  EXPECT_NE(ErrorOf(no_data).find("is a constant without data"), std::string::npos);
  Graph scale = *graph;
  scale.tensors[0].quantization.scales[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(ErrorOf(scale).find("has the scale nan"), std::string::npos);
}

// The data is never looked at: no such amount is there.
TEST(TfliteWriter, RefusesMoreThanAFileHolds) {
  Result<Graph> graph = Convolution(Padding::Same());
  ASSERT_TRUE(graph.ok());
  Tensor& huge = graph->tensors.emplace_back();
  huge.name = "huge";
  huge.shape = {1 << 15, 1 << 15};
  huge.constant = true;
  huge.data = &huge;
  huge.data_bytes = size_t{1} << 30;
  graph->outputs.push_back(static_cast<TensorId>(graph->tensors.size()) - 1);
  EXPECT_NE(ErrorOf(*graph).find("files of less than 1 GiB are written"), std::string::npos);
}

// One update of an item becomes many operators.
TEST(TfliteWriter, WritesALongNameOnce) {
  constexpr size_t kLength = 100'000;
  Builder b;
  const Value list = b.Input("list", Type::kInt8, {4, 3}, PerTensor(1, 0));
  const Value item = b.Input("item", Type::kInt8, {1, 3}, PerTensor(1, 0));
  const Value index = b.Input("index", Type::kInt32, {});
  b.Output(b.Layer(DynamicUpdateSlice{.clamp = false}, {list.id, item.id, index.id}, Type::kInt8,
                   PerTensor(1, 0)),
           std::string(kLength, 'n'));
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Result<std::vector<uint8_t>> bytes = ExportTflite(*graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_LT(bytes->size(), 2 * kLength);
}

TEST(TfliteWriter, LeavesOutWhatIsNotUsed) {
  Result<Graph> graph = Convolution(Padding::Same());
  ASSERT_TRUE(graph.ok());
  const Result<std::vector<uint8_t>> before = ExportTflite(*graph);
  Tensor unused;
  unused.type = Type::kFloat32;
  unused.shape = {7};
  graph->tensors.push_back(unused);
  const Result<std::vector<uint8_t>> after = ExportTflite(*graph);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(*before, *after);
}

// Runtimes read constants in place, in vectors of 16 bytes.
TEST(TfliteWriter, AlignsConstants) {
  Builder b("sizes");
  Value x = b.Input("x", Type::kInt8, {1, 1}, PerTensor(0.5f, 1));
  size_t constants = 0;
  for (const int size : {1, 3, 5, 17, 2, 31, 8, 1}) {
    const std::vector<int8_t> numbers(static_cast<size_t>(size), 1);
    const Constant c = b.Const<int8_t>("c" + std::string(static_cast<size_t>(size), 'c'), numbers,
                                       {size, 1}, PerTensor(0.5f, 1));
    b.Output(b.Layer(Maximum{}, {x.id, c.id}, Type::kInt8, PerTensor(0.5f, 1)), "y");
    ++constants;
  }
  const Result<std::vector<uint8_t>> bytes = ExportTflite(*b.Finish());
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  for (const tflite::Buffer* const buffer : *tflite::GetModel(bytes->data())->buffers()) {
    if (buffer->data() == nullptr) continue;
    EXPECT_EQ((buffer->data()->data() - bytes->data()) % 16, 0);
    --constants;
  }
  EXPECT_EQ(constants, 0u);
}

// The next tests are about data that our reader does not need, but other runtimes do.

// The type of its bias says how the sums of an int16 layer are made.
TEST(TfliteWriter, SaysTheTypeOfABias) {
  const auto type_of = [](Type x_type, auto zero) {
    using T = decltype(zero);
    Builder b("biased");
    const Value x = b.Input("x", x_type, {1, 2}, PerTensor(0.5f, 0));
    const Constant w = b.Const<int8_t>("w", {1, 2}, {1, 2}, PerTensor(0.5f, 0));
    const Constant bias = b.Const<T>("bias", {T{3}}, {1}, PerTensor(0.25f, 0));
    b.Output(b.FullyConnected(x, w, bias, {}, PerTensor(2.0f, 0)), "y");
    const Result<std::vector<uint8_t>> bytes = ExportTflite(*b.Finish());
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    const tflite::SubGraph& graph = *tflite::GetModel(bytes->data())->subgraphs()->Get(0);
    return graph.operators()
        ->Get(0)
        ->builtin_options_as_FullyConnectedOptions()
        ->quantized_bias_type();
  };
  EXPECT_EQ(type_of(Type::kInt16, int32_t{0}), tflite::TensorType::INT32);
  EXPECT_EQ(type_of(Type::kInt16, int64_t{0}), tflite::TensorType::INT64);
  EXPECT_EQ(type_of(Type::kInt8, int32_t{0}), tflite::TensorType::FLOAT32) << "unsaid";
}

// The list has parts before and behind the replaced item, whose sizes only a run knows.
TEST(TfliteWriter, SaysThatOnlyARunKnowsAShape) {
  Graph graph;
  const std::pair<const char*, Shape> named[] = {
      {"list", {4, 2}}, {"item", {1, 2}}, {"index", {}}, {"y", {4, 2}}};
  for (const auto& [name, shape] : named) {
    Tensor& tensor = graph.tensors.emplace_back();
    tensor.name = name;
    tensor.type = Type::kInt32;
    tensor.shape = shape;
  }
  graph.layers = {{DynamicUpdateSlice{.clamp = false}, {0, 1, 2}, {3}, {}}};
  graph.inputs = {0, 1, 2};
  graph.outputs = {3};
  const Result<std::vector<uint8_t>> bytes = ExportTflite(graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  int open = 0;
  for (const tflite::Tensor* const tensor :
       *tflite::GetModel(bytes->data())->subgraphs()->Get(0)->tensors()) {
    if (tensor->shape_signature() == nullptr) continue;
    EXPECT_EQ(
        std::vector<int>(tensor->shape_signature()->begin(), tensor->shape_signature()->end()),
        (std::vector<int>{-1, -1}));
    ++open;
  }
  EXPECT_EQ(open, 2);
  graph.tensors[2].shape = {1};
  EXPECT_NE(ErrorOf(graph).find("cannot be written"), std::string::npos);
}

// A part of a model may be nothing but its inputs.
TEST(TfliteWriter, WritesGraphsWithoutLayers) {
  Builder b("nothing");
  const Value x = b.Input("x", Type::kInt8, {2, 3}, PerTensor(0.5f, 1));
  b.Output(x, "x");
  b.Output(x, "x");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  const Result<std::vector<uint8_t>> bytes = ExportTflite(*graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const Result<Graph> again = ImportTflite(*bytes, nullptr, "again");
  ASSERT_TRUE(again.ok()) << again.status().message();
  const test::RawTensors inputs = test::RandomInputs(*graph, 4);
  EXPECT_EQ(test::RunGraph(*again, inputs), (test::RawTensors{inputs[0], inputs[0]}));
}

class SavedFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "intaglio_saved_file";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(SavedFile, MayReplaceTheOneThatWasRead) {
  const std::string path = (folder_ / "model.tflite").string();
  const Result<Graph> graph = Convolution(Padding::Same());
  ASSERT_TRUE(graph.ok());
  ASSERT_TRUE(SaveTflite(*graph, path).ok());
  const Result<Graph> loaded = LoadTflite(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const test::RawTensors inputs = test::RandomInputs(*loaded, 5);
  const test::RawTensors expected = test::RunGraph(*loaded, inputs);
  const Status status = SaveTflite(*loaded, path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(test::RunGraph(*loaded, inputs), expected) << "its constants are in the old file";
  const Result<Graph> again = LoadTflite(path);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(test::RunGraph(*again, inputs), expected);
}

TEST_F(SavedFile, IsWholeOrNotThere) {
  const Result<Graph> graph = Convolution(Padding::Same());
  ASSERT_TRUE(graph.ok());
  const std::string nowhere = (folder_ / "no" / "model.tflite").string();
  const Status status = SaveTflite(*graph, nowhere);
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_EQ(status.message(), nowhere + ": cannot create: No such file or directory");
  const fs::path taken = folder_ / "taken.tflite";  // a folder
  fs::create_directories(taken / "full");
  EXPECT_EQ(SaveTflite(*graph, taken.string()).code(), StatusCode::kIoError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "something was left behind";
}

}  // namespace
}  // namespace intaglio::nn
