// Operators that move or combine elements: pools, MEAN, PAD, RESHAPE, CONCATENATION.
#include <limits>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/support/divider.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

TEST(Divider, IsExact) {
  for (const int32_t d :
       {1,   2,   3,   4,     5,     7,     9,       49,      64,      81,
        255, 256, 257, 65535, 65536, 65537, 1000003, 1 << 22, 1 << 30, 2147483647}) {
    const Divider divide(d);
    for (int64_t multiple : {int64_t{0}, int64_t{d}, int64_t{d} * 3, int64_t{2147483647} / d * d,
                             int64_t{2147483647}}) {
      for (int64_t x = multiple - 3; x <= multiple + 3; ++x) {
        if (x < 0 || x > 2147483647) continue;
        EXPECT_EQ(divide(static_cast<int32_t>(x)), x / d) << x << " / " << d;
      }
    }
  }
  Random random(13);
  for (int i = 0; i < 100000; ++i) {
    const int32_t d = random.Int(1, 1 << random.Int(1, 30));
    const int32_t x = random.Int(-(1 << 29), 1 << 29);
    EXPECT_EQ(Divider(d).Round(x), RoundDivide(x, d)) << x << " / " << d;
  }
}

// No updates are made by no indices, whatever dimensions they have beside that of 0.
TEST(ScatterNd, TakesNoIndices) {
  constexpr int kMost = std::numeric_limits<int>::max();
  Builder b;
  const Value indices = b.Input("i", Type::kInt32, {kMost, kMost, kMost, 0, 1}, {});
  const Value updates = b.Input("u", Type::kInt8, {kMost, kMost, kMost, 0}, PerTensor(1, 0));
  b.Output(b.Layer(ScatterNd{{5}}, {indices.id, updates.id}, Type::kInt8, PerTensor(1, 0)), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  const InputBuffer inputs[] = {{nullptr, 0, Type::kInt32}, {nullptr, 0, Type::kInt8}};
  std::vector<int8_t> y(5, 7);
  const OutputBuffer output = MakeOutput<int8_t>(y);
  ASSERT_TRUE(model->Run(inputs, {&output, 1}).ok());
  EXPECT_EQ(y, std::vector<int8_t>(5, 0));
}

struct PoolCase {
  Q x;
  Extent filter, stride;
  bool same;
  Activation activation;
};

PoolCase RandomPool(Random& random, Type type) {
  PoolCase c{};
  c.filter = {random.Int(1, 4), random.Int(1, 4)};
  c.stride = {random.Int(1, 5), random.Int(1, 3)};
  c.same = random.Flip();
  c.activation = random.Of(kActivations);
  c.x = random.Tensor(type, {random.Int(1, 2), c.filter.height + random.Int(0, 6),
                             c.filter.width + random.Int(0, 6), random.Int(1, 20)});
  return c;
}

// The taps of a window, of one channel.
std::vector<int> TapsOf(const PoolCase& c, const Shape& out, const std::vector<int>& i) {
  const auto before = [&](int in, int o, int filter, int stride) {
    return c.same ? std::max(0, (o - 1) * stride + filter - in) / 2 : 0;
  };
  const int top = before(c.x.shape[1], out[1], c.filter.height, c.stride.height);
  const int left = before(c.x.shape[2], out[2], c.filter.width, c.stride.width);
  std::vector<int> taps;
  ForEachIndex({c.filter.height, c.filter.width}, [&](const std::vector<int>& k) {
    const int y = i[1] * c.stride.height - top + k[0];
    const int x = i[2] * c.stride.width - left + k[1];
    if (y < 0 || x < 0 || y >= c.x.shape[1] || x >= c.x.shape[2]) return;
    taps.push_back(c.x.At({i[0], y, x, i[3]}));
  });
  return taps;
}

Shape PoolShapeOf(const PoolCase& c) {
  const auto extent = [&](int in, int filter, int stride) {
    return c.same ? (in + stride - 1) / stride : (in - filter) / stride + 1;
  };
  return {c.x.shape[0], extent(c.x.shape[1], c.filter.height, c.stride.height),
          extent(c.x.shape[2], c.filter.width, c.stride.width), c.x.shape[3]};
}

void ExpectPools(const PoolCase& c) {
  const Shape out = PoolShapeOf(c);
  const std::pair<int, int> clamps = Clamps(c.x.type, c.x, c.activation);
  std::vector<int> averages;
  std::vector<int> maxima;
  ForEachIndex(out, [&](const std::vector<int>& i) {
    const std::vector<int> taps = TapsOf(c, out, i);
    int64_t sum = 0;
    for (const int tap : taps) sum += tap;
    averages.push_back(
        Clamp(RoundDivide(sum, static_cast<int64_t>(taps.size())), clamps.first, clamps.second));
    maxima.push_back(
        Clamp(*std::max_element(taps.begin(), taps.end()), clamps.first, clamps.second));
  });
  const Padding padding = c.same ? Padding::Same() : Padding::Valid();
  Builder a;
  const Value x = Input(a, c.x);
  Shape shape;
  ASSERT_EQ(
      RunGraph(a, a.AveragePool2D(x, {c.filter, c.stride, padding, c.activation}), {c.x}, &shape),
      averages);
  EXPECT_EQ(shape, out);
  Builder m;
  const Value y = Input(m, c.x);
  ASSERT_EQ(RunGraph(m, m.MaxPool2D(y, {c.filter, c.stride, padding, c.activation}), {c.x}),
            maxima);
}

TEST(Pool2D, MatchesDefinition) {
  Random random(14);
  for (int round = 0; round < 300; ++round) {
    ExpectPools(RandomPool(random, kEightBit[static_cast<size_t>(round % 2)]));
  }
}

TEST(Pool2D, MatchesDefinitionInImagesThatAreCutIntoStrips) {
  Random random(15);
  for (int round = 0; round < 16; ++round) {
    PoolCase c = RandomPool(random, kEightBit[static_cast<size_t>(round % 2)]);
    if (round % 4 < 3) c.filter = {3, 3};
    if (round % 4 < 2) c.stride = {1, 1};
    c.x = random.Tensor(c.x.type,
                        {random.Int(1, 2), random.Int(6, 9), random.Int(30, 50), 400 + round});
    ExpectPools(c);
  }
}

TEST(Pool2D, RefusesWithAReason) {
  const auto message = [](const nn::AveragePool2D& op, Shape shape, float out_scale) {
    Builder b;
    const Value x = b.Input("x", Type::kInt8, std::move(shape), PerTensor(1, 0));
    return ErrorOf(b, b.Layer(op, {x.id}, Type::kInt8, PerTensor(out_scale, 0)));
  };
  EXPECT_EQ(message({.filter = {2, 2}}, {1, 4, 4, 1}, 1), "ok");
  EXPECT_EQ(message({.filter = {2147483647 / 2, 1}, .padding = Padding::Same()}, {1, 4, 4, 1}, 1),
            "ok");
  EXPECT_NE(message({.filter = {0, 2}}, {1, 4, 4, 1}, 1)
                .find("the filter has 0 elements along the height"),
            std::string::npos);
  EXPECT_NE(message({.filter = {2, 2}, .stride = {1, 0}}, {1, 4, 4, 1}, 1).find("the stride is 0"),
            std::string::npos);
  EXPECT_EQ(message({.filter = {5, 2}}, {1, 4, 4, 1}, 1), "ok");
  EXPECT_NE(message({.filter = {2, 2}}, {4, 4, 1}, 1).find("[batch, height, width, channels]"),
            std::string::npos);
  EXPECT_EQ(message({.filter = {2, 2}}, {1, 4, 4, 1}, 2), "ok");
  EXPECT_NE(message({.filter = {2, 2}, .padding = Padding::Explicit(2, 0, 0, 0)}, {1, 4, 4, 1}, 1)
                .find("lies in the padding only"),
            std::string::npos);
}

TEST(Mean, MatchesDefinition) {
  const std::vector<std::pair<Shape, std::vector<int>>> cases = {{{2, 3, 4, 5}, {1, 2}},
                                                                 {{1, 7, 7, 64}, {1, 2}},
                                                                 {{2, 3, 4, 5}, {3}},
                                                                 {{2, 3, 4, 5}, {-1, 0}},
                                                                 {{2, 3, 4}, {0, 1, 2}},
                                                                 {{2, 3, 4}, {}},
                                                                 {{6}, {0}},
                                                                 {{2, 3, 4}, {1, 1, -2}},
                                                                 {{1, 1, 5}, {0, 1}},
                                                                 {{3, 1, 4, 1, 5}, {0, 2, 4}},
                                                                 {{2, 200}, {1}},
                                                                 {{}, {}}};
  Random random(15);
  for (int round = 0; round < 240; ++round) {
    const Type type = kEightBit[static_cast<size_t>(round % 2)];
    const auto& [shape, axes] = cases[static_cast<size_t>(round) % cases.size()];
    const bool keep = random.Flip();
    const Q x = random.Tensor(type, shape);
    const Q out = random.Tensor(type, {}, random.Of<float>({x.scale, random.Scale(0.01, 0.2)}),
                                random.Tensor(type, {}).zero_point);
    std::vector<bool> reduced(shape.size(), false);
    for (const int axis : axes)
      reduced[static_cast<size_t>(axis + (axis < 0 ? static_cast<int>(shape.size()) : 0))] = true;
    Shape full;  // with the reduced dimensions as 1
    Shape kept;
    int64_t count = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
      full.push_back(reduced[i] ? 1 : shape[i]);
      if (!reduced[i] || keep) kept.push_back(full.back());
      if (reduced[i]) count *= shape[i];
    }
    std::vector<int64_t> sums(static_cast<size_t>(*CountElements(full)), 0);
    const Q place{type, full, 1, 0, {}};
    ForEachIndex(shape, [&](std::vector<int> i) {
      const int value = x.At(i);
      for (size_t d = 0; d < i.size(); ++d) i[d] = reduced[d] ? 0 : i[d];
      sums[place.Offset(i)] += value;
    });
    // The division is folded into the multiplier, whose mantissa is lengthened for it and
    // truncated.
    const Multiplier whole(static_cast<double>(x.scale) / static_cast<double>(out.scale));
    int shift = 0;
    while ((count >> (shift + 1)) != 0) ++shift;
    shift = std::min({shift, 32, 31 + whole.exponent});
    const Multiplier folded(whole.mantissa * (int64_t{1} << shift) / count, whole.exponent - shift);
    std::vector<int> expected;
    for (const int64_t sum : sums) {
      expected.push_back(Clamp(Scaled(sum - x.zero_point * count, folded) + out.zero_point,
                               LowestOf(type), HighestOf(type)));
    }
    Builder b;
    const Value y = b.Mean(Input(b, x), {axes, keep}, out.quantization());
    Shape actual;
    ASSERT_EQ(RunGraph(b, y, {x}, &actual), expected) << ToString(shape) << ToString(axes);
    EXPECT_EQ(actual, kept);
  }
}

