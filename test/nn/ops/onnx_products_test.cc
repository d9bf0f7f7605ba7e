// Sums of products by ONNX's rules, against the formulas of nn/graph/numerics.h in int64 and
// float32.
#include <cmath>
#include <functional>
#include <string>

#include "intaglio/nn/passes/integer_only.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

float HalfEven(float x) { return std::nearbyint(x); }

struct Weights {
  Q q;
  Quantization quantization;

  float Scale(int channel) const { return Of(quantization.scales, channel); }
  int ZeroPoint(int channel) const { return Of(quantization.zero_points, channel); }

 private:
  template <class T>
  static T Of(const std::vector<T>& values, int channel) {
    return values[values.size() > 1 ? static_cast<size_t>(channel) : 0];
  }
};

enum class Scales { kAny, kTies };

// One layer and its expected results, by the scaling of the numerics.
struct Case {
  Numerics numerics;
  Q x;
  Weights weights;
  std::vector<int> bias;         // part of the sums; or empty
  std::vector<float> real_bias;  // of float32 outputs; or empty
  Q out;
  Activation activation = Activation::kNone;

  size_t sums_channels = 0;

  // The result of a sum of (x - zero point) * (weight - zero point).
  double Expected(int64_t sum, int channel) const {
    const auto c = static_cast<size_t>(channel);
    const auto acc = static_cast<int32_t>(sum + (bias.empty() ? 0 : bias[c]));
    if (numerics.scaling == Scaling::kNone) return acc;
    const float product = x.scale * weights.Scale(channel);
    const auto real = static_cast<float>(acc);
    if (numerics.scaling == Scaling::kToFloat) {
      const float scaled = real * product;
      const float sum_of_both = real_bias.empty() ? scaled : scaled + real_bias[c];
      return static_cast<double>(Clamped(sum_of_both));
    }
    const float scale = product / out.scale;
    const float clamped =
        std::fmin(std::fmax(real * scale, static_cast<float>(LowestOf(out.type) - out.zero_point)),
                  static_cast<float>(HighestOf(out.type) - out.zero_point));
    int result = static_cast<int>(HalfEven(clamped)) + out.zero_point;
    if (activation != Activation::kNone) {
      result = std::max(result, QuantizedBound(activation == Activation::kReluN1To1 ? -1.0f : 0));
    }
    if (activation == Activation::kRelu6) result = std::min(result, QuantizedBound(6));
    if (activation == Activation::kReluN1To1) result = std::min(result, QuantizedBound(1));
    return std::clamp(result, numerics.clamp_min, numerics.clamp_max);
  }

 private:
  float Clamped(float y) const {
    if (activation == Activation::kNone) return y;
    y = std::fmax(y, activation == Activation::kReluN1To1 ? -1.0f : 0.0f);
    if (activation == Activation::kRelu6) y = std::fmin(y, 6.0f);
    return activation == Activation::kReluN1To1 ? std::fmin(y, 1.0f) : y;
  }
  int QuantizedBound(float bound) const {
    const float moved = HalfEven(bound / out.scale) + static_cast<float>(out.zero_point);
    return static_cast<int>(std::fmin(std::fmax(moved, static_cast<float>(LowestOf(out.type))),
                                      static_cast<float>(HighestOf(out.type))));
  }
};

Type OutputType(Random& random, Scaling scaling) {
  if (scaling == Scaling::kNone) return Type::kInt32;
  if (scaling == Scaling::kToFloat) return Type::kFloat32;
  return random.Of<Type>({Type::kInt8, Type::kUInt8, Type::kInt8, Type::kUInt8, Type::kInt16});
}

