#include "intaglio/nn/passes/fuse_quantization.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "intaglio/nn/ops/elementwise/map_bytes.h"
#include "intaglio/nn/ops/linear/integer_products.h"
#include "intaglio/nn/passes/fold_constants.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

using Bytes8 = std::vector<std::byte>;

// Writes graphs of float32 with DEQUANTIZE and QUANTIZE by ONNX's rules.
struct Network {
  Builder b;
  Random random;
  std::vector<Q> inputs;

  explicit Network(unsigned seed) : random(seed) {}

  // A quantized input, dequantized.
  TensorId Input(Q q) {
    const TensorId id =
        b.Input("x" + std::to_string(inputs.size()), q.type, q.shape, q.quantization()).id;
    inputs.push_back(std::move(q));
    return Real(id);
  }
  TensorId Input(Type type, Shape shape) { return Input(random.Tensor(type, std::move(shape))); }
  TensorId Real(TensorId id) { return b.Layer(Dequantize{}, {id}, Type::kFloat32, {}).id; }
  // Constant weights, dequantized.
  TensorId Weights(Shape shape, int axis = -1) {
    Quantization q = PerTensor(random.Scale(0.001, 0.02), 0);
    if (axis >= 0) {
      std::vector<float> scales(static_cast<size_t>(shape[static_cast<size_t>(axis)]));
      for (float& scale : scales) scale = random.Scale(0.001, 0.02);
      q = PerAxis(scales, axis);
    }
    return Real(Const(b, random.Tensor(Type::kInt8, std::move(shape), 1, 0), q).id);
  }
  TensorId Reals(Shape shape, double most = 1) {
    std::vector<float> values(static_cast<size_t>(*CountElements(shape)));
    for (float& v : values) v = random.Scale(0.01, most) * (random.Flip() ? 1.0f : -1.0f);
    return b.Const<float>("reals", values, std::move(shape)).id;
  }
  TensorId Then(Operator op, std::vector<TensorId> from) {
    return b.Layer(std::move(op), std::move(from), Type::kFloat32, {}).id;
  }
  TensorId Quantized(TensorId id, Type type, float scale, int zero_point) {
    return b.Layer(Quantize{}, {id}, type, PerTensor(scale, zero_point)).id;
  }
  TensorId Quantized(TensorId id) {
    const Type type = random.Of(kEightBit);
    return Quantized(id, type, random.Scale(0.01, 0.3),
                     random.Int(LowestOf(type), HighestOf(type)));
  }

  Graph Finish(std::vector<TensorId> outputs) {
    int i = 0;
    for (const TensorId id : outputs) b.Output({id}, "y" + std::to_string(i++));
    Result<Graph> graph = b.Finish();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    if (!graph.ok()) return {};
    for (Layer& layer : graph->layers) {
      if (layer.op.Is<Quantize>() || layer.op.Is<Dequantize>()) {
        layer.numerics = Numerics{.scaling = Scaling::kFloatHalfEven};
      }
    }
    return std::move(*graph);
  }
};

std::vector<Bytes8> RunAll(Graph graph, const std::vector<Q>& inputs) {
  FoldBudget budget(1 << 26, 1 << 26);
  FoldConstants(graph, budget);
  const Status valid = Validate(graph);
  EXPECT_TRUE(valid.ok()) << valid.message();
  Result<Model> model = Model::Prepare(std::move(graph));
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  std::vector<Bytes8> bytes;
  for (const Q& q : inputs) bytes.push_back(Bytes(q.type, q.values));
  std::vector<InputBuffer> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back({bytes[i].data(), bytes[i].size(), inputs[i].type});
  }
  std::vector<Bytes8> results;
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < model->output_count(); ++i) {
    results.emplace_back(*CountBytes(model->output(i).shape, model->output(i).type));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    out.push_back({results[i].data(), results[i].size(), model->output(i).type});
  }
  const Status status = model->Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return results;
}

int CountReal(const Graph& graph) {
  int count = 0;
  for (const Layer& layer : graph.layers) {
    for (const TensorId id : layer.outputs) {
      const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
      if (tensor.type == Type::kFloat32) ++count;
    }
  }
  return count;
}

