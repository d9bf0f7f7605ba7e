// What the reader makes of files that are right.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"

namespace intaglio::nn {
namespace {

using test::Build;
using test::ModelSpec;

Graph Imported(const ModelSpec& spec) {
  const std::vector<uint8_t> bytes = Build(spec);
  auto owner = std::make_shared<const std::vector<uint8_t>>(bytes);
  Result<Graph> graph = ImportTflite(*owner, owner, "model");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(*graph) : Graph();
}

void ExpectRuns(Graph graph) {
  Result<Model> model = Model::Prepare(std::move(graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::vector<std::vector<uint8_t>> data;
  std::vector<InputBuffer> inputs;
  std::vector<OutputBuffer> outputs;
  for (size_t i = 0; i < model->input_count() + model->output_count(); ++i) {
    const bool in = i < model->input_count();
    const Tensor& tensor = in ? model->input(i) : model->output(i - model->input_count());
    std::vector<uint8_t>& bytes = data.emplace_back(*CountBytes(tensor.shape, tensor.type));
    if (in) inputs.push_back({bytes.data(), bytes.size(), tensor.type});
    if (!in) outputs.push_back({bytes.data(), bytes.size(), tensor.type});
  }
  const Status status = model->Run(inputs, outputs);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(TfliteReader, TranslatesASmallNetwork) {
  const Graph graph = Imported(test::SmallNetwork());
  ASSERT_EQ(graph.layers.size(), 8u);
  ASSERT_EQ(graph.tensors.size(), 16u);
  EXPECT_EQ(graph.name, "model");
  EXPECT_EQ(graph.inputs, (std::vector<TensorId>{0}));
  EXPECT_EQ(graph.outputs, (std::vector<TensorId>{15}));

  const auto* const conv = graph.layers[0].op.As<Conv2D>();
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->activation, Activation::kRelu6);
  EXPECT_EQ(conv->padding.kind, Padding::Kind::kSame);
  EXPECT_EQ(graph.layers[0].inputs, (std::vector<TensorId>{0, 1, 2}));

  const Tensor& filter = graph.tensors[1];
  EXPECT_TRUE(filter.constant);
  EXPECT_EQ(filter.data_bytes, 72u);
  EXPECT_EQ(filter.quantization.scales, (std::vector<float>{0.01f, 0.02f, 0.03f, 0.04f}));
  EXPECT_EQ(filter.quantization.axis, 0);
  EXPECT_EQ(graph.tensors[4].quantization.axis, 3);
  EXPECT_EQ(graph.tensors[0].quantization.zero_points, (std::vector<int32_t>{-3}));

  const auto* const reshape = graph.layers[5].op.As<Reshape>();
  ASSERT_NE(reshape, nullptr);
  EXPECT_EQ(reshape->shape, (Shape{1, -1}));
  EXPECT_EQ(graph.layers[5].inputs.size(), 1u) << "the shape is no input of the layer";
}

TEST(TfliteReader, SmallModelsRun) {
  ExpectRuns(Imported(test::SmallNetwork()));
  ExpectRuns(Imported(test::SmallElementwise()));
  ExpectRuns(Imported(test::SmallUint8()));
}

TEST(TfliteReader, StrideAndFilterAreNotTransposed) {
  ModelSpec spec = test::SmallNetwork();
  test::Window window;
  window.padding = tflite::Padding::VALID;
  window.stride_height = 1;
  window.stride_width = 2;
  window.filter_height = 4;
  window.filter_width = 1;
  window.dilation_height = 3;
  window.dilation_width = 5;
  spec.operators[0].options = test::ConvOptions(window);
  spec.operators[2].options = test::PoolOptions(window);
  spec.operators.resize(3);
  spec.outputs = {7};
  spec.operators[0].options = test::ConvOptions();
  const Graph graph = Imported(spec);
  const auto* const pool = graph.layers[2].op.As<MaxPool2D>();
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->stride.height, 1);
  EXPECT_EQ(pool->stride.width, 2);
  EXPECT_EQ(pool->filter.height, 4);
  EXPECT_EQ(pool->filter.width, 1);
  EXPECT_EQ(graph.tensors[7].shape, (Shape{1, 1, 2, 4})) << "shapes follow from the inputs";
}

TEST(TfliteReader, TakesCodesFromTheOldByteAndFromTheNewField) {
  ModelSpec spec = test::SmallNetwork();
  for (const bool deprecated : {false, true}) {
    spec.deprecated_codes = deprecated;
    EXPECT_EQ(Imported(spec).layers.size(), 8u);
  }
}

TEST(TfliteReader, ReadsUnalignedBytes) {
  const std::vector<uint8_t> bytes = Build(test::SmallNetwork());
  for (size_t shift = 0; shift < 4; ++shift) {
    std::vector<uint8_t> shifted(bytes.size() + shift);
    std::copy(bytes.begin(), bytes.end(), shifted.begin() + static_cast<ptrdiff_t>(shift));
    const Result<Graph> graph = ImportTflite(std::span(shifted).subspan(shift), nullptr, "shifted");
    EXPECT_TRUE(graph.ok()) << graph.status().message();
  }
}

TEST(TfliteReader, ConstantsOutliveTheBytesTheyCameFrom) {
  Graph graph;
  {
    auto owner = std::make_shared<const std::vector<uint8_t>>(Build(test::SmallNetwork()));
    graph = *ImportTflite(*owner, owner, "model");
  }
  EXPECT_EQ(static_cast<const uint8_t*>(graph.tensors[1].data)[1], 48);
  ExpectRuns(std::move(graph));
}

TEST(TfliteReader, AcceptsBiasScalesOnAnAxisThatDoesNotExist) {
  ModelSpec spec = test::SmallNetwork();
  spec.tensors[2].scales = {0.1f, 0.2f, 0.3f, 0.4f};
  spec.tensors[2].zero_points = {0, 0, 0, 0};
  spec.tensors[2].quantized_dimension = 3;
  EXPECT_EQ(Imported(spec).tensors[2].quantization.axis, 0);
}

TEST(TfliteReader, OneZeroPointServesAllScales) {
  ModelSpec spec = test::SmallNetwork();
  spec.tensors[1].zero_points = {0};
  EXPECT_EQ(Imported(spec).tensors[1].quantization.zero_points.size(), 4u);
}

TEST(TfliteReader, ReshapesToAScalar) {
  ModelSpec spec = test::SmallElementwise();
  spec.operators.resize(6);
  spec.outputs = {8};
  spec.operators[5] = {
      tflite::BuiltinOperator::RESHAPE, {7}, {8}, test::ReshapeOptions({0}), 1, "", {}};
  EXPECT_EQ(Imported(spec).tensors[8].shape, Shape());
  spec.tensors[9].shape = {0};  // the shape of no dimensions, a constant without data
  spec.tensors[9].type = tflite::TensorType::INT32;
  spec.operators[5] = {tflite::BuiltinOperator::RESHAPE, {7, 9}, {8}, nullptr, 1, "", {}};
  EXPECT_EQ(Imported(spec).tensors[8].shape, Shape());
}

TEST(TfliteReader, FindsDataBehindTheFlatBuffer) {
  ModelSpec spec = test::SmallNetwork();
  const std::vector<uint8_t> weights = spec.tensors[1].data;
  spec.tensors[1].data.clear();
  spec.tensors[1].buffer = 1;
  spec.far_buffers = {{2, weights.size()}};
  const size_t size = Build(spec).size();
  spec.far_buffers = {{size, weights.size()}};
  std::vector<uint8_t> bytes = Build(spec);
  ASSERT_EQ(bytes.size(), size);
  bytes.insert(bytes.end(), weights.begin(), weights.end());
  const Result<Graph> graph = ImportTflite(bytes, nullptr, "far");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(static_cast<const uint8_t*>(graph->tensors[1].data)[1], 48);
}

TEST(TfliteReader, LoadsAFileAndOutlivesItsName) {
  const std::string path = testing::TempDir() + "intaglio_reader_test.tflite";
  const std::vector<uint8_t> bytes = Build(test::SmallNetwork());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<ptrdiff_t>(bytes.size()));
  Result<Graph> graph = LoadTflite(path);
  std::remove(path.c_str());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->name, path);
  ExpectRuns(std::move(*graph));
}

// A mapped file would end the process here.
TEST(TfliteReader, ACopiedFileMayBeTruncated) {
  const std::string path = testing::TempDir() + "intaglio_copied_test.tflite";
  const std::vector<uint8_t> bytes = Build(test::SmallNetwork());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<ptrdiff_t>(bytes.size()));
  ImportOptions options;
  options.copy_file = true;
  Result<Graph> graph = LoadTflite(path, options);
  std::filesystem::resize_file(path, 0);
  std::filesystem::remove(path);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ExpectRuns(std::move(*graph));
}

