#include "intaglio/nn/ops/float_panels.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "intaglio/nn/ops/checks.h"

namespace intaglio::nn {
namespace {

// What every CPU that we serve has registers for; the compiler splits or joins them where it must.
using Vector = float __attribute__((vector_size(16)));
constexpr int kLanes = 4;
constexpr int kVectors = 4;
constexpr int kPanel = kLanes * kVectors;  // channels
constexpr int kTile = 2;                   // rows

Vector Load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

template <int kRows>
void SumTile(const float* x, ptrdiff_t x_stride, const float* panel, int depth,
             float (&sums)[kTile][kPanel]) {
  Vector acc[kRows][kVectors] = {};
  for (int k = 0; k < depth; ++k, panel += kPanel) {
    for (int v = 0; v < kVectors; ++v) {
      const Vector weights = Load(panel + v * kLanes);
      for (int r = 0; r < kRows; ++r) acc[r][v] += x[r * x_stride + k] * weights;
    }
  }
  for (int r = 0; r < kRows; ++r) std::memcpy(sums[r], acc[r], sizeof(acc[r]));
}

}  // namespace

FloatPanels::FloatPanels(const void* channels, int count, int depth)
    : count_(count), depth_(depth) {
  const auto d = static_cast<size_t>(depth);
  const size_t panels = (static_cast<size_t>(count) + kPanel - 1) / kPanel;
  panels_.assign(panels * d * kPanel, 0.0f);
  const auto* const bytes = static_cast<const std::byte*>(channels);
  std::vector<float> channel(d);
  for (size_t c = 0; c < static_cast<size_t>(count); ++c) {
    if (d == 0) continue;
    std::memcpy(channel.data(), bytes + c * d * sizeof(float), d * sizeof(float));
    float* const to = panels_.data() + c / kPanel * d * kPanel + c % kPanel;
    for (size_t k = 0; k < d; ++k) to[k * kPanel] = channel[k];
  }
}

void FloatPanels::Multiply(const float* x, ptrdiff_t x_stride, int rows, const FloatFinish& finish,
                           int first_channel, float* out, ptrdiff_t out_stride) const {
  const float* panel = panels_.data();
  for (int first = 0; first < count_; first += kPanel, panel += ptrdiff_t{depth_} * kPanel) {
    const int width = std::min(kPanel, count_ - first);
    for (int row = 0; row < rows; row += kTile) {
      const int height = std::min(kTile, rows - row);
      float sums[kTile][kPanel];
      if (height == kTile) {
        SumTile<kTile>(x + row * x_stride, x_stride, panel, depth_, sums);
      } else {
        SumTile<1>(x + row * x_stride, x_stride, panel, depth_, sums);
      }
      for (int r = 0; r < height; ++r) {
        float* const to = out + (row + r) * out_stride + first;
        for (int c = 0; c < width; ++c) {
          to[c] = finish(sums[r][c], static_cast<size_t>(first_channel + first + c));
        }
      }
    }
  }
}

Result<FloatFinish> MakeFloatFinish(const LayerView& layer, Activation activation, int channels) {
  FloatFinish finish;
  finish.bounds = Bounds<float>(activation);
  finish.bias.resize(static_cast<size_t>(channels));
  if (!layer.has_input(2)) return finish;
  const Tensor& bias = layer.input(2);
  const std::string name = "bias '" + bias.name + "'";
  if (!bias.constant) return layer.Unsupported(name + " is not constant");
  if (*CountElements(bias.shape) != channels) {
    return layer.Invalid(name + " has the shape " + ToString(bias.shape) + "; " +
                         std::to_string(channels) + " elements are needed");
  }
  if (channels > 0) std::memcpy(finish.bias.data(), bias.data, bias.data_bytes);
  return finish;
}

Result<FloatFinish> CheckFloatLayer(const LayerView& layer, Activation activation, int channels) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Tensor& weights = layer.input(1);
  if (weights.constant) return MakeFloatFinish(layer, activation, channels);
  return layer.Unsupported("weights '" + weights.name + "' are not constant");
}

}  // namespace intaglio::nn
