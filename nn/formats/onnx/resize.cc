// Resize and Upsample. Images by nearest neighbours or bilinear interpolation have operators. All
// else goes axis by axis, as lines that are gathered or weighted.
#include "intaglio/nn/formats/onnx/resize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/images.h"

namespace intaglio::nn::onnx {
namespace {

// One dimension. Scales and places are float32, as they are in the files.
struct AxisSize {
  int in = 1;
  int out = 1;
  float scale = 1;  // out / in as the file says it, before rounding
  float begin = 0;  // the part of the input that tf_crop_and_resize takes, of 1
  float end = 1;

  bool changes() const { return in != out || scale != 1 || begin != 0 || end != 1; }
};

enum class Filter : uint8_t { kNearest, kLinear, kCubic };

struct Modes {
  std::string coordinates;
  std::string nearest;
  Filter filter = Filter::kNearest;
  double cubic = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  bool crops = false;       // tf_crop_and_resize
  float outside_value = 0;  // of what lies outside of the input then
};

// Where element `at` of the output lies in the input.
float Source(const Modes& modes, const AxisSize& size, int at) {
  const auto x = static_cast<float>(at);
  const auto last = static_cast<float>(size.in - 1);
  const auto last_out = static_cast<float>(size.out - 1);
  const std::string& mode = modes.coordinates;
  if (mode == "asymmetric") return x / size.scale;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5f) / size.scale;
  if (mode == "align_corners") return size.out == 1 ? 0 : x * last / last_out;
  if (modes.crops) {
    if (size.out == 1) return 0.5f * (size.begin + size.end) * last;
    return size.begin * last + x * (size.end - size.begin) * last / last_out;
  }
  if (mode == "pytorch_half_pixel" && size.out == 1) return 0;
  const float centered = (x + 0.5f) / size.scale - 0.5f;
  if (mode != "half_pixel_symmetric") return centered;
  const auto in = static_cast<float>(size.in);
  const float adjustment = static_cast<float>(size.out) / (size.scale * in);
  return in / 2 * (1 - adjustment) + centered;
}

double Nearest(const Modes& modes, double x) {
  const double down = std::floor(x);
  if (modes.nearest == "floor") return down;
  if (modes.nearest == "ceil") return std::ceil(x);
  const bool tie = x - down == 0.5;
  if (tie) return modes.nearest == "round_prefer_ceil" ? down + 1 : down;
  return std::floor(x + 0.5);
}

// The weight of an element at a distance: a triangle, or Keys' cubic.
double Weight(const Modes& modes, double distance) {
  const double d = std::fabs(distance);
  if (modes.filter == Filter::kLinear) return std::max(1 - d, 0.0);
  const double a = modes.cubic;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// Weighted neighbours of each element of the output, row by row, for Interpolate.
struct Taps {
  std::vector<int32_t> places;
  std::vector<float> weights;
  std::vector<float> offsets;  // empty: none
  int count = 1;
};

// A filter of the width of the output's elements, where antialias is asked for, or else of the
// input's.
double FilterScale(const Modes& modes, const AxisSize& size) {
  return modes.antialias ? std::min(static_cast<double>(size.scale), 1.0) : 1.0;
}

int64_t TapsOfElement(const Modes& modes, const AxisSize& size) {
  const double support = modes.filter == Filter::kLinear ? 1 : 2;
  const double reach = std::ceil(support / FilterScale(modes, size));
  return reach < (1 << 24) ? 2 * static_cast<int64_t>(reach) : 1 << 25;
}

// Appends the taps of an element that lies at x. They add up to one.
void AddTaps(const Modes& modes, const AxisSize& size, double x, Taps& taps) {
  const double scale = FilterScale(modes, size);
  // The element before x, so that as many lie on either side.
  const double base = std::ceil(x) - 1;
  std::vector<double> weights;
  double sum = 0;
  for (int k = 0; k < taps.count; ++k) {
    const double place = base + 1 - taps.count / 2 + k;
    const bool outside = place < 0 || place > size.in - 1;
    const double weight = Weight(modes, (place - x) * scale);
    weights.push_back(outside && modes.exclude_outside ? 0 : weight);
    sum += weights.back();
    taps.places.push_back(static_cast<int32_t>(std::clamp<double>(place, 0, size.in - 1)));
  }
  for (const double weight : weights) {
    taps.weights.push_back(static_cast<float>(sum == 0 ? 0 : weight / sum));
  }
}

bool LiesOutside(const Modes& modes, const AxisSize& size, float x) {
  return modes.crops && !(x >= 0 && x <= static_cast<float>(size.in - 1));
}

Taps TapsOf(const Modes& modes, const AxisSize& size, int count) {
  Taps taps;
  taps.count = count;
  for (int i = 0; i < size.out; ++i) {
    const float x = Source(modes, size, i);
    const bool outside = LiesOutside(modes, size, x);
    if (modes.crops) taps.offsets.push_back(outside ? modes.outside_value : 0);
    if (outside || !std::isfinite(x)) {
      taps.places.insert(taps.places.end(), static_cast<size_t>(count), 0);
      taps.weights.insert(taps.weights.end(), static_cast<size_t>(count), 0);
    } else if (modes.filter == Filter::kNearest) {
      const double place = Nearest(modes, double{x});
      taps.places.push_back(static_cast<int32_t>(std::clamp<double>(place, 0, size.in - 1)));
      taps.weights.push_back(1);
    } else {
      AddTaps(modes, size, double{x}, taps);
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
  const bool nearest = modes.filter == Filter::kNearest;
  const int64_t count = nearest ? 1 : TapsOfElement(modes, size);
  const int64_t bytes = count * size.out * 16;
  make.CheckMemory(static_cast<size_t>(bytes));
  Taps taps = TapsOf(modes, size, static_cast<int>(count));
  const Shape table = {size.out, taps.count};
  if (nearest && !modes.crops) {
    return make.AddLike(Gather{axis}, {x, make.Constant(std::move(taps.places), {size.out})});
  }
  std::vector<TensorId> inputs = {x, make.Constant(std::move(taps.places), table),
                                  make.Constant(std::move(taps.weights), table)};
  if (modes.crops) inputs.push_back(make.Constant(std::move(taps.offsets), {size.out}));
  return make.AddLike(Interpolate{axis}, std::move(inputs));
}

// Whether only height and width change, of images.
bool IsOfImages(const std::vector<AxisSize>& sizes) {
  return sizes.size() == 4 && !sizes[0].changes() && !sizes[1].changes() && sizes[2].in > 0 &&
         sizes[3].in > 0 && sizes[2].out > 0 && sizes[3].out > 0;
}

// Whether our operator of nearest neighbours, asked to take the centers of elements, finds the same
// elements. It computes in float32, so no center may lie between two.
bool IsNearestOfCenters(const Modes& modes, const AxisSize& size) {
  for (int i = 0; i < size.out; ++i) {
    const int64_t twice = (2 * int64_t{i} + 1) * size.in;
    const int64_t place = twice / (2 * int64_t{size.out});
    const double own = Nearest(modes, double{Source(modes, size, i)});
    if (twice % (2 * int64_t{size.out}) == 0) return false;
    if (std::clamp<double>(own, 0, size.in - 1) != static_cast<double>(place)) return false;
  }
  return true;
}

bool IsPlainNearest(const Modes& modes, const std::vector<AxisSize>& sizes) {
  constexpr int kMost = 1 << 12;
  if (modes.filter != Filter::kNearest || modes.crops || !IsOfImages(sizes)) return false;
  if (sizes[2].out > kMost || sizes[3].out > kMost) return false;
  return IsNearestOfCenters(modes, sizes[2]) && IsNearestOfCenters(modes, sizes[3]);
}

// Whether the scale is that of the extents, as our operators take it.
bool HasScaleOfExtents(const AxisSize& size) {
  const double out = double{size.scale} * size.in;
  return std::fabs(out - size.out) <= 1e-6 * size.out;
}

// Height and width by bilinear interpolation, as our operator does it.
bool IsPlainBilinear(const Modes& modes, const std::vector<AxisSize>& sizes) {
  if (modes.filter != Filter::kLinear || modes.exclude_outside || modes.antialias) return false;
  if (modes.coordinates != "half_pixel" && modes.coordinates != "align_corners" &&
      modes.coordinates != "asymmetric" && modes.coordinates != "pytorch_half_pixel") {
    return false;
  }
  if (!IsOfImages(sizes) || sizes[2].out < 2 || sizes[3].out < 2) return false;
  return HasScaleOfExtents(sizes[2]) && HasScaleOfExtents(sizes[3]);
}

Filter FilterOf(Translation& t) {
  const std::string mode = t.String("mode", "nearest");
  if (mode == "nearest") return Filter::kNearest;
  if (mode == "linear" || mode == "bilinear") return Filter::kLinear;
  if (mode == "cubic") return Filter::kCubic;
  t.Invalid("the mode is unknown");
  return Filter::kNearest;
}

Modes ModesOf(Translation& t) {
  Modes modes;
  modes.filter = FilterOf(t);
  // Opset 10 and Upsample have no such attributes.
  const bool old = t.opset() < 11;
  modes.coordinates = old ? "asymmetric" : t.String("coordinate_transformation_mode", "half_pixel");
  modes.nearest = old ? "floor" : t.String("nearest_mode", "round_prefer_floor");
  modes.cubic = static_cast<double>(t.Float("cubic_coeff_a", -0.75f));
  modes.exclude_outside = t.Flag("exclude_outside", false);
  modes.antialias = t.Flag("antialias", false) && modes.filter != Filter::kNearest;
  modes.crops = modes.coordinates == "tf_crop_and_resize";
  modes.outside_value = t.Float("extrapolation_value", 0);
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
  float scale = policy == "not_larger" ? HUGE_VALF : 0;
  for (const int axis : axes) {
    const float own = sizes[static_cast<size_t>(axis)].scale;
    scale = policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  for (const int axis : axes) {
    AxisSize& size = sizes[static_cast<size_t>(axis)];
    size.scale = scale;
    size.out = static_cast<int>(std::floor(double{scale} * size.in + 0.5));
  }
}

std::vector<AxisSize> SizesOf(Translation& t) {
  const Shape& shape = t.input(0).shape;
  std::vector<AxisSize> sizes;
  for (const int extent : shape) sizes.push_back({extent, extent});
  const std::vector<int> axes = AxesOf(t);
  const std::vector<float> scales = ScalesOf(t);
  if (!scales.empty()) {
    if (scales.size() != axes.size()) t.Invalid("has another number of scales than axes");
    for (size_t i = 0; i < axes.size(); ++i) {
      AxisSize& size = sizes[static_cast<size_t>(axes[i])];
      size.scale = scales[i];
      const double out = std::floor(static_cast<double>(static_cast<float>(size.in) * size.scale));
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
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisSize& size = sizes[static_cast<size_t>(axes[i])];
    if (given[i] < 0) t.Invalid("a size is negative");
    size.out = given[i];
    size.scale = size.in == 0 ? 1 : static_cast<float>(size.out) / static_cast<float>(size.in);
  }
  const std::string policy = t.String("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch") KeepAspect(policy, axes, sizes);
  return sizes;
}

// The parts that tf_crop_and_resize takes: all begins and then all ends.
void SetParts(Translation& t, std::vector<AxisSize>& sizes) {
  const std::vector<int> axes = AxesOf(t);
  const std::vector<float> roi = t.make.Floats(t.in(1), "the region");
  if (roi.size() != 2 * axes.size()) t.Invalid("the region does not fit the axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisSize& size = sizes[static_cast<size_t>(axes[i])];
    size.begin = roi[i];
    size.end = roi[axes.size() + i];
  }
}

TensorId OfImages(Translation& t, const Operator& op) {
  const Images images = Images::Of(t, t.in(0));
  return images.Back(t.make, t.make.AddLike(op, {images.nhwc}));
}

}  // namespace

void ReadResize(Translation& t) {
  LayerMaker& make = t.make;
  const Modes modes = ModesOf(t);
  std::vector<AxisSize> sizes = SizesOf(t);
  if (modes.crops) SetParts(t, sizes);
  if (IsPlainNearest(modes, sizes)) {
    const ResizeNearestNeighbor op = {sizes[2].out, sizes[3].out, false, true};
    return t.Set(0, OfImages(t, op));
  }
  if (IsPlainBilinear(modes, sizes) && t.input(0).type == Type::kFloat32) {
    const bool centers = modes.coordinates.find("half_pixel") != std::string::npos;
    const ResizeBilinear op = {sizes[2].out, sizes[3].out,   modes.coordinates == "align_corners",
                               centers,      sizes[2].scale, sizes[3].scale};
    return t.Set(0, OfImages(t, op));
  }
  TensorId x = t.in(0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].changes()) x = ResizedAlong(make, x, static_cast<int>(i), modes, sizes[i]);
  }
  t.Set(0, x);
}

}  // namespace intaglio::nn::onnx