TEST(Mean, RefusesWithAReason) {
  const auto message = [](Shape shape, std::vector<int> axes) {
    Builder b;
    const Value x = b.Input("x", Type::kInt8, std::move(shape), PerTensor(1, 0));
    return ErrorOf(b, b.Mean(x, {std::move(axes), false}, PerTensor(1, 0)));
  };
  EXPECT_EQ(message({2, 3}, {1}), "ok");
  EXPECT_NE(message({2, 3}, {2}).find("the axis 2 is no dimension of [2, 3]"), std::string::npos);
  EXPECT_NE(message({2, 3}, {-3}).find("the axis -3"), std::string::npos);
  EXPECT_EQ(message({2, 0}, {1}), "ok");
  EXPECT_EQ(message({1 << 23}, {0}), "ok");
}

TEST(Pad, MatchesDefinition) {
  Random random(16);
  for (int round = 0; round < 200; ++round) {
    const Type type = random.Of<Type>({Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32});
    Shape shape;
    Shape padded;
    nn::Pad op;
    for (int i = random.Int(0, 5); i > 0; --i) {
      shape.push_back(random.Int(1, 4));
      op.paddings.emplace_back(random.Int(0, 2), random.Flip() ? random.Int(0, 2) : 0);
      padded.push_back(shape.back() + op.paddings.back().first + op.paddings.back().second);
    }
    const Q x = random.Tensor(type, shape, 1, random.Int(0, 100));
    op.has_value = random.Flip();
    const int value = random.Int(0, 127);
    op.value = value;
    std::vector<int> expected;
    ForEachIndex(padded, [&](std::vector<int> i) {
      bool inside = true;
      for (size_t d = 0; d < i.size(); ++d) {
        i[d] -= op.paddings[d].first;
        inside = inside && i[d] >= 0 && i[d] < shape[d];
      }
      expected.push_back(inside ? x.At(i) : op.has_value ? value : x.zero_point);
    });
    Builder b;
    Shape actual;
    ASSERT_EQ(RunGraph(b, b.Pad(Input(b, x), op), {x}, &actual), expected) << ToString(shape);
    EXPECT_EQ(actual, padded);
  }
}

