#include "intaglio/nn/formats/onnx/images.h"

#include <algorithm>
#include <string>
#include <vector>

namespace intaglio::nn::onnx {
namespace {

constexpr int64_t kMost = 1 << 24;  // far more than pads, strides and dilations are
constexpr int64_t kMostReach = 1 << 28;

// One number for each spatial dimension, height before width.
std::vector<int64_t> PerDimension(Translation& t, const char* name, size_t dimensions,
                                  int64_t otherwise, int64_t least) {
  std::vector<int64_t> values = t.Ints(name, std::vector<int64_t>(dimensions, otherwise));
  if (values.size() != dimensions) {
    t.Invalid("attribute '" + std::string(name) + "' has " + std::to_string(values.size()) +
              " numbers; " + std::to_string(dimensions) + " are needed");
    values.assign(dimensions, least);
  }
  for (int64_t& value : values) {
    if (value >= least && value <= kMost) continue;
    t.Invalid("attribute '" + std::string(name) + "' is " + std::to_string(value));
    value = least;
  }
  return values;
}

// As much padding as gives ceil(image / stride) windows.
void PadToSame(WindowAxis& axis, bool more_at_the_end) {
  const int64_t windows = (axis.image + axis.stride - 1) / axis.stride;
  const int64_t total =
      std::max<int64_t>(0, (windows - 1) * axis.stride + axis.reach() - axis.image);
  axis.before = more_at_the_end ? total / 2 : total - total / 2;
  axis.behind = total - axis.before;
}

// Padding at the end so that the last window, which begins inside the image or the padding before
// it, is whole.
void RoundUp(WindowAxis& axis) {
  const int64_t room = axis.image + axis.before + axis.behind - axis.reach();
  if (room < 0) return;
  int64_t windows = (room + axis.stride - 1) / axis.stride;
  if (windows * axis.stride >= axis.image + axis.before) --windows;
  axis.rounding = std::max<int64_t>(windows * axis.stride - room, 0);
}

}  // namespace

Images Images::Of(Translation& t, TensorId id) {
  Images images;
  images.rank = t.make.RankOf(id);
  if (images.rank != 3 && images.rank != 4) {
    t.Refuse("images of " + std::to_string(images.rank - 2) +
             " spatial dimensions are not supported (1 and 2 are)");
    return images;
  }
  images.nhwc = t.make.Transposed(images.Spatial2D(t.make, id), {0, 2, 3, 1});
  return images;
}

TensorId Images::Spatial2D(LayerMaker& make, TensorId id) const {
  Shape shape = make.ShapeOf(id);
  if (static_cast<int>(shape.size()) != rank) {
    make.Fail(InvalidArgument("has inputs of " + std::to_string(rank) + " and " +
                              std::to_string(shape.size()) + " dimensions"));
    return kNoTensor;
  }
  if (rank == 3) shape.insert(shape.begin() + 2, 1);
  return make.Reshaped(id, shape);
}

TensorId Images::Back(LayerMaker& make, TensorId result) const {
  const TensorId nchw = make.Transposed(result, {0, 3, 1, 2});
  if (rank == 4) return nchw;
  Shape shape = make.ShapeOf(nchw);
  shape.erase(shape.begin() + 2);
  return make.Reshaped(nchw, shape);
}

std::vector<WindowAxis> WindowAxes(Translation& t, const std::vector<int>& filter,
                                   const std::vector<int>& image) {
  const size_t dimensions = filter.size();
  const std::vector<int64_t> strides = PerDimension(t, "strides", dimensions, 1, 1);
  const std::vector<int64_t> dilations = PerDimension(t, "dilations", dimensions, 1, 1);
  const std::vector<int64_t> pads = PerDimension(t, "pads", 2 * dimensions, 0, 0);
  const std::string automatic = t.String("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  const bool by_pads = automatic == "NOTSET" || automatic.empty();
  if (!same && !by_pads && automatic != "VALID") t.Invalid("auto_pad is unknown");
  const bool rounds_up = t.Flag("ceil_mode", false);
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < dimensions; ++i) {
    WindowAxis axis = {image[i], filter[i], strides[i], dilations[i]};
    if (axis.reach() > kMostReach) t.Invalid("a window is too large");
    if (by_pads) {
      axis.before = pads[i];
      axis.behind = pads[dimensions + i];
    }
    if (same) PadToSame(axis, automatic == "SAME_UPPER");
    if (rounds_up) RoundUp(axis);
    axes.push_back(axis);
  }
  return axes;
}

Window2D Window2D::Of(Translation& t, Extent filter, Extent image) {
  const bool is_line = t.rank(0) <= 3;
  std::vector<WindowAxis> axes =
      is_line ? WindowAxes(t, {filter.width}, {image.width})
              : WindowAxes(t, {filter.height, filter.width}, {image.height, image.width});
  if (is_line) axes.insert(axes.begin(), WindowAxis{image.height, filter.height});
  return Of(axes[0], axes[1]);
}

Window2D Window2D::Of(const WindowAxis& y, const WindowAxis& x) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  return {{narrow(y.filter), narrow(x.filter)},
          {narrow(y.stride), narrow(x.stride)},
          {narrow(y.dilation), narrow(x.dilation)},
          Padding::Explicit(narrow(y.before), narrow(y.behind + y.rounding), narrow(x.before),
                            narrow(x.behind + x.rounding))};
}

}  // namespace intaglio::nn::onnx
