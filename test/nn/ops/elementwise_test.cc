// ADD, the activations as layers, QUANTIZE and DEQUANTIZE.
#include <limits>

#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

// One element of a broadcast operand.
int BroadcastAt(const Q& q, const std::vector<int>& index) {
  std::vector<int> own;
  const size_t skip = index.size() - q.shape.size();
  for (size_t i = 0; i < q.shape.size(); ++i) own.push_back(q.shape[i] == 1 ? 0 : index[skip + i]);
  return q.At(own);
}

int AddOne(const Q& a, int x, const Q& b, int y, const Q& out, Activation activation) {
  const auto twice_max = static_cast<double>(2 * std::max(a.scale, b.scale));
  const auto term = [&](const Q& q, int v) {
    return Scaled(int64_t{v - q.zero_point} << 20,
                  Multiplier(static_cast<double>(q.scale) / twice_max));
  };
  const Multiplier last(twice_max / (std::ldexp(static_cast<double>(out.scale), 20)));
  const auto [low, high] = Clamps(a.type, out, activation);
  return Clamp(Scaled(term(a, x) + term(b, y), last) + out.zero_point, low, high);
}

// Adds random tensors of the first two of these shapes, and expects the third.
void CheckAdd(Random& random, Type type, const std::vector<Shape>& s, int threads) {
  const Q a = random.Tensor(type, s[0]);
  const Q b = random.Tensor(type, s[1]);
  const Q out = random.Tensor(type, {});
  const Activation activation = random.Of(kActivations);
  std::vector<int> expected;
  ForEachIndex(s[2], [&](const std::vector<int>& i) {
    expected.push_back(AddOne(a, BroadcastAt(a, i), b, BroadcastAt(b, i), out, activation));
  });
  Builder builder;
  const Value x = Input(builder, a);
  const Value y = Input(builder, b, "other");
  Shape shape;
  ASSERT_EQ(RunGraph(builder, builder.Add(x, y, {activation}, out.quantization()), {a, b}, &shape,
                     threads),
            expected)
      << ToString(s[0]) << " + " << ToString(s[1]);
  EXPECT_EQ(shape, s[2]);
}

TEST(Add, MatchesDefinitionWithBroadcasting) {
  const std::vector<std::vector<Shape>> shapes = {
      {{1, 3, 4, 5}, {1, 3, 4, 5}, {1, 3, 4, 5}},
      {{2, 3}, {3}, {2, 3}},
      {{3}, {2, 3}, {2, 3}},
      {{2, 1, 3}, {4, 1}, {2, 4, 3}},
      {{1}, {7}, {7}},
      {{}, {7}, {7}},
      {{}, {}, {}},
      {{5, 1}, {1, 6}, {5, 6}},
      {{2, 3, 1, 4}, {1, 3, 5, 4}, {2, 3, 5, 4}},
      {{2, 3, 4}, {2, 1, 1}, {2, 3, 4}},
      {{0, 3}, {1, 3}, {0, 3}},
      {{2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3}, {2, 3, 2, 3, 2, 3}}};
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const std::vector<Shape>& s = shapes[static_cast<size_t>(round) % shapes.size()];
    CheckAdd(random, kEightBit[static_cast<size_t>(round % 2)], s, 1);
  }
}

// Lines that are merged, of more elements than are repeated at once, begun within a period by the
// second thread.
TEST(Add, MatchesDefinitionWhereShortLinesRepeat) {
  Random random(7);
  for (const std::vector<Shape>& s : {std::vector<Shape>{{5001, 7}, {7}, {5001, 7}},
                                      {{7}, {5001, 7}, {5001, 7}},
                                      {{3, 200, 9}, {3, 1, 9}, {3, 200, 9}},
                                      {{1, 3, 511}, {2, 1, 511}, {2, 3, 511}}}) {
    for (const int threads : {1, 2}) CheckAdd(random, Type::kInt8, s, threads);
  }
}