// Fuses everything, and keeps the bits.
FusedQuantization ExpectSameBits(const Graph& graph, const std::vector<Q>& inputs) {
  Graph fused = graph;
  const FusedQuantization counts = FuseQuantization(fused);
  EXPECT_EQ(CountReal(fused), 0);
  EXPECT_EQ(RunAll(fused, inputs), RunAll(graph, inputs));
  return counts;
}

// Fuses everything, and changes few results, by one step.
void ExpectNearBits(const Graph& graph, const std::vector<Q>& inputs, size_t products) {
  Graph fused = graph;
  EXPECT_EQ(FuseQuantization(fused).products, products);
  EXPECT_EQ(CountReal(fused), 0);
  const Type type = graph.tensors[static_cast<size_t>(graph.outputs[0])].type;
  const std::vector<int> expected = Ints(type, RunAll(graph, inputs)[0]);
  const std::vector<int> results = Ints(type, RunAll(fused, inputs)[0]);
  ASSERT_EQ(expected.size(), results.size());
  size_t differ = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_LE(std::abs(results[i] - expected[i]), 1);
    differ += results[i] != expected[i] ? 1 : 0;
  }
  EXPECT_LE(differ, 2 + results.size() / 50);
}

TEST(FuseQuantization, Products) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Network n(seed);
    const Type type = n.random.Of(kEightBit);
    const bool by_channel = n.random.Flip();
    const Padding pad = Padding::Explicit(1, 1, 1, 1);
    TensorId y = kNoTensor;
    switch (seed % 5) {
      case 0:
        y = n.Then(Conv2D{{}, {}, pad},
                   {n.Input(type, {1, 6, 6, 5}), n.Weights({7, 3, 3, 5}, by_channel ? 0 : -1),
                    n.Reals({7})});
        break;
      case 1:
        y = n.Then(DepthwiseConv2D{{}, {}, pad},
                   {n.Input(type, {1, 6, 6, 5}), n.Weights({1, 3, 3, 5}, by_channel ? 3 : -1)});
        break;
      case 2:
        y = n.Then(FullyConnected{},
                   {n.Input(type, {4, 20}), n.Weights({9, 20}, by_channel ? 0 : -1), n.Reals({9})});
        break;
      case 3:
        y = n.Then(BatchMatMul{}, {n.Input(type, {2, 4, 20}),
                                   n.random.Flip() ? n.Input(type, {2, 20, 9})
                                                   : n.Weights({20, 9}, by_channel ? 1 : -1)});
        break;
      default:
        y = n.Then(TransposeConv{{1, 7, 7, 4}, {2, 2}, Padding::Valid()},
                   {n.Input(type, {1, 3, 3, 5}), n.Weights({4, 3, 3, 5}, by_channel ? 0 : -1)});
    }
    const int clamp = n.random.Int(0, 3);
    if (clamp == 1) y = n.Then(Relu{}, {y});
    if (clamp == 2) y = n.Then(Clip{-1.5, 2.25}, {y});
    if (clamp == 3) y = n.Then(Relu6{}, {n.Then(ReluN1To1{}, {y})});
    ExpectNearBits(n.Finish({n.Quantized(y)}), n.inputs, 1);
  }
}

