#include "intaglio/nn/ops/linear/float_panels.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "intaglio/nn/graph/input_advice.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/pack/pages.h"

namespace intaglio::nn {
namespace {

typedef float Four __attribute__((vector_size(16)));

Four Load(const float* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// to[k * width + c] = from[c * col + k] for c and k in [0, 4).
void Transpose(const float* from, ptrdiff_t col, float* to, ptrdiff_t width) {
  const Four a = Load(from);
  const Four b = Load(from + col);
  const Four c = Load(from + 2 * col);
  const Four d = Load(from + 3 * col);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four rows[] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                       __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                       __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                       __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int k = 0; k < 4; ++k) std::memcpy(to + k * width, &rows[k], sizeof(Four));
}

// Elements of a channel that are read together, about a line of cache: channels may be powers of
// two apart, whose lines share a place there.
constexpr int kLine = 16;

// `depth` elements of `channels` channels, to a panel of this width.
void PackLine(const float* data, ptrdiff_t row, ptrdiff_t col, int channels, int depth, float* to,
              ptrdiff_t width) {
  for (int k = 0; k < depth; ++k) std::fill(to + k * width + channels, to + (k + 1) * width, 0.0f);
  if (col == 1) {
    for (int k = 0; k < depth; ++k) {
      std::memcpy(to + k * width, data + k * row, static_cast<size_t>(channels) * sizeof(float));
    }
    return;
  }
  const int whole = row == 1 ? depth / 4 * 4 : 0;  // of the depth, by fours
  int c = 0;
  for (; c + 4 <= channels; c += 4) {
    for (int k = 0; k < whole; k += 4)
      Transpose(data + c * col + k, col, to + k * width + c, width);
  }
  for (int k = 0; k < depth; ++k) {
    const int first = k < whole ? c : 0;
    for (int i = first; i < channels; ++i) to[k * width + i] = data[k * row + i * col];
  }
}

}  // namespace

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
    for (int k = 0; k < depth; k += kLine) {
      PackLine(data + k * row + first * col, row, col, channels, std::min(kLine, depth - k),
               to + ptrdiff_t{k} * width, width);
    }
    to += ptrdiff_t{depth} * width;
    first += width;
  }
}

FloatPanels::FloatPanels(const float* weights, int channels, int depth, const WideRoutines& wide)
    : channels_(channels),
      depth_(depth),
      wide_(&wide),
      panels_(AlignedBuffer::Allocate(PanelElements(channels, depth, wide) * sizeof(float))) {
  if (panels_.data() == nullptr) throw std::bad_alloc();
  Populate(panels_.data(), panels_.bytes());
  PackPanels(weights, 1, depth, channels, depth, wide, static_cast<float*>(panels_.data()));
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
  const auto* const panels = static_cast<const float*>(panels_.data());
  const PanelProduct product{panels + ptrdiff_t{first} * depth_,
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