TEST(Add, EveryElementNextToTies) {
  Random random(23);
  for (int round = 0; round < 2000; ++round) {
    const Type type = kEightBit[static_cast<size_t>(round % 2)];
    const Q out = random.Tensor(type, {});
    const int zero = type == Type::kInt8 ? 0 : 128;
    Q a = random.Tensor(type, {256}, random.ScaleNearTie(out.scale), zero);
    for (size_t i = 0; i < 256; ++i) a.values[i] = LowestOf(type) + static_cast<int>(i);
    Q b{type, {1}, a.scale * random.Scale(0.3, 3), zero, {zero}};
    std::vector<int> expected;
    for (const int x : a.values) expected.push_back(AddOne(a, x, b, zero, out, Activation::kNone));
    Builder builder;
    const Value x = Input(builder, a);
    const Value y = Input(builder, b);
    ASSERT_EQ(RunGraph(builder, builder.Add(x, y, {}, out.quantization()), {a, b}), expected);
  }
}

TEST(Add, OfAValueToItself) {
  Random random(6);
  const Q x = random.Tensor(Type::kInt8, {5, 7});
  const Q out = random.Tensor(Type::kInt8, {});
  std::vector<int> expected;
  for (const int v : x.values) expected.push_back(AddOne(x, v, x, v, out, Activation::kNone));
  Builder b;
  const Value in = Input(b, x);
  EXPECT_EQ(RunGraph(b, b.Add(in, in, {}, out.quantization()), {x}), expected);
}

TEST(Add, RefusesWithAReason) {
  const auto message = [](Shape a, Shape c, Type type, float out_scale) {
    Builder b;
    const Value x = b.Input("x", Type::kInt8, std::move(a), PerTensor(8, 0));
    const Value y = b.Input("y", type, std::move(c), PerTensor(8, 0));
    return ErrorOf(b, b.Add(x, y, {}, PerTensor(out_scale, 0)));
  };
  EXPECT_EQ(message({2, 3}, {3}, Type::kInt8, 8), "ok");
  EXPECT_EQ(message({2, 3}, {2}, Type::kInt8, 8),
            "ADD #0 'ADD_0': the shapes [2, 3] and [2] do not broadcast");
  EXPECT_EQ(message({2}, {2}, Type::kUInt8, 8),
            "ADD #0 'y': input 1 is uint8, but the output is int8");
  EXPECT_NE(message({2}, {2}, Type::kInt8, 1e-5f).find("it must be below 1"), std::string::npos);
}

TEST(Sub, OutputScaleOfZeroGivesTheZeroPoint) {
  for (const Type type : kEightBit) {
    Random random(31);
    const Q a = random.Tensor(type, {40});
    const Q b = random.Tensor(type, {40});
    Builder builder;
    const Value x = Input(builder, a);
    const Value y = Input(builder, b, "other");
    EXPECT_EQ(
        RunGraph(builder, builder.Layer(nn::Sub{}, {x.id, y.id}, type, PerTensor(0, 7)), {a, b}),
        std::vector<int>(40, 7));
  }
}

// All 256 elements of a type, in order.
Q AllElements(Type type, float scale, int zero_point) {
  Q q{type, {256}, scale, zero_point, {}};
  for (int v = LowestOf(type); v <= HighestOf(type); ++v) q.values.push_back(v);
  return q;
}

TEST(Relu, MatchesDefinition) {
  Random random(7);
  for (int round = 0; round < 4000; ++round) {
    const Type type = kEightBit[static_cast<size_t>(round % 2)];
    const Activation activation = round % 4 < 2 ? Activation::kRelu : Activation::kRelu6;
    const Q out = random.Tensor(type, {});
    const float scale = random.Flip() ? random.ScaleNearTie(out.scale) : random.Scale(0.005, 0.5);
    const Q x = AllElements(type, scale, random.Tensor(type, {}).zero_point);
    const Multiplier multiplier(static_cast<double>(x.scale / out.scale));
    const auto [low, high] = Clamps(type, out, activation);
    std::vector<int> expected;
    for (const int v : x.values) {
      expected.push_back(Clamp(Scaled(v - x.zero_point, multiplier) + out.zero_point, low, high));
    }
    Builder b;
    const Value in = Input(b, x);
    const Value y = activation == Activation::kRelu ? b.Relu(in, out.quantization())
                                                    : b.Relu6(in, out.quantization());
    ASSERT_EQ(RunGraph(b, y, {x}), expected);
  }
}