Case MakeCase(Random& random, Shape x, Shape filter, int axis, int channels, Scales scales) {
  Case c;
  c.sums_channels = static_cast<size_t>(channels);
  c.numerics.scaling =
      random.Of<Scaling>({Scaling::kFloatHalfEven, Scaling::kFloatHalfEven, Scaling::kFloatHalfEven,
                          Scaling::kNone, Scaling::kToFloat});
  c.x = random.Tensor(random.Of(kEightBit), std::move(x));
  c.weights.q = random.Tensor(random.Of(kEightBit), std::move(filter));
  if (random.Flip()) c.weights.q.zero_point = c.weights.q.type == Type::kInt8 ? 0 : 128;
  const bool ties = scales == Scales::kTies;
  if (ties) c.x.scale = 0.5f;
  const auto weight_scale = [&] {
    return ties ? std::ldexp(1.0f, -random.Int(0, 6)) : random.Scale(0.0005, 0.05);
  };
  const bool per_channel = random.Flip() && channels > 1;
  c.weights.quantization.axis = per_channel ? axis : 0;
  const bool own_zeros = per_channel && random.Int(0, 2) == 0;
  for (int i = 0; i < (per_channel ? channels : 1); ++i) {
    c.weights.quantization.scales.push_back(weight_scale());
    c.weights.quantization.zero_points.push_back(
        own_zeros ? random.Int(LowestOf(c.weights.q.type), HighestOf(c.weights.q.type))
                  : c.weights.q.zero_point);
  }
  const Type type = OutputType(random, c.numerics.scaling);
  c.out = {type, {}, ties ? 8.0f : random.Scale(0.05, 2), 0, {}};
  if (type == Type::kInt8 || type == Type::kUInt8) {
    c.out.zero_point = random.Int(LowestOf(type), HighestOf(type));
  }
  // Outputs so fine that the last bit of a multiplier is seen.
  if (type == Type::kInt16) c.out.zero_point = random.Int(-300, 300);
  if (type == Type::kInt16 && !ties) c.out.scale = random.Scale(0.0002, 0.005);
  if (c.numerics.scaling != Scaling::kNone) c.activation = random.Of(kActivations);
  if (c.numerics.scaling == Scaling::kFloatHalfEven && random.Int(0, 3) == 0) {
    c.numerics.clamp_min = c.out.zero_point - random.Int(0, 20);
    c.numerics.clamp_max = c.out.zero_point + random.Int(0, 20);
    c.activation = Activation::kNone;
    c.numerics.clamp_min = std::max(c.numerics.clamp_min, LowestOf(type));
    c.numerics.clamp_max = std::min(c.numerics.clamp_max, HighestOf(type));
  }
  const int bias = random.Int(0, 2);
  for (int i = 0; i < channels && bias == 1; ++i) c.bias.push_back(random.Int(-5000, 5000));
  if (c.numerics.scaling == Scaling::kToFloat && bias == 2) {
    for (int i = 0; i < channels; ++i) c.real_bias.push_back(random.Scale(0.001, 3));
  }
  return c;
}

std::vector<double> Numbers(Type type, const std::vector<std::byte>& bytes) {
  if (type == Type::kFloat32) {
    std::vector<float> reals(bytes.size() / sizeof(float));
    std::memcpy(reals.data(), bytes.data(), bytes.size());
    return {reals.begin(), reals.end()};
  }
  const std::vector<int> ints = Ints(type, bytes);
  return {ints.begin(), ints.end()};
}

// Prepares the layer and runs it; `changing`: the weights are an input of the model.
std::vector<double> RunLayer(const Case& c, Operator op, bool changing, int threads = 1) {
  Builder b;
  const Value x = Input(b, c.x);
  const TensorId weights =
      changing ? b.Input("w", c.weights.q.type, c.weights.q.shape, c.weights.quantization).id
               : Const(b, c.weights.q, c.weights.quantization).id;
  std::vector<TensorId> inputs = {x.id, weights};
  const auto channels = static_cast<int>(c.sums_channels);
  if (!c.bias.empty()) {
    inputs.push_back(b.Const<int32_t>("bias", As<int32_t>(c.bias), {channels}).id);
  }
  if (!c.real_bias.empty()) {
    inputs.push_back(b.Const<float>("bias", c.real_bias, {channels}).id);
  }
  const Quantization out =
      c.numerics.scaling == Scaling::kFloatHalfEven ? c.out.quantization() : Quantization();
  b.Output(b.Layer(std::move(op), inputs, c.out.type, out), "y");
  Result<Graph> graph = b.Finish();
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status().message();
    return {};
  }
  graph->layers[0].numerics = c.numerics;
  PrepareOptions options;
  options.threads = threads;
  Result<Model> model = Model::Prepare(std::move(*graph), options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return {};
  }
  std::vector<std::vector<std::byte>> bytes = {Bytes(c.x.type, c.x.values)};
  std::vector<InputBuffer> in = {{bytes[0].data(), bytes[0].size(), c.x.type}};
  if (changing) {
    bytes.push_back(Bytes(c.weights.q.type, c.weights.q.values));
    in = {{bytes[0].data(), bytes[0].size(), c.x.type},
          {bytes[1].data(), bytes[1].size(), c.weights.q.type}};
  }
  const Tensor& y = model->output(0);
  std::vector<std::byte> result(*CountBytes(y.shape, y.type));
  const OutputBuffer buffers[] = {{result.data(), result.size(), y.type}};
  const Status status = model->Run(in, buffers);
  EXPECT_TRUE(status.ok()) << status.message();
  return Numbers(y.type, result);
}

