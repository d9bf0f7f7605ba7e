#include "intaglio/nn/ops/support/window.h"

#include <algorithm>
#include <limits>
#include <string>

namespace intaglio::nn {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int>::max();

// A filter that is larger than the area that it may cover has no outputs: `out` is 0 or negative.
Result<WindowAxis> PlaceAxis(const LayerView& layer, const char* axis, WindowAxis w,
                             Padding::Kind kind, int before, int after) {
  const std::string where = std::string(" along the ") + axis;
  if (w.kernel < 1) {
    return layer.Invalid("the filter has " + std::to_string(w.kernel) + " elements" + where);
  }
  if (w.stride < 1) return layer.Invalid("the stride is " + std::to_string(w.stride) + where);
  if (w.dilation < 1) return layer.Invalid("the dilation is " + std::to_string(w.dilation) + where);
  const int64_t reach = (int64_t{w.kernel} - 1) * w.dilation + 1;
  if (kind != Padding::Kind::kExplicit) before = after = 0;
  if (before < 0 || after < 0) {
    return layer.Invalid("the padding is " + std::to_string(std::min(before, after)) + where);
  }
  const int64_t padded = int64_t{w.in} + before + after;
  // Keeps every coordinate that a window can reach within int.
  if (reach > kMaxInt || padded + reach + w.stride > kMaxInt) {
    return layer.Invalid("input, padding, stride and filter together exceed 2^31 - 1" + where);
  }
  if (kind == Padding::Kind::kSame) {
    const int64_t out = (int64_t{w.in} + w.stride - 1) / w.stride;
    const int64_t total = std::max<int64_t>(0, (out - 1) * w.stride + reach - w.in);
    w.pad = static_cast<int>(total / 2);
    w.out = static_cast<int>(out);
    return w;
  }
  w.pad = before;
  w.out = static_cast<int>((padded - reach + w.stride) / w.stride);
  return w;
}

}  // namespace

Result<Window> PlaceWindow(const LayerView& layer, Extent kernel, Extent stride, Extent dilation,
                           const Padding& padding) {
  const Shape& shape = layer.input(0).shape;
  if (shape.size() != 4) {
    return layer.Invalid("the input '" + layer.input(0).name + "' has the shape " +
                         ToString(shape) + "; [batch, height, width, channels] is needed");
  }
  const Result<WindowAxis> y =
      PlaceAxis(layer, "height", {shape[1], kernel.height, stride.height, dilation.height, 0, 0},
                padding.kind, padding.top, padding.bottom);
  if (!y.ok()) return y.status();
  const Result<WindowAxis> x =
      PlaceAxis(layer, "width", {shape[2], kernel.width, stride.width, dilation.width, 0, 0},
                padding.kind, padding.left, padding.right);
  if (!x.ok()) return x.status();
  Window window{*y, *x};
  // If there are less than no columns, TFLite's result has no rows either.
  window.y.out = x->out < 0 ? 0 : std::max(0, y->out);
  window.x.out = std::max(0, x->out);
  return window;
}

}  // namespace intaglio::nn