TEST(TfliteReader, NamesTheFileItCannotLoad) {
  const Result<Graph> missing = LoadTflite("/nowhere/model.tflite");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kIoError);
  EXPECT_EQ(missing.status().message(),
            "/nowhere/model.tflite: cannot open: No such file or directory");

  const Result<Graph> directory = LoadTflite(testing::TempDir());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.status().message(), testing::TempDir() + ": not a regular file");

  const std::string path = testing::TempDir() + "intaglio_empty.tflite";
  std::ofstream(path, std::ios::binary);
  const Result<Graph> empty = LoadTflite(path);
  std::remove(path.c_str());
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.status().message(), path + ": the file is empty");
}

// What the reader keeps counts: names as they are printed, and the tensors themselves.
TEST(TfliteReader, CountsWhatTensorsTake) {
  const auto code = [](const test::ModelSpec& m, size_t most) {
    const Result<Graph> graph =
        ImportTflite(test::Build(m), nullptr, "bytes", {.limits = {.max_bytes = most}});
    return graph.ok() ? StatusCode::kOk : graph.status().code();
  };
  test::ModelSpec named = test::SmallNetwork();
  named.tensors[0].name.assign(100'000, '\x01');
  EXPECT_EQ(code(named, 300'000), StatusCode::kOutOfMemory);
  EXPECT_EQ(code(named, 500'000), StatusCode::kOk);
  test::ModelSpec many = test::SmallNetwork();
  many.tensors.resize(2000, many.tensors[0]);
  EXPECT_EQ(code(many, 2000 * sizeof(Tensor)), StatusCode::kOutOfMemory);
  EXPECT_EQ(code(many, 4000 * sizeof(Tensor)), StatusCode::kOk);
}

}  // namespace
}  // namespace intaglio::nn
