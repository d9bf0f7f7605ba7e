// CONV_2D and DEPTHWISE_CONV_2D against the sums of their definition.
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

struct Case {
  Type type;
  int batch, height, width, channels, groups, outputs;
  Extent kernel, stride, dilation;
  Padding padding;
  Activation activation;
  bool per_channel, bias;
};

Padding RandomPadding(Random& random) {
  switch (random.Int(0, 2)) {
    case 0:
      return Padding::Same();
    case 1:
      return Padding::Valid();
    default:
      return Padding::Explicit(random.Int(0, 2), random.Int(0, 2), random.Int(0, 2),
                               random.Int(0, 2));
  }
}

Case RandomCase(Random& random, Type type) {
  Case c{};
  c.type = type;
  c.batch = random.Int(1, 2);
  c.kernel = {random.Int(1, 4), random.Int(1, 4)};
  c.stride = {random.Int(1, 5), random.Int(1, 3)};
  c.dilation = {random.Int(1, 3), random.Int(1, 2)};
  if (random.Int(0, 3) == 0) c.kernel = c.stride = {1, 1};
  // At least what VALID needs.
  c.height = (c.kernel.height - 1) * c.dilation.height + random.Int(1, 6);
  c.width = (c.kernel.width - 1) * c.dilation.width + random.Int(1, 6);
  c.groups = random.Of<int>({1, 1, 1, 2, 3});
  c.channels = c.groups * random.Int(1, 5);
  c.outputs = c.groups * random.Int(1, 6);
  c.padding = RandomPadding(random);
  c.activation = random.Of(kActivations);
  c.per_channel = type == Type::kInt8 && random.Flip();
  c.bias = random.Int(0, 3) > 0;
  return c;
}

// Output extent and first input coordinate of window o.
struct Line {
  int out;
  int before;
};
Line Place(int in, int kernel, int stride, int dilation, const Padding& padding, bool vertical) {
  const int reach = (kernel - 1) * dilation + 1;
  switch (padding.kind) {
    case Padding::Kind::kSame: {
      const int out = (in + stride - 1) / stride;
      return {out, std::max(0, (out - 1) * stride + reach - in) / 2};
    }
    case Padding::Kind::kValid:
      return {(in - reach) / stride + 1, 0};
    default: {
      const int before = vertical ? padding.top : padding.left;
      const int after = vertical ? padding.bottom : padding.right;
      return {(in + before + after - reach) / stride + 1, before};
    }
  }
}

// What both operators have in common: data, and how a sum becomes an output.
struct Data {
  Q x, filter, out;
  std::vector<float> scales;
  std::vector<int> bias;
};

Data MakeData(Random& random, const Case& c, Shape filter_shape) {
  Data s;
  s.x = random.Tensor(c.type, {c.batch, c.height, c.width, c.channels});
  s.filter = random.Tensor(c.type, std::move(filter_shape), random.Scale(0.002, 0.05),
                           c.type == Type::kInt8 ? 0 : random.Int(0, 255));
  s.scales.assign(c.per_channel ? static_cast<size_t>(c.outputs) : 1, s.filter.scale);
  if (c.per_channel) {
    for (float& scale : s.scales) scale = random.Scale(0.0005, 0.05);
  }
  if (c.bias) {
    for (int o = 0; o < c.outputs; ++o) s.bias.push_back(random.Int(-30000, 30000));
  }
  s.out.scale = random.Scale(0.02, 2);
  s.out.zero_point = random.Int(LowestOf(c.type), HighestOf(c.type));
  return s;
}

int Finish(const Case& c, const Data& s, int64_t sum, int channel) {
  const size_t i = c.per_channel ? static_cast<size_t>(channel) : 0;
  if (c.bias) sum += s.bias[static_cast<size_t>(channel)];
  // uint8 models round the product of the scales to float32.
  const double product = c.type == Type::kUInt8
                             ? static_cast<double>(s.x.scale * s.scales[i])
                             : static_cast<double>(s.x.scale) * static_cast<double>(s.scales[i]);
  const Multiplier multiplier(product / static_cast<double>(s.out.scale));
  const auto [low, high] = Clamps(c.type, s.out, c.activation);
  return Clamp(Scaled(sum, multiplier) + s.out.zero_point, low, high);
}

