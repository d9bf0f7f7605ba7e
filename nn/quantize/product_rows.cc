#include "intaglio/nn/quantize/product_rows.h"

#include <algorithm>

#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::quantize {
namespace {

// Where tap number `tap` of a window lies, or -1 if it is in the padding.
int InputOf(const WindowAxis& axis, int out, int tap) {
  const int in = out * axis.stride - axis.pad + tap * axis.dilation;
  return in >= 0 && in < axis.in ? in : -1;
}

template <class Op>
Result<Window> WindowOf(const LayerView& layer) {
  const Op& op = layer.op<Op>();
  const Shape& filter = layer.input(1).shape;
  return PlaceWindow(layer, {filter[1], filter[2]}, op.stride, op.dilation, op.padding);
}

}  // namespace

Result<ProductRows> ProductRows::Make(const LayerView& layer) {
  const Operator& op = layer.layer().op;
  if (op.Is<FullyConnected>()) return MakeDense(layer);
  if (op.Is<Conv2D>() || op.Is<DepthwiseConv2D>()) return MakeWindows(layer);
  return layer.Unsupported("its products have different weights at different places");
}

Result<ProductRows> ProductRows::MakeDense(const LayerView& layer) {
  const Result<int64_t> count = CountElements(layer.input(0).shape);
  if (!count.ok()) return count.status();
  const Shape& weights = layer.input(1).shape;
  ProductRows rows;
  rows.outputs_ = static_cast<size_t>(weights[0]);
  const int rows_of_input = weights[1] == 0 ? 0 : static_cast<int>(*count / weights[1]);
  rows.window_.x.in = rows.window_.x.out = rows_of_input;
  rows.window_.y.in = rows.window_.y.out = 1;
  rows.SetCounts(static_cast<size_t>(weights[1]), static_cast<size_t>(weights[1]), 1);
  return rows;
}

Result<ProductRows> ProductRows::MakeWindows(const LayerView& layer) {
  ProductRows rows;
  rows.depthwise_ = layer.layer().op.Is<DepthwiseConv2D>();
  const Result<Window> window =
      rows.depthwise_ ? WindowOf<DepthwiseConv2D>(layer) : WindowOf<Conv2D>(layer);
  if (!window.ok()) return window.status();
  rows.window_ = *window;
  const Shape& input = layer.input(0).shape;
  const Shape& filter = layer.input(1).shape;
  rows.outputs_ = static_cast<size_t>(filter[rows.depthwise_ ? 3 : 0]);
  const auto channels = static_cast<size_t>(input[3]);
  rows.SetCounts(channels, rows.depthwise_ ? 1 : static_cast<size_t>(filter[3]),
                 static_cast<size_t>(input[0]));
  return rows;
}

void ProductRows::SetCounts(size_t channels, size_t group_channels, size_t images) {
  channels_ = channels;
  group_channels_ = group_channels;
  groups_ = group_channels == 0 ? 1 : channels / group_channels;
  taps_ = static_cast<size_t>(window_.y.kernel) * static_cast<size_t>(window_.x.kernel) *
          group_channels;
  places_ = images * static_cast<size_t>(window_.y.out) * static_cast<size_t>(window_.x.out);
}

void ProductRows::Read(const float* input, size_t place, size_t group, double* row) const {
  const auto width = static_cast<size_t>(window_.x.out);
  const auto height = static_cast<size_t>(window_.y.out);
  const auto out_x = static_cast<int>(place % width);
  const auto out_y = static_cast<int>(place / width % height);
  const size_t image = place / width / height * static_cast<size_t>(window_.y.in);
  for (int ky = 0; ky < window_.y.kernel; ++ky) {
    const int y = InputOf(window_.y, out_y, ky);
    for (int kx = 0; kx < window_.x.kernel; ++kx, row += group_channels_) {
      const int x = InputOf(window_.x, out_x, kx);
      if (y < 0 || x < 0) {
        std::fill_n(row, group_channels_, 0);
        continue;
      }
      const size_t pixel = (image + static_cast<size_t>(y)) * static_cast<size_t>(window_.x.in) +
                           static_cast<size_t>(x);
      std::copy_n(input + pixel * channels_ + group * group_channels_, group_channels_, row);
    }
  }
}

}  // namespace intaglio::nn::quantize