int64_t Product(const Case& c, int x, int w, int channel) {
  return int64_t{x - c.x.zero_point} * (w - c.weights.ZeroPoint(channel));
}

// A changing side has one zero point.
void UnifyZeroPoints(Case& c) {
  for (int32_t& z : c.weights.quantization.zero_points) {
    z = c.weights.quantization.zero_points[0];
  }
}

void ExpectSame(const std::vector<double>& got, const std::vector<double>& expected,
                const Case& c) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], expected[i]) << "at " << i << ", " << NameOf(c.x.type) << " x "
                                   << NameOf(c.weights.q.type) << " to " << NameOf(c.out.type);
  }
}

struct ConvSpec {
  int groups = 1;
  Extent stride;
  Extent dilation;
  int pad = 0;
};

std::vector<double> ExpectedConv(const Case& c, const ConvSpec& s, int out_y, int out_x,
                                 bool depthwise) {
  const Shape& x = c.x.shape;
  const Shape& f = c.weights.q.shape;
  const int outputs = depthwise ? f[3] : f[0];
  std::vector<double> expected;
  ForEachIndex({x[0], out_y, out_x, outputs}, [&](const std::vector<int>& at) {
    const int o = at[3];
    const int depth = depthwise ? 1 : f[3];
    const int first = depthwise ? o / (outputs / x[3]) : o / (outputs / s.groups) * depth;
    int64_t sum = 0;
    ForEachIndex({f[1], f[2], depth}, [&](const std::vector<int>& tap) {
      const int iy = at[1] * s.stride.height - s.pad + tap[0] * s.dilation.height;
      const int ix = at[2] * s.stride.width - s.pad + tap[1] * s.dilation.width;
      if (iy < 0 || ix < 0 || iy >= x[1] || ix >= x[2]) return;
      const int w = depthwise ? c.weights.q.At({0, tap[0], tap[1], o})
                              : c.weights.q.At({o, tap[0], tap[1], tap[2]});
      sum += Product(c, c.x.At({at[0], iy, ix, first + tap[2]}), w, o);
    });
    expected.push_back(c.Expected(sum, o));
  });
  return expected;
}

int OutOf(int in, int kernel, int stride, int dilation, int pad) {
  return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
}

void TestConv(Random& random, Scales scales, bool depthwise) {
  ConvSpec s;
  const int kernel = random.Of<int>({1, 1, 3, 3, 5});
  const int size = random.Int(5, 12);
  s.stride = {random.Int(1, 2), random.Int(1, 2)};
  s.pad = random.Int(0, kernel / 2);
  if (kernel == 3 && random.Int(0, 3) == 0) s.dilation = {2, 2};
  const int channels = random.Of<int>({1, 3, 4, 8, 16, 17, 33});
  const int multiplier = depthwise ? random.Of<int>({1, 1, 2}) : 1;
  if (!depthwise && channels % 4 == 0 && random.Int(0, 3) == 0) s.groups = 4;
  const int outputs = depthwise ? channels * multiplier : s.groups * random.Int(1, 20);
  const Shape filter = depthwise ? Shape{1, kernel, kernel, outputs}
                                 : Shape{outputs, kernel, kernel, channels / s.groups};
  Case c = MakeCase(random, {random.Int(1, 2), size, size, channels}, filter, depthwise ? 3 : 0,
                    outputs, scales);
  const bool changing = random.Int(0, 3) == 0;
  if (changing) UnifyZeroPoints(c);
  const Padding padding = Padding::Explicit(s.pad, s.pad, s.pad, s.pad);
  const int out_y = OutOf(size, kernel, s.stride.height, s.dilation.height, s.pad);
  const int out_x = OutOf(size, kernel, s.stride.width, s.dilation.width, s.pad);
  if (out_y < 1 || out_x < 1) return;
  const Operator op = depthwise
                          ? Operator(DepthwiseConv2D{s.stride, s.dilation, padding, c.activation})
                          : Operator(Conv2D{s.stride, s.dilation, padding, c.activation});
  ExpectSame(RunLayer(c, op, changing, random.Int(1, 2)),
             ExpectedConv(c, s, out_y, out_x, depthwise), c);
}

