#include "intaglio/nn/passes/fold_constants.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {
namespace {

std::vector<float> Ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

// x [2, 4] times the transpose of a constant [4, 3], which is multiplied by another constant.
Graph Product() {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {2, 4});
  const Constant stored = b.Const<float>("stored", Ramp(12), {4, 3});
  const Constant factor = b.Const<float>("factor", {0.5f}, {});
  const Value scaled = b.Layer(Mul{}, {stored.id, factor.id}, Type::kFloat32, {});
  const Value weights = b.Layer(Transpose{{1, 0}}, {scaled.id}, Type::kFloat32, {});
  const Value y = b.Layer(BatchMatMul{.adjoint_b = true}, {x.id, weights.id}, Type::kFloat32, {});
  b.Output(b.Layer(Add{}, {y.id, y.id}, Type::kFloat32, {}), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

// A tensor [1, size, size] of one number, added to x.
Graph Broadcast(int size, Operator reader) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {size, size});
  const Constant number = b.Const<float>("number", {0.25f}, {1, 1});
  const Value all = b.Layer(BroadcastTo{{size, size}}, {number.id}, Type::kFloat32, {});
  b.Output(b.Layer(std::move(reader), {x.id, all.id}, Type::kFloat32, {}), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

std::vector<float> RunOnce(Graph graph, const std::vector<float>& x) {
  Result<Model> model = Model::Prepare(std::move(graph));
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  std::vector<float> y(static_cast<size_t>(*CountElements(model->output(0).shape)));
  const InputBuffer in[] = {MakeInput<float>(x)};
  const OutputBuffer out[] = {MakeOutput<float>(y)};
  const Status status = model->Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

Graph Folded(Graph graph, FoldBudget budget = FoldBudget::ForModelOf(0)) {
  FoldConstants(graph, budget);
  const Status status = Validate(graph);
  EXPECT_TRUE(status.ok()) << status.message();
  return graph;
}

size_t ConstantBytes(const Graph& graph) {
  size_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) bytes += tensor.data_bytes;
  return bytes;
}

TEST(FoldConstants, ChainsGiveTheBitsOfTheirLayers) {
  const std::vector<float> expected = RunOnce(Product(), Ramp(8));
  const Graph folded = Folded(Product());
  ASSERT_EQ(folded.layers.size(), 2u);
  EXPECT_EQ(RunOnce(folded, Ramp(8)), expected);
}

TEST(FoldConstants, LayersKeepTheirLabels) {
  EXPECT_EQ(LabelOf(Folded(Product()), 0).substr(0, 15), "BATCH_MATMUL #2");
}

TEST(FoldConstants, WhatNothingReadsTakesNoMemory) {
  EXPECT_EQ(ConstantBytes(Folded(Product())), 12 * sizeof(float)) << "the weights";
}

TEST(FoldConstants, StepsOnTheWayTakeNoMemory) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {12});
  const Constant stored = b.Const<float>("stored", Ramp(12), {12});
  const Value roots = b.Layer(Sqrt{}, {stored.id}, Type::kFloat32, {});
  const Value less = b.Layer(Neg{}, {roots.id}, Type::kFloat32, {});
  b.Output(b.Layer(Add{}, {x.id, less.id}, Type::kFloat32, {}), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  const Graph folded = Folded(std::move(*graph));
  EXPECT_EQ(folded.layers.size(), 1u);
  EXPECT_EQ(ConstantBytes(folded), 12 * sizeof(float));
}

TEST(FoldConstants, AnotherReaderKeepsAConstant) {
  Graph graph = Product();
  graph.outputs.push_back(graph.layers[0].outputs[0]);
  EXPECT_EQ(ConstantBytes(Folded(std::move(graph))), 24 * sizeof(float));
}

TEST(FoldConstants, ReshapingSharesMemory) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {6, 2});
  const Constant stored = b.Const<float>("stored", Ramp(12), {4, 3});
  const Value weights = b.Layer(Reshape{{6, 2}}, {stored.id}, Type::kFloat32, {});
  b.Output(b.Layer(Add{}, {x.id, weights.id}, Type::kFloat32, {}), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  const void* const data = graph->tensors[static_cast<size_t>(stored.id)].data;
  const Graph folded = Folded(std::move(*graph));
  EXPECT_EQ(folded.tensors[static_cast<size_t>(weights.id)].data, data);
}

TEST(FoldConstants, WhatGrowsStaysALayerButForParameters) {
  constexpr int kLarge = 200;
  EXPECT_EQ(Folded(Broadcast(100, Add{})).layers.size(), 1u) << "small";
  EXPECT_EQ(Folded(Broadcast(kLarge, Add{})).layers.size(), 2u);
  const Graph product = Folded(Broadcast(kLarge, FullyConnected{}));
  EXPECT_EQ(product.layers.size(), 1u);
  EXPECT_EQ(RunOnce(product, Ramp(size_t{kLarge} * kLarge))[0], 5025) << "a quarter of 20100";
}