// The formula, with a bias of float32 or of int32, to a quantized number or to float32.
TEST(FuseQuantization, ProductsFollowTheFormula) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Network n(seed);
    const int rows = 5, depth = 33, outputs = 11;
    const Q x = n.random.Tensor(n.random.Of(kEightBit), {rows, depth});
    const Q w = n.random.Tensor(n.random.Of(kEightBit), {outputs, depth}, n.random.Scale(.001, .1),
                                n.random.Int(0, 100));
    const float product = x.scale * w.scale;
    const bool int_bias = n.random.Flip();
    const bool to_real = seed % 4 == 0;
    std::vector<float> real_bias;
    std::vector<int> bias;
    for (int i = 0; i < outputs; ++i) {
      bias.push_back(n.random.Int(-3000, 3000));
      real_bias.push_back(n.random.Scale(0.01, 5));
    }
    const TensorId weights = n.Real(Const(n.b, w, w.quantization()).id);
    const TensorId b =
        int_bias
            ? n.Real(
                  n.b.Const<int32_t>("b", As<int32_t>(bias), {outputs}, PerTensor(product, 0)).id)
            : n.b.Const<float>("b", real_bias, {outputs}).id;
    if (!int_bias && !to_real) {
      for (size_t i = 0; i < bias.size(); ++i) {
        bias[i] = static_cast<int>(std::nearbyint(real_bias[i] / product));
      }
    }
    const TensorId input = n.Input(x);
    TensorId y = n.Then(FullyConnected{}, {input, weights, b});
    const float scale = n.random.Scale(0.01, 0.5);
    if (!to_real) y = n.Quantized(n.Then(Clip{-3.0, {}}, {y}), Type::kInt8, scale, 3);
    Graph graph = n.Finish({y});
    const FusedQuantization counts = FuseQuantization(graph);
    EXPECT_EQ(counts.products, to_real ? 0u : 1u);
    EXPECT_EQ(counts.real_products, to_real ? 1u : 0u);
    EXPECT_EQ(graph.layers.size(), 1u);
    const std::vector<Bytes8> results = RunAll(graph, n.inputs);
    std::vector<float> reals(static_cast<size_t>(rows * outputs));
    if (to_real) std::memcpy(reals.data(), results[0].data(), results[0].size());
    const std::vector<int> ints = to_real ? std::vector<int>() : Ints(Type::kInt8, results[0]);
    for (int r = 0; r < rows; ++r) {
      for (int o = 0; o < outputs; ++o) {
        int32_t acc = int_bias || !to_real ? bias[static_cast<size_t>(o)] : 0;
        for (int k = 0; k < depth; ++k) {
          acc += (x.At({r, k}) - x.zero_point) * (w.At({o, k}) - w.zero_point);
        }
        const auto at = static_cast<size_t>(r * outputs + o);
        if (to_real) {
          const float scaled = static_cast<float>(acc) * product;
          EXPECT_EQ(reals[at], int_bias ? scaled : scaled + real_bias[static_cast<size_t>(o)]);
        } else {
          const float low = std::nearbyint(-3.0f / scale);
          const float p = static_cast<float>(acc) * (product / scale);
          const float q = std::nearbyint(std::fmin(std::fmax(p, std::fmax(low, -131.0f)), 124.0f));
          EXPECT_EQ(ints[at], static_cast<int>(q) + 3);
        }
      }
    }
  }
}

TEST(FuseQuantization, MovesAreOfIntegers) {
  Network n(1);
  const TensorId x = n.Input(Type::kInt8, {1, 4, 6, 2});
  const TensorId transposed = n.Then(Transpose{{0, 3, 1, 2}}, {x});
  const TensorId padded = n.Then(Pad{{{0, 0}, {0, 0}, {1, 2}, {0, 1}}, true, 0.0}, {transposed});
  const TensorId back = n.Then(Transpose{{0, 2, 3, 1}}, {padded});
  const TensorId pooled = n.Then(MaxPool2D{{2, 2}, {1, 1}}, {back});
  const TensorId part = n.Then(Slice{{0, 1, 0, 0}, {1, 3, -1, 2}}, {pooled});
  const TensorId joined = n.Then(Concatenation{1}, {part, part});
  const TensorId flat = n.Then(Reshape{{6, -1}}, {joined});
  const TensorId indices = n.b.Const<int32_t>("i", {5, 0, 2}, {3}).id;
  const TensorId taken = n.Then(Gather{0}, {flat, indices});
  const Q& q = n.inputs[0];
  const TensorId y = n.Quantized(taken, q.type, q.scale, q.zero_point);
  const TensorId z = n.Quantized(back, q.type, q.scale, q.zero_point);
  const FusedQuantization counts = ExpectSameBits(n.Finish({y, z}), n.inputs);
  EXPECT_EQ(counts.moves, 8u);
  // Outputs of the graph keep their names, so that these QUANTIZE become tables.
  EXPECT_EQ(counts.tables, 2u);
}

