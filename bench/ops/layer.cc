#include "intaglio/bench/ops/layer.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "intaglio/fixedpoint/requantize.h"

namespace intaglio::bench {
namespace {

constexpr int32_t kInputZero = -5;
constexpr int32_t kOutputZero = 3;

void Fill(AlignedVector<int8_t>& numbers, size_t count, std::mt19937& random) {
  for (size_t i = 0; i < count; ++i) numbers.push_back(static_cast<int8_t>(random() >> 24));
}

size_t Product(int a, int b, int c) {
  return static_cast<size_t>(a) * static_cast<size_t>(b) * static_cast<size_t>(c);
}

}  // namespace

Layer::Layer(const LayerSize& size, bool depthwise) : size_(size), depthwise_(depthwise) {
  const int out_side = (size.side + size.stride - 1) / size.stride;
  const auto before = [&](int taps) {
    return std::max(0, (out_side - 1) * size.stride + taps - size.side) / 2;
  };
  view_.zero_point = kInputZero;
  view_.height = view_.width = size.side;
  view_.channels = view_.group_channels = size.in_channels;
  view_.kernel_height = size.kernel_height;
  view_.kernel_width = size.kernel_width;
  view_.stride_height = view_.stride_width = size.stride;
  view_.pad_top = before(size.kernel_height);
  view_.pad_left = before(size.kernel_width);
  view_.out_height = view_.out_width = out_side;

  std::mt19937 random(77);
  Fill(input_, Product(size.side, size.side, size.in_channels), random);
  Fill(filters_, Product(taps(), size.out_channels, depthwise ? 1 : size.in_channels), random);
  result_.resize(Product(out_side, out_side, size.out_channels));
  view_.data = input_.data();
  const double terms = taps() * (depthwise ? 1.0 : size.in_channels);
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  for (int c = 0; c < size.out_channels; ++c) {
    bias_.push_back(static_cast<int32_t>(random() % 2001) - 1000);
    scale_.push_back(static_cast<float>(factor(random) / (150 * std::sqrt(terms))));
  }
}

StandardPipeline Layer::pipeline() const {
  StandardPipeline p;
  p.bias = bias_.data();
  p.scaling = Scaling::kFloatHalfEven;
  p.per_channel = true;
  p.scale = scale_.data();
  p.zero_point = kOutputZero;
  p.output = Type::kInt8;
  return p;
}

double Layer::macs() const {
  return static_cast<double>(Product(out_pixels(), out_channels(), taps())) *
         (depthwise_ ? 1 : size_.in_channels);
}

std::string Layer::name() const {
  const auto text = [](int n) { return std::to_string(n); };
  return text(size_.side) + "x" + text(size_.side) + "x" + text(size_.in_channels) + "-" +
         text(size_.kernel_height) + "x" + text(size_.kernel_width) + "s" + text(size_.stride) +
         "-" + text(size_.out_channels);
}

int8_t Layer::Expected(int pixel, int channel) const {
  const auto c = static_cast<size_t>(channel);
  int32_t acc = bias_[c];
  const int in_channels = depthwise_ ? 1 : size_.in_channels;
  for (int tap = 0; tap < taps(); ++tap) {
    const int y = pixel / view_.out_width * size_.stride - view_.pad_top + tap / size_.kernel_width;
    const int x =
        pixel % view_.out_width * size_.stride - view_.pad_left + tap % size_.kernel_width;
    if (std::min(x, y) < 0 || std::max(x, y) >= size_.side) continue;
    const int8_t* in = input_.data() + Product(y * size_.side + x, size_.in_channels, 1);
    for (int i = 0; i < in_channels; ++i) {
      acc += depthwise_
                 ? (in[channel] - kInputZero) * filters_[Product(tap, out_channels(), 1) + c]
                 : (in[i] - kInputZero) * filters_[Product(channel * taps() + tap, in_channels, 1) +
                                                   static_cast<size_t>(i)];
    }
  }
  const int32_t scaled = RequantizeScalar(RequantMode::kFloatHalfEven, acc, {}, scale_[c]);
  return static_cast<int8_t>(std::clamp(scaled + kOutputZero, -128, 127));
}

std::string Layer::Check() const {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const auto pixel = static_cast<int>(random() % static_cast<unsigned>(out_pixels()));
    const auto channel = static_cast<int>(random() % static_cast<unsigned>(out_channels()));
    const int8_t got = result_[Product(pixel, out_channels(), 1) + static_cast<size_t>(channel)];
    const int8_t want = Expected(pixel, channel);
    if (got != want) {
      return name() + ": pixel " + std::to_string(pixel) + ", channel " + std::to_string(channel) +
             " is " + std::to_string(got) + ", the definition has " + std::to_string(want);
    }
  }
  return "";
}

}  // namespace intaglio::bench
