// Convolutions of float32 against plain loops, bit for bit, by any number of threads, with fused
// sums and unfused ones: of few rows and many, of weights that stay in cache and others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn::test {
namespace {

struct Case {
  int batch;
  int height;
  int width;
  int channels;
  int outputs;
  int kernel;
  int stride;
  int dilation;
  int groups;  // 0: depthwise
};

std::string NameOf(const Case& c) {
  return std::to_string(c.batch) + "x" + std::to_string(c.height) + "x" + std::to_string(c.width) +
         "x" + std::to_string(c.channels) + " to " + std::to_string(c.outputs) + ", kernel " +
         std::to_string(c.kernel) + ", stride " + std::to_string(c.stride) + ", dilation " +
         std::to_string(c.dilation) + ", groups " + std::to_string(c.groups);
}

std::vector<float> MakeReals(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-1, 1);
  std::vector<float> x(count);
  for (float& value : x) value = real(random);
  return x;
}

int OutExtent(int extent, int stride) { return (extent + stride - 1) / stride; }
int PadBefore(const Case& c, int extent) {
  const int window = (c.kernel - 1) * c.dilation + 1;
  return std::max(0, (OutExtent(extent, c.stride) - 1) * c.stride + window - extent) / 2;
}

// Filters are [outputs, kernel, kernel, channels of a group], of depthwise ones
// [kernel, kernel, outputs].
class Plain {
 public:
  Plain(const Case& c, const std::vector<float>& x, const std::vector<float>& filter,
        const std::vector<float>& bias, FloatSums sums)
      : c_(c), x_(x), filter_(filter), bias_(bias), sums_(sums) {}

  std::vector<float> Result() const {
    std::vector<float> y;
    for (int n = 0; n < c_.batch; ++n) {
      for (int row = 0; row < OutExtent(c_.height, c_.stride); ++row) {
        for (int col = 0; col < OutExtent(c_.width, c_.stride); ++col) {
          for (int o = 0; o < c_.outputs; ++o) y.push_back(Element(n, row, col, o));
        }
      }
    }
    return y;
  }

 private:
  float Element(int n, int row, int col, int output) const {
    const bool depthwise = c_.groups == 0;
    const int depth = depthwise ? 1 : c_.channels / c_.groups;
    const int first =
        depthwise ? output / (c_.outputs / c_.channels) : output / (c_.outputs / c_.groups) * depth;
    float sum = 0;
    for (int ky = 0; ky < c_.kernel; ++ky) {
      for (int kx = 0; kx < c_.kernel; ++kx) {
        const int y = row * c_.stride - PadBefore(c_, c_.height) + ky * c_.dilation;
        const int x = col * c_.stride - PadBefore(c_, c_.width) + kx * c_.dilation;
        if (y < 0 || y >= c_.height || x < 0 || x >= c_.width) continue;
        const int pixel = ((n * c_.height + y) * c_.width + x) * c_.channels + first;
        const int tap = ky * c_.kernel + kx;
        for (int i = 0; i < depth; ++i) {
          const int weight = depthwise ? tap * c_.outputs + output
                                       : (output * c_.kernel * c_.kernel + tap) * depth + i;
          const float pixel_of_channel = x_[static_cast<size_t>(pixel + i)];
          const float w = filter_[static_cast<size_t>(weight)];
          sum = sums_ == FloatSums::kFused ? std::fma(pixel_of_channel, w, sum)
                                           : sum + pixel_of_channel * w;
        }
      }
    }
    const float result = sum + bias_[static_cast<size_t>(output)];
    return result < 0 ? 0 : result;
  }

  const Case& c_;
  const std::vector<float>& x_;
  const std::vector<float>& filter_;
  const std::vector<float>& bias_;
  const FloatSums sums_;
};

std::vector<uint8_t> BytesOf(const std::vector<float>& reals) {
  std::vector<uint8_t> bytes(reals.size() * sizeof(float));
  std::memcpy(bytes.data(), reals.data(), bytes.size());
  return bytes;
}

// want(sums): the only output, as the oracle adds.
template <class Function>
void ExpectOutput(const Graph& graph, const RawTensors& inputs, const Function& want) {
  for (const FloatSums asked : {FloatSums::kFused, FloatSums::kUnfused}) {
    std::vector<uint8_t> bits;
    for (const int threads : {1, 2, 3}) {
      Result<Model> model = Model::Prepare(graph, {.threads = threads, .float_sums = asked});
      ASSERT_TRUE(model.ok()) << model.status().message();
      if (bits.empty()) bits = BytesOf(want(model->float_sums()));
      RawTensors outputs;
      ASSERT_EQ(RunRaw(*model, inputs, outputs), "");
      ASSERT_EQ(outputs[0], bits) << threads << " threads, sums " << static_cast<int>(asked);
    }
  }
}

template <class Op>
Op OpOf(const Case& c) {
  Op op;
  op.stride = {c.stride, c.stride};
  op.dilation = {c.dilation, c.dilation};
  op.padding = Padding::Same();
  op.activation = Activation::kRelu;
  return op;
}