// f in long double, to the nearest output; at a tie (within the error of float32) either neighbour.
template <class F>
void CheckFunction(const Q& x, const std::vector<int>& actual, float out_scale, int out_zero_point,
                   const F& f) {
  ASSERT_EQ(actual.size(), x.values.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const long double real = static_cast<long double>(x.scale) * (x.values[i] - x.zero_point);
    const long double exact = f(real) / static_cast<long double>(out_scale) + out_zero_point;
    const long double clamped = std::clamp<long double>(exact, LowestOf(x.type), HighestOf(x.type));
    EXPECT_LE(std::fabs(clamped - actual[i]), 0.5002L) << "at " << x.values[i];
  }
}

TEST(LogisticAndTanh, AreNearestToTheFunction) {
  Random random(8);
  for (int round = 0; round < 100; ++round) {
    const Type type = kEightBit[static_cast<size_t>(round % 2)];
    const Q x = AllElements(type, random.Scale(0.001, 1), random.Tensor(type, {}).zero_point);
    Builder b;
    const std::vector<int> logistic = RunGraph(b, b.Logistic(Input(b, x)), {x});
    CheckFunction(x, logistic, 1.0f / 256, LowestOf(type),
                  [](long double v) { return 1 / (1 + std::exp(-v)); });
    Builder c;
    const std::vector<int> tanh = RunGraph(c, c.Tanh(Input(c, x)), {x});
    CheckFunction(x, tanh, 1.0f / 128, type == Type::kInt8 ? 0 : 128,
                  [](long double v) { return std::tanh(v); });
  }
}

TEST(Quantize, BetweenIntegers) {
  struct Pair {
    Type from, to;
  };
  const std::vector<Pair> pairs = {
      {Type::kInt8, Type::kInt8},   {Type::kInt8, Type::kUInt8},  {Type::kUInt8, Type::kInt8},
      {Type::kUInt8, Type::kUInt8}, {Type::kInt8, Type::kInt16},  {Type::kUInt8, Type::kInt16},
      {Type::kInt16, Type::kInt8},  {Type::kInt16, Type::kUInt8}, {Type::kInt16, Type::kInt16}};
  Random random(9);
  for (int round = 0; round < 180; ++round) {
    const Pair pair = pairs[static_cast<size_t>(round) % pairs.size()];
    const Q x = random.Tensor(pair.from, {3, 50}, random.Scale(0.01, 1), random.Int(0, 100));
    Q out;
    out.scale = random.Scale(0.01, 1);
    out.zero_point = random.Int(0, 100);
    const Multiplier multiplier(static_cast<double>(x.scale) / static_cast<double>(out.scale));
    std::vector<int> expected;
    for (const int v : x.values) {
      expected.push_back(Clamp(Scaled(v - x.zero_point, multiplier) + out.zero_point,
                               LowestOf(pair.to), HighestOf(pair.to)));
    }
    Builder b;
    const Value y = b.Quantize(Input(b, x), pair.to, out.quantization());
    ASSERT_EQ(RunGraph(b, y, {x}), expected) << NameOf(pair.from) << " to " << NameOf(pair.to);
  }
}

TEST(Quantize, Int32ToInt16AndBack) {
  Q x{Type::kInt32, {5}, 0.5f, 0, {0, 3, -3, 2147483647, std::numeric_limits<int>::min()}};
  Builder b;
  EXPECT_EQ(RunGraph(b, b.Quantize(Input(b, x), Type::kInt16, PerTensor(1, 0)), {x}),
            (std::vector<int>{0, 2, -1, 32767, -32768}));
  Q y{Type::kInt16, {3}, 2, 0, {0, 3, -32768}};
  Builder c;
  EXPECT_EQ(RunGraph(c, c.Quantize(Input(c, y), Type::kInt32, PerTensor(1, 0)), {y}),
            (std::vector<int>{0, 6, -65536}));
}

std::vector<int> QuantizeFloats(const std::vector<float>& values, Type type, float scale,
                                int zero) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {static_cast<int>(values.size())});
  b.Output(b.Quantize(x, type, PerTensor(scale, zero)), "y");
  Result<Model> model = Model::Prepare(*b.Finish());
  EXPECT_TRUE(model.ok()) << model.status().message();
  std::vector<std::byte> bytes(values.size() * SizeOf(type));
  const InputBuffer in[] = {MakeInput<float>(values)};
  const OutputBuffer out[] = {{bytes.data(), bytes.size(), type}};
  EXPECT_TRUE(model->Run(in, out).ok());
  return Ints(type, bytes);
}

