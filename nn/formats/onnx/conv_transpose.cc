#include "intaglio/nn/formats/onnx/conv_transpose.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/images.h"

namespace intaglio::nn::onnx {
namespace {

// One spatial dimension. The filter at each element of the image adds to the places from
// element * stride - before on; `out` places count.
struct ScatteredAxis {
  int64_t image = 1;
  int64_t filter = 1;  // without the zeros of dilations
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;
  int64_t out = 1;

  int64_t reach() const { return (filter - 1) * dilation + 1; }
};

constexpr int64_t kMost = 1 << 24;  // far more than extents, strides and pads are

// One number for each spatial dimension.
std::vector<int64_t> Numbers(Translation& t, const char* name, size_t count, int64_t otherwise,
                             int64_t least) {
  std::vector<int64_t> values = t.Ints(name, std::vector<int64_t>(count, otherwise));
  const bool valid = values.size() == count &&
                     std::all_of(values.begin(), values.end(),
                                 [&](int64_t value) { return value >= least && value <= kMost; });
  if (valid) return values;
  t.Invalid("attribute '" + std::string(name) + "' does not fit");
  return std::vector<int64_t>(count, least);
}

// The paddings, and with them the output's extent, follow from one another. More of an odd padding
// is behind for SAME_UPPER, and before for others.
void SetExtents(Translation& t, std::vector<ScatteredAxis>& axes) {
  const size_t count = axes.size();
  const std::vector<int64_t> pads = Numbers(t, "pads", 2 * count, 0, 0);
  const std::vector<int64_t> more = Numbers(t, "output_padding", count, 0, 0);
  const std::vector<int64_t> given = Numbers(t, "output_shape", count, 0, 0);
  const std::string automatic = t.String("auto_pad", "NOTSET");
  const bool upper = automatic == "SAME_UPPER";
  const bool same = upper || automatic == "SAME_LOWER";
  const bool by_pads = automatic == "NOTSET" || automatic.empty();
  if (!same && !by_pads && automatic != "VALID") t.Invalid("auto_pad is unknown");
  for (size_t i = 0; i < count; ++i) {
    ScatteredAxis& axis = axes[i];
    const int64_t all = (axis.image - 1) * axis.stride + axis.reach() + more[i];
    axis.out = t.HasAttribute("output_shape") ? given[i] : axis.image * axis.stride;
    if (t.HasAttribute("output_shape") || same) {
      const int64_t total = std::max<int64_t>(all - axis.out, 0);
      axis.before = upper ? total / 2 : total - total / 2;
      continue;
    }
    axis.before = by_pads ? pads[i] : 0;
    axis.out = all - axis.before - (by_pads ? pads[count + i] : 0);
  }
}

// All spatial dimensions of the node.
std::vector<ScatteredAxis> AxesOf(Translation& t, const std::vector<int>& image,
                                  const std::vector<int>& filter) {
  const size_t count = image.size();
  const std::vector<int64_t> strides = Numbers(t, "strides", count, 1, 1);
  const std::vector<int64_t> dilations = Numbers(t, "dilations", count, 1, 1);
  std::vector<ScatteredAxis> axes;
  for (size_t i = 0; i < count; ++i) {
    axes.push_back({image[i], filter[i], strides[i], dilations[i]});
  }
  SetExtents(t, axes);
  for (const ScatteredAxis& axis : axes) {
    const bool fits = axis.image >= 1 && axis.filter >= 1 && axis.out >= 1 &&
                      axis.before + axis.out <= std::numeric_limits<int>::max();
    if (!fits) t.Invalid("makes no images");
  }
  return axes;
}

// The filter [..., H, W] with dilation - 1 zeros between its elements of a dimension.
TensorId Dilated(Translation& t, TensorId filter, size_t dimension, const ScatteredAxis& axis) {
  LayerMaker& make = t.make;
  if (axis.dilation == 1) return filter;
  const Shape shape = make.ShapeOf(filter);
  Shape apart = shape;
  apart.insert(apart.begin() + static_cast<ptrdiff_t>(dimension) + 1, 1);
  Pad pad;
  pad.paddings.assign(apart.size(), {0, 0});
  pad.paddings[dimension + 1].second = static_cast<int>(axis.dilation - 1);
  Slice slice;
  slice.begin.assign(shape.size(), 0);
  slice.size.assign(shape.size(), -1);
  slice.size[dimension] = ToInts(t, {axis.reach()}, "a filter")[0];
  Shape joined = shape;
  joined[dimension] = ToInts(t, {axis.filter * axis.dilation}, "a filter")[0];
  const TensorId padded = make.AddLike(pad, {make.Reshaped(filter, apart)});
  return make.AddLike(slice, {make.Reshaped(padded, joined)});
}

// Whether the operator's own padding is that of the axis.
bool IsSame(const ScatteredAxis& axis) {
  const int64_t back = (axis.out + axis.stride - 1) / axis.stride;
  const int64_t total = std::max<int64_t>((back - 1) * axis.stride + axis.reach() - axis.out, 0);
  return total / 2 == axis.before;
}

// One group: x [N, H, W, C] by a filter [M, H, W, C].
TensorId OneGroup(LayerMaker& make, std::vector<TensorId> inputs, const ScatteredAxis& y,
                  const ScatteredAxis& x) {
  const bool same = IsSame(y) && IsSame(x);
  const int64_t top = same ? 0 : y.before;
  const int64_t left = same ? 0 : x.before;
  const int batch = make.ShapeOf(inputs[0])[0];
  const int channels = make.ShapeOf(inputs[1])[0];
  TransposeConv op;
  op.shape = {batch, static_cast<int>(top + y.out), static_cast<int>(left + x.out), channels};
  op.stride = {static_cast<int>(y.stride), static_cast<int>(x.stride)};
  op.padding = same ? Padding::Same() : Padding::Valid();
  const TensorId all = make.AddLike(op, std::move(inputs));
  if (top == 0 && left == 0) return all;
  const Slice inner = {{0, static_cast<int>(top), static_cast<int>(left), 0}, {-1, -1, -1, -1}};
  return make.AddLike(inner, {all});
}

std::vector<TensorId> Parts(LayerMaker& make, TensorId id, int axis, int count) {
  if (count == 1) return std::vector<TensorId>(static_cast<size_t>(count), id);
  return make.AddMany(Split{axis, count}, {id},
                      std::vector<Type>(static_cast<size_t>(count), make.At(id).type));
}

constexpr int kMostLayers = 1 << 12;

int GroupsOf(Translation& t) { return t.IntWithin("group", 1, 1, kMostLayers); }

void CheckFilter(Translation& t, const Shape& filter, int channels, int groups) {
  if (filter[0] == channels && channels % groups == 0) return;
  t.Invalid("filters of " + ToString(filter) + " do not fit " + std::to_string(groups) +
            " groups of " + std::to_string(channels) + " channels");
}

// Images [N, H, W, C] by filters [C, M / groups, H, W]; one layer for each group.
TensorId Scattered(Translation& t, TensorId images, TensorId filter, const ScatteredAxis& y,
                   const ScatteredAxis& x, TensorId bias) {
  LayerMaker& make = t.make;
  const int groups = GroupsOf(t);
  filter = Dilated(t, Dilated(t, filter, 2, y), 3, x);
  const std::vector<TensorId> filters =
      Parts(make, make.Transposed(filter, {1, 2, 3, 0}), 3, groups);
  const std::vector<TensorId> xs = Parts(make, images, 3, groups);
  std::vector<TensorId> results;
  for (size_t i = 0; i < xs.size(); ++i) {
    std::vector<TensorId> inputs = {xs[i], filters[i]};
    if (groups == 1 && bias != kNoTensor) inputs.push_back(bias);
    results.push_back(OneGroup(make, std::move(inputs), y, x));
  }
  if (groups == 1) return results[0];
  const TensorId result = make.AddLike(Concatenation{3}, results);
  return bias == kNoTensor ? result : make.AddLike(Ieee<Add>(), {result, bias});
}

// Planes [N, D, ...], which the layer has as images [N D, ...], in a volume of this depth: `stride`
// apart, the first one at `first`. Other planes are 0.
TensorId AtDepths(Translation& t, TensorId images, int batch, const ScatteredAxis& z, int64_t first,
                  int64_t depth) {
  LayerMaker& make = t.make;
  const Shape image = make.ShapeOf(images);
  const Shape planes = ToInts(t,
                              {batch, z.image, 1, int64_t{image[1]} * image[2] * image[3],
                               z.image * z.stride, depth - first - z.image * z.stride, first},
                              "a volume");
  const Pad apart = {{{0, 0}, {0, 0}, {0, static_cast<int>(z.stride) - 1}, {0, 0}}};
  const Pad around = {{{0, 0}, {planes[6], planes[5]}, {0, 0}}};
  TensorId y = make.Reshaped(images, {batch, planes[1], 1, planes[3]});
  if (z.stride > 1) y = make.AddLike(apart, {y});
  y = make.Reshaped(y, {batch, planes[4], planes[3]});
  return make.AddLike(around, {y});
}

// Volumes [N, C, D, H, W] by filters [C, M / groups, D, H, W]: each plane of the filter scatters
// all planes of the volume, and the results are added where they belong.
void ScatterVolumes(Translation& t) {
  LayerMaker& make = t.make;
  const Shape x = make.ShapeOf(t.in(0));
  const Shape w = make.ShapeOf(t.in(1));
  if (w.size() != x.size()) return t.Invalid("the filters have other dimensions than the images");
  CheckFilter(t, w, x[1], GroupsOf(t));
  const std::vector<ScatteredAxis> axes = AxesOf(t, {x[2], x[3], x[4]}, {w[2], w[3], w[4]});
  const ScatteredAxis& z = axes[0];
  if (z.filter * GroupsOf(t) > kMostLayers) return t.Refuse("filters of so many planes");
  const int64_t depth =
      std::max(z.before + z.out, z.image * z.stride + (z.filter - 1) * z.dilation);
  const int planes = ToInts(t, {int64_t{x[0]} * x[2]}, "the planes")[0];
  const TensorId images =
      make.Reshaped(make.Transposed(t.in(0), {0, 2, 3, 4, 1}), {planes, x[3], x[4], x[1]});
  const std::vector<TensorId> filters =
      Parts(make, make.Transposed(t.in(1), {2, 0, 1, 3, 4}), 0, w[2]);
  TensorId sum = kNoTensor;
  Shape image;
  for (int64_t k = 0; k < z.filter; ++k) {
    const TensorId filter =
        make.Reshaped(filters[static_cast<size_t>(k)], {w[0], w[1], w[3], w[4]});
    const TensorId part = Scattered(t, images, filter, axes[1], axes[2], kNoTensor);
    image = make.ShapeOf(part);
    const TensorId placed = AtDepths(t, part, x[0], z, k * z.dilation, depth);
    sum = sum == kNoTensor ? placed : make.AddLike(Ieee<Add>(), {sum, placed});
  }
  const Shape sizes = ToInts(t, {z.before, z.out}, "a volume");
  sum = make.AddLike(Slice{{0, sizes[0], 0}, {-1, sizes[1], -1}}, {sum});
  sum = make.Reshaped(sum, {x[0], sizes[1], image[1], image[2], image[3]});
  if (t.has(2)) sum = make.AddLike(Ieee<Add>(), {sum, t.in(2)});
  t.Set(0, make.Transposed(sum, {0, 4, 1, 2, 3}));
}

}  // namespace

// Filters are [C, M / groups, H, W].
void ReadConvTranspose(Translation& t) {
  LayerMaker& make = t.make;
  if (t.rank(0) == 5) return ScatterVolumes(t);
  const Images images = Images::Of(t, t.in(0));
  const TensorId filter = images.Spatial2D(make, t.in(1));
  const Shape image = make.ShapeOf(images.nhwc);
  const Shape shape = make.ShapeOf(filter);
  CheckFilter(t, shape, image[3], GroupsOf(t));
  const bool is_line = t.rank(0) == 3;
  std::vector<ScatteredAxis> axes = is_line ? AxesOf(t, {image[2]}, {shape[3]})
                                            : AxesOf(t, {image[1], image[2]}, {shape[2], shape[3]});
  if (is_line) axes.insert(axes.begin(), ScatteredAxis{});
  t.Set(0, images.Back(make, Scattered(t, images.nhwc, filter, axes[0], axes[1], t.optional(2))));
}

}  // namespace intaglio::nn::onnx