void Check(const Case& c) {
  const bool depthwise = c.groups == 0;
  const int depth = depthwise ? 1 : c.channels / c.groups;
  const std::vector<float> filter =
      MakeReals(static_cast<size_t>(c.outputs * c.kernel * c.kernel * depth), 1);
  const std::vector<float> bias = MakeReals(static_cast<size_t>(c.outputs), 2);
  Builder builder;
  const Value in = builder.Input("x", Type::kFloat32, {c.batch, c.height, c.width, c.channels}, {});
  const Shape shape = depthwise ? Shape{1, c.kernel, c.kernel, c.outputs}
                                : Shape{c.outputs, c.kernel, c.kernel, depth};
  const Constant weights = builder.Const<float>("filter", filter, shape);
  const Constant biases = builder.Const<float>("bias", bias, {c.outputs});
  builder.Output(depthwise
                     ? builder.DepthwiseConv2D(in, weights, biases, OpOf<DepthwiseConv2D>(c), {})
                     : builder.Conv2D(in, weights, biases, OpOf<Conv2D>(c), {}),
                 "y");
  const Result<Graph> graph = builder.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const RawTensors inputs = RandomInputs(*graph, 3);
  std::vector<float> x(inputs[0].size() / sizeof(float));
  std::memcpy(x.data(), inputs[0].data(), inputs[0].size());
  SCOPED_TRACE(NameOf(c));
  ExpectOutput(*graph, inputs,
               [&](FloatSums sums) { return Plain(c, x, filter, bias, sums).Result(); });
}

TEST(ProductsFloat, Convolutions) {
  for (const Case& c : {
           Case{1, 40, 37, 3, 33, 3, 2, 1, 1},     // lines of few channels, many blocks
           Case{2, 9, 11, 16, 80, 3, 1, 1, 1},     // few blocks, two images in one
           Case{1, 7, 7, 128, 288, 3, 1, 1, 1},    // many weights
           Case{1, 30, 29, 130, 70, 3, 1, 1, 1},   // several chunks, which begin within lines
           Case{1, 14, 14, 128, 264, 3, 1, 1, 1},  // many weights for several blocks
           Case{1, 40, 40, 60, 60, 3, 1, 1, 2},    // groups in several chunks
           Case{1, 12, 13, 12, 30, 3, 1, 2, 1},
           Case{1, 12, 13, 12, 30, 3, 2, 1, 3},
           Case{2, 3, 2, 5, 4, 5, 1, 3, 1},       // windows larger than the image
           Case{1, 20, 20, 24, 100, 1, 1, 1, 1},  // rows as they lie
           Case{1, 1, 1, 700, 400, 1, 1, 1, 1},
       }) {
    Check(c);
  }
}

// Both products write their channels of every pixel where these belong.
TEST(ProductsFloat, IntoAConcatenation) {
  constexpr int kSide = 7;
  constexpr int kChannels = 5;
  constexpr int kOutputs[] = {150, 33};
  const std::vector<float> bias(150, 0.5f);
  Builder builder;
  const Value in = builder.Input("x", Type::kFloat32, {1, kSide, kSide, kChannels}, {});
  std::vector<Value> values;
  std::vector<std::vector<float>> filters;
  for (const int outputs : kOutputs) {
    filters.push_back(MakeReals(static_cast<size_t>(outputs * 9 * kChannels), 4));
    const Constant weights =
        builder.Const<float>("filter", filters.back(), {outputs, 3, 3, kChannels});
    const Constant biases = builder.Const<float>(
        "bias", std::vector<float>(bias.begin(), bias.begin() + outputs), {outputs});
    const Case c{1, kSide, kSide, kChannels, outputs, 3, 1, 1, 1};
    values.push_back(builder.Conv2D(in, weights, biases, OpOf<Conv2D>(c), {}));
  }
  builder.Output(builder.Concatenation(values, {3, Activation::kNone}, {}), "y");
  const Result<Graph> graph = builder.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const RawTensors inputs = RandomInputs(*graph, 5);
  std::vector<float> x(inputs[0].size() / sizeof(float));
  std::memcpy(x.data(), inputs[0].data(), inputs[0].size());
  ExpectOutput(*graph, inputs, [&](FloatSums sums) {
    std::vector<std::vector<float>> parts;
    for (size_t i = 0; i < 2; ++i) {
      const Case c{1, kSide, kSide, kChannels, kOutputs[i], 3, 1, 1, 1};
      parts.push_back(Plain(c, x, filters[i], bias, sums).Result());
    }
    std::vector<float> want;
    for (int p = 0; p < kSide * kSide; ++p) {
      for (size_t i = 0; i < 2; ++i) {
        const auto first = parts[i].begin() + ptrdiff_t{p} * kOutputs[i];
        want.insert(want.end(), first, first + kOutputs[i]);
      }
    }
    return want;
  });
}

TEST(ProductsFloat, Depthwise) {
  for (const int channels : {1, 7, 16, 35, 64, 150}) {
    for (const int width : {2, 6, 21}) {
      for (const int stride : {1, 2}) {
        Check({2, 5, width, channels, channels, 3, stride, 1, 0});
      }
      Check({1, 5, width, channels, channels, 3, 1, 2, 0});
      Check({1, 5, width, channels, 2 * channels, 3, 1, 1, 0});
    }
  }
  Check({1, 3, 3, 8, 8, 5, 1, 4, 0});
  for (const int outputs : {3, 6}) Check({1, 1, 1, 3, outputs, 2, 1, 2, 0});  // no tap inside
}

}  // namespace
}  // namespace intaglio::nn::test