TEST(Quantize, FromFloat) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(QuantizeFloats({0, 0.5f, -0.5f, 0.49999997f, 1.5f, 2.5f, -2.5f, 1000, -1000},
                           Type::kInt8, 1, 3),
            (std::vector<int>{3, 4, 2, 3, 5, 6, 0, 127, -128}));
  EXPECT_EQ(QuantizeFloats({infinity, -infinity, nan, 3e38f, -3e38f, 2147483648.0f}, Type::kUInt8,
                           0.5f, 7),
            (std::vector<int>{255, 0, 7, 255, 0, 255}));
  EXPECT_EQ(QuantizeFloats({1e6f, -1e6f, 0.1f}, Type::kInt16, 0.1f, -5),
            (std::vector<int>{32767, -32768, -4}));
  // The quotient is one float32 division: near a tie a product with the reciprocal differs.
  Random random(10);
  std::vector<float> values;
  const float scale = 0.0234567f;
  for (int i = 0; i < 5000; ++i) {
    values.push_back((static_cast<float>(random.Int(-100, 100)) + 0.5f) * scale);
  }
  const std::vector<int> actual = QuantizeFloats(values, Type::kInt8, scale, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    volatile const float quotient = values[i] / scale;
    EXPECT_EQ(actual[i], Clamp(std::lround(quotient), -128, 127));
  }
}

template <class T>
void CheckDequantize(float scale, int zero_point, int count = 256, int threads = 1) {
  const Type type = TypeOf<T>;
  Q x{type, {count}, scale, zero_point, {}};
  for (int i = 0; i < count; ++i) {
    x.values.push_back(LowestOf(type) + i % 256 * (HighestOf(type) - LowestOf(type)) / 255);
  }
  Builder b;
  b.Output(b.Dequantize(Input(b, x)), "y");
  PrepareOptions options;
  options.threads = threads;
  Result<Model> model = Model::Prepare(*b.Finish(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<T> in = As<T>(x.values);
  std::vector<float> out(in.size());
  const InputBuffer inputs[] = {MakeInput<T>(in)};
  const OutputBuffer outputs[] = {MakeOutput<float>(out)};
  ASSERT_TRUE(model->Run(inputs, outputs).ok());
  for (size_t i = 0; i < in.size(); ++i) {
    const double exact = static_cast<double>(scale) * (x.values[i] - zero_point);
    EXPECT_EQ(out[i], static_cast<float>(exact));
  }
}

TEST(Dequantize, IsTheRoundedProduct) {
  CheckDequantize<int8_t>(0.0123f, 5);
  CheckDequantize<uint8_t>(0.0123f, 200);
  CheckDequantize<int16_t>(3.3e-5f, -7);
}

TEST(Dequantize, SharesLongLinesOut) {
  CheckDequantize<int8_t>(0.0123f, 5, 100'003, 3);
  CheckDequantize<int16_t>(3.3e-5f, -7, 100'003, 3);
}

TEST(Elementwise, RefusesTypes) {
  Builder b;
  EXPECT_EQ(ErrorOf(b, b.Relu(b.Input("x", Type::kBool, {3}), PerTensor(1, 0))),
            "RELU #0 'y': input 'x' is bool; int8, uint8, int16 or float32 is supported");
  Builder c;
  EXPECT_EQ(
      ErrorOf(c, c.Quantize(c.Input("x", Type::kFloat32, {3}), Type::kInt32, PerTensor(1, 0))),
      "QUANTIZE #0 'y': from float32 to int32");
  Builder d;
  EXPECT_EQ(ErrorOf(d, d.Layer(nn::Relu{}, {d.Input("x", Type::kInt8, {3}, PerTensor(1, 0)).id},
                               Type::kUInt8, PerTensor(1, 0))),
            "RELU #0 'y': the input is int8, but the output 'y' is uint8");
  Builder e;
  EXPECT_EQ(
      ErrorOf(e, e.Relu6(e.Input("x", Type::kInt8, {3}, PerTensor(1, 0)), PerTensor(1e-10f, 0))),
      "RELU6 #0 'y': the output's scale 0.000000 is too small for its activation");
}

}  // namespace
}  // namespace intaglio::nn
