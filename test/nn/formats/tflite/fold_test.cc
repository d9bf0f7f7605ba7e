// Shapes that a file computes with operators.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"

namespace intaglio::nn::test {
namespace {

using Code = tflite::BuiltinOperator;
using tflite::TensorType;

TensorSpec Plain(const std::string& name, const std::vector<int>& shape,
                 const std::vector<int32_t>& values = {}) {
  TensorSpec tensor;
  tensor.name = name;
  tensor.type = TensorType::INT32;
  tensor.shape = shape;
  tensor.scales.clear();
  tensor.zero_points.clear();
  tensor.data = Bytes(values);
  return tensor;
}

TEST(Fold, LeavesNoLayerThatComputesShapes) {
  const std::vector<uint8_t> bytes = Build(Flattening());
  Result<Graph> graph = ImportTflite(bytes, nullptr, "bytes");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->layers.size(), 1u);
  EXPECT_EQ(LabelOf(*graph, 0), "RESHAPE #3 'y'") << "its place in the file";
  EXPECT_EQ(graph->tensors[7].shape, (Shape{2, 12}));
  const Result<Model> model = Model::Prepare(std::move(*graph));
  EXPECT_TRUE(model.ok()) << model.status().message();
}

TEST(Fold, GivesConstantOutputs) {
  ModelSpec m = Flattening();
  m.outputs = {6, 1};
  m.operators.pop_back();
  const std::vector<uint8_t> bytes = Build(m);
  Result<Graph> graph = ImportTflite(bytes, nullptr, "bytes");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(graph->layers.empty());
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<int8_t> x(24);
  std::vector<int32_t> packed(2);
  std::vector<int32_t> shape(3);
  const InputBuffer in[] = {MakeInput<int8_t>(x)};
  const OutputBuffer out[] = {MakeOutput<int32_t>(packed), MakeOutput<int32_t>(shape)};
  const Status status = model->Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(packed, (std::vector<int32_t>{2, -1}));
  EXPECT_EQ(shape, (std::vector<int32_t>{2, 3, 4}));
}

TEST(Fold, LeavesWhatDependsOnInputs) {
  ModelSpec m = Flattening();
  m.inputs = {0, 4};
  m.operators.erase(m.operators.begin() + 1);  // the first extent comes from outside
  const std::vector<uint8_t> bytes = Build(m);
  const Result<Graph> graph = ImportTflite(bytes, nullptr, "bytes");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(
      graph.status().message(),
      "bytes: operator #2 RESHAPE v1: shapes that are not constant are not supported; give input "
      "'batch' a value with the option constants (--constant batch=VALUE)");
}

// A file of a few hundred bytes: ones [size], concatenated with themselves again and again.
ModelSpec Doublings(int size, int times) {
  ModelSpec m;
  m.tensors = {Plain("size", {1}, {size}), Plain("one", {}, {1}), Plain("0", {size})};
  m.operators = {{Code::FILL, {0, 1}, {2}, nullptr, 1, "", {}}};
  for (int i = 0; i < times; ++i) {
    m.tensors.push_back(Plain(std::to_string(i + 1), {}));
    m.operators.push_back(
        {Code::CONCATENATION, {i + 2, i + 2}, {i + 3}, ConcatenationOptions(0), 1, "", {}});
  }
  m.outputs = {times + 2};
  return m;
}

size_t OwnBytes(const Graph& graph) {
  size_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) bytes += tensor.data_bytes;
  return bytes;
}

TEST(Fold, StaysWithinItsBudget) {
  const std::vector<uint8_t> bytes = Build(Doublings(1, 28));  // 1 GiB
  Result<Graph> graph = ImportTflite(bytes, nullptr, "bytes");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_FALSE(graph->layers.empty());
  EXPECT_LE(OwnBytes(*graph), size_t{65} << 20);
}

TEST(Fold, RefusesWhatNoMachineHolds) {
  const std::vector<uint8_t> bytes = Build(Doublings(1000, 40));
  const Result<Graph> graph = ImportTflite(bytes, nullptr, "bytes");
  ASSERT_FALSE(graph.ok());
}

// 2^40 products of two constants of 4 MiB.
TEST(Fold, LeavesEndlessWork) {
  ModelSpec m;
  TensorSpec one = Plain("one", {}, {0x3f800000});
  one.type = TensorType::FLOAT32;
  TensorSpec square = Plain("square", {1 << 10, 1 << 10});
  square.type = TensorType::FLOAT32;
  TensorSpec product = square;
  product.name = "product";
  m.tensors = {Plain("size", {2}, {1 << 10, 1 << 10}), one, square, product};
  m.operators = {{Code::FILL, {0, 1}, {2}, nullptr, 1, "", {}},
                 {Code::BATCH_MATMUL, {2, 2}, {3}, BatchMatMulOptions(false, false), 1, "", {}}};
  m.outputs = {3};
  const std::vector<uint8_t> bytes = Build(m);
  const Result<Graph> graph = ImportTflite(bytes, nullptr, "bytes");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->layers.size(), 1u);
}

}  // namespace
}  // namespace intaglio::nn::test