// The sum over a window of f(y, x, ky, kx) at the taps that lie inside the image.
template <class F>
int64_t SumWindow(const Case& c, const Line& v, const Line& h, int oy, int ox, const F& f) {
  int64_t sum = 0;
  for (int ky = 0; ky < c.kernel.height; ++ky) {
    for (int kx = 0; kx < c.kernel.width; ++kx) {
      const int y = oy * c.stride.height - v.before + ky * c.dilation.height;
      const int x = ox * c.stride.width - h.before + kx * c.dilation.width;
      if (y >= 0 && y < c.height && x >= 0 && x < c.width) sum += f(y, x, ky, kx);
    }
  }
  return sum;
}

Constant Bias(Builder& b, const Case& c, const Data& s) {
  if (!c.bias) return kNoBias;
  return b.Const<int32_t>("bias", As<int32_t>(s.bias), {c.outputs});
}

Quantization FilterQuantization(const Case& c, const Data& s, int axis) {
  return c.per_channel ? PerAxis(s.scales, axis) : s.filter.quantization();
}

std::string Describe(const Case& c) {
  return std::string(NameOf(c.type)) + " " + ToString({c.batch, c.height, c.width, c.channels}) +
         " groups " + std::to_string(c.groups) + " outputs " + std::to_string(c.outputs) +
         " kernel " + ToString({c.kernel.height, c.kernel.width}) + " stride " +
         ToString({c.stride.height, c.stride.width}) + " dilation " +
         ToString({c.dilation.height, c.dilation.width});
}

TEST(Conv2D, MatchesDefinition) {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    const Case c = RandomCase(random, kEightBit[static_cast<size_t>(round % 2)]);
    const int group_channels = c.channels / c.groups;
    const Data s =
        MakeData(random, c, {c.outputs, c.kernel.height, c.kernel.width, group_channels});
    const Line v =
        Place(c.height, c.kernel.height, c.stride.height, c.dilation.height, c.padding, true);
    const Line h =
        Place(c.width, c.kernel.width, c.stride.width, c.dilation.width, c.padding, false);
    std::vector<int> expected;
    ForEachIndex({c.batch, v.out, h.out, c.outputs}, [&](const std::vector<int>& i) {
      const int first = i[3] / (c.outputs / c.groups) * group_channels;
      const int64_t sum = SumWindow(c, v, h, i[1], i[2], [&](int y, int x, int ky, int kx) {
        int64_t tap = 0;
        for (int k = 0; k < group_channels; ++k) {
          tap += int64_t{s.x.At({i[0], y, x, first + k}) - s.x.zero_point} *
                 (s.filter.At({i[3], ky, kx, k}) - s.filter.zero_point);
        }
        return tap;
      });
      expected.push_back(Finish(c, s, sum, i[3]));
    });

    Builder b;
    const Value x = Input(b, s.x);
    const Constant filter = Const(b, s.filter, FilterQuantization(c, s, 0));
    const Value y = b.Conv2D(x, filter, Bias(b, c, s),
                             {c.stride, c.dilation, c.padding, c.activation}, s.out.quantization());
    Shape shape;
    ASSERT_EQ(RunGraph(b, y, {s.x}, &shape), expected) << Describe(c);
    EXPECT_EQ(shape, (Shape{c.batch, v.out, h.out, c.outputs}));
  }
}