void TestRepeatedly(unsigned seed, int rounds,
                    const std::function<void(Random& random, Scales scales)>& test) {
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("round " + std::to_string(i));
    Random random(seed + static_cast<unsigned>(i));
    test(random, i % 3 == 0 ? Scales::kTies : Scales::kAny);
  }
}

TEST(OnnxProducts, Convolutions) {
  TestRepeatedly(100, 200, [](Random& random, Scales scales) { TestConv(random, scales, false); });
}

TEST(OnnxProducts, DepthwiseConvolutions) {
  TestRepeatedly(500, 200, [](Random& random, Scales scales) { TestConv(random, scales, true); });
}

TEST(OnnxProducts, FullyConnected) {
  TestRepeatedly(900, 150, [](Random& random, Scales scales) {
    const int rows = random.Of<int>({1, 1, 2, 7, 16});
    const int depth = random.Of<int>({1, 5, 16, 31, 64, 130});
    const int outputs = random.Of<int>({1, 3, 8, 16, 33, 70});
    Case c = MakeCase(random, {rows, depth}, {outputs, depth}, 0, outputs, scales);
    const bool changing = random.Int(0, 3) == 0;
    if (changing) UnifyZeroPoints(c);
    std::vector<double> expected;
    ForEachIndex({rows, outputs}, [&](const std::vector<int>& at) {
      int64_t sum = 0;
      for (int k = 0; k < depth; ++k) {
        sum += Product(c, c.x.At({at[0], k}), c.weights.q.At({at[1], k}), at[1]);
      }
      expected.push_back(c.Expected(sum, at[1]));
    });
    ExpectSame(RunLayer(c, FullyConnected{c.activation}, changing), expected, c);
  });
}

TEST(OnnxProducts, BatchMatMul) {
  TestRepeatedly(1300, 200, [](Random& random, Scales scales) {
    const int batch = random.Int(1, 3);
    const int rows = random.Of<int>({1, 2, 9, 16});
    const int depth = random.Of<int>({1, 5, 16, 31, 65});
    const int cols = random.Of<int>({1, 3, 16, 33});
    const bool adjoint_a = random.Int(0, 3) == 0;
    const bool adjoint_b = random.Flip();
    const int batch_b = random.Flip() ? batch : 1;
    Shape a = {batch, adjoint_a ? depth : rows, adjoint_a ? rows : depth};
    Shape b = {batch_b, adjoint_b ? cols : depth, adjoint_b ? depth : cols};
    Case c = MakeCase(random, a, b, adjoint_b ? 1 : 2, cols, scales);
    c.activation = Activation::kNone;
    c.bias.clear();
    c.real_bias.clear();
    const bool changing = random.Flip();
    if (changing) UnifyZeroPoints(c);
    std::vector<double> expected;
    ForEachIndex({batch, rows, cols}, [&](const std::vector<int>& at) {
      const int n = batch_b == 1 ? 0 : at[0];
      int64_t sum = 0;
      for (int k = 0; k < depth; ++k) {
        const int x = c.x.At({at[0], adjoint_a ? k : at[1], adjoint_a ? at[1] : k});
        const int w = c.weights.q.At({n, adjoint_b ? at[2] : k, adjoint_b ? k : at[2]});
        sum += Product(c, x, w, at[2]);
      }
      expected.push_back(c.Expected(sum, at[2]));
    });
    ExpectSame(RunLayer(c, BatchMatMul{adjoint_a, adjoint_b}, changing), expected, c);
  });
}

