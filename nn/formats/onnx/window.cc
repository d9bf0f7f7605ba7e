// Pools and resizing of images.
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/images.h"
#include "intaglio/nn/formats/onnx/resize.h"
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

// The p-th root of the sum of p-th powers, by an average pool that counts padding.
void ReadLpPool(Translation& t) {
  LayerMaker& make = t.make;
  const int p = t.IntWithin("p", 2, 1, 1 << 10);
  const Images images = Images::Of(t, t.in(0));
  if (!make.ok()) return;
  const Shape& x = make.ShapeOf(images.nhwc);
  const Window2D window = Window2D::Of(t, KernelOf(t), {x[1], x[2]});
  if (window.dilation.height > 1 || window.dilation.width > 1) {
    return t.Refuse("dilations are not supported");
  }
  const TensorId absolute = make.AddLike(Abs{}, {images.nhwc});
  const TensorId power = make.Scalar(static_cast<float>(p));
  const TensorId powers = make.AddLike(Pow{}, {absolute, power});
  const AveragePool2D pool = {window.filter, window.stride, Padding::Valid()};
  const TensorId mean = make.AddLike(pool, {PadByZeros(make, powers, window.padding)});
  const auto count = static_cast<float>(int64_t{window.filter.height} * window.filter.width);
  const TensorId sum = make.AddLike(Mul{}, {mean, make.Scalar(count)});
  const TensorId root = make.Scalar(1.0f / static_cast<float>(p));
  t.Set(0, images.Back(make, make.AddLike(Pow{}, {sum, root})));
}

// [N, C, H, W] to [N, C / block^2, H block, W block]. DCR takes the block from the outer part of
// the channels, CRD from the inner part.
void ReadDepthToSpace(Translation& t) {
  const Shape x = t.input(0).shape;
  if (!t.make.ok()) return;
  if (x.size() != 4) return t.Invalid("needs 4 dimensions");
  const int b = t.IntWithin("blocksize", 0, 1, 1 << 12);
  if (!t.make.ok()) return;
  if (x[1] % (b * b) != 0) return t.Invalid("the blocks do not divide the channels");
  const int c = x[1] / (b * b);
  const bool crd = t.String("mode", "DCR") == "CRD";
  const Shape apart = crd ? Shape{x[0], c, b, b, x[2], x[3]} : Shape{x[0], b, b, c, x[2], x[3]};
  const std::vector<int> order =
      crd ? std::vector<int>{0, 1, 4, 2, 5, 3} : std::vector<int>{0, 3, 4, 1, 5, 2};
  const TensorId moved = t.make.Transposed(t.make.Reshaped(t.in(0), apart), order);
  const std::vector<int> shape =
      ToInts(t, {x[0], c, int64_t{x[2]} * b, int64_t{x[3]} * b}, "a dimension");
  t.Set(0, t.make.Reshaped(moved, shape));
}

void ReadSpaceToDepth(Translation& t) {
  const Shape x = t.input(0).shape;
  if (!t.make.ok()) return;
  if (x.size() != 4) return t.Invalid("needs 4 dimensions");
  const int b = t.IntWithin("blocksize", 0, 1, 1 << 12);
  if (!t.make.ok()) return;
  if (x[2] % b != 0 || x[3] % b != 0) return t.Invalid("the blocks do not divide the image");
  const Shape apart = {x[0], x[1], x[2] / b, b, x[3] / b, b};
  const bool crd = t.String("mode", "DCR") == "CRD";
  const std::vector<int> order =
      crd ? std::vector<int>{0, 1, 3, 5, 2, 4} : std::vector<int>{0, 3, 5, 1, 2, 4};
  const TensorId moved = t.make.Transposed(t.make.Reshaped(t.in(0), apart), order);
  const std::vector<int> shape =
      ToInts(t, {x[0], int64_t{x[1]} * b * b, x[2] / b, x[3] / b}, "a dimension");
  t.Set(0, t.make.Reshaped(moved, shape));
}

constexpr OnnxRow kRows[] = {
    {"AveragePool", ReadAveragePool, "float32"},
    {"DepthToSpace", ReadDepthToSpace, "any"},
    {"GlobalAveragePool", GlobalPool<Mean>, "float32"},
    {"GlobalMaxPool", GlobalPool<ReduceMax>, "float32"},
    {"LpPool", ReadLpPool, "float32"},
    {"MaxPool", ReadMaxPool, "float32, int8, uint8"},
    {"Resize", ReadResize, "float32; nearest: any", 10},
    {"SpaceToDepth", ReadSpaceToDepth, "any"},
    {"Upsample", ReadResize, "float32; nearest: any", 7, 9},
};

}  // namespace

std::span<const OnnxRow> WindowRows() { return kRows; }

}  // namespace intaglio::nn::onnx
