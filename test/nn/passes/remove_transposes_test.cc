#include "intaglio/nn/passes/remove_transposes.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

const std::vector<int> kToLast = {0, 2, 3, 1};
const std::vector<int> kToFirst = {0, 3, 1, 2};

size_t CountTransposes(const Graph& graph) {
  size_t count = 0;
  for (const Layer& layer : graph.layers) count += size_t{layer.op.Is<Transpose>()};
  return count;
}

std::vector<std::vector<float>> Run(Graph graph) {
  Result<Model> model = Model::Prepare(std::move(graph));
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  std::vector<std::vector<float>> in;
  std::vector<std::vector<float>> out;
  std::vector<InputBuffer> inputs;
  std::vector<OutputBuffer> outputs;
  for (size_t i = 0; i < model->input_count(); ++i) {
    in.emplace_back(static_cast<size_t>(*CountElements(model->input(i).shape)));
    for (size_t j = 0; j < in[i].size(); ++j) {
      in[i][j] = static_cast<float>(j * 37 % 101) / 16.0f - 3.0f;
    }
  }
  for (size_t i = 0; i < model->output_count(); ++i) {
    out.emplace_back(static_cast<size_t>(*CountElements(model->output(i).shape)));
  }
  for (std::vector<float>& values : in) inputs.push_back(MakeInput(values));
  for (std::vector<float>& values : out) outputs.push_back(MakeOutput(values));
  EXPECT_TRUE(model->Run(inputs, outputs).ok());
  return out;
}

// Writes networks of float32 whose channels come first.
class Network {
 public:
  explicit Network(unsigned seed) : random_(seed) {}

  Value Input(Shape shape) { return b_.Input("x", Type::kFloat32, std::move(shape)); }
  Value Apply(Operator op, std::vector<TensorId> inputs) {
    return b_.Layer(std::move(op), std::move(inputs), Type::kFloat32, {});
  }
  TensorId Constant(Shape shape) {
    std::vector<float> values(static_cast<size_t>(*CountElements(shape)));
    // Sums of products of these are exact, in any order.
    for (float& value : values) value = static_cast<float>(random_.Int(-8, 8)) / 8.0f;
    return b_.Const<float>("c", std::move(values), std::move(shape)).id;
  }
  Value Convolution(Value x, int from, int to) {
    const Value last = Apply(Transpose{kToLast}, {x.id});
    const Conv2D op = {.padding = Padding::Explicit(1, 1, 1, 1)};
    const Value y = Apply(op, {last.id, Constant({to, 3, 3, from})});
    return Apply(Transpose{kToFirst}, {y.id});
  }
  Graph Finish(Value y) {
    b_.Output(y, "y");
    Result<Graph> graph = b_.Finish();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return graph.ok() ? *graph : Graph{};
  }
  Random& random() { return random_; }

 private:
  Builder b_;
  Random random_;
};

// Removes transposes, and checks that the bits stay what they were. Returns how many are left.
size_t LeftOf(const Graph& graph) {
  const std::vector<std::vector<float>> expected = Run(graph);
  Graph changed = graph;
  const RemovedTransposes removed = RemoveTransposes(changed);
  EXPECT_EQ(removed.before, CountTransposes(graph));
  EXPECT_EQ(removed.after, CountTransposes(changed));
  const Status status = Validate(changed);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(changed.outputs, graph.outputs);
  if (status.ok()) {
    EXPECT_EQ(Run(std::move(changed)), expected);
  }
  return removed.after;
}

TEST(RemoveTransposes, BetweenConvolutions) {
  Network n(1);
  Value x = n.Input({1, 3, 6, 5});
  Value y = n.Convolution(x, 3, 8);
  y = n.Apply(Relu{}, {y.id});
  y = n.Convolution(y, 8, 8);
  EXPECT_EQ(LeftOf(n.Finish(y)), 2u);
}

TEST(RemoveTransposes, ResidualBlocksWithScalesPerChannel) {
  Network n(2);
  Value y = n.Convolution(n.Input({1, 3, 6, 5}), 3, 8);
  for (int i = 0; i < 3; ++i) {
    Value inner = n.Convolution(y, 8, 8);
    inner = n.Apply(Mul{}, {inner.id, n.Constant({8, 1, 1})});
    inner = n.Apply(Add{}, {inner.id, n.Constant({1, 8, 1, 1})});
    y = n.Apply(Add{}, {inner.id, y.id});
    y = n.Apply(Relu{}, {y.id});
  }
  EXPECT_EQ(LeftOf(n.Finish(y)), 2u);
}

// Readers of integers give a tensor another quantization by a reshape to its own shape.
TEST(RemoveTransposes, ReshapesToTheSameShape) {
  Network n(2);
  const Value x = n.Convolution(n.Input({1, 3, 6, 5}), 3, 8);
  Value y = n.Apply(Reshape{{1, 8, 6, 5}}, {x.id});
  y = n.Apply(Add{}, {n.Convolution(y, 8, 8).id, x.id});
  EXPECT_EQ(LeftOf(n.Finish(n.Apply(Add{}, {y.id, n.Apply(Reshape{{1, 8, 6, 5}}, {x.id}).id}))),
            2u);
}

TEST(RemoveTransposes, GlobalPoolFlattenedForAProduct) {
  Network n(3);
  Value y = n.Convolution(n.Input({1, 3, 4, 4}), 3, 8);
  y = n.Apply(ReduceMax{{2, 3}, true}, {y.id});
  y = n.Apply(Reshape{{1, 8}}, {y.id});
  y = n.Apply(FullyConnected{}, {y.id, n.Constant({5, 8})});
  EXPECT_EQ(LeftOf(n.Finish(y)), 1u);
}

