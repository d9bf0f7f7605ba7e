#include "intaglio/nn/ops/float_panels.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "intaglio/nn/ops/checks.h"

namespace intaglio::nn {

size_t PanelElements(int count, int depth, const WideRoutines& wide) {
  const auto lanes = static_cast<size_t>(wide.lanes);
  return (static_cast<size_t>(count) + lanes - 1) / lanes * lanes * static_cast<size_t>(depth);
}

void PackPanels(const float* data, ptrdiff_t row, ptrdiff_t col, int count, int depth,
                const WideRoutines& wide, float* to) {
  const int lanes = wide.lanes;
  for (int first = 0; first < count;) {
    const int vectors = std::min(kPanelVectors, (count - first + lanes - 1) / lanes);
    const int width = vectors * lanes;
    const int channels = std::min(width, count - first);
    const float* from = data + first * col;
    for (int k = 0; k < depth; ++k, from += row, to += width) {
      if (col == 1) {
        std::memcpy(to, from, static_cast<size_t>(channels) * sizeof(float));
      } else {
        for (int c = 0; c < channels; ++c) to[c] = from[c * col];
      }
      std::fill(to + channels, to + width, 0.0f);
    }
    first += width;
  }
}

FloatPanels::FloatPanels(const float* weights, int channels, int depth, const WideRoutines& wide)
    : channels_(channels),
      depth_(depth),
      wide_(&wide),
      panels_(PanelElements(channels, depth, wide)) {
  PackPanels(weights, 1, depth, channels, depth, wide, panels_.data());
}

int FloatPanels::count() const {
  const int width = kPanelVectors * wide_->lanes;
  return (channels_ + width - 1) / width;
}

void FloatPanels::Multiply(const float* x, ptrdiff_t x_stride, int rows, int begin, int end,
                           const FloatFinish& finish, int first_channel, float* out,
                           ptrdiff_t out_stride) const {
  const int width = kPanelVectors * wide_->lanes;
  const int first = begin * width;
  const PanelProduct product{panels_.data() + ptrdiff_t{first} * depth_,
                             std::min(end * width, channels_) - first,
                             depth_,
                             finish.bias.data() + first_channel + first,
                             finish.bounds.low,
                             finish.bounds.high};
  wide_->multiply(product, x, x_stride, rows, out + first, out_stride);
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