TEST(FuseQuantization, MovesOfOtherOutputs) {
  Network n(2);
  const TensorId x = n.Input(Type::kUInt8, {1, 4, 4, 6});
  const TensorId y = n.Input(Type::kUInt8, {1, 4, 4, 6});
  const TensorId joined = n.Then(Concatenation{3}, {x, y});  // of unequal scales
  const TensorId resized = n.Then(ResizeNearestNeighbor{8, 8}, {joined});
  const FusedQuantization counts = ExpectSameBits(n.Finish({n.Quantized(resized)}), n.inputs);
  EXPECT_EQ(counts.moves, 2u);
  EXPECT_EQ(counts.tables, 2u);
}

TEST(FuseQuantization, WeightsAndBiasesMayBeMoved) {
  Network n(3);
  const Q x = n.random.Tensor(Type::kUInt8, {2, 12}, 0.05f, 100);
  const TensorId input = n.Input(x);
  const TensorId weights = n.Then(Transpose{{1, 0}}, {n.Weights({12, 5}, 1)});
  const TensorId bias = n.Then(Reshape{{5}}, {n.Reals({1, 5})});
  const TensorId y = n.Then(FullyConnected{}, {input, weights, bias});
  ExpectNearBits(n.Finish({n.Quantized(y)}), n.inputs, 1);
}

Q AllNumbers(Type type, float scale, int zero_point) {
  Q q{type, {256}, scale, zero_point, {}};
  for (int i = 0; i < 256; ++i) q.values.push_back(LowestOf(type) + i);
  return q;
}

TEST(FuseQuantization, FunctionsOfOneNumberAreTables) {
  using Make = std::function<TensorId(Network&, TensorId)>;
  const Make functions[] = {
      [](Network& n, TensorId x) { return n.Then(Logistic{}, {x}); },
      [](Network& n, TensorId x) { return n.Then(HardSwish{}, {x}); },
      [](Network& n, TensorId x) { return n.Then(Gelu{}, {x}); },
      [](Network& n, TensorId x) {
        return n.Then(Mul{}, {x, n.Then(Logistic{}, {x})});
      },
      [](Network& n, TensorId x) { return n.Then(LeakyRelu{0.1f}, {n.Then(Tanh{}, {x})}); },
      [](Network& n, TensorId x) {
        return n.Then(Add{}, {n.Then(Clip{-1.0, 0.5}, {x}), n.Reals({1})});
      },
      [](Network&, TensorId x) { return x; },
      [](Network& n, TensorId x) {
        return n.Then(Add{}, {x, x});
      }};
  unsigned seed = 0;
  for (const Make& function : functions) {
    for (const Type type : kEightBit) {
      SCOPED_TRACE(seed);
      Network n(++seed);
      const TensorId x = n.Input(AllNumbers(type, n.random.Scale(0.01, 0.1),
                                            n.random.Int(LowestOf(type), HighestOf(type))));
      TensorId y = function(n, x);
      const FusedQuantization counts = ExpectSameBits(n.Finish({n.Quantized(y)}), n.inputs);
      EXPECT_LE(counts.tables, 1u);
    }
  }
}

TEST(FuseQuantization, PairsKeepTheBits) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Network n(seed);
    const Shape shapes[] = {{2, 5, 130}, {130}, {2, 5, 1}, {1, 1, 1}, {2, 1, 130}};
    Q a = n.random.Tensor(n.random.Of(kEightBit), {2, 5, 130});
    Q b = n.random.Tensor(n.random.Of(kEightBit), shapes[seed % 5]);
    float scale = n.random.Scale(0.01, 0.3);
    if (n.random.Flip()) {  // ties
      a.scale = std::ldexp(1.0f, -n.random.Int(2, 6));
      b.scale = std::ldexp(1.0f, -n.random.Int(2, 6));
      scale = std::ldexp(1.0f, -n.random.Int(1, 4));
    }
    const bool swapped = n.random.Flip();
    const TensorId x = n.Input(swapped ? b : a);
    const TensorId y = n.Input(swapped ? a : b);
    const Operator op = n.random.Of<Operator>({Add{}, Sub{}, Mul{}});
    TensorId z = n.Then(op, {x, y});
    if (n.random.Flip()) z = n.Then(Relu{}, {z});
    const Type type = n.random.Of(kEightBit);
    z = n.Quantized(z, type, scale, n.random.Int(LowestOf(type), HighestOf(type)));
    EXPECT_EQ(ExpectSameBits(n.Finish({z}), n.inputs).pairs, 1u);
  }
}

