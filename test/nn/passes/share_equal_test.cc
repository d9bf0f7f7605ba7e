#include "intaglio/nn/passes/share_equal.h"

#include "intaglio/test/nn/passes/float_network.h"

namespace intaglio::nn {
namespace {

TEST(ShareEqual, SharesWholeChains) {
  FloatNetwork n(1);
  const TensorId x = n.Input({2, 3});
  const auto chain = [&] {
    return n.Then(Reshape{{6}}, {n.Then(Transpose{{1, 0}}, {n.Then(Exp{}, {x})})});
  };
  const TensorId a = chain();
  const TensorId b = chain();
  const Graph graph = n.Finish({n.Then(Add{}, {a, n.Then(Neg{}, {b})})});
  Graph shared = graph;
  EXPECT_EQ(ShareEqual(shared), 3u);
  EXPECT_EQ(shared.layers.size(), 5u);
  EXPECT_EQ(BitsOf(RunFloats(shared)), BitsOf(RunFloats(graph)));
}

// Two layers on the same input, which differ in something.
void ExpectLeft(Operator first, Operator second, Shape shape) {
  FloatNetwork n(2);
  const TensorId x = n.Input(std::move(shape));
  const TensorId a = n.Then(std::move(first), {x});
  const TensorId b = n.Then(std::move(second), {x});
  Graph graph = n.Finish({n.Then(Neg{}, {a}), n.Then(Neg{}, {b})});
  EXPECT_EQ(ShareEqual(graph), 0u);
  EXPECT_EQ(graph.layers.size(), 4u);
}

TEST(ShareEqual, LeavesOtherParameters) {
  ExpectLeft(Exp{}, Sqrt{}, {4});
  ExpectLeft(Transpose{{1, 0, 2}}, Transpose{{2, 1, 0}}, {3, 3, 3});
  ExpectLeft(Reshape{{2, 3}}, Reshape{{3, 2}}, {6});
  ExpectLeft(Slice{{0}, {2}}, Slice{{1}, {2}}, {6});
  ExpectLeft(Mean{{0}, true}, Mean{{0}, false}, {6});
  ExpectLeft(Squeeze{{0}}, Squeeze{{1}}, {1, 1, 4});
  ExpectLeft(ExpandDims{0}, ExpandDims{1}, {4});
}

TEST(ShareEqual, LeavesOtherActivationsAndInputs) {
  FloatNetwork n(3);
  const TensorId x = n.Input({4});
  const TensorId y = n.Input({4});
  std::vector<TensorId> results;
  for (const std::vector<TensorId>& inputs :
       std::vector<std::vector<TensorId>>{{x, y}, {y, x}, {x, x}}) {
    results.push_back(n.Then(Neg{}, {n.Then(Sub{}, inputs)}));
    results.push_back(n.Then(Neg{}, {n.Then(Sub{Activation::kRelu}, inputs)}));
    results.push_back(n.Then(Neg{}, {n.Then(Sub{.keeps_infinities = true}, inputs)}));
  }
  Graph graph = n.Finish(results);
  EXPECT_EQ(ShareEqual(graph), 0u);
}

TEST(ShareEqual, LeavesOtherQuantizations) {
  FloatNetwork n(4);
  const TensorId x = n.Input({4});
  Builder& b = n.builder();
  const auto quantized = [&](Type type, float scale, int zero_point) {
    const TensorId q = b.Layer(Quantize{}, {x}, type, PerTensor(scale, zero_point)).id;
    return n.Then(Neg{}, {n.Then(Dequantize{}, {q})});
  };
  const std::vector<TensorId> results = {
      quantized(Type::kInt8, 0.5f, 1), quantized(Type::kInt8, 0.25f, 1),
      quantized(Type::kInt8, 0.5f, 2), quantized(Type::kUInt8, 0.5f, 1)};
  Graph graph = n.Finish(results);
  EXPECT_EQ(ShareEqual(graph), 0u);
}

TEST(ShareEqual, LeavesOtherNumerics) {
  for (const bool differ : {false, true}) {
    FloatNetwork n(7);
    const TensorId x = n.Input({4});
    const auto quantized = [&] {
      const Value q = n.builder().Layer(Quantize{}, {x}, Type::kInt8, PerTensor(0.5f, 1));
      return n.Then(Dequantize{}, {q.id});
    };
    const TensorId a = quantized();
    Graph graph = n.Finish({n.Then(Add{}, {a, quantized()})});
    if (differ) graph.layers[0].numerics = Numerics{.scaling = Scaling::kFloatHalfEven};
    EXPECT_EQ(ShareEqual(graph), differ ? 0u : 2u);
  }
}

TEST(ShareEqual, OutputsKeepTheirLayers) {
  FloatNetwork n(5);
  const TensorId x = n.Input({4});
  const Graph graph = n.Finish({n.Then(Exp{}, {x}), n.Then(Exp{}, {x})});
  Graph shared = graph;
  EXPECT_EQ(ShareEqual(shared), 0u);
  EXPECT_EQ(shared.layers.size(), 2u);
}

TEST(ShareEqual, LeavesReadersOfVariables) {
  FloatNetwork n(6);
  const TensorId x = n.Input({4});
  const TensorId y = n.Then(Add{}, {n.Then(Exp{}, {x}), n.Then(Exp{}, {x})});
  Graph graph = n.Finish({y});
  graph.tensors[static_cast<size_t>(x)].variable = true;
  EXPECT_EQ(ShareEqual(graph), 0u);
}

}  // namespace
}  // namespace intaglio::nn
