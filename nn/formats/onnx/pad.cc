// Pad: what lies around a tensor.
#include "intaglio/nn/formats/onnx/pad.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace intaglio::nn::onnx {
namespace {

// Elements before and after, per axis. Negative ones crop.
std::vector<std::pair<int, int>> PadsOf(Translation& t) {
  const auto rank = static_cast<size_t>(t.rank(0));
  std::vector<std::pair<int, int>> pads(rank, {0, 0});
  const std::vector<int> given =
      ToInts(t, t.opset() < 11 ? t.Ints("pads") : t.make.Ints(t.in(1), "the pads"), "a pad");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  if (t.opset() >= 18 && t.has(3)) axes = t.make.Ints(t.in(3), "the axes");
  if (given.size() != 2 * axes.size()) t.Invalid("has another number of pads than axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto place = static_cast<size_t>(Axis(t.make, axes[i], t.rank(0)));
    pads[place] = {given[i], given[i + axes.size()]};
  }
  return pads;
}

// The part of x that negative pads leave.
TensorId Cropped(LayerMaker& make, TensorId x, std::vector<std::pair<int, int>>& pads) {
  Slice slice;
  slice.begin.assign(pads.size(), 0);
  const Shape shape = make.ShapeOf(x);
  slice.size.assign(shape.begin(), shape.end());
  bool crops = false;
  for (size_t i = 0; i < pads.size(); ++i) {
    const int before = std::max(0, -std::max(pads[i].first, -(1 << 30)));
    const int after = std::max(0, -std::max(pads[i].second, -(1 << 30)));
    crops = crops || before > 0 || after > 0;
    if (int64_t{before} + after > slice.size[i]) {
      make.Fail(InvalidArgument("crops more than there is"));
      return kNoTensor;
    }
    slice.begin[i] = before;
    slice.size[i] -= before + after;
    pads[i] = {std::max(pads[i].first, 0), std::max(pads[i].second, 0)};
  }
  return crops ? make.AddLike(slice, {x}) : x;
}

// x among copies of its border, or of itself, taken by their places.
TensorId PaddedByPlaces(LayerMaker& make, TensorId x, const std::vector<std::pair<int, int>>& pads,
                        bool wraps) {
  for (size_t i = 0; i < pads.size(); ++i) {
    const auto [before, after] = pads[i];
    if (before == 0 && after == 0) continue;
    const int64_t extent = make.ShapeOf(x)[i];
    const int64_t count = extent + before + after;
    if (extent == 0 || count > 1 << 30) {
      make.Fail(InvalidArgument("pads to " + std::to_string(count) + " elements"));
      return kNoTensor;
    }
    make.CheckMemory(static_cast<size_t>(count) * sizeof(int64_t));
    std::vector<int64_t> places;
    places.reserve(static_cast<size_t>(count));
    for (int64_t at = -before; at < extent + after; ++at) {
      places.push_back(wraps ? ((at % extent) + extent) % extent
                             : std::clamp<int64_t>(at, 0, extent - 1));
    }
    const TensorId indices = make.Constant<int64_t>(std::move(places), {static_cast<int>(count)});
    x = make.AddLike(Gather{static_cast<int>(i)}, {x, indices});
  }
  return x;
}

// The number that fills, where it is known.
std::variant<double, int64_t> ValueOf(Translation& t) {
  const Type type = t.input(0).type;
  const bool is_float = type == Type::kFloat32;
  if (t.opset() < 11) return double{t.Float("value", 0)};
  if (!t.has(2)) return is_float ? std::variant<double, int64_t>(0.0) : int64_t{0};
  if (Count(t.make.ShapeOf(t.in(2))) != 1) t.Invalid("the value is not one number");
  if (is_float) {
    const std::vector<float> value = t.make.Floats(t.in(2), "the value");
    return double{value[0]};
  }
  const std::vector<int64_t> value = t.make.Ints(t.in(2), "the value");
  return value[0];
}

}  // namespace

void ReadPad(Translation& t) {
  LayerMaker& make = t.make;
  const std::string mode = t.String("mode", "constant");
  std::vector<std::pair<int, int>> pads = PadsOf(t);
  const TensorId x = Cropped(make, t.in(0), pads);
  if (mode == "reflect") return t.Set(0, make.AddLike(MirrorPad{pads, false}, {x}));
  if (mode == "edge") return t.Set(0, PaddedByPlaces(make, x, pads, false));
  if (mode == "wrap") return t.Set(0, PaddedByPlaces(make, x, pads, true));
  if (mode != "constant") return t.Invalid("the mode is unknown");
  t.Set(0, make.AddLike(Pad{pads, true, ValueOf(t)}, {x}));
}

}  // namespace intaglio::nn::onnx
