#include "intaglio/nn/passes/fold_bias.h"

#include <limits>
#include <utility>
#include <vector>

#include "intaglio/test/nn/passes/float_network.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

TEST(FoldBias, KeepsTheBits) {
  unsigned seed = 0;
  const auto expect = [&](Operator op, Shape x, Shape weights, Shape bias) {
    SCOPED_TRACE(NameOf(op));
    FloatNetwork n(++seed);
    const TensorId product = n.Then(std::move(op), {n.Input(std::move(x)), n.Constant(weights)});
    const TensorId constant = n.Constant(std::move(bias));
    const Graph graph = n.Finish({n.Then(
        Add{}, seed % 2 == 0 ? std::vector{product, constant} : std::vector{constant, product})});
    Graph folded = graph;
    EXPECT_EQ(FoldBias(folded), 1u);
    EXPECT_EQ(folded.layers.size(), 1u);
    EXPECT_EQ(folded.outputs, graph.outputs);
    EXPECT_EQ(BitsOf(RunFloats(folded)), BitsOf(RunFloats(graph)));
  };
  expect(Conv2D{}, {1, 5, 5, 4}, {6, 3, 3, 4}, {6});
  expect(DepthwiseConv2D{}, {1, 5, 5, 4}, {1, 3, 3, 4}, {1, 1, 1, 4});
  expect(FullyConnected{}, {3, 10}, {7, 10}, {1, 7});
  expect(FullyConnected{.keep_num_dims = true}, {2, 3, 10}, {7, 10}, {7});
  expect(TransposeConv{{1, 9, 9, 5}, {2, 2}, Padding::Valid()}, {1, 4, 4, 3}, {5, 3, 3, 3}, {5});
}

// Makes the outputs from a product [3, 10] x [4, 10], and expects that nothing is folded.
template <class Make>
void ExpectLeft(const Make& make, Activation activation = Activation::kNone) {
  FloatNetwork n(1);
  const TensorId product =
      n.Then(FullyConnected{.activation = activation}, {n.Input({3, 10}), n.Constant({4, 10})});
  Graph graph = n.Finish(make(n, product));
  const size_t layers = graph.layers.size();
  EXPECT_EQ(FoldBias(graph), 0u);
  EXPECT_EQ(graph.layers.size(), layers);
}

TEST(FoldBias, LeavesWhatIsNoBias) {
  using Ids = std::vector<TensorId>;
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // per row
    return {n.Then(Add{}, {x, n.Constant({3, 1})})};
  });
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // per element
    return {n.Then(Add{}, {x, n.Constant({3, 4})})};
  });
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // makes more elements
    return {n.Then(Add{}, {x, n.Constant({1, 1, 4})})};
  });
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // of a run
    return {n.Then(Add{}, {x, n.Input({4})})};
  });
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // others read the sum
    return {n.Then(Add{}, {x, n.Constant({4})}), x};
  });
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // another clamp
    return {n.Then(Add{.activation = Activation::kRelu}, {x, n.Constant({4})})};
  });
  ExpectLeft(
      [](FloatNetwork& n, TensorId x) -> Ids {
        return {n.Then(Add{}, {x, n.Constant({4})})};
      },
      Activation::kRelu);
}

// A product of bytes whose outputs are its sums, and constants that are added to them.
size_t FoldIntoSums(int depth, int32_t bias, bool* keeps_bits = nullptr) {
  Builder b;
  Random random(3);
  const Q x = random.Tensor(Type::kInt8, {2, depth}, 1, 5);
  const Q weights = random.Tensor(Type::kInt8, {3, depth}, 1, 0);
  const TensorId input = b.Input("x", x.type, x.shape, PerTensor(1, 5)).id;
  const TensorId w = Const(b, weights, PerTensor(1, 0)).id;
  const TensorId sums = b.Layer(FullyConnected{}, {input, w}, Type::kInt32, {}).id;
  const std::vector<int32_t> values = {bias, -7, 100};
  const TensorId added = b.Const<int32_t>("bias", values, {1, 3}).id;
  b.Output(b.Layer(Add{}, {sums, added}, Type::kInt32, {}), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  graph->layers[0].numerics = Numerics{.scaling = Scaling::kNone};
  Graph folded = *graph;
  const size_t count = FoldBias(folded);
  if (keeps_bits == nullptr) return count;
  const auto run = [&](Graph g) {
    Result<Model> model = Model::Prepare(std::move(g));
    EXPECT_TRUE(model.ok()) << model.status().message();
    const std::vector<std::byte> bytes = Bytes(x.type, x.values);
    std::vector<int32_t> y(6);
    EXPECT_TRUE(model
                    ->Run({{{bytes.data(), bytes.size(), x.type}}},
                          {{{y.data(), y.size() * sizeof(int32_t), Type::kInt32}}})
                    .ok());
    return y;
  };
  *keeps_bits = run(*graph) == run(folded);
  return count;
}

TEST(FoldBias, SumsOfIntegers) {
  bool keeps_bits = false;
  EXPECT_EQ(FoldIntoSums(40, -12345678, &keeps_bits), 1u);
  EXPECT_TRUE(keeps_bits);
  EXPECT_EQ(FoldIntoSums(40, std::numeric_limits<int32_t>::max() - 40 * 255 * 255), 1u);
  EXPECT_EQ(FoldIntoSums(40, std::numeric_limits<int32_t>::max() - 40 * 255 * 255 + 1), 0u);
  EXPECT_EQ(FoldIntoSums(40, std::numeric_limits<int32_t>::min()), 0u);
}

TEST(FoldBias, LeavesProductsThatHaveOne) {
  FloatNetwork n(2);
  const TensorId product =
      n.Then(FullyConnected{}, {n.Input({3, 10}), n.Constant({4, 10}), n.Constant({4})});
  Graph graph = n.Finish({n.Then(Add{}, {product, n.Constant({4})})});
  EXPECT_EQ(FoldBias(graph), 0u);
}

}  // namespace
}  // namespace intaglio::nn
