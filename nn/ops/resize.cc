// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR. The weights of bilinear interpolation are float32
// for uint8 and float32, and numbers of 10 fractional bits for int8 and int16, as in TFLite's
// reference kernels.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/indexed.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/ops/routine.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

struct Options {
  bool align_corners = false;
  bool half_pixel_centers = false;
};

template <class Op>
ShapesResult InferResize(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckImage(layer));
  const Op& op = layer.op<Op>();
  const Shape& shape = layer.input(0).shape;
  if (op.height < 1 || op.width < 1 || shape[1] < 1 || shape[2] < 1) {
    return layer.Invalid("cannot resize " + ToString(shape) + " to height " +
                         std::to_string(op.height) + " and width " + std::to_string(op.width));
  }
  if (op.align_corners && op.half_pixel_centers) {
    return layer.Invalid("aligns corners and centres of pixels at once");
  }
  return std::vector<Shape>{{shape[0], op.height, op.width, shape[3]}};
}

// What output `o` of one axis is made of: inputs low and high, and how much of each. W is float, or
// int32_t with 10 fractional bits; the two weights add up to one.
template <class W>
struct Tap {
  int low = 0;
  int high = 0;
  W weight_low = 0;
  W weight_high = 0;
};

// All float32: position = (o + 1/2) scale - 1/2, or o scale.
std::vector<Tap<float>> MakeTaps(int in, int out, const Options& options, float) {
  float scale = static_cast<float>(in) / static_cast<float>(out);
  if (options.align_corners && out > 1) {
    scale = static_cast<float>(in - 1) / static_cast<float>(out - 1);
  }
  std::vector<Tap<float>> taps;
  for (int o = 0; o < out; ++o) {
    const float at = static_cast<float>(o);
    const float position = options.half_pixel_centers ? (at + 0.5f) * scale - 0.5f : at * scale;
    Tap<float> tap;
    tap.low = std::clamp(static_cast<int>(std::floor(position)), 0, in - 1);
    tap.high = std::clamp(static_cast<int>(std::ceil(position)), 0, in - 1);
    tap.weight_high = position - static_cast<float>(tap.low);
    tap.weight_low = 1 - tap.weight_high;
    taps.push_back(tap);
  }
  return taps;
}

// The same with 10 fractional bits; the scale is rounded to nearest, positions are cut off towards
// zero.
std::vector<Tap<int32_t>> MakeTaps(int in, int out, const Options& options, int32_t) {
  constexpr int64_t kOne = 1 << 10;
  int64_t scale = (kOne * in + out / 2) / out;
  if (options.align_corners && out > 1) scale = (kOne * (in - 1) + (out - 1) / 2) / (out - 1);
  std::vector<Tap<int32_t>> taps;
  for (int o = 0; o < out; ++o) {
    const int64_t position =
        o * scale + (options.half_pixel_centers ? scale / 2 - kOne / 2 : int64_t{0});
    Tap<int32_t> tap;
    tap.low = static_cast<int>(std::clamp<int64_t>(position / kOne, 0, in - 1));
    tap.high = static_cast<int>(std::clamp<int64_t>((position + kOne - 1) / kOne, 0, in - 1));
    const int64_t high = position - kOne * tap.low;
    tap.weight_high = static_cast<int32_t>(high);
    tap.weight_low = static_cast<int32_t>(kOne - high);
    taps.push_back(tap);
  }
  return taps;
}

// The four neighbours with their weights, in this order of operations.
template <class T>
T Blend(T a, T b, T c, T d, const Tap<float>& y, const Tap<float>& x) {
  const auto f = [](T value) { return static_cast<float>(value); };
  constexpr float kRounding = std::is_integral_v<T> ? 0.5f : 0.0f;
  return static_cast<T>(f(a) * y.weight_low * x.weight_low + f(b) * y.weight_high * x.weight_low +
                        f(c) * y.weight_low * x.weight_high + f(d) * y.weight_high * x.weight_high +
                        kRounding);
}

