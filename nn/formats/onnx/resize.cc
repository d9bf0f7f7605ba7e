// Resize and Upsample. Whole factors of nearest neighbours have an operator; all else is composed,
// axis by axis, of gathered lines and their weights.
#include "intaglio/nn/formats/onnx/resize.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/images.h"

namespace intaglio::nn::onnx {
namespace {

struct AxisSize {
  int in = 1;
  int out = 1;
  double scale = 1;  // out / in as the file says it, before rounding
};

struct Modes {
  std::string coordinates;
  std::string nearest;
  std::string interpolation;  // nearest, linear, cubic
  double cubic = -0.75;
  bool exclude_outside = false;
};

// Where element `at` of the output lies in the input.
double Source(const Modes& modes, const AxisSize& size, int at) {
  const double x = at;
  const std::string& mode = modes.coordinates;
  if (mode == "asymmetric") return x / size.scale;
  if (mode == "align_corners") {
    return size.out == 1 ? 0 : x * (size.in - 1) / (size.out - 1);
  }
  if (mode == "pytorch_half_pixel" && size.out == 1) return 0;
  const double centered = (x + 0.5) / size.scale - 0.5;
  if (mode != "half_pixel_symmetric") return centered;
  const double real_out = size.scale * size.in;
  const double adjustment = size.out / real_out;
  const double center = size.in / 2.0;
  return center * (1 - adjustment) + (x + 0.5) / size.scale - 0.5;
}

int64_t Nearest(const Modes& modes, double x) {
  const double down = std::floor(x);
  if (modes.nearest == "floor") return static_cast<int64_t>(down);
  if (modes.nearest == "ceil") return static_cast<int64_t>(std::ceil(x));
  const bool tie = x - down == 0.5;
  if (tie) return static_cast<int64_t>(modes.nearest == "round_prefer_ceil" ? down + 1 : down);
  return static_cast<int64_t>(std::floor(x + 0.5));
}

// Keys' cubic at the distances of four neighbours.
std::vector<double> CubicWeights(double fraction, double a) {
  const auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(1 + fraction), near(fraction), near(1 - fraction), far(2 - fraction)};
}

// Neighbours of each element of an axis, and their weights: neighbour k of element i is at
// k * out + i.
struct Taps {
  std::vector<int64_t> places;
  std::vector<float> weights;
  size_t count = 1;
};

// A reader of the file limits sizes before it calls this.
Taps TapsOf(const Modes& modes, const AxisSize& size) {
  Taps taps;
  taps.count = modes.interpolation == "nearest" ? 1 : modes.interpolation == "linear" ? 2 : 4;
  const auto out = static_cast<size_t>(size.out);
  taps.places.resize(taps.count * out);
  taps.weights.assign(taps.count * out, 1.0f);
  for (int i = 0; i < size.out; ++i) {
    const double x = Source(modes, size, i);
    const double down = std::floor(x);
    std::vector<double> weights = {1};
    int64_t first = taps.count == 1 ? Nearest(modes, x) : static_cast<int64_t>(down);
    if (taps.count == 2) weights = {1 - (x - down), x - down};
    if (taps.count == 4) {
      weights = CubicWeights(x - down, modes.cubic);
      first -= 1;
    }
    double sum = 0;
    for (size_t k = 0; k < taps.count; ++k) {
      const int64_t place = first + static_cast<int64_t>(k);
      const bool outside = place < 0 || place >= size.in;
      if (outside && modes.exclude_outside) weights[k] = 0;
      sum += weights[k];
      taps.places[k * out + static_cast<size_t>(i)] = std::clamp<int64_t>(place, 0, size.in - 1);
    }
    for (size_t k = 0; k < taps.count; ++k) {
      const double weight = modes.exclude_outside ? weights[k] / sum : weights[k];
      taps.weights[k * out + static_cast<size_t>(i)] = static_cast<float>(weight);
    }
  }
  return taps;
}

TensorId ResizedAlong(LayerMaker& make, TensorId x, int axis, const Modes& modes,
                      const AxisSize& size) {
  if (size.in == 0 || size.out == 0) {
    make.Fail(Unsupported("images without elements are not supported"));
    return kNoTensor;
  }
  if (!make.Allows(static_cast<size_t>(size.out) * 64)) return kNoTensor;
  const Taps taps = TapsOf(modes, size);
  Shape line(make.ShapeOf(x).size() - static_cast<size_t>(axis), 1);
  line[0] = size.out;
  TensorId sum = kNoTensor;
  for (size_t k = 0; k < taps.count; ++k) {
    const auto first = static_cast<ptrdiff_t>(k) * size.out;
    const std::vector<int64_t> places(taps.places.begin() + first,
                                      taps.places.begin() + first + size.out);
    const TensorId lines =
        make.AddLike(Gather{axis}, {x, make.Constant<int64_t>(places, {size.out})});
    if (taps.count == 1) return lines;
    const std::vector<float> weights(taps.weights.begin() + first,
                                     taps.weights.begin() + first + size.out);
    const TensorId part = make.AddLike(Mul{}, {lines, make.Constant<float>(weights, line)});
    sum = k == 0 ? part : make.AddLike(Add{}, {sum, part});
  }
  return sum;
}

// Whether only height and width grow, by whole factors, as our operator does it.
bool IsWholeNearest(const Modes& modes, const std::vector<AxisSize>& sizes) {
  if (modes.interpolation != "nearest" || sizes.size() != 4) return false;
  const bool floors = modes.coordinates == "asymmetric" && modes.nearest == "floor";
  const bool centers =
      modes.coordinates == "half_pixel" && modes.nearest.rfind("round_prefer", 0) == 0;
  if (!floors && !centers) return false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const AxisSize& size = sizes[i];
    const double factor = size.scale;
    if (i < 2 && size.in != size.out) return false;
    if (size.in == 0 || factor < 1 || factor != std::floor(factor)) return false;
    if (size.in * factor != size.out) return false;
  }
  return true;
}