// Numbers that no double holds.
TEST(Pad, ByAnyInt64) {
  for (const int64_t value : {(int64_t{1} << 53) + 1, std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::min()}) {
    Builder b;
    const Value x = b.Input("x", Type::kInt64, {1}, {});
    b.Output(b.Pad(x, {{{1, 0}}, true, value}), "y");
    Result<Model> model = Model::Prepare(*b.Finish());
    ASSERT_TRUE(model.ok()) << model.status().message();
    const int64_t in[] = {5};
    std::vector<int64_t> out(2);
    const InputBuffer input = MakeInput<int64_t>(in);
    const OutputBuffer output = MakeOutput<int64_t>(out);
    ASSERT_TRUE(model->Run({&input, 1}, {&output, 1}).ok());
    EXPECT_EQ(out, (std::vector<int64_t>{value, 5}));
  }
}

// As TFLite's reference kernel has it: the end counts from where the slice begins, masked or not.
TEST(StridedSlice, EndsAtAnOffset) {
  const auto slice = [](int begin, int end, uint32_t begin_mask, uint32_t end_mask) {
    const Q x{Type::kInt8, {5}, 1, 0, {0, 1, 2, 3, 4}};
    StridedSlice op{{begin}, {end}, {1}, begin_mask, end_mask};
    op.offset = true;
    Builder b;
    const Value y = b.Layer(op, {Input(b, x).id}, Type::kInt8, PerTensor(1, 0));
    return RunGraph(b, y, {x});
  };
  EXPECT_EQ(slice(1, 2, 0, 0), (std::vector<int>{1, 2}));
  EXPECT_EQ(slice(1, 2, 0, 1), (std::vector<int>{1, 2}));
  EXPECT_EQ(slice(1, 2, 1, 0), (std::vector<int>{0, 1}));
  EXPECT_EQ(slice(-2, 2, 0, 0), (std::vector<int>{3, 4}));
  EXPECT_EQ(slice(3, 9, 0, 0), (std::vector<int>{3, 4}));
  EXPECT_EQ(slice(3, -1, 0, 0), (std::vector<int>{}));
}