// A product, to which a dequantized tensor is added or by which it is multiplied.
struct Residual {
  Network n;
  Q x;
  Q z;
  TensorId product = kNoTensor;
  TensorId other = kNoTensor;

  Residual(unsigned seed, Shape z_shape) : n(seed) {
    x = n.random.Tensor(n.random.Of(kEightBit), {6, 33}, 0.05f, 7);
    z = n.random.Tensor(n.random.Of(kEightBit), std::move(z_shape), 0.03f, 11);
    product = n.Then(FullyConnected{}, {n.Input(x), n.Weights({140, 33}, 0), n.Reals({140})});
    other = n.Input(z);
  }
};

std::vector<float> RunProduct(unsigned seed, const Shape& z_shape) {
  Residual r(seed, z_shape);
  Graph graph = r.n.Finish({r.product, r.n.Then(Neg{}, {r.other})});
  EXPECT_EQ(FuseQuantization(graph).real_products, 1u);
  const std::vector<Bytes8> results = RunAll(graph, r.n.inputs);
  std::vector<float> reals(results[0].size() / sizeof(float));
  std::memcpy(reals.data(), results[0].data(), results[0].size());
  return reals;
}

TEST(FuseQuantization, ProductsMeetTensorsOf8Bits) {
  const std::vector<Shape> shapes = {{6, 140}, {140}, {6, 1}, {1, 1}};
  for (unsigned seed = 0; seed < 32; ++seed) {
    SCOPED_TRACE(seed);
    const Shape& z_shape = shapes[seed % 4];
    const bool multiplies = seed % 8 >= 4;
    const bool clamps = seed % 16 >= 8;
    const std::vector<float> product = RunProduct(seed, z_shape);
    Residual r(seed, z_shape);
    Network& n = r.n;
    const std::vector<TensorId> inputs =
        seed % 3 == 0 ? std::vector{r.other, r.product} : std::vector{r.product, r.other};
    TensorId y = multiplies ? n.Then(Mul{}, inputs) : n.Then(Add{}, inputs);
    if (clamps) y = n.Then(Relu{}, {y});
    Graph graph = n.Finish({n.Quantized(y, Type::kInt8, 0.07f, -5)});
    const FusedQuantization counts = FuseQuantization(graph);
    EXPECT_EQ(counts.real_products, 1u);
    EXPECT_EQ(counts.real_pairs, 1u);
    EXPECT_EQ(graph.layers.size(), 2u);
    const std::vector<int> results = Ints(Type::kInt8, RunAll(graph, n.inputs)[0]);
    ASSERT_EQ(results.size(), product.size());
    for (int i = 0; i < 6 * 140; ++i) {
      const size_t at = z_shape.back() == 140 ? static_cast<size_t>(i) % r.z.values.size()
                                              : static_cast<size_t>(i / 140) % r.z.values.size();
      const float z = static_cast<float>(r.z.values[at] - 11) * 0.03f;
      const float real = product[static_cast<size_t>(i)];
      float result = multiplies ? real * z : real + z;
      if (clamps) result = std::fmax(result, 0.0f);
      const float steps = std::fmin(std::fmax(result / 0.07f, -123.0f), 132.0f);
      EXPECT_EQ(results[static_cast<size_t>(i)], static_cast<int>(std::nearbyint(steps)) - 5) << i;
    }
  }
}

// NaN would become another number.
TEST(FuseQuantization, LeavesClampsOfWhatMayBeNoNumber) {
  for (const bool clamps : {false, true}) {
    Network n(9);
    const TensorId x = n.b.Input("x", Type::kFloat32, {2, 8}, {}).id;
    TensorId y = n.Then(Add{}, {n.Then(Log{}, {x}), n.Input(Type::kUInt8, {2, 8})});
    if (clamps) y = n.Then(Relu{}, {y});
    Graph graph = n.Finish({n.Quantized(y, Type::kInt8, 0.07f, -5)});
    EXPECT_EQ(FuseQuantization(graph).real_pairs, clamps ? 0u : 1u);
  }
}

