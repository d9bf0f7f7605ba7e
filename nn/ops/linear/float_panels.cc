#include "intaglio/nn/ops/linear/float_panels.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "intaglio/nn/graph/input_advice.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/pack/pages.h"

namespace intaglio::nn {

FloatPanels::FloatPanels(const float* weights, int channels, int depth, const FloatLoops& floats)
    : channels_(channels),
      depth_(depth),
      floats_(&floats),
      panels_(AlignedBuffer::Allocate(FloatPanelElements(channels, depth, floats.lanes) *
                                      sizeof(float))) {
  if (panels_.data() == nullptr) throw std::bad_alloc();
  Populate(panels_.data(), panels_.bytes());
  PackFloatPanels({weights, 1, depth, channels, depth}, floats.lanes,
                  static_cast<float*>(panels_.data()));
}

int FloatPanels::count() const {
  const int width = kPanelVectors * floats_->lanes;
  return (channels_ + width - 1) / width;
}

void FloatPanels::Multiply(const float* x, ptrdiff_t x_stride, int rows, int begin, int end,
                           const FloatFinish& finish, int first_channel, float* out,
                           ptrdiff_t out_stride) const {
  const int width = kPanelVectors * floats_->lanes;
  const int first = begin * width;
  const auto* const panels = static_cast<const float*>(panels_.data());
  const PanelProduct product{panels + ptrdiff_t{first} * depth_,
                             std::min(end * width, channels_) - first,
                             depth_,
                             finish.bias.data() + first_channel + first,
                             finish.bounds.low,
                             finish.bounds.high};
  floats_->multiply(product, x, x_stride, rows, out + first, out_stride);
}

Result<FloatFinish> MakeFloatFinish(const LayerView& layer, Activation activation, int channels) {
  FloatFinish finish;
  finish.bounds = Bounds<float>(activation);
  finish.bias.resize(static_cast<size_t>(channels));
  if (!layer.has_input(2)) return finish;
  const Tensor& bias = layer.input(2);
  const std::string name = "bias '" + bias.name + "'";
  if (!bias.constant)
    return layer.Unsupported(name + " is not constant" + AdviceForInput(layer, 2));
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
  return layer.Unsupported("weights '" + weights.name + "' are not constant" +
                           AdviceForInput(layer, 1));
}

}  // namespace intaglio::nn