TEST(Pad, RefusesWithAReason) {
  const auto message = [](const nn::Pad& op, Type type = Type::kInt8) {
    Builder b;
    const Value x =
        b.Input("x", type, {2, 3}, type == Type::kInt8 ? PerTensor(1, 0) : Quantization{});
    return ErrorOf(b, b.Pad(x, op));
  };
  EXPECT_EQ(message({{{1, 1}, {0, 0}}}), "ok");
  EXPECT_EQ(message({{{1, 1}, {0, 0}}}, Type::kFloat32), "ok");
  EXPECT_NE(message({{{1, 1}}}).find("paddings for 1 dimensions"), std::string::npos);
  EXPECT_NE(message({{{1, 1}, {0, -1}}}).find("by 0 and -1"), std::string::npos);
  EXPECT_NE(message({{{1, 1}, {2147483647, 1}}}).find("cannot pad dimension 1"), std::string::npos);
  EXPECT_NE(message({{{1, 1}, {0, 0}}, true, 128}).find("the padding value 128 is no int8"),
            std::string::npos);
  EXPECT_NE(message({{{1, 1}, {0, 0}}, true, 0.5}).find("the padding value 0.5 is no int8"),
            std::string::npos);
  EXPECT_EQ(message({{{1, 1}, {0, 0}}, true, 0.5}, Type::kFloat32), "ok");
}

