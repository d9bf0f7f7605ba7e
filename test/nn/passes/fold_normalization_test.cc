#include "intaglio/nn/passes/fold_normalization.h"

#include <cmath>

#include "intaglio/test/nn/passes/float_network.h"

namespace intaglio::nn {
namespace {

FoldedNormalization Fold(Graph& graph) {
  FoldBudget budget(1 << 20, 1 << 20);
  return FoldNormalization(graph, budget);
}

void ExpectNear(const Graph& graph, const Graph& folded) {
  const std::vector<float> expected = RunFloats(graph);
  const std::vector<float> results = RunFloats(folded);
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_NEAR(results[i], expected[i], 1e-5f * (1 + std::fabs(expected[i])) * 10) << i;
  }
}

struct Kind {
  const char* name;
  Operator op;
  Shape x;
  Shape weights;
  int channels;
};

std::vector<Kind> Kinds() {
  return {{"convolution", Conv2D{}, {1, 5, 5, 4}, {6, 3, 3, 4}, 6},
          {"depthwise", DepthwiseConv2D{}, {1, 5, 5, 4}, {1, 3, 3, 8}, 8},
          {"fully connected", FullyConnected{}, {3, 10}, {7, 10}, 7},
          {"kept dimensions", FullyConnected{.keep_num_dims = true}, {2, 3, 10}, {7, 10}, 7},
          {"transposed",
           TransposeConv{{1, 9, 9, 5}, {2, 2}, Padding::Valid()},
           {1, 4, 4, 3},
           {5, 3, 3, 3},
           5}};
}

TEST(FoldNormalization, IsPartOfTheWeights) {
  unsigned seed = 0;
  for (const Kind& kind : Kinds()) {
    for (const bool has_bias : {false, true}) {
      SCOPED_TRACE(kind.name);
      FloatNetwork n(++seed);
      std::vector<TensorId> inputs = {n.Input(kind.x), n.Constant(kind.weights)};
      if (has_bias) inputs.push_back(n.Constant({kind.channels}));
      const TensorId product = n.Then(kind.op, inputs);
      const TensorId scaled = n.Then(Mul{}, {n.Constant({1, kind.channels}), product});
      const Graph graph = n.Finish({n.Then(Add{}, {scaled, n.Constant({kind.channels})})});
      Graph folded = graph;
      const FoldedNormalization counts = Fold(folded);
      EXPECT_EQ(counts.factors, 1u);
      EXPECT_EQ(counts.offsets, 1u);
      EXPECT_EQ(folded.layers.size(), 1u);
      EXPECT_EQ(folded.outputs, graph.outputs);
      ExpectNear(graph, folded);
    }
  }
}

// sum + 0, rounded, plus the offset is sum + offset.
TEST(FoldNormalization, ABiasWhereThereWasNoneKeepsTheBits) {
  unsigned seed = 50;
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    FloatNetwork n(++seed);
    const TensorId product = n.Then(kind.op, {n.Input(kind.x), n.Constant(kind.weights)});
    const Graph graph = n.Finish({n.Then(Add{}, {n.Constant({kind.channels}), product})});
    Graph folded = graph;
    EXPECT_EQ(Fold(folded).offsets, 1u);
    EXPECT_EQ(BitsOf(RunFloats(folded)), BitsOf(RunFloats(graph)));
  }
}

TEST(FoldNormalization, OneNumberIsForAllChannels) {
  FloatNetwork n(1);
  const TensorId product = n.Then(Conv2D{}, {n.Input({1, 4, 4, 3}), n.Constant({5, 1, 1, 3})});
  const TensorId y = n.Then(Mul{}, {product, n.Constant({})});
  const Graph graph = n.Finish({n.Then(Add{}, {y, n.Constant({1, 1, 1, 1})})});
  Graph folded = graph;
  EXPECT_EQ(Fold(folded).factors, 1u);
  EXPECT_EQ(folded.layers.size(), 1u);
  ExpectNear(graph, folded);
}