TEST(RemoveTransposes, AnImageFlattenedForAProduct) {
  Network n(4);
  Value y = n.Convolution(n.Input({2, 3, 4, 5}), 3, 6);
  y = n.Apply(Reshape{{2, 120}}, {y.id});
  y = n.Apply(FullyConnected{}, {y.id, n.Constant({7, 120})});
  EXPECT_EQ(LeftOf(n.Finish(y)), 1u);
}

// Weights in another order may be most of a model, and the old ones are let go; but not those that
// another layer reads.
TEST(RemoveTransposes, WeightsInTheOldOrderAreEmptied) {
  for (const bool twice : {false, true}) {
    Network n(4);
    const Value x = n.Convolution(n.Input({2, 3, 4, 5}), 3, 6);
    const Value line = n.Apply(Reshape{{2, 120}}, {x.id});
    const TensorId weights = n.Constant({7, 120});
    Value y = n.Apply(FullyConnected{}, {line.id, weights});
    if (twice) {
      const Value other = n.Apply(FullyConnected{}, {n.Constant({2, 120}), weights});
      y = n.Apply(Add{}, {y.id, other.id});
    }
    Graph graph = n.Finish(y);
    EXPECT_EQ(LeftOf(graph), 1u);
    RemoveTransposes(graph);
    EXPECT_EQ(graph.tensors[static_cast<size_t>(weights)].data_bytes == 0, !twice);
  }
}

TEST(RemoveTransposes, BranchesThatAreJoined) {
  Network n(5);
  const Value x = n.Convolution(n.Input({1, 3, 6, 5}), 3, 8);
  const Value a = n.Convolution(x, 8, 4);
  const Value b = n.Apply(Pad{{{0, 0}, {0, 0}, {1, 0}, {0, 2}}}, {x.id});
  const Value c = n.Apply(Slice{{0, 2, 1, 0}, {1, 4, 6, 5}}, {b.id});
  Value y = n.Apply(Concatenation{1}, {a.id, x.id, c.id});
  y = n.Convolution(y, 16, 4);
  EXPECT_EQ(LeftOf(n.Finish(y)), 2u);
}

TEST(RemoveTransposes, KeepsWhatAnOperatorNeeds) {
  Network n(6);
  Value y = n.Convolution(n.Input({1, 3, 4, 5}), 3, 8);
  y = n.Apply(Softmax{}, {y.id});  // over the width
  EXPECT_EQ(LeftOf(n.Finish(y)), 2u);
}

TEST(RemoveTransposes, ProductsTakeMatricesTheOtherWayRound) {
  Network n(7);
  const Value x = n.Input({2, 3, 4});
  const Value swapped = n.Apply(Transpose{{0, 2, 1}}, {x.id});
  EXPECT_EQ(LeftOf(n.Finish(n.Apply(BatchMatMul{}, {x.id, swapped.id}))), 0u);
}

TEST(RemoveTransposes, AnInputThatIsTheOutput) {
  Network n(8);
  const Value x = n.Input({1, 3, 4, 5});
  const Value there = n.Apply(Transpose{kToLast}, {x.id});
  EXPECT_EQ(LeftOf(n.Finish(n.Apply(Transpose{kToFirst}, {there.id}))), 0u);
}

// Any operators, one after the other.
TEST(RemoveTransposes, RandomNetworks) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Network n(seed);
    Random& random = n.random();
    Shape shape = {random.Int(1, 2), random.Int(1, 3), random.Int(1, 4), random.Int(1, 4)};
    std::vector<Value> values = {n.Input(shape)};
    for (int i = 0; i < 8; ++i) {
      const Value x = values.back();
      const Value other =
          values[static_cast<size_t>(random.Int(0, static_cast<int>(values.size()) - 1))];
      switch (random.Int(0, 7)) {
        case 0: {
          std::vector<int> order = {0, 1, 2, 3};
          for (size_t j = 3; j > 0; --j) {
            std::swap(order[j], order[static_cast<size_t>(random.Int(0, static_cast<int>(j)))]);
          }
          const Value moved = n.Apply(Transpose{order}, {x.id});
          Shape next;
          for (const int d : order) next.push_back(shape[static_cast<size_t>(d)]);
          shape = next;
          values = {moved};
          break;
        }
        case 1:
          values.push_back(n.Apply(Relu{}, {x.id}));
          break;
        case 2:
          values.push_back(n.Apply(Add{}, {x.id, other.id}));
          break;
        case 3: {
          Shape factor = {shape[1], 1, 1};
          if (random.Flip()) factor = {1, shape[2], shape[3]};
          values.push_back(n.Apply(Mul{}, {x.id, n.Constant(factor)}));
          break;
        }
        case 4:
          shape[1] *= 2;
          values = {n.Apply(Concatenation{1}, {x.id, other.id})};
          break;
        case 5:
          shape[2] += 1;
          shape[3] += 2;
          values = {n.Apply(Pad{{{0, 0}, {0, 0}, {1, 0}, {0, 2}}}, {x.id})};
          break;
        case 6:
          shape[1] = 1;
          values = {n.Apply(ReduceMax{{1}, true}, {x.id})};
          break;
        default:
          values.push_back(n.Apply(Tanh{}, {x.id}));
      }
    }
    LeftOf(n.Finish(values.back()));
  }
}

}  // namespace
}  // namespace intaglio::nn