TEST(Reshape, KeepsElementsAndInfersOneDimension) {
  Random random(17);
  const Q x = random.Tensor(Type::kInt8, {2, 3, 4});
  const std::vector<std::pair<Shape, Shape>> cases = {
      {{24}, {24}}, {{-1}, {24}}, {{4, -1, 2}, {4, 3, 2}}, {{6, 4}, {6, 4}}};
  for (const auto& [asked, expected] : cases) {
    Builder b;
    Shape shape;
    EXPECT_EQ(RunGraph(b, b.Reshape(Input(b, x), asked), {x}, &shape), x.values);
    EXPECT_EQ(shape, expected);
  }
  for (const Shape& wrong : {Shape{23}, Shape{-1, -1}, Shape{5, -1}, Shape{-2, 12}, Shape{0, -1},
                             Shape{}, Shape{1 << 30, 1 << 30, 1 << 30}}) {
    Builder b;
    const std::string message = ErrorOf(b, b.Reshape(Input(b, x), wrong));
    EXPECT_EQ(message,
              "RESHAPE #0 'RESHAPE_0': cannot give [2, 3, 4] the shape " + ToString(wrong));
  }
}

TEST(Reshape, OfAConstant) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {4}, PerTensor(1, 0));
  const Constant c = b.Const<int8_t>("c", {1, 2, 3, 4}, {2, 2}, PerTensor(1, 0));
  const Value flat = b.Reshape(Value{c.id}, {4});
  const Q zeros{Type::kInt8, {4}, 1, 0, {10, 20, 30, 40}};
  EXPECT_EQ(RunGraph(b, b.Add(x, flat, {}, PerTensor(1, 0)), {zeros}),
            (std::vector<int>{11, 22, 33, 44}));
}

// float32 throughout: (x * (s / so) + -z * (s / so)), to nearest, plus zo.
int Requantized(const Q& q, int value, const Q& out) {
  volatile float inverse = 1.0f / out.scale;
  volatile float scale = q.scale * inverse;
  volatile float bias = static_cast<float>(-q.zero_point) * scale;
  volatile float product = static_cast<float>(value) * scale;
  volatile float sum = product + bias;
  return Clamp(std::lround(sum) + out.zero_point, 0, 255);
}

