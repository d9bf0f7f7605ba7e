#include "intaglio/nn/passes/fold_bias.h"

#include "intaglio/test/nn/passes/float_network.h"

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

TEST(FoldBias, LeavesProductsThatHaveOne) {
  FloatNetwork n(2);
  const TensorId product =
      n.Then(FullyConnected{}, {n.Input({3, 10}), n.Constant({4, 10}), n.Constant({4})});
  Graph graph = n.Finish({n.Then(Add{}, {product, n.Constant({4})})});
  EXPECT_EQ(FoldBias(graph), 0u);
}

}  // namespace
}  // namespace intaglio::nn
