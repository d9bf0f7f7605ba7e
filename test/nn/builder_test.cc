#include "intaglio/nn/ops/builder.h"

#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

TEST(Builder, NamesAndShapes) {
  Builder b("tiny");
  const Value x = b.Input("x", Type::kInt8, {1, 8, 8, 1}, PerTensor(0.5f, 1));
  const Constant filter =
      b.Const<int8_t>("filter", std::vector<int8_t>(36, 1), {4, 3, 3, 1}, PerAxis({1, 2, 3, 4}, 0));
  const Value y =
      b.Conv2D(x, filter, kNoBias, {.stride = {2, 2}, .padding = Padding::Same()}, PerTensor(9, 0));
  const Value z = b.MaxPool2D(y, {.filter = {2, 2}, .stride = {2, 2}});
  b.Output(z, "z");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->name, "tiny");
  ASSERT_EQ(graph->tensors.size(), 4u);
  EXPECT_EQ(graph->tensors[2].name, "CONV_2D_0");
  EXPECT_EQ(graph->tensors[2].shape, (Shape{1, 4, 4, 4}));
  EXPECT_EQ(graph->tensors[3].name, "z");
  EXPECT_EQ(graph->tensors[3].shape, (Shape{1, 2, 2, 4}));
  EXPECT_EQ(graph->tensors[3].quantization.scales, std::vector<float>{9});
  EXPECT_EQ(graph->inputs, std::vector<TensorId>{x.id});
  EXPECT_EQ(graph->outputs, std::vector<TensorId>{z.id});
}

TEST(Builder, RefusesAGraphWithoutOutputs) {
  Builder b;
  b.Relu(b.Input("x", Type::kInt8, {1, 8}, PerTensor(1, 0)), PerTensor(1, 0));
  EXPECT_EQ(b.Finish().status().message(),
            "the graph has no outputs: call Output for each value that it is to give");
}

TEST(Builder, KeepsTheFirstError) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 8, 8, 1}, PerTensor(1, 0));
  const Value wrong = b.Reshape(x, {7});
  const Value later = b.Add(wrong, x, {}, PerTensor(1, 0));
  b.Output(later, "y");
  EXPECT_EQ(b.Finish().status().message(),
            "RESHAPE #0 'RESHAPE_0': cannot give [1, 8, 8, 1] the shape [7]");
}

TEST(Builder, RefusesHandlesOfNobody) {
  Builder b;
  b.Output(b.Relu(Value{5}, PerTensor(1, 0)), "y");
  EXPECT_EQ(b.Finish().status().message(), "RELU_0: input #5 is not of this builder");
  Builder c;
  c.Output(c.Conv2D(Value{}, Constant{}, kNoBias, {}, PerTensor(1, 0)), "y");
  EXPECT_FALSE(c.Finish().ok());
  Builder d;
  d.Output(Value{}, "y");
  EXPECT_EQ(d.Finish().status().message(), "output 'y' is not of this builder");
}

TEST(Builder, IsEmptyAfterFinish) {
  Builder b;
  b.Output(b.Input("x", Type::kInt8, {2}), "x");
  ASSERT_TRUE(b.Finish().ok());
  b.Output(b.Input("y", Type::kInt8, {2}), "y");
  const Result<Graph> second = b.Finish();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->tensors.size(), 1u);
}

TEST(Builder, RefersToTheCallersConstants) {
  const std::vector<int8_t> weights = {2, 3};
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 2}, PerTensor(1, 0));
  const Constant w = b.ConstView<int8_t>("w", weights, {1, 2}, PerTensor(1, 0));
  b.Output(b.FullyConnected(x, w, kNoBias, {}, PerTensor(1, 0)), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->tensors[static_cast<size_t>(w.id)].data, weights.data());
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(RunModel(*model, {Q{Type::kInt8, {1, 2}, 1, 0, {5, 7}}}), std::vector<int>{31});
}

}  // namespace
}  // namespace intaglio::nn