TEST(Concatenation, MatchesDefinition) {
  Random random(18);
  for (int round = 0; round < 200; ++round) {
    const Type type = random.Of<Type>({Type::kInt8, Type::kUInt8, Type::kUInt8, Type::kInt16});
    Shape shape;
    for (int i = random.Int(1, 4); i > 0; --i) shape.push_back(random.Int(1, 3));
    const int rank = static_cast<int>(shape.size());
    const int axis = random.Int(-rank, rank - 1);
    const auto dimension = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    const Q out = random.Tensor(type, {});
    std::vector<Q> parts;
    Shape joined = shape;
    joined[dimension] = 0;
    for (int i = random.Int(1, 4); i > 0; --i) {
      shape[dimension] = random.Int(0, 3);
      joined[dimension] += shape[dimension];
      const bool same = type != Type::kUInt8 || random.Flip();
      parts.push_back(same ? random.Tensor(type, shape, out.scale, out.zero_point)
                           : random.Tensor(type, shape));
    }
    std::vector<int> expected;
    ForEachIndex(joined, [&](std::vector<int> i) {
      size_t part = 0;
      while (i[dimension] >= parts[part].shape[dimension]) {
        i[dimension] -= parts[part++].shape[dimension];
      }
      const Q& q = parts[part];
      if (q.scale == out.scale && q.zero_point == out.zero_point) {
        expected.push_back(q.At(i));
        return;
      }
      expected.push_back(Requantized(q, q.At(i), out));
    });
    Builder b;
    std::vector<Value> values;
    for (const Q& q : parts) values.push_back(Input(b, q));
    Shape actual;
    ASSERT_EQ(RunGraph(b, b.Concatenation(values, {axis, Activation::kNone}, out.quantization()),
                       parts, &actual),
              expected);
    EXPECT_EQ(actual, joined);
  }
}

TEST(Concatenation, RequantizesEveryElementInFloat32) {
  Random random(24);
  for (int round = 0; round < 3000; ++round) {
    const Q out = random.Tensor(Type::kUInt8, {});
    Q x = random.Tensor(Type::kUInt8, {256}, random.ScaleNearTie(out.scale), random.Int(0, 3));
    for (size_t i = 0; i < 256; ++i) x.values[i] = static_cast<int>(i);
    std::vector<int> expected;
    for (const int v : x.values) expected.push_back(Requantized(x, v, out));
    Builder b;
    const Value values[] = {Input(b, x)};
    ASSERT_EQ(RunGraph(b, b.Concatenation(values, {}, out.quantization()), {x}), expected);
  }
}

TEST(Concatenation, RefusesWithAReason) {
  const auto message = [](Shape other, int axis, Quantization q,
                          Activation activation = Activation::kNone) {
    Builder b;
    const Value values[] = {b.Input("x", Type::kInt8, {2, 3}, PerTensor(1, 0)),
                            b.Input("y", Type::kInt8, std::move(other), std::move(q))};
    return ErrorOf(b, b.Concatenation(values, {axis, activation}, PerTensor(1, 0)));
  };
  EXPECT_EQ(message({2, 5}, 1, PerTensor(1, 0)), "ok");
  EXPECT_NE(
      message({3, 5}, 1, PerTensor(1, 0)).find("[2, 3] and [3, 5] cannot be joined along axis 1"),
      std::string::npos);
  EXPECT_NE(message({2, 5}, 2, PerTensor(1, 0)).find("the axis 2 is no dimension"),
            std::string::npos);
  EXPECT_NE(message({2, 5, 1}, 1, PerTensor(1, 0)).find("cannot be joined"), std::string::npos);
  EXPECT_NE(
      message({2, 5}, 1, PerTensor(2, 0)).find("quantizations of input 1 and of the output differ"),
      std::string::npos);
  EXPECT_NE(message({2, 5}, 1, PerTensor(1, 0), Activation::kRelu).find("fused activation"),
            std::string::npos);
  EXPECT_NE(message({2, 2147483647}, 1, PerTensor(1, 0)).find("2147483650 elements along axis 1"),
            std::string::npos);
  Builder none;
  EXPECT_NE(ErrorOf(none, none.Concatenation({}, {}, PerTensor(1, 0))).find("has 0 inputs"),
            std::string::npos);
}

}  // namespace
}  // namespace intaglio::nn