TEST(OnnxProducts, TransposeConvolutions) {
  TestRepeatedly(1700, 60, [](Random& random, Scales scales) {
    const int channels = random.Int(1, 9);
    const int outputs = random.Int(1, 9);
    const int size = random.Int(2, 5);
    const int kernel = random.Int(2, 3);
    const int stride = random.Int(1, 2);
    const int out = (size - 1) * stride + kernel;
    Case c = MakeCase(random, {1, size, size, channels}, {outputs, kernel, kernel, channels}, 0,
                      outputs, scales);
    UnifyZeroPoints(c);
    std::vector<int64_t> sums(static_cast<size_t>(out * out * outputs));
    ForEachIndex({size, size, kernel, kernel, outputs}, [&](const std::vector<int>& at) {
      const int y = at[0] * stride + at[2];
      const int x = at[1] * stride + at[3];
      for (int k = 0; k < channels; ++k) {
        sums[static_cast<size_t>((y * out + x) * outputs + at[4])] += Product(
            c, c.x.At({0, at[0], at[1], k}), c.weights.q.At({at[4], at[2], at[3], k}), at[4]);
      }
    });
    std::vector<double> expected;
    for (size_t i = 0; i < sums.size(); ++i) {
      expected.push_back(c.Expected(sums[i], static_cast<int>(i) % outputs));
    }
    const TransposeConv op{
        {1, out, out, outputs}, {stride, stride}, Padding::Valid(), c.activation};
    ExpectSame(RunLayer(c, op, false), expected, c);
  });
}

// 255 * 127 twice is more than int16 holds: instructions that add pairs in 16 bits saturate.
TEST(OnnxProducts, NeverSaturatesInside) {
  Case c;
  c.numerics.scaling = Scaling::kNone;
  c.sums_channels = 16;
  c.x = {Type::kUInt8, {4, 256}, 1, 0, std::vector<int>(4 * 256, 255)};
  c.weights.q = {Type::kInt8, {16, 256}, 1, 0, std::vector<int>(16 * 256, 127)};
  c.weights.quantization = PerTensor(1, 0);
  c.out.type = Type::kInt32;
  for (const double sum : RunLayer(c, FullyConnected{}, false)) EXPECT_EQ(sum, 255 * 127 * 256);
}

TEST(OnnxProducts, AreNoIntegerArithmetic) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 4}, PerTensor(1, 0));
  const Constant w = b.Const<int8_t>("w", std::vector<int8_t>(8, 1), {2, 4}, PerTensor(1, 0));
  b.Output(b.FullyConnected(x, w, kNoBias, {}, PerTensor(1, 0)), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(WhatForcesFloat(*graph, 0), "");
  graph->layers[0].numerics = Numerics{.scaling = Scaling::kFloatHalfEven};
  EXPECT_EQ(WhatForcesFloat(*graph, 0), "a float32 multiplier");
}

TEST(OnnxProducts, RefusesWhatMakesNoSense) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 4}, PerTensor(1e30f, 0));
  const Constant w = b.Const<int8_t>("w", std::vector<int8_t>(8, 1), {2, 4}, PerTensor(1e30f, 0));
  b.Output(b.Layer(FullyConnected{}, {x.id, w.id}, Type::kInt8, PerTensor(1, 0)), "y");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok());
  graph->layers[0].numerics = Numerics{.scaling = Scaling::kFloatHalfEven};
  Graph copy = *graph;
  const Result<Model> infinite = Model::Prepare(std::move(copy));
  ASSERT_FALSE(infinite.ok());
  EXPECT_NE(infinite.status().message().find("no finite multiplier"), std::string::npos);
  graph->tensors[1].quantization = PerTensor(1, 0);
  graph->tensors[0].quantization = PerTensor(1, 0);
  graph->layers[0].numerics->clamp_min = 5;
  graph->layers[0].numerics->clamp_max = 4;
  const Result<Model> empty = Model::Prepare(std::move(*graph));
  ASSERT_FALSE(empty.ok());
  EXPECT_NE(empty.status().message().find("no number within its bounds"), std::string::npos);
}

}  // namespace
}  // namespace intaglio::nn