TEST(DepthwiseConv2D, MatchesDefinition) {
  Random random(2);
  for (int round = 0; round < 400; ++round) {
    Case c = RandomCase(random, kEightBit[static_cast<size_t>(round % 2)]);
    const int multiplier = random.Of<int>({1, 1, 2, 3, 8});
    c.outputs = c.channels * multiplier;
    const Data s = MakeData(random, c, {1, c.kernel.height, c.kernel.width, c.outputs});
    const Line v =
        Place(c.height, c.kernel.height, c.stride.height, c.dilation.height, c.padding, true);
    const Line h =
        Place(c.width, c.kernel.width, c.stride.width, c.dilation.width, c.padding, false);
    std::vector<int> expected;
    ForEachIndex({c.batch, v.out, h.out, c.outputs}, [&](const std::vector<int>& i) {
      const int64_t sum = SumWindow(c, v, h, i[1], i[2], [&](int y, int x, int ky, int kx) {
        return int64_t{s.x.At({i[0], y, x, i[3] / multiplier}) - s.x.zero_point} *
               (s.filter.At({0, ky, kx, i[3]}) - s.filter.zero_point);
      });
      expected.push_back(Finish(c, s, sum, i[3]));
    });

    Builder b;
    const Value x = Input(b, s.x);
    const Constant filter = Const(b, s.filter, FilterQuantization(c, s, 3));
    const Value y =
        b.DepthwiseConv2D(x, filter, Bias(b, c, s), {c.stride, c.dilation, c.padding, c.activation},
                          s.out.quantization());
    ASSERT_EQ(RunGraph(b, y, {s.x}), expected) << Describe(c) << " multiplier " << multiplier;
  }
}

// Sums that lie next to ties of the rounding, made by the bias alone, tell apart multipliers that
// differ in their 25th bit.
std::vector<int> SumsNearTies(double real) {
  std::vector<int> sums;
  for (int k = -128; k < 128; ++k) {
    const auto near = static_cast<int>(std::lround((k + 0.5) / real));
    for (int offset = -2; offset <= 2; ++offset) sums.push_back(near + offset);
  }
  return sums;
}

TEST(Conv2D, MultipliersAreExact) {
  Random random(21);
  for (int round = 0; round < 60; ++round) {
    Case c{};
    c.type = kEightBit[static_cast<size_t>(round % 2)];
    c.bias = true;
    c.kernel = {1, 1};
    const bool depthwise = round % 4 < 2;
    Data s;
    s.x = {c.type, {1, 1, 1, 1}, random.Scale(0.005, 0.02), 5, {5}};
    s.scales = {random.Scale(0.0005, 0.002)};
    s.out.scale = random.Scale(5, 20);
    s.bias = SumsNearTies(static_cast<double>(s.x.scale * s.scales[0] / s.out.scale));
    c.outputs = static_cast<int>(s.bias.size());
    std::vector<int> expected;
    for (int o = 0; o < c.outputs; ++o) expected.push_back(Finish(c, s, 0, o));
    s.filter = {c.type, depthwise ? Shape{1, 1, 1, c.outputs} : Shape{c.outputs, 1, 1, 1},
                s.scales[0], 0, std::vector<int>(s.bias.size(), 1)};
    Builder b;
    const Value x = Input(b, s.x);
    const Constant filter = Const(b, s.filter, s.filter.quantization());
    const Value y = depthwise
                        ? b.DepthwiseConv2D(x, filter, Bias(b, c, s), {}, s.out.quantization())
                        : b.Conv2D(x, filter, Bias(b, c, s), {}, s.out.quantization());
    ASSERT_EQ(RunGraph(b, y, {s.x}), expected) << round;
  }
}

TEST(Conv2D, EmptyBatch) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {0, 4, 4, 1}, PerTensor(1, 0));
  const Constant filter = b.Const<int8_t>("f", {1, 2}, {2, 1, 1, 1}, PerTensor(1, 0));
  const Value y = b.Conv2D(x, filter, kNoBias, {}, PerTensor(1, 0));
  EXPECT_TRUE(RunGraph(b, y, {Q{Type::kInt8, {0, 4, 4, 1}, 1, 0, {}}}).empty());
}