// A dequantized tensor, and a product whose sums are multiplied by `scale` in float32, with one
// bias.
struct Extreme {
  Network n;
  TensorId product = kNoTensor;
  TensorId other = kNoTensor;

  Extreme(float scale, float bias, float other_scale) : n(11) {
    const Q x = n.random.Tensor(Type::kInt8, {3, 8}, 1.0f, 0);
    const TensorId weights =
        n.Real(Const(n.b, n.random.Tensor(Type::kInt8, {5, 8}, 1, 0), PerTensor(scale, 0)).id);
    const TensorId biases = n.b.Const<float>("bias", std::vector<float>(5, bias), {5}).id;
    product = n.Then(FullyConnected{}, {n.Input(x), weights, biases});
    Q z = n.random.Tensor(Type::kUInt8, {3, 5}, other_scale, 9);
    for (size_t i = 0; i < z.values.size(); i += 2) z.values[i] = 9;
    other = n.Input(std::move(z));
  }
};

// What is not finite may become NaN, which clamps that are part of a quantization would change.
TEST(FuseQuantization, LeavesClampsOfWhatMayOverflow) {
  constexpr float kMost = std::numeric_limits<float>::max();
  struct Limit {
    float scale;
    float bias;
    float other_scale;
    bool is_finite;
  };
  for (const Limit& limit : {Limit{0.01f, 1, 0.03f, true}, Limit{1e35f, 1, 0.03f, false},
                             Limit{0.01f, INFINITY, 0.03f, false}, Limit{0.01f, NAN, 1, false},
                             Limit{1e29f, kMost, 1, false}, Limit{0.01f, 1, 3e36f, false}}) {
    for (const bool clamps : {true, false}) {
      Extreme e(limit.scale, limit.bias, limit.other_scale);
      TensorId y = e.n.Then(Mul{.keeps_infinities = true}, {e.product, e.other});
      if (clamps) y = e.n.Then(Relu{}, {y});
      Graph graph = e.n.Finish({e.n.Quantized(y, Type::kInt8, 0.07f, -5)});
      EXPECT_EQ(FuseQuantization(graph).real_pairs, clamps && !limit.is_finite ? 0u : 1u)
          << limit.scale << " " << limit.bias;
    }
  }
}

TEST(FuseQuantization, LeavesClampsOfPairsOfInfinities) {
  for (const bool clamps : {true, false}) {
    Network n(3);
    const TensorId x = n.Input(n.random.Tensor(Type::kUInt8, {4, 16}, 1e37f, 0));
    const TensorId y = n.Input(n.random.Tensor(Type::kUInt8, {4, 16}, 1e37f, 0));
    TensorId z = n.Then(Sub{.keeps_infinities = true}, {x, y});
    if (clamps) z = n.Then(Relu{}, {z});
    const Graph graph = n.Finish({n.Quantized(z, Type::kInt8, 0.07f, -5)});
    Graph fused = graph;
    EXPECT_EQ(FuseQuantization(fused).pairs, clamps ? 0u : 1u);
    EXPECT_EQ(RunAll(fused, n.inputs), RunAll(graph, n.inputs));
  }
}

// The operator of the only layer.
Operator Pair(const Operator& op, Type x, Type y, const std::optional<Operator>& clamp,
              int zero_point) {
  Network n(4);
  TensorId result = n.Then(op, {n.Input(x, {2, 8}), n.Input(y, {2, 8})});
  if (clamp.has_value()) result = n.Then(*clamp, {result});
  Graph graph = n.Finish({n.Quantized(result, Type::kUInt8, 0.1f, zero_point)});
  EXPECT_EQ(FuseQuantization(graph, true).pairs, 1u);
  EXPECT_EQ(graph.layers.size(), 1u);
  EXPECT_EQ(RunAll(graph, n.inputs).size(), 1u);
  return graph.layers[0].op;
}

