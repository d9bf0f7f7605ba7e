// Loops and branches as graphs hold them: what files cannot show.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/integer_only.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/count_allocations.h"

namespace intaglio::nn {
namespace {

Tensor MakeTensor(std::string name, Type type, Shape shape = {}) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  return tensor;
}

Tensor MakeInt(int32_t value) {
  Tensor tensor = MakeTensor("constant", Type::kInt32);
  const auto owner = std::make_shared<int32_t>(value);
  tensor.constant = true;
  tensor.data = owner.get();
  tensor.data_bytes = sizeof(value);
  tensor.owner = owner;
  return tensor;
}

// i < end
Graph MakeCondition(Type type, Shape shape) {
  Graph graph;
  graph.tensors = {MakeTensor("i", Type::kInt32), MakeTensor("end", Type::kInt32),
                   MakeTensor("x", type, std::move(shape)), MakeTensor("going", Type::kBool)};
  graph.layers = {{Less{}, {0, 1}, {3}, {}}};
  graph.inputs = {0, 1, 2};
  graph.outputs = {3};
  return graph;
}

// i + 1, end, x + x
Graph MakeBody(Type type, const Shape& shape) {
  Graph graph;
  graph.tensors = {MakeTensor("i", Type::kInt32),    MakeTensor("end", Type::kInt32),
                   MakeTensor("x", type, shape),     MakeInt(1),
                   MakeTensor("next", Type::kInt32), MakeTensor("twice", type, shape)};
  graph.layers = {{Add{}, {0, 3}, {4}, {}}, {Add{}, {2, 2}, {5}, {}}};
  graph.inputs = {0, 1, 2};
  graph.outputs = {4, 1, 5};
  return graph;
}

// x doubled `end` times.
Graph MakeLoop(Type type = Type::kInt32, const Shape& shape = {3}) {
  Graph graph;
  graph.tensors = {MakeInt(0),
                   MakeTensor("end", Type::kInt32),
                   MakeTensor("x", type, shape),
                   MakeTensor("rounds", Type::kInt32),
                   MakeTensor("same", Type::kInt32),
                   MakeTensor("y", type, shape)};
  graph.layers = {{While{std::make_shared<const Graph>(MakeCondition(type, shape)),
                         std::make_shared<const Graph>(MakeBody(type, shape))},
                   {0, 1, 2},
                   {3, 4, 5},
                   {}}};
  graph.inputs = {1, 2};
  graph.outputs = {5};
  return graph;
}

Status RunLoop(Model& model, int32_t rounds, std::span<const int32_t> x, std::span<int32_t> y) {
  return model.Run(
      std::vector<InputBuffer>{MakeInput(std::span<const int32_t>(&rounds, 1)), MakeInput(x)},
      std::vector<OutputBuffer>{MakeOutput(y)});
}

TEST(Control, ALoopEndsAtTheLimitOfRounds) {
  Result<Model> model = Model::Prepare(MakeLoop(), {.limits = {.max_rounds = 3}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<int32_t> x = {1, -2, 5};
  std::vector<int32_t> y(3);
  EXPECT_TRUE(RunLoop(*model, 3, x, y).ok());
  EXPECT_EQ(y, (std::vector<int32_t>{8, -16, 40}));
  const Status status = RunLoop(*model, 4, x, y);
  EXPECT_EQ(status.message(), "WHILE #0 'rounds': takes more rounds than a run may");
  EXPECT_TRUE(RunLoop(*model, 2, x, y).ok());
  EXPECT_EQ(y, (std::vector<int32_t>{4, -8, 20}));
  Result<Model> never = Model::Prepare(MakeLoop(), {.limits = {.max_rounds = 0}});
  ASSERT_TRUE(never.ok());
  EXPECT_TRUE(RunLoop(*never, 0, x, y).ok());
  EXPECT_EQ(y, x);
  EXPECT_FALSE(RunLoop(*never, 1, x, y).ok());
}

// x doubled `end` times, `end` times: that many rounds and their square.
TEST(Control, RoundsInsideOfRoundsCount) {
  Graph body = MakeBody(Type::kInt32, {3});
  const Graph inner = MakeLoop();
  body.tensors.insert(body.tensors.end(), {MakeInt(0), MakeTensor("rounds", Type::kInt32),
                                           MakeTensor("same", Type::kInt32)});
  body.layers[1] = {inner.layers[0].op, {6, 1, 2}, {7, 8, 5}, {}};
  Graph graph = MakeLoop();
  graph.layers[0].op =
      While{graph.layers[0].op.As<While>()->condition, std::make_shared<const Graph>(body)};
  const std::vector<int32_t> x = {1, -2, 5};
  std::vector<int32_t> y(3);
  for (const int64_t most : {5, 6}) {
    Result<Model> model = Model::Prepare(graph, {.limits = {.max_rounds = most}});
    ASSERT_TRUE(model.ok()) << model.status().message();
    for (int run = 0; run < 2; ++run) {
      const Status status = RunLoop(*model, 2, x, y);
      EXPECT_EQ(status.message(), most == 6 ? ""
                                            : "WHILE #0 'rounds': WHILE #1 'rounds': takes more "
                                              "rounds than a run may");
      if (most == 5) continue;
      EXPECT_EQ(y, (std::vector<int32_t>{16, -32, 80}));
    }
  }
}

// Zeros never end a loop whose end they are not: that is no fault of the model.
TEST(Control, WarmingUpEndsWithLoopsThatDoNot) {
  Graph graph = MakeLoop();
  Graph condition = MakeCondition(Type::kInt32, {3});
  condition.layers[0].op = LessEqual{};  // i <= end, where the body does not count
  Graph body = MakeBody(Type::kInt32, {3});
  body.outputs[0] = 0;
  graph.layers[0].op =
      While{std::make_shared<const Graph>(condition), std::make_shared<const Graph>(body)};
  Result<Model> model = Model::Prepare(graph, {.limits = {.max_rounds = int64_t{1} << 60}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_TRUE(model->WarmUp().ok());
  const std::vector<int32_t> x = {1, -2, 5};
  std::vector<int32_t> y(3);
  EXPECT_TRUE(RunLoop(*model, -1, x, y).ok());
  EXPECT_EQ(y, x);
}

TEST(Control, ARunAllocatesNothing) {
  Result<Model> model = Model::Prepare(MakeLoop());
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<int32_t> x = {1, -2, 5};
  std::vector<int32_t> y(3);
  const int32_t rounds = 20;
  const std::vector<InputBuffer> in = {MakeInput(std::span<const int32_t>(&rounds, 1)),
                                       MakeInput(std::span<const int32_t>(x))};
  const std::vector<OutputBuffer> out = {MakeOutput(std::span<int32_t>(y))};
  ASSERT_TRUE(model->WarmUp().ok());
  const int64_t before = CountAllocations();
  ASSERT_TRUE(model->Run(in, out).ok());
  EXPECT_EQ(CountAllocations(), before);
  EXPECT_EQ(y[0], 1 << 20);
}

// The places of the state are the body's inputs; a shared instance has its own.
TEST(Control, InstancesDoNotMeet) {
  Result<Model> model = Model::Prepare(MakeLoop(Type::kInt32, {1000}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  Result<Model> other = model->Share();
  ASSERT_TRUE(other.ok());
  std::vector<int32_t> x(1000, 3);
  std::vector<int32_t> y(1000);
  std::vector<int32_t> z(1000);
  ASSERT_TRUE(RunLoop(*model, 5, x, y).ok());
  ASSERT_TRUE(RunLoop(*other, 1, x, z).ok());
  EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](int32_t v) { return v == 96; }));
  EXPECT_TRUE(std::all_of(z.begin(), z.end(), [](int32_t v) { return v == 6; }));
}

TEST(Control, FloatInsideIsFound) {
  EXPECT_TRUE(CheckIntegerOnly(MakeLoop()).ok());
  Result<Model> model = Model::Prepare(MakeLoop(), {.integer_only = true});
  ASSERT_TRUE(model.ok()) << model.status().message();
  // x through float32 and back, in the body only.
  Graph body = MakeBody(Type::kInt32, {3});
  body.tensors.push_back(MakeTensor("real", Type::kFloat32, {3}));
  body.tensors.push_back(MakeTensor("back", Type::kInt32, {3}));
  body.layers.push_back({Cast{}, {5}, {6}, {}});
  body.layers.push_back({Cast{}, {6}, {7}, {}});
  body.outputs[2] = 7;
  Graph graph = MakeLoop();
  graph.layers[0].op =
      While{graph.layers[0].op.As<While>()->condition, std::make_shared<const Graph>(body)};
  const std::string expected =
      "WHILE #0 'rounds': needs floating point: the body: CAST #2 'real': needs floating point: "
      "output 0 'real' is float32";
  EXPECT_EQ(CheckIntegerOnly(graph).message(), expected);
  EXPECT_EQ(Model::Prepare(graph, {.integer_only = true}).status().message(), expected);
  EXPECT_TRUE(Model::Prepare(graph).ok());
}

TEST(Control, GraphsThatAreMissingOrWrongAreErrors) {
  Graph graph = MakeLoop();
  const std::shared_ptr<const Graph> condition = graph.layers[0].op.As<While>()->condition;
  const std::shared_ptr<const Graph> body = graph.layers[0].op.As<While>()->body;
  graph.layers[0].op = While{nullptr, body};
  EXPECT_EQ(Model::Prepare(graph).status().message(),
            "WHILE #0 'rounds': has no graph for the condition");
  graph.layers[0].op = While{condition, nullptr};
  EXPECT_EQ(Model::Prepare(graph).status().message(),
            "WHILE #0 'rounds': has no graph for the body");
  Graph wrong = *body;
  wrong.layers[1].inputs[0] = 99;
  graph.layers[0].op = While{condition, std::make_shared<const Graph>(wrong)};
  EXPECT_EQ(Model::Prepare(graph).status().message(),
            "WHILE #0 'rounds': the body: ADD #1 'twice': input 0 is tensor #99, but the graph has "
            "6 tensors");
  graph = MakeLoop();
  graph.layers[0].inputs[2] = kNoTensor;
  EXPECT_EQ(Model::Prepare(graph).status().message(), "WHILE #0 'rounds': input 2 is absent");
  graph = MakeLoop();
  graph.tensors[5].type = Type::kFloat32;
  EXPECT_EQ(Model::Prepare(graph).status().message(),
            "WHILE #0 'rounds': tensor 'y' is float32, not int32");
}

}  // namespace
}  // namespace intaglio::nn
