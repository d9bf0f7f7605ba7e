#include "intaglio/nn/passes/fuse_activations.h"

#include <cmath>
#include <limits>

#include "intaglio/test/nn/passes/float_network.h"

namespace intaglio::nn {
namespace {

std::vector<float> OddNumbers() {
  std::vector<float> numbers;
  for (int i = 0; i < 89; ++i) numbers.push_back(static_cast<float>(i * 29 % 89) / 7.7f - 5.0f);
  const float greatest = std::numeric_limits<float>::max();
  for (const float odd : {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, greatest, -greatest, 1e-45f}) {
    numbers.push_back(odd);
    numbers.push_back(-1.5f);
  }
  return numbers;
}

std::vector<Operator> Clamps() {
  return {Relu{}, Relu6{}, ReluN1To1{}, Clip{0.0, {}}, Clip{0.0, 6.0}, Clip{-1.0, 1.0}};
}

void ExpectFused(const Graph& graph) {
  Graph fused = graph;
  EXPECT_EQ(FuseActivations(fused), 1u);
  EXPECT_EQ(fused.layers.size(), graph.layers.size() - 1);
  EXPECT_EQ(fused.outputs, graph.outputs);
  EXPECT_EQ(BitsOf(RunFloats(fused, OddNumbers())), BitsOf(RunFloats(graph, OddNumbers())));
}

TEST(FuseActivations, ProductsKeepTheBits) {
  unsigned seed = 0;
  for (const Operator& clamp : Clamps()) {
    const auto expect = [&](Operator op, Shape x, Shape weights, int channels) {
      SCOPED_TRACE(NameOf(op));
      FloatNetwork n(++seed);
      const TensorId y = n.Then(
          std::move(op), {n.Input(std::move(x)), n.Constant(weights), n.Constant({channels})});
      ExpectFused(n.Finish({n.Then(clamp, {y})}));
    };
    expect(Conv2D{}, {1, 5, 5, 4}, {19, 3, 3, 4}, 19);
    expect(DepthwiseConv2D{}, {1, 5, 5, 20}, {1, 3, 3, 20}, 20);
    expect(FullyConnected{}, {7, 10}, {19, 10}, 19);
    expect(TransposeConv{{1, 9, 9, 5}, {2, 2}, Padding::Valid()}, {1, 4, 4, 3}, {5, 3, 3, 3}, 5);
  }
}

TEST(FuseActivations, PairsKeepTheBits) {
  for (const Operator& clamp : Clamps()) {
    for (const bool keeps : {false, true}) {
      for (const Operator& op :
           {Operator(Add{.keeps_infinities = keeps}), Operator(Sub{.keeps_infinities = keeps}),
            Operator(Mul{.keeps_infinities = keeps}), Operator(Div{.keeps_infinities = keeps})}) {
        SCOPED_TRACE(NameOf(op));
        FloatNetwork n(1);
        const TensorId y = n.Then(op, {n.Input({3, 97}), n.Input({3, 97})});
        ExpectFused(n.Finish({n.Then(clamp, {y})}));
      }
    }
  }
}

// Sums of integers that become float32.
TEST(FuseActivations, ProductsOfIntegersKeepTheBits) {
  for (const Operator& clamp : Clamps()) {
    FloatNetwork n(3);
    const Q x = n.random().Tensor(Type::kUInt8, {4, 12}, 0.05f, 100);
    const Q weights = n.random().Tensor(Type::kInt8, {9, 12}, 0.01f, 0);
    Builder& b = n.builder();
    const TensorId product =
        n.Then(FullyConnected{}, {Const(b, x, x.quantization()).id,
                                  Const(b, weights, weights.quantization()).id, n.Constant({9})});
    // Beside an input, which every model has.
    const TensorId other = n.Input({1});
    Graph graph = n.Finish({n.Then(clamp, {product}), n.Then(Relu{}, {other})});
    graph.layers[0].numerics = Numerics{.scaling = Scaling::kToFloat};
    ExpectFused(graph);
  }
}

// Makes the outputs from a sum, and expects that nothing is fused.
template <class Make>
void ExpectLeft(const Make& make) {
  FloatNetwork n(2);
  const TensorId sum = n.Then(Add{}, {n.Input({4}), n.Input({4})});
  Graph graph = n.Finish(make(n, sum));
  EXPECT_EQ(FuseActivations(graph), 0u);
}

TEST(FuseActivations, LeavesOtherClamps) {
  for (const Operator& clamp :
       {Operator(Clip{0.0, 5.0}), Operator(Clip{{}, 6.0}), Operator(Clip{-0.0, {}}),
        Operator(Clip{-0.0, 6.0}), Operator(Clip{}), Operator(Clip{-1.0, 6.0})}) {
    ExpectLeft(
        [&](FloatNetwork& n, TensorId x) -> std::vector<TensorId> { return {n.Then(clamp, {x})}; });
  }
}

TEST(FuseActivations, LeavesWhatOthersRead) {
  ExpectLeft([&](FloatNetwork& n, TensorId x) -> std::vector<TensorId> {
    return {n.Then(Relu{}, {x}), x};
  });
}

TEST(FuseActivations, LeavesLayersWithAnActivation) {
  FloatNetwork n(2);
  const TensorId sum =
      n.Then(Add{.activation = Activation::kReluN1To1}, {n.Input({4}), n.Input({4})});
  Graph graph = n.Finish({n.Then(Relu{}, {sum})});
  EXPECT_EQ(FuseActivations(graph), 0u);
}

}  // namespace
}  // namespace intaglio::nn