TEST(FoldConstants, WhatTheBudgetDoesNotAllowStays) {
  const std::vector<float> expected = RunOnce(Product(), Ramp(8));
  constexpr uint64_t kPlenty = 1 << 20;
  for (const FoldBudget& budget :
       {FoldBudget(0, 0), FoldBudget(0, kPlenty), FoldBudget(kPlenty, 0)}) {
    const Graph folded = Folded(Product(), budget);
    EXPECT_EQ(folded.layers.size(), 4u);
    EXPECT_EQ(RunOnce(folded, Ramp(8)), expected);
  }
  // This budget suffices for the first layer only.
  EXPECT_EQ(Folded(Product(), {12 * sizeof(float), kPlenty}).layers.size(), 3u);
}

TEST(FoldConstants, ProductsCountTheirWork) {
  Builder b;
  const Constant a = b.Const<float>("a", Ramp(256 * 256), {256, 256});
  b.Output(b.Layer(BatchMatMul{}, {a.id, a.id}, Type::kFloat32, {}), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(Folded(*graph, {1 << 20, 256 * 256 * 256}).layers.size(), 1u);
  EXPECT_EQ(Folded(*graph, {1 << 20, 260 * 256 * 256}).layers.size(), 0u);
}

Graph OfAConstant(const Operator& op, Shape shape) {
  Builder b;
  const auto count = static_cast<size_t>(*CountElements(shape));
  const Constant x = b.Const<float>("x", std::vector<float>(count, 0.5f), std::move(shape));
  b.Output(b.Layer(op, {x.id}, Type::kFloat32, {}), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

TEST(FoldConstants, NormalizingCountsItsWork) {
  const auto normalize = [](int channels) {
    return OfAConstant(LocalResponseNormalization{.radius = channels}, {1, 1, 1, channels});
  };
  EXPECT_EQ(Folded(normalize(100)).layers.size(), 0u);
  EXPECT_EQ(Folded(normalize(200'000)).layers.size(), 1u) << "80 billion steps";
}

TEST(FoldConstants, PoolingCountsItsWork) {
  const auto pool = [](int size) {
    return OfAConstant(AveragePool2D{.filter = {size, size}, .padding = Padding::Same()},
                       {1, size, size, 1});
  };
  EXPECT_EQ(Folded(pool(20)).layers.size(), 0u);
  EXPECT_EQ(Folded(pool(512)).layers.size(), 1u) << "2^36 steps";
}

TEST(FoldConstants, NoMoreIsDoneThanARunMayDo) {
  EXPECT_EQ(Folded(Product(), FoldBudget::ForModelOf(0, {.max_work = 10})).layers.size(), 4u);
  EXPECT_EQ(Folded(Product(), FoldBudget::ForModelOf(0, {.max_work = 100'000})).layers.size(), 2u);
}

// Any number of layers may read a tensor that has any number of scales, or a name of any length.
TEST(FoldConstants, LookingAtALayerCounts) {
  Builder b;
  const Constant x = b.Const<int8_t>("x", std::vector<int8_t>(1000, 1), {1, 1000},
                                     PerAxis(std::vector<float>(1000, 0.5f), 1));
  b.Output(b.Layer(Dequantize{}, {x.id}, Type::kFloat32, {}), std::string(16'000, 'n'));
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(Folded(*graph, {1 << 20, 10'000}).layers.size(), 1u);
  EXPECT_EQ(Folded(*graph, {1 << 20, 20'000}).layers.size(), 0u);
}

// Any number of layers may name one tensor.
TEST(FoldConstants, LabelsAreShort) {
  Graph graph = Product();
  graph.tensors[static_cast<size_t>(graph.layers[3].outputs[0])].name.assign(1'000'000, 'n');
  EXPECT_EQ(LabelOf(Folded(std::move(graph)), 1), "ADD #3 '" + std::string(100, 'n') + "...'");
}

// Variables are not constants, whatever they start with.
TEST(FoldConstants, VariablesStay) {
  Graph graph;
  Tensor variable;
  variable.shape = {2};
  variable.variable = true;
  Tensor read;
  read.shape = {2};
  graph.tensors = {variable, read};
  graph.layers = {{ReadVariable{}, {0}, {1}, {}}};
  graph.outputs = {1};
  EXPECT_EQ(Folded(graph).layers.size(), 1u);
}

// A layer that fails stays, and so do the layers that follow from it, but no others.
TEST(FoldConstants, ErrorsStay) {
  Builder b;
  const Constant table = b.Const<float>("table", Ramp(4), {4});
  const Constant index = b.Const<int32_t>("index", {7}, {1});
  const Value wrong = b.Layer(Gather{}, {table.id, index.id}, Type::kFloat32, {});
  const Value right = b.Layer(Neg{}, {table.id}, Type::kFloat32, {});
  b.Output(b.Layer(Add{}, {wrong.id, right.id}, Type::kFloat32, {}), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  const Graph folded = Folded(std::move(*graph));
  ASSERT_EQ(folded.layers.size(), 2u);
  EXPECT_EQ(LabelOf(folded, 1).substr(0, 6), "ADD #2");
}

}  // namespace
}  // namespace intaglio::nn