// Makes y of a convolution [1, 4, 4, 4] -> [1, 4, 4, 4], and expects that nothing is folded.
template <class Make>
void ExpectLeft(const Make& make) {
  FloatNetwork n(2);
  const TensorId product = n.Then(Conv2D{}, {n.Input({1, 4, 4, 4}), n.Constant({4, 1, 1, 4})});
  Graph graph = n.Finish(make(n, product));
  const size_t layers = graph.layers.size();
  const FoldedNormalization counts = Fold(graph);
  EXPECT_EQ(counts.factors + counts.offsets, 0u);
  EXPECT_EQ(graph.layers.size(), layers);
}

TEST(FoldNormalization, LeavesWhatIsNotPerChannel) {
  using Ids = std::vector<TensorId>;
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // per line
    return {n.Then(Mul{}, {x, n.Constant({4, 1})})};
  });
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // per element
    return {n.Then(Add{}, {x, n.Constant({1, 4, 4, 4})})};
  });
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // of more images
    return {n.Then(Add{}, {x, n.Constant({2, 1, 1, 1})})};
  });
  ExpectLeft([](FloatNetwork& n, TensorId x) -> Ids {  // of a run
    return {n.Then(Mul{}, {x, n.Input({4})})};
  });
}

TEST(FoldNormalization, LeavesWhatOthersRead) {
  ExpectLeft([](FloatNetwork& n, TensorId x) -> std::vector<TensorId> {
    return {n.Then(Mul{}, {x, n.Constant({4})}), x};
  });
}

TEST(FoldNormalization, LeavesActivationsInBetween) {
  FloatNetwork n(3);
  const TensorId x = n.Then(Conv2D{.activation = Activation::kRelu},
                            {n.Input({1, 4, 4, 4}), n.Constant({4, 1, 1, 4})});
  Graph graph = n.Finish({n.Then(Mul{}, {x, n.Constant({4})})});
  EXPECT_EQ(Fold(graph).factors, 0u);
}

TEST(FoldNormalization, LeavesWhatQuantizeReads) {
  for (const bool clamps : {false, true}) {
    FloatNetwork n(4);
    const TensorId x = n.Then(Conv2D{}, {n.Input({1, 4, 4, 4}), n.Constant({4, 1, 1, 4})});
    TensorId y = n.Then(Add{}, {n.Then(Mul{}, {x, n.Constant({4})}), n.Constant({4})});
    if (clamps) y = n.Then(Relu{}, {y});
    y = n.builder().Layer(Quantize{}, {y}, Type::kInt8, PerTensor(0.1f, 3)).id;
    Graph graph = n.Finish({y});
    EXPECT_EQ(Fold(graph).factors, 0u);
    EXPECT_EQ(graph.layers.size(), clamps ? 5u : 4u);
  }
}

TEST(FoldNormalization, LeavesWeightsThatWouldBeInfinite) {
  ExpectLeft([](FloatNetwork& n, TensorId x) -> std::vector<TensorId> {
    return {n.Then(Mul{}, {x, n.Constant({1, INFINITY, 1, 1}, {4})})};
  });
}

TEST(FoldNormalization, TakesNoMoreThanTheBudget) {
  FloatNetwork n(5);
  const TensorId x = n.Then(Conv2D{}, {n.Input({1, 4, 4, 4}), n.Constant({4, 1, 1, 4})});
  Graph graph = n.Finish({n.Then(Mul{}, {x, n.Constant({4})})});
  FoldBudget too_little(63, 1 << 20);
  EXPECT_EQ(FoldNormalization(graph, too_little).factors, 0u);
  FoldBudget enough(64, 1 << 20);
  EXPECT_EQ(FoldNormalization(graph, enough).factors, 1u);
}

}  // namespace
}  // namespace intaglio::nn