TEST(FuseQuantization, PairsMayFollowOnnxRuntime) {
  constexpr Type kBytes = Type::kUInt8;
  EXPECT_TRUE(Pair(Add{}, kBytes, kBytes, {}, 3).Is<QLinearAdd>());
  EXPECT_TRUE(Pair(Mul{}, kBytes, kBytes, {}, 3).Is<QLinearMul>());
  EXPECT_TRUE(Pair(Sub{}, kBytes, kBytes, {}, 3).Is<Sub>());
  // A clamp that quantizing does anyway.
  EXPECT_TRUE(Pair(Add{}, kBytes, kBytes, Relu{}, 0).Is<QLinearAdd>());
  EXPECT_TRUE(Pair(Add{}, kBytes, kBytes, Relu{}, 3).Is<Add>());
  EXPECT_TRUE(Pair(Add{}, kBytes, Type::kInt8, {}, 3).Is<Add>());
  EXPECT_TRUE(Pair(Add{}, Type::kInt8, Type::kInt8, {}, 3).Is<Add>());
}

TEST(FuseQuantization, OneDequantizeMayHaveSeveralReaders) {
  Network n(5);
  const TensorId x = n.Input(Type::kUInt8, {1, 6, 6, 4});
  const TensorId a = n.Real(n.Quantized(n.Then(Conv2D{}, {x, n.Weights({4, 1, 1, 4})})));
  const TensorId y = n.Quantized(n.Then(Add{}, {a, x}));
  Graph graph = n.Finish({y});
  const FusedQuantization counts = FuseQuantization(graph);
  EXPECT_EQ(counts.products, 1u);
  EXPECT_EQ(counts.pairs, 1u);
  EXPECT_EQ(graph.layers.size(), 2u);
}

TEST(FuseQuantization, RepeatedQuantizationsVanish) {
  Network n(6);
  const TensorId x = n.Input(Type::kUInt8, {3, 4});
  const Q& q = n.inputs[0];
  const TensorId again = n.Real(n.Quantized(x, q.type, q.scale, q.zero_point));
  Graph graph = n.Finish({n.Quantized(n.Then(Exp{}, {again}))});
  EXPECT_EQ(FuseQuantization(graph).identities, 1u);
  EXPECT_EQ(graph.layers.size(), 1u);
  EXPECT_TRUE(graph.layers[0].op.Is<MapBytes>());
}

TEST(FuseQuantization, TablesGoThroughWideCasts) {
  for (const Type wide : {Type::kInt16, Type::kUInt16, Type::kInt32}) {
    Network n(7);
    const TensorId x = n.Input(AllNumbers(Type::kInt8, 0.75f, -20));
    const TensorId whole = n.b.Layer(Cast{}, {n.Then(Relu{}, {x})}, wide, {}).id;
    const TensorId real = n.b.Layer(Cast{}, {whole}, Type::kFloat32, {}).id;
    Graph graph = n.Finish({n.Quantized(real)});
    EXPECT_EQ(ExpectSameBits(graph, n.inputs).tables, 1u) << NameOf(wide);
  }
}

// What dynamic quantization writes: a product of integers, cast, scaled, and with a bias.
TEST(FuseQuantization, DynamicProductsKeepTheBits) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Network n(seed);
    const bool by_column = n.random.Flip();
    const TensorId x = n.Input(Type::kUInt8, {3, 4, 20});
    const Q weights = n.random.Tensor(Type::kInt8, {20, 9}, 1, 0);
    const TensorId w = Const(n.b, weights, PerTensor(1, n.random.Int(-9, 9))).id;
    Graph graph;
    {
      // x is float32 here, and quantized by each run.
      const TensorId scale = n.Reals({1});
      const TensorId scales =
          n.Then(Mul{}, {n.Then(Exp{}, {n.Then(Slice{{0, 0, 0}, {1, 1, 1}}, {x})}),
                         n.Then(Abs{}, {by_column ? n.Reals({9}) : scale})});
      const TensorId bytes = n.b.Input("bytes", Type::kUInt8, {3, 4, 20}).id;
      n.inputs.push_back(n.random.Tensor(Type::kUInt8, {3, 4, 20}));
      const TensorId zero_point = n.b.Input("zero", Type::kUInt8, {}).id;
      n.inputs.push_back({Type::kUInt8, {}, 1, 0, {n.random.Int(0, 255)}});
      const TensorId sums = n.b.Layer(IntegerMatMul{}, {bytes, w, zero_point}, Type::kInt32, {}).id;
      const TensorId scaled = n.Then(Mul{}, {n.Then(Cast{}, {sums}), scales});
      graph = n.Finish({n.Then(Add{}, {n.Reals({9}), scaled})});
    }
    FoldBudget budget(1 << 26, 1 << 26);
    FoldConstants(graph, budget);  // the weights' scales
    Graph fused = graph;
    EXPECT_EQ(FuseQuantization(fused).dynamic_products, 1u);
    EXPECT_TRUE(fused.layers.back().op.Is<IntegerMatMul>());
    EXPECT_EQ(RunAll(fused, n.inputs), RunAll(graph, n.inputs));
  }
}

