#include "intaglio/nn/passes/remove_unread.h"

#include <string>

#include "intaglio/nn/graph/nested_graphs.h"
#include "intaglio/nn/ops/control/operators.h"
#include "intaglio/test/nn/passes/float_network.h"

namespace intaglio::nn {
namespace {

TEST(RemoveUnread, RemovesWholeChains) {
  FloatNetwork n(1);
  const TensorId x = n.Input({5});
  const TensorId unread = n.Then(Sqrt{}, {n.Then(Exp{}, {x})});
  n.Then(Add{}, {unread, unread});
  const Graph graph = n.Finish({n.Then(Neg{}, {n.Then(Abs{}, {x})})});
  Graph rest = graph;
  EXPECT_EQ(RemoveUnread(rest), 3u);
  ASSERT_EQ(rest.layers.size(), 2u);
  EXPECT_TRUE(rest.layers[0].op.Is<Abs>());
  EXPECT_EQ(RunFloats(rest), RunFloats(graph));
}

TEST(RemoveUnread, LeavesLayersOfWhichOneResultIsRead) {
  FloatNetwork n(2);
  const TensorId x = n.Input({4, 2});
  const TensorId unread = n.Then(Slice{{0, 0}, {2, 2}}, {x});
  const TensorId read = n.Then(Slice{{2, 0}, {2, 2}}, {x});
  Graph graph = n.Finish({n.Then(Abs{}, {read})});
  graph.layers.erase(graph.layers.begin());
  graph.layers[0].op = Split{0, 2};
  graph.layers[0].outputs = {unread, read};
  ASSERT_TRUE(Validate(graph).ok()) << Validate(graph).message();
  EXPECT_EQ(RemoveUnread(graph), 0u);
}

// What the caller reads, and what follows, though nobody else does.
TEST(RemoveUnread, LeavesOutputs) {
  FloatNetwork n(3);
  const TensorId x = n.Then(Exp{}, {n.Input({4})});
  Graph graph = n.Finish({x, n.Then(Sqrt{}, {x})});
  EXPECT_EQ(RemoveUnread(graph), 0u);
}

TEST(RemoveUnread, LeavesWhatWritesVariables) {
  FloatNetwork n(4);
  const TensorId x = n.Input({4});
  const TensorId y = n.Then(Abs{}, {x});
  Graph graph = n.Finish({y});
  Tensor variable = graph.tensors[static_cast<size_t>(x)];
  variable.name = "state";
  variable.variable = true;
  graph.tensors.push_back(variable);
  const auto state = static_cast<TensorId>(graph.tensors.size() - 1);
  graph.layers.push_back({AssignVariable{}, {y, state}, {}, {}});
  ASSERT_TRUE(Validate(graph).ok()) << Validate(graph).message();
  EXPECT_EQ(RemoveUnread(graph), 0u);
}

struct WithGraph {
  static const OperatorRow kRow;
};
const OperatorRow WithGraph::kRow = {
    .name = "WITH_GRAPH",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = SetOf(Type::kFloat32),
    .infer = nullptr,
    .candidates = {},
    .nested_graphs = [](const Operator&) { return std::vector<NestedGraph>(1); }};

// Graphs inside, and layers that make nothing to read.
TEST(RemoveUnread, LeavesWhatMayDoMore) {
  FloatNetwork n(5);
  const TensorId x = n.Input({4});
  n.Then(Exp{}, {x});
  n.Then(Exp{}, {x});
  n.Then(Exp{}, {x});
  Graph graph = n.Finish({n.Then(Abs{}, {x})});
  graph.layers[0].op = WithGraph{};
  graph.layers[1].outputs.clear();
  EXPECT_EQ(RemoveUnread(graph), 1u);
  EXPECT_EQ(graph.layers.size(), 3u);
}

}  // namespace
}  // namespace intaglio::nn
