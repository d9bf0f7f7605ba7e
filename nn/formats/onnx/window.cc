// Pools and resizing of images.
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/images.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

Extent KernelOf(Translation& t) {
  std::vector<int> kernel = ToInts(t, t.Ints("kernel_shape"), "kernel_shape");
  const auto dimensions = static_cast<size_t>(std::max(t.rank(0) - 2, 1));
  if (kernel.size() != dimensions || *std::min_element(kernel.begin(), kernel.end()) < 1) {
    t.Invalid("attribute 'kernel_shape' does not fit the images");
    return {};
  }
  if (dimensions == 1) kernel.insert(kernel.begin(), 1);
  return {kernel[0], kernel[1]};
}

bool HasPadding(const Padding& p) { return p.top > 0 || p.bottom > 0 || p.left > 0 || p.right > 0; }

void ReadMaxPool(Translation& t) {
  LayerMaker& make = t.make;
  const Images images = Images::Of(t, t.in(0));
  if (!make.ok()) return;
  const Shape& x = make.ShapeOf(images.nhwc);
  const Window2D window = Window2D::Of(t, KernelOf(t), {x[1], x[2]});
  if (window.dilation.height > 1 || window.dilation.width > 1) {
    return t.Refuse("dilations are not supported");
  }
  if (t.wants(1)) return t.Refuse("places of the maxima are not supported");
  const MaxPool2D pool = {window.filter, window.stride, window.padding};
  t.Set(0, images.Back(make, make.AddLike(pool, {images.nhwc})));
}

// Counted padding is zeros that are there.
TensorId PadByZeros(LayerMaker& make, TensorId id, const Padding& p) {
  Pad pad;
  pad.paddings = {{0, 0}, {p.top, p.bottom}, {p.left, p.right}, {0, 0}};
  return make.AddLike(pad, {id});
}

void ReadAveragePool(Translation& t) {
  LayerMaker& make = t.make;
  const Images images = Images::Of(t, t.in(0));
  if (!make.ok()) return;
  const Shape& x = make.ShapeOf(images.nhwc);
  const Window2D window = Window2D::Of(t, KernelOf(t), {x[1], x[2]});
  if (window.dilation.height > 1 || window.dilation.width > 1) {
    return t.Refuse("dilations are not supported");
  }
  AveragePool2D pool = {window.filter, window.stride, window.padding};
  TensorId image = images.nhwc;
  if (t.Flag("count_include_pad", false) && HasPadding(window.padding)) {
    if (t.Flag("ceil_mode", false))
      return t.Refuse("ceil_mode with counted padding is not supported");
    image = PadByZeros(make, image, window.padding);
    pool.padding = Padding::Valid();
  }
  t.Set(0, images.Back(make, make.AddLike(pool, {image})));
}

std::vector<int> SpatialAxes(int rank) {
  std::vector<int> axes(static_cast<size_t>(std::max(rank - 2, 0)));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

template <class Op>
void GlobalPool(Translation& t) {
  t.Set(0, t.make.AddLike(Op{SpatialAxes(t.rank(0)), true}, {t.in(0)}));
}

constexpr OnnxRow kRows[] = {
    {"AveragePool", ReadAveragePool, "float32"},
    {"GlobalAveragePool", GlobalPool<Mean>, "float32"},
    {"GlobalMaxPool", GlobalPool<ReduceMax>, "float32"},
    {"MaxPool", ReadMaxPool, "float32, int8, uint8"},
};

}  // namespace

std::span<const OnnxRow> WindowRows() { return kRows; }

}  // namespace intaglio::nn::onnx