// Height and width by bilinear interpolation, as our operator does it.
bool IsBilinear(const Modes& modes, const std::vector<AxisSize>& sizes) {
  if (modes.interpolation != "linear" || sizes.size() != 4 || modes.exclude_outside) return false;
  if (modes.coordinates != "half_pixel" && modes.coordinates != "align_corners" &&
      modes.coordinates != "asymmetric" && modes.coordinates != "pytorch_half_pixel") {
    return false;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i < 2 && sizes[i].in != sizes[i].out) return false;
    if (sizes[i].in * sizes[i].scale != sizes[i].out || sizes[i].out < 2) return false;
  }
  return true;
}

Modes ModesOf(Translation& t) {
  Modes modes;
  const std::string mode = t.String("mode", "nearest");
  modes.interpolation = mode == "bilinear" ? "linear" : mode;
  // Opset 10 and Upsample have no such attributes.
  const bool old = t.opset() < 11;
  modes.coordinates = old ? "asymmetric" : t.String("coordinate_transformation_mode", "half_pixel");
  modes.nearest = old ? "floor" : t.String("nearest_mode", "round_prefer_floor");
  modes.cubic = static_cast<double>(t.Float("cubic_coeff_a", -0.75f));
  modes.exclude_outside = t.Flag("exclude_outside", false);
  if (modes.interpolation != "nearest" && modes.interpolation != "linear" &&
      modes.interpolation != "cubic") {
    t.Refuse("the mode '" + mode + "' is not supported");
  }
  if (modes.coordinates == "tf_crop_and_resize") t.Refuse("tf_crop_and_resize is not supported");
  if (t.Flag("antialias", false)) t.Refuse("antialias is not supported");
  return modes;
}

// The axes that the scales or sizes are for.
std::vector<int> AxesOf(Translation& t) {
  const int rank = t.rank(0);
  std::vector<int64_t> given;
  for (int i = 0; i < rank; ++i) given.push_back(i);
  given = t.Ints("axes", given);
  std::vector<int> axes;
  for (const int64_t axis : given) axes.push_back(Axis(t.make, axis, rank));
  return axes;
}

