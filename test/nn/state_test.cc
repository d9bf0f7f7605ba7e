// Variables: what they keep from run to run, and for whom.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {
namespace {

Tensor MakeFloats(std::string name, Shape shape) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = Type::kFloat32;
  tensor.shape = std::move(shape);
  return tensor;
}

Tensor MakeConstant(std::string name, Shape shape, std::vector<float> values) {
  Tensor tensor = MakeFloats(std::move(name), std::move(shape));
  const auto owner = std::make_shared<std::vector<float>>(std::move(values));
  tensor.constant = true;
  tensor.data = owner->data();
  tensor.data_bytes = owner->size() * sizeof(float);
  tensor.owner = owner;
  return tensor;
}

Tensor MakeVariable(std::string name, Shape shape) {
  Tensor tensor = MakeFloats(std::move(name), std::move(shape));
  tensor.variable = true;
  return tensor;
}

// y = x + y / 2, y being the one before; and twice that.
Graph MakeEcho() {
  Graph graph;
  graph.tensors = {MakeFloats("x", {1, 1}),          MakeConstant("w", {1, 1}, {1}),
                   MakeConstant("r", {1, 1}, {0.5}), MakeConstant("b", {1}, {0}),
                   MakeVariable("y", {1, 1}),        MakeFloats("out", {1, 1}),
                   MakeFloats("twice", {1, 1})};
  graph.layers = {{Rnn{CellActivation::kNone, false}, {0, 1, 2, 3, 4}, {5}, {}},
                  {Add{}, {5, 4}, {6}, {}}};
  graph.inputs = {0};
  graph.outputs = {6};
  return graph;
}

float RunOnce(Model& model, float x) {
  float y = 0;
  const Status status =
      model.Run(std::vector<InputBuffer>{MakeInput(std::span<const float>(&x, 1))},
                std::vector<OutputBuffer>{MakeOutput(std::span<float>(&y, 1))});
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

TEST(State, LastsFromRunToRunUntilItIsReset) {
  Result<Model> model = Model::Prepare(MakeEcho());
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(RunOnce(*model, 8), 16);
    EXPECT_EQ(RunOnce(*model, 0), 8);
    EXPECT_EQ(RunOnce(*model, 2), 8);
    EXPECT_EQ(*static_cast<const float*>(model->TensorData(4)), 4);
    model->ResetState();
    EXPECT_EQ(*static_cast<const float*>(model->TensorData(4)), 0);
  }
  EXPECT_EQ(RunOnce(*model, 8), 16);
  ASSERT_TRUE(model->WarmUp().ok());
  EXPECT_EQ(RunOnce(*model, 0), 0);
}

TEST(State, StartsAtTheZeroPointOfInt8) {
  Graph graph;
  Tensor state;
  state.name = "state";
  state.shape = {3};
  state.quantization = PerTensor(0.5f, -7);
  state.variable = true;
  Tensor copy = state;
  copy.variable = false;
  graph.tensors = {state, copy};
  graph.layers = {{Reshape{{3}}, {0}, {1}, {}}};
  graph.outputs = {1};
  Result<Model> model = Model::Prepare(std::move(graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  // The copy is none in place: the state could change while the copy is read.
  EXPECT_FALSE(model->layers()[0].in_place);
  std::vector<int8_t> out(3);
  ASSERT_TRUE(model->Run({}, std::vector<OutputBuffer>{MakeOutput(std::span<int8_t>(out))}).ok());
  EXPECT_EQ(out, (std::vector<int8_t>{-7, -7, -7}));
}

TEST(State, IsEachInstancesOwn) {
  Result<Model> model = Model::Prepare(MakeEcho());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(RunOnce(*model, 8), 16);
  Result<Model> other = model->Share();
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(RunOnce(*other, 0), 0);
  EXPECT_EQ(RunOnce(*model, 0), 8);

  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i) {
    Result<Model> instance = model->Share();
    ASSERT_TRUE(instance.ok());
    threads.emplace_back([i, own = std::move(*instance)]() mutable {
      auto expected = static_cast<float>(2 * i);
      EXPECT_EQ(RunOnce(own, static_cast<float>(i)), expected);
      for (int step = 0; step < 20; ++step) {
        expected /= 2;
        EXPECT_EQ(RunOnce(own, 0), expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(State, IsNothingThatLayersWrite) {
  const auto message_after = [](void (*change)(Graph&)) {
    Graph graph = MakeEcho();
    change(graph);
    return Model::Prepare(std::move(graph)).status().message();
  };
  EXPECT_EQ(message_after([](Graph& g) { g.layers[1].outputs = {4}; }),
            "ADD #1 'y': writes tensor #4 'y', which is a constant, a variable, an input or "
            "written before");
  EXPECT_EQ(message_after([](Graph& g) { g.inputs.push_back(4); }),
            "tensor #4 'y' cannot be an input: it is a constant, a variable or an input already");
  EXPECT_EQ(message_after([](Graph& g) { g.tensors[1].variable = true; }),
            "tensor #1 'w': is a constant and a variable");
  EXPECT_EQ(message_after([](Graph& g) { g.tensors[4].variable = false; }),
            "RNN #0 'out': reads tensor #4 'y', which nothing has written before");
}

}  // namespace
}  // namespace intaglio::nn
