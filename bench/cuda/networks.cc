#include "intaglio/bench/cuda/networks.h"

#include <cmath>
#include <random>
#include <vector>

#include "intaglio/nn/ops/builder.h"

namespace intaglio::bench {
namespace {

using nn::Activation;
using nn::Padding;
using nn::Value;

// Layers whose results keep about the spread of their inputs, so that int8 results take all values
// and few saturate.
class Network {
 public:
  // The standard deviation of the weights, 73, by the mean of the scales' factors, 1.5, less what a
  // ReLU takes from the spread.
  static constexpr float kSpread = 72;

  Network(const char* name, int batch, int side) : builder_(name) {
    x_ = builder_.Input("x", Type::kInt8, {batch, side, side, 3}, nn::PerTensor(1.0f / 64, 3));
  }

  Value input() const { return x_; }

  Value Conv(Value x, int inputs, int outputs, int kernel, int stride, Activation activation) {
    const float scale = 1 / (kSpread * std::sqrt(static_cast<float>(kernel * kernel * inputs)));
    const auto filter = builder_.Const<int8_t>(
        "filter", Weights(outputs * kernel * kernel * inputs), {outputs, kernel, kernel, inputs},
        nn::PerAxis(Scales(outputs, scale), 0));
    return builder_.Conv2D(x, filter, Bias(outputs, scale),
                           {{stride, stride}, {}, Padding::Same(), activation},
                           Quantized(activation));
  }

  Value Depthwise(Value x, int channels, int stride) {
    const float scale = 1 / (kSpread * std::sqrt(9.0f));
    const auto filter = builder_.Const<int8_t>("filter", Weights(9 * channels), {1, 3, 3, channels},
                                               nn::PerAxis(Scales(channels, scale), 3));
    return builder_.DepthwiseConv2D(x, filter, Bias(channels, scale),
                                    {{stride, stride}, {}, Padding::Same(), Activation::kRelu6},
                                    Quantized(Activation::kRelu6));
  }

  Value Add(Value a, Value b) {
    return builder_.Add(a, b, {Activation::kRelu}, Quantized(Activation::kRelu));
  }

  Value MaxPool(Value x) {
    return builder_.MaxPool2D(x, {{3, 3}, {2, 2}, Padding::Same(), Activation::kNone});
  }

  Result<nn::Graph> Finish(Value x, int channels, int classes) {
    x = builder_.Mean(x, {{1, 2}, false}, nn::PerTensor(1.0f / 64, -128));
    const float scale = 1 / (kSpread * std::sqrt(static_cast<float>(channels)));
    const auto weights =
        builder_.Const<int8_t>("weights", Weights(classes * channels), {classes, channels},
                               nn::PerAxis(Scales(classes, scale), 0));
    x = builder_.FullyConnected(x, weights, Bias(classes, scale), {}, Quantized(Activation::kNone));
    builder_.Output(x, "logits");
    return builder_.Finish();
  }

 private:
  static nn::Quantization Quantized(Activation activation) {
    return activation == Activation::kNone ? nn::PerTensor(1.0f / 32, 2)
                                           : nn::PerTensor(1.0f / 64, -128);
  }
  std::vector<int8_t> Weights(int count) {
    std::vector<int8_t> values(static_cast<size_t>(count));
    for (auto& v : values) v = static_cast<int8_t>(static_cast<int>(random_() % 255) - 127);
    return values;
  }
  std::vector<float> Scales(int count, float scale) {
    std::vector<float> scales(static_cast<size_t>(count));
    for (auto& s : scales) s = scale * (1 + static_cast<float>(random_() % 64) / 64);
    return scales;
  }
  // Its scale is the input's times the weights', which differ per channel; nobody reads it.
  nn::Constant Bias(int count, float scale) {
    std::vector<int32_t> values(static_cast<size_t>(count));
    for (auto& v : values) v = static_cast<int32_t>(random_() % 4001) - 2000;
    return builder_.Const<int32_t>("bias", std::move(values), {count}, nn::PerTensor(scale, 0));
  }

  nn::Builder builder_;
  Value x_;
  std::mt19937 random_{17};
};

}  // namespace

Result<nn::Graph> ResNet50(int batch, int side, int width) {
  Network n("resnet_50", batch, side);
  int channels = 64 / width;
  Value x = n.MaxPool(n.Conv(n.input(), 3, channels, 7, 2, Activation::kRelu));
  const int widths[] = {64, 128, 256, 512};
  const int repeats[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int inner = widths[stage] / width;
    for (int i = 0; i < repeats[stage]; ++i) {
      const int stride = i == 0 && stage > 0 ? 2 : 1;
      Value y = n.Conv(x, channels, inner, 1, 1, Activation::kRelu);
      y = n.Conv(y, inner, inner, 3, stride, Activation::kRelu);
      y = n.Conv(y, inner, 4 * inner, 1, 1, Activation::kNone);
      const Value shortcut =
          i == 0 ? n.Conv(x, channels, 4 * inner, 1, stride, Activation::kNone) : x;
      x = n.Add(shortcut, y);
      channels = 4 * inner;
    }
  }
  return n.Finish(x, channels, 1000 / width);
}

Result<nn::Graph> MobileNetV1(int batch, int side, int width) {
  Network n("mobilenet_v1", batch, side);
  int channels = 32 / width;
  Value x = n.Conv(n.input(), 3, channels, 3, 2, Activation::kRelu6);
  struct Block {
    int outputs;
    int stride;
  };
  for (const Block b : {Block{64, 1},
                        {128, 2},
                        {128, 1},
                        {256, 2},
                        {256, 1},
                        {512, 2},
                        {512, 1},
                        {512, 1},
                        {512, 1},
                        {512, 1},
                        {512, 1},
                        {1024, 2},
                        {1024, 1}}) {
    x = n.Conv(n.Depthwise(x, channels, b.stride), channels, b.outputs / width, 1, 1,
               Activation::kRelu6);
    channels = b.outputs / width;
  }
  return n.Finish(x, channels, 1000 / width);
}

}  // namespace intaglio::bench