std::vector<float> ScalesOf(Translation& t) {
  if (t.opset() < 9) return t.Floats("scales");
  const size_t input = t.opset() < 11 ? 1 : 2;
  if (!t.has(input) || Count(t.input(input).shape) == 0) return {};
  return t.make.Floats(t.in(input), "the scales");
}

// Sizes under a policy that keeps the aspect ratio: all axes get one scale.
void KeepAspect(const std::string& policy, const std::vector<int>& axes,
                std::vector<AxisSize>& sizes) {
  double scale = policy == "not_larger" ? HUGE_VAL : 0;
  for (const int axis : axes) {
    const double own = sizes[static_cast<size_t>(axis)].scale;
    scale = policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  for (const int axis : axes) {
    AxisSize& size = sizes[static_cast<size_t>(axis)];
    size.scale = scale;
    size.out = static_cast<int>(std::floor(size.in * scale + 0.5));
  }
}

std::vector<AxisSize> SizesOf(Translation& t) {
  const Shape& shape = t.input(0).shape;
  std::vector<AxisSize> sizes;
  for (const int extent : shape) sizes.push_back({extent, extent, 1});
  const std::vector<int> axes = AxesOf(t);
  const std::vector<float> scales = ScalesOf(t);
  if (!scales.empty()) {
    if (scales.size() != axes.size()) t.Invalid("has another number of scales than axes");
    for (size_t i = 0; i < axes.size() && t.make.ok(); ++i) {
      AxisSize& size = sizes[static_cast<size_t>(axes[i])];
      size.scale = static_cast<double>(scales[i]);
      const double out = std::floor(size.in * size.scale);
      if (!(size.scale > 0) || !(out <= 1 << 30)) {
        t.Invalid("a scale is " + std::to_string(size.scale));
        break;
      }
      size.out = static_cast<int>(out);
    }
    return sizes;
  }
  const std::vector<int> given = ToInts(t, t.make.Ints(t.in(3), "the sizes"), "a size");
  if (given.size() != axes.size()) t.Invalid("has another number of sizes than axes");
  for (size_t i = 0; i < axes.size() && t.make.ok(); ++i) {
    AxisSize& size = sizes[static_cast<size_t>(axes[i])];
    if (given[i] < 0) t.Invalid("a size is negative");
    size.out = given[i];
    size.scale = size.in == 0 ? 1 : static_cast<double>(size.out) / size.in;
  }
  const std::string policy = t.String("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && t.make.ok()) KeepAspect(policy, axes, sizes);
  return sizes;
}

}  // namespace

void ReadResize(Translation& t) {
  LayerMaker& make = t.make;
  const Modes modes = ModesOf(t);
  const std::vector<AxisSize> sizes = SizesOf(t);
  if (!make.ok()) return;
  const bool nearest = IsWholeNearest(modes, sizes);
  if (nearest || (IsBilinear(modes, sizes) && t.input(0).type == Type::kFloat32)) {
    const Images images = Images::Of(t, t.in(0));
    const int height = sizes[2].out;
    const int width = sizes[3].out;
    const bool corners = modes.coordinates == "align_corners";
    const bool centers = modes.coordinates.find("half_pixel") != std::string::npos;
    const Operator op = nearest ? Operator(ResizeNearestNeighbor{height, width})
                                : Operator(ResizeBilinear{height, width, corners, centers});
    return t.Set(0, images.Back(make, make.AddLike(op, {images.nhwc})));
  }
  TensorId x = t.in(0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool same = sizes[i].in == sizes[i].out && sizes[i].scale == 1;
    if (!same) x = ResizedAlong(make, x, static_cast<int>(i), modes, sizes[i]);
    if (!make.ok()) return;
  }
  t.Set(0, x);
}

}  // namespace intaglio::nn::onnx