// The message of a convolution of [1, 4, 4, 2] int8 that differs from a right one.
struct Wrong {
  Shape shape = {3, 2, 2, 2};
  Quantization filter = PerTensor(0.5f, 0);
  Quantization in = PerTensor(0.5f, 0);
  Quantization out = PerTensor(0.5f, 0);
  nn::Conv2D op = {};
  int bias = 3;
  Quantization bias_quantization = {};
};

std::string MessageOf(const Wrong& w) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 4, 4, 2}, w.in);
  const auto count = static_cast<size_t>(*CountElements(w.shape));
  const Constant filter =
      b.Const<int8_t>("filter", std::vector<int8_t>(count, 1), w.shape, w.filter);
  const Constant bias = b.Const<int32_t>(
      "bias", std::vector<int32_t>(static_cast<size_t>(w.bias), 1), {w.bias}, w.bias_quantization);
  return ErrorOf(b, b.Conv2D(x, filter, bias, w.op, w.out));
}

TEST(Conv2D, RefusesWithAReason) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::pair<Wrong, std::string>> cases = {
      {{}, "ok"},
      {{.shape = {3, 5, 2, 2}}, "ok"},  // has no outputs
      {{.filter = PerTensor(0, 0)}, "ok"},
      {{.out = PerTensor(1e-12f, 0)}, "ok"},
      {{.bias_quantization = PerTensor(1, 0)}, "ok"},
      {{.shape = {3, 2, 2, 3}}, "the filter [3, 2, 2, 3] does not fit an input of 2 channels"},
      {{.shape = {3, 2, 2, 1}}, "the filter [3, 2, 2, 1] does not fit an input of 2 channels"},
      {{.shape = {3, 2, 2, 0}}, "the filter [3, 2, 2, 0] does not fit"},
      {{.shape = {3, 2, 4}}, "has the shape [3, 2, 4]; [outputs, height, width, channels]"},
      {{.shape = {3, 0, 2, 2}}, "the filter has 0 elements along the height"},
      {{.filter = PerTensor(nan, 0)}, "tensor #1 'filter': has the scale nan"},
      {{.filter = PerTensor(-1, 0)}, "tensor #1 'filter': has the scale -1.0"},
      {{.filter = {}}, "weights 'filter' have no quantization"},
      {{.filter = PerTensor(1, 200)}, "have the zero point 200, which int8 cannot hold"},
      {{.filter = PerAxis({1, 1}, 0)}, "have 2 scales along axis 0; 3 along axis 0 are needed"},
      {{.filter = PerAxis({1, 1, 1}, 3)}, "have 3 scales along axis 3; 3 along axis 0"},
      {{.filter = {{1, 1}, {0}, 0}}, "has 2 scales but 1 zero points"},
      {{.in = {}}, "tensor 'x' has no quantization"},
      {{.in = PerTensor(1, -129)}, "tensor 'x' has the zero point -129, which int8 cannot hold"},
      {{.in = PerAxis({1, 1}, 3)}, "tensor 'x' is quantized per axis with 2 scales"},
      {{.out = {}}, "tensor 'y' has no quantization"},
      {{.op = {.stride = {0, 1}}}, "the stride is 0 along the height"},
      {{.op = {.stride = {1, -1}}}, "the stride is -1 along the width"},
      {{.op = {.dilation = {1, 0}}}, "the dilation is 0 along the width"},
      {{.op = {.dilation = {2147483647, 1}}}, "along the height"},
      {{.op = {.padding = Padding::Explicit(0, -1, 0, 0)}}, "the padding is -1 along the height"},
      {{.op = {.padding = Padding::Explicit(0, 0, 2147483647, 0)}}, "along the width"},
      {{.bias = 2}, "bias 'bias' has the shape [2]; 3 elements are needed"},
  };
  for (const auto& [wrong, message] : cases) {
    const std::string actual = MessageOf(wrong);
    EXPECT_NE(actual.find(message), std::string::npos) << actual << "\n  expected: " << message;
    EXPECT_EQ(actual.find('\n'), std::string::npos) << actual;
  }
  EXPECT_EQ(MessageOf({.op = {.stride = {0, 1}}}).find("CONV_2D #0 'CONV_2D_0': "), 0u);
}

