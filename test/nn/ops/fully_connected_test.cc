#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

TEST(FullyConnected, MatchesDefinition) {
  Random random(3);
  for (int round = 0; round < 400; ++round) {
    const Type type = kEightBit[static_cast<size_t>(round % 2)];
    const int depth = random.Int(1, 70);
    const int outputs = random.Int(1, 40);
    const bool per_channel = type == Type::kInt8 && random.Flip();
    const bool keep = random.Flip();
    const Activation activation = random.Of(kActivations);
    const Q x = random.Tensor(type, {random.Int(1, 3), random.Int(1, 2), depth});
    const Q w = random.Tensor(type, {outputs, depth}, random.Scale(0.002, 0.05),
                              per_channel ? 0 : random.Int(LowestOf(type), HighestOf(type)));
    std::vector<float> scales(per_channel ? static_cast<size_t>(outputs) : 1, w.scale);
    if (per_channel) {
      for (float& s : scales) s = random.Scale(0.0005, 0.05);
    }
    std::vector<int> bias;
    if (random.Flip()) {
      for (int o = 0; o < outputs; ++o) bias.push_back(random.Int(-30000, 30000));
    }
    Q out;
    out.scale = random.Scale(0.05, 3);
    out.zero_point = random.Int(LowestOf(type), HighestOf(type));

    // float64, not fixed point.
    std::vector<int> expected;
    ForEachIndex({x.shape[0] * x.shape[1], outputs}, [&](const std::vector<int>& i) {
      const auto o = static_cast<size_t>(i[1]);
      int64_t sum = bias.empty() ? 0 : bias[o];
      for (int k = 0; k < depth; ++k) {
        sum += int64_t{x.values[static_cast<size_t>(i[0] * depth + k)] - x.zero_point} *
               (w.At({i[1], k}) - w.zero_point);
      }
      const double real = static_cast<double>(x.scale) *
                          static_cast<double>(scales[per_channel ? o : 0]) /
                          static_cast<double>(out.scale);
      const auto [low, high] = Clamps(type, out, activation);
      const auto rounded = static_cast<int64_t>(std::round(static_cast<double>(sum) * real));
      expected.push_back(Clamp(rounded + out.zero_point, low, high));
    });

    Builder b;
    const Value in = Input(b, x);
    const Constant weights = Const(b, w, per_channel ? PerAxis(scales, 0) : w.quantization());
    const Constant biases =
        bias.empty() ? kNoBias : b.Const<int32_t>("bias", As<int32_t>(bias), {outputs});
    const Value y = b.FullyConnected(in, weights, biases, {activation, keep}, out.quantization());
    Shape shape;
    ASSERT_EQ(RunGraph(b, y, {x}, &shape), expected);
    EXPECT_EQ(shape, keep ? (Shape{x.shape[0], x.shape[1], outputs})
                          : (Shape{x.shape[0] * x.shape[1], outputs}));
  }
}

// Sums next to ties, made by the bias alone, tell apart multipliers that differ in their 25th bit.
TEST(FullyConnected, MultipliersAreExact) {
  Random random(22);
  for (int round = 0; round < 40; ++round) {
    const Type type = kEightBit[static_cast<size_t>(round % 2)];
    const Q x{type, {1, 1}, random.Scale(0.005, 0.02), 5, {5}};
    const float w_scale = random.Scale(0.0005, 0.002);
    const float out_scale = random.Scale(5, 20);
    const double real = static_cast<double>(x.scale) * static_cast<double>(w_scale) /
                        static_cast<double>(out_scale);
    std::vector<int> bias;
    std::vector<int> expected;
    for (int k = -128; k < 128; ++k) {
      for (int offset = -2; offset <= 2; ++offset) {
        bias.push_back(static_cast<int>(std::lround((k + 0.5) / real)) + offset);
        expected.push_back(
            Clamp(std::llround(bias.back() * real), LowestOf(type), HighestOf(type)));
      }
    }
    const int outputs = static_cast<int>(bias.size());
    const Q w{type, {outputs, 1}, w_scale, 0, std::vector<int>(bias.size(), 1)};
    Builder b;
    const Value in = Input(b, x);
    const Constant weights = Const(b, w, w.quantization());
    const Constant biases = b.Const<int32_t>("bias", As<int32_t>(bias), {outputs});
    const Value y = b.FullyConnected(in, weights, biases, {}, PerTensor(out_scale, 0));
    ASSERT_EQ(RunGraph(b, y, {x}), expected) << round;
  }
}

TEST(FullyConnected, FlattensTheInput) {
  Random random(4);
  const Q x = random.Tensor(Type::kInt8, {2, 3, 2}, 1, 0);
  Builder b;
  const Value in = Input(b, x);
  const Constant w = b.Const<int8_t>("w", {1, 0, 0, 0, 0, 0}, {1, 6}, PerTensor(1, 0));
  Shape shape;
  EXPECT_EQ(RunGraph(b, b.FullyConnected(in, w, kNoBias, {}, PerTensor(1, 0)), {x}, &shape),
            (std::vector<int>{x.values[0], x.values[6]}));
  EXPECT_EQ(shape, (Shape{2, 1}));
}

TEST(FullyConnected, RefusesWithAReason) {
  const auto message = [](Shape in, Shape weights, bool keep, int8_t value = 1) {
    Builder b;
    const Value x = b.Input("x", Type::kInt8, std::move(in), PerTensor(1, -128));
    const auto count = static_cast<size_t>(*CountElements(weights));
    const Constant w = b.Const<int8_t>("w", std::vector<int8_t>(count, value), std::move(weights),
                                       PerTensor(1, 0));
    return ErrorOf(b, b.FullyConnected(x, w, kNoBias, {Activation::kNone, keep}, PerTensor(1, 0)));
  };
  EXPECT_EQ(message({2, 6}, {3, 6}, false), "ok");
  EXPECT_EQ(message({2, 3, 6}, {3, 6}, true), "ok");
  EXPECT_EQ(message({0, 6}, {3, 6}, false), "ok");
  EXPECT_EQ(message({2, 6}, {0, 6}, false), "ok");
  EXPECT_NE(message({2, 5}, {3, 6}, false).find("[2, 5] does not fit weights of the shape [3, 6]"),
            std::string::npos);
  EXPECT_NE(message({2, 6}, {3, 6, 1}, false).find("[outputs, inputs] is needed"),
            std::string::npos);
  EXPECT_NE(message({2, 6}, {3, 0}, false).find("[outputs, inputs] is needed"), std::string::npos);
  EXPECT_NE(message({2, 3}, {3, 6}, true).find("need 6 as its last dimension"), std::string::npos);
  // 70000 * 255 * 128 is more than 2^31; what counts is the weights' own sum.
  EXPECT_EQ(message({1, 70000}, {1, 70000}, false), "ok");
  EXPECT_NE(message({1, 70000}, {1, 70000}, false, -128).find("sums 70000 products"),
            std::string::npos);
}

}  // namespace
}  // namespace intaglio::nn
