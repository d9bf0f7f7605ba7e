#include "intaglio/nn/formats/onnx/images.h"

#include <algorithm>
#include <vector>

namespace intaglio::nn::onnx {
namespace {

constexpr int64_t kMost = 1 << 24;  // far more than pads, strides and dilations are

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

struct Side {
  int begin = 0;
  int end = 0;
};

struct Dimension {
  int64_t image;
  int64_t filter;
  int64_t stride;
  int64_t dilation;

  int64_t reach() const { return (filter - 1) * dilation + 1; }
};

// As much padding as gives ceil(image / stride) windows.
Side SamePadding(const Dimension& d, bool more_at_the_end) {
  const int64_t windows = (d.image + d.stride - 1) / d.stride;
  const int64_t total = std::max<int64_t>(0, (windows - 1) * d.stride + d.reach() - d.image);
  const int64_t less = total / 2;
  const int64_t more = total - less;
  return more_at_the_end ? Side{static_cast<int>(less), static_cast<int>(more)}
                         : Side{static_cast<int>(more), static_cast<int>(less)};
}

// Padding at the end so that the last window, which begins inside the image or the padding before
// it, is whole.
void RoundUp(const Dimension& d, Side& side) {
  const int64_t room = d.image + side.begin + side.end - d.reach();
  if (room < 0) return;
  int64_t windows = (room + d.stride - 1) / d.stride;
  if (windows * d.stride >= d.image + side.begin) --windows;
  const int64_t needed = windows * d.stride - room;
  if (needed > 0) side.end += static_cast<int>(needed);
}

}  // namespace

Images Images::Of(Translation& t, TensorId id) {
  Images images;
  images.rank = t.make.RankOf(id);
  if (!t.make.ok()) return images;
  if (images.rank != 3 && images.rank != 4) {
    t.Refuse("images of " + std::to_string(images.rank - 2) +
             " spatial dimensions are not supported (1 and 2 are)");
    return images;
  }
  images.nhwc = t.make.Transposed(images.Spatial2D(t.make, id), {0, 2, 3, 1});
  return images;
}

TensorId Images::Spatial2D(LayerMaker& make, TensorId id) const {
  if (!make.ok()) return kNoTensor;
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
  if (rank == 4 || !make.ok()) return nchw;
  Shape shape = make.ShapeOf(nchw);
  shape.erase(shape.begin() + 2);
  return make.Reshaped(nchw, shape);
}

Window2D Window2D::Of(Translation& t, Extent filter, Extent image) {
  const auto dimensions = static_cast<size_t>(std::max(t.rank(0) - 2, 1));
  std::vector<int64_t> strides = PerDimension(t, "strides", dimensions, 1, 1);
  std::vector<int64_t> dilations = PerDimension(t, "dilations", dimensions, 1, 1);
  std::vector<int64_t> pads = PerDimension(t, "pads", 2 * dimensions, 0, 0);
  if (dimensions == 1) {
    strides.insert(strides.begin(), 1);
    dilations.insert(dilations.begin(), 1);
    pads = {0, pads[0], 0, pads[1]};
  }
  const Dimension y = {image.height, filter.height, strides[0], dilations[0]};
  const Dimension x = {image.width, filter.width, strides[1], dilations[1]};
  Side vertical = {static_cast<int>(pads[0]), static_cast<int>(pads[2])};
  Side horizontal = {static_cast<int>(pads[1]), static_cast<int>(pads[3])};
  const std::string automatic = t.String("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    vertical = SamePadding(y, automatic == "SAME_UPPER");
    horizontal = SamePadding(x, automatic == "SAME_UPPER");
  } else if (automatic == "VALID") {
    vertical = horizontal = {};
  } else if (automatic != "NOTSET" && !automatic.empty()) {
    t.Invalid("auto_pad is unknown");
  }
  if (t.Flag("ceil_mode", false)) {
    RoundUp(y, vertical);
    RoundUp(x, horizontal);
  }
  return {filter,
          {static_cast<int>(y.stride), static_cast<int>(x.stride)},
          {static_cast<int>(y.dilation), static_cast<int>(x.dilation)},
          Padding::Explicit(vertical.begin, vertical.end, horizontal.begin, horizontal.end)};
}

}  // namespace intaglio::nn::onnx