// A reader folds weights while it adds layers, but not those that a pass is to find.
TEST(FuseQuantization, FoldingMayKeepDequantize) {
  for (const bool keep : {false, true}) {
    Network n(11);
    const TensorId x = n.Input(Type::kUInt8, {2, 12});
    const TensorId y = n.Then(FullyConnected{}, {x, n.Weights({5, 12}), n.Reals({5})});
    Graph graph = n.Finish({n.Quantized(y)});
    FoldBudget budget(1 << 20, 1 << 20);
    ConstantFolder folder(graph, budget);
    if (keep) folder.KeepDequantize();
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      folder.FoldParameters(i);
      folder.Add(i);
    }
    folder.Finish();
    EXPECT_EQ(FuseQuantization(graph).products, keep ? 1u : 0u);
  }
}

TEST(FuseQuantization, LeavesWhatItCannotFuse) {
  Network n(7);
  const TensorId x = n.Input(Type::kUInt8, {2, 8});
  const TensorId weights = n.Weights({4, 8});
  // A bias of another scale.
  const TensorId bias = n.Real(n.b.Const<int32_t>("b", {1, 2, 3, 4}, {4}, PerTensor(0.5f, 0)).id);
  const TensorId with_bias = n.Then(FullyConnected{}, {x, weights, bias});
  // float32 weights.
  const TensorId real = n.Then(FullyConnected{}, {x, n.Reals({4, 8})});
  // An operator that is none of integers.
  const TensorId softmax = n.Then(Softmax{}, {x});
  const Graph graph = n.Finish({n.Quantized(with_bias), n.Quantized(real), n.Quantized(softmax)});
  Graph fused = graph;
  EXPECT_EQ(FuseQuantization(fused).total(), 0u);
  EXPECT_EQ(fused.layers.size(), graph.layers.size());
  EXPECT_EQ(RunAll(fused, n.inputs), RunAll(graph, n.inputs));
}

TEST(FuseQuantization, LeavesResultsThatOthersRead) {
  Network n(8);
  const TensorId x = n.Input(Type::kUInt8, {2, 8});
  const TensorId y = n.Then(Exp{}, {x});
  Graph graph = n.Finish({n.Quantized(y), y});
  EXPECT_EQ(FuseQuantization(graph).total(), 0u);
}

TEST(FuseQuantization, LeavesTflitesRules) {
  Network n(9);
  const TensorId x = n.Input(Type::kUInt8, {2, 8});
  Graph graph = n.Finish({n.Quantized(n.Then(Exp{}, {x}))});
  for (Layer& layer : graph.layers) layer.numerics.reset();
  EXPECT_EQ(FuseQuantization(graph).total(), 0u);
}

TEST(FuseQuantization, LeavesSumsThatCouldOverflow) {
  Network n(10);
  const TensorId x = n.Input(n.random.Tensor(Type::kUInt8, {1, 70000}, 0.1f, 0));
  const TensorId y = n.Then(FullyConnected{}, {x, n.Weights({1, 70000})});
  Graph graph = n.Finish({n.Quantized(y)});
  EXPECT_EQ(FuseQuantization(graph).total(), 0u);
}

}  // namespace
}  // namespace intaglio::nn