template <class T>
T Blend(T a, T b, T c, T d, const Tap<int32_t>& y, const Tap<int32_t>& x) {
  const int64_t sum =
      int64_t{a} * y.weight_low * x.weight_low + int64_t{b} * y.weight_high * x.weight_low +
      int64_t{c} * y.weight_low * x.weight_high + int64_t{d} * y.weight_high * x.weight_high;
  constexpr int64_t kHalf = 1 << 19;
  return static_cast<T>((sum + (sum > 0 ? kHalf : -kHalf)) / (2 * kHalf));
}

template <class T, class W>
std::shared_ptr<const Routine> BilinearRoutine(const Shape& in, const Shape& out,
                                               const Options& options) {
  return RoutineOf([in, out, taps_y = MakeTaps(in[1], out[1], options, W()),
                    taps_x = MakeTaps(in[2], out[2], options, W())](const RunArguments& arguments) {
    const auto* image = static_cast<const T*>(arguments.inputs[0]);
    auto* to = static_cast<T*>(arguments.outputs[0]);
    const ptrdiff_t channels = in[3];
    const ptrdiff_t row = in[2] * channels;
    for (int n = 0; n < in[0]; ++n, image += in[1] * row) {
      for (const Tap<W>& y : taps_y) {
        for (const Tap<W>& x : taps_x) {
          const T* const a = image + y.low * row + x.low * channels;
          const T* const b = image + y.high * row + x.low * channels;
          const T* const c = image + y.low * row + x.high * channels;
          const T* const d = image + y.high * row + x.high * channels;
          for (ptrdiff_t i = 0; i < channels; ++i) to[i] = Blend(a[i], b[i], c[i], d[i], y, x);
          to += channels;
        }
      }
    }
  });
}

std::vector<int> Nearest(int in, int out, const Options& options) {
  const float scale = options.align_corners && out > 1
                          ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const float shift = options.half_pixel_centers ? 0.5f : 0.0f;
  std::vector<int> indices;
  for (int o = 0; o < out; ++o) {
    const float position = (static_cast<float>(o) + shift) * scale;
    const float index = options.align_corners ? std::round(position) : std::floor(position);
    indices.push_back(std::clamp(static_cast<int>(index), 0, in - 1));
  }
  return indices;
}

std::vector<int> All(int extent) {
  std::vector<int> indices;
  for (int i = 0; i < extent; ++i) indices.push_back(i);
  return indices;
}

}  // namespace

ShapesResult InferResizeBilinear(const LayerView& layer) {
  return InferResize<ResizeBilinear>(layer);
}

ShapesResult InferResizeNearestNeighbor(const LayerView& layer) {
  return InferResize<ResizeNearestNeighbor>(layer);
}

Result<PreparedLayer> PrepareResizeBilinear(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const auto& op = layer.op<ResizeBilinear>();
  const Options options{op.align_corners, op.half_pixel_centers};
  const Shape& in = layer.input(0).shape;
  const Shape& out = layer.output().shape;
  const Type type = layer.output().type;
  PreparedLayer prepared;
  prepared.routine = VisitType<int8_t, int16_t>(
      type, [&](auto zero) { return BilinearRoutine<decltype(zero), int32_t>(in, out, options); });
  if (prepared.routine == nullptr) {
    prepared.routine = VisitType<uint8_t, float>(
        type, [&](auto zero) { return BilinearRoutine<decltype(zero), float>(in, out, options); });
  }
  prepared.name = RoutineName(type, "bilinear");
  prepared.constant_bytes =
      (static_cast<size_t>(out[1]) + static_cast<size_t>(out[2])) * sizeof(Tap<float>);
  return prepared;
}

Result<PreparedLayer> PrepareResizeNearestNeighbor(const LayerView& layer, const LayerOptions&) {
  const auto& op = layer.op<ResizeNearestNeighbor>();
  const Options options{op.align_corners, op.half_pixel_centers};
  const Shape& in = layer.input(0).shape;
  return PrepareIndexed(layer, {All(in[0]), Nearest(in[1], op.height, options),
                                Nearest(in[2], op.width, options), All(in[3])});
}

}  // namespace intaglio::nn