TEST(Conv2D, RefusesOtherTypesOfWeightsAndBias) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 4, 4, 1}, PerTensor(1, 0));
  const Constant filter = b.Const<uint8_t>("filter", {1}, {1, 1, 1, 1}, PerTensor(1, 0));
  EXPECT_NE(ErrorOf(b, b.Conv2D(x, filter, kNoBias, {}, PerTensor(1, 0)))
                .find("weights 'filter' are uint8, but the input is int8"),
            std::string::npos);

  Builder c;
  const Value z = c.Input("x", Type::kInt8, {1, 4, 4, 1}, PerTensor(1, 0));
  const Constant right = c.Const<int8_t>("filter", {1}, {1, 1, 1, 1}, PerTensor(1, 0));
  const Constant bias = c.Const<int16_t>("bias", {1}, {1});
  EXPECT_NE(ErrorOf(c, c.Conv2D(z, right, bias, {}, PerTensor(1, 0)))
                .find("bias 'bias' is int16; int32 is supported"),
            std::string::npos);
}

TEST(DepthwiseConv2D, RefusesWithAReason) {
  const auto message = [](Shape shape, Quantization filter_quantization) {
    Builder b;
    const Value x = b.Input("x", Type::kInt8, {1, 4, 4, 2}, PerTensor(1, 0));
    const auto count = static_cast<size_t>(*CountElements(shape));
    const Constant filter = b.Const<int8_t>("filter", std::vector<int8_t>(count, 1), shape,
                                            std::move(filter_quantization));
    return ErrorOf(b, b.DepthwiseConv2D(x, filter, kNoBias, {}, PerTensor(1, 0)));
  };
  EXPECT_EQ(message({1, 2, 2, 4}, PerTensor(1, 0)), "ok");
  EXPECT_NE(message({1, 2, 2, 3}, PerTensor(1, 0)).find("no multiple of the 2 channels"),
            std::string::npos);
  EXPECT_NE(message({1, 2, 2, 0}, PerTensor(1, 0)).find("0 outputs"), std::string::npos);
  EXPECT_NE(message({2, 2, 2, 2}, PerTensor(1, 0)).find("[1, height, width, outputs]"),
            std::string::npos);
  EXPECT_NE(message({1, 2, 2, 2}, {{1, 1}, {0, 1}, 3}).find("zero points that differ"),
            std::string::npos);
}

// Scales per channel that are all the same are one, as TFLite has it: inputs are quantized
// symmetrically then.
TEST(HybridConv2D, EqualScalesAreOne) {
  const auto run = [](const Quantization& scales) {
    Builder b;
    const Value x = b.Input("x", Type::kFloat32, {1, 1, 1, 2}, {});
    const Constant filter = b.Const<int8_t>("f", {100, 7, 3, -90}, {2, 1, 1, 2}, scales);
    b.Output(b.Layer(Conv2D{}, {x.id, filter.id, kNoTensor}, Type::kFloat32, {}), "y");
    Result<Model> model = Model::Prepare(*b.Finish());
    EXPECT_TRUE(model.ok()) << model.status().message();
    const float in[] = {3.1f, -1.7f};
    std::vector<float> out(2);
    const InputBuffer input = MakeInput<float>(in);
    const OutputBuffer output = MakeOutput<float>(out);
    EXPECT_TRUE(model->Run({&input, 1}, {&output, 1}).ok());
    return out;
  };
  const std::vector<float> one = run(PerTensor(0.5f, 0));
  EXPECT_EQ(run(PerAxis({0.5f, 0.5f}, 0)), one);
  EXPECT_NE(run(PerAxis({0.5f, 0.25f}, 0))[0], one[0]);
}

}  // namespace
}  // namespace intaglio::nn
