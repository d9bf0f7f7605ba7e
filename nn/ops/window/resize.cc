// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR. The weights of bilinear interpolation are float32
// for uint8 and float32, and numbers of 10 fractional bits for int8 and int16, as in TFLite's
// reference kernels. ONNX Runtime's float32 has an order of operations of its own.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/indexed.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/window/operators.h"
#include "intaglio/nn/routine/routine_of.h"

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
  return std::vector<Shape>{{shape[0], op.height, op.width, shape[3]}};
}

struct ResizeAxis {
  int in;
  int out;
  Options options;
};

// The tap of output o of an axis. Weights are float, or int32_t with 10 fractional bits; the two of
// a tap add up to one.
//
// All float32: position = (o + 1/2) scale - 1/2, or o scale.
Tap<float> TapOf(const ResizeAxis& axis, int o, float) {
  const auto [in, out, options] = axis;
  float scale = static_cast<float>(in) / static_cast<float>(out);
  if (options.align_corners && out > 1) {
    scale = static_cast<float>(in - 1) / static_cast<float>(out - 1);
  }
  const float at = static_cast<float>(o);
  const float position = options.half_pixel_centers ? (at + 0.5f) * scale - 0.5f : at * scale;
  const int low = std::clamp(static_cast<int>(std::floor(position)), 0, in - 1);
  const int high = std::clamp(static_cast<int>(std::ceil(position)), 0, in - 1);
  const float weight_high = position - static_cast<float>(low);
  return {low, high, 1 - weight_high, weight_high};
}

// The same with 10 fractional bits; the scale is rounded to nearest, positions are cut off towards
// zero.
Tap<int32_t> TapOf(const ResizeAxis& axis, int o, int32_t) {
  const auto [in, out, options] = axis;
  constexpr int64_t kOne = 1 << 10;
  int64_t scale = (kOne * in + out / 2) / out;
  if (options.align_corners && out > 1) scale = (kOne * (in - 1) + (out - 1) / 2) / (out - 1);
  const int64_t position =
      o * scale + (options.half_pixel_centers ? scale / 2 - kOne / 2 : int64_t{0});
  const auto low = static_cast<int>(std::clamp<int64_t>(position / kOne, 0, in - 1));
  const auto high = static_cast<int>(std::clamp<int64_t>((position + kOne - 1) / kOne, 0, in - 1));
  const int64_t weight_high = position - kOne * low;
  return {low, high, static_cast<int32_t>(kOne - weight_high), static_cast<int32_t>(weight_high)};
}

// The tap of ONNX Runtime: a pixel that is both neighbours gets each half of the weight.
Tap<float> TapByScale(const ResizeAxis& axis, float scale, int o) {
  const auto [in, out, options] = axis;
  const auto at = static_cast<float>(o);
  const auto last = static_cast<float>(in - 1);
  float position = options.half_pixel_centers ? (at + 0.5f) / scale - 0.5f : at / scale;
  if (options.align_corners) {
    position = out > 1 ? at * last / static_cast<float>(out - 1) : 0.0f;
  }
  position = std::max(0.0f, std::min(position, last));
  // As a float32, `last` may be more than any int.
  const int low = position >= last ? in - 1 : static_cast<int>(position);
  const int high = std::min(low + 1, in - 1);
  if (low == high) return {low, high, 0.5f, 0.5f};
  return {low, high, std::fabs(position - static_cast<float>(high)),
          std::fabs(position - static_cast<float>(low))};
}

std::vector<Tap<float>> TapsByScale(const ResizeAxis& axis, float scale) {
  std::vector<Tap<float>> taps;
  taps.reserve(static_cast<size_t>(axis.out));
  for (int o = 0; o < axis.out; ++o) taps.push_back(TapByScale(axis, scale, o));
  return taps;
}

template <class W>
std::vector<Tap<W>> MakeTaps(const ResizeAxis& axis) {
  std::vector<Tap<W>> taps;
  taps.reserve(static_cast<size_t>(axis.out));
  for (int o = 0; o < axis.out; ++o) taps.push_back(TapOf(axis, o, W()));
  return taps;
}

// The four neighbours with their weights, in this order of operations.
float Blend(float a, float b, float c, float d, const Tap<float>& y, const Tap<float>& x) {
  return a * y.weight_low * x.weight_low + b * y.weight_high * x.weight_low +
         c * y.weight_low * x.weight_high + d * y.weight_high * x.weight_high;
}

int16_t Blend(int16_t a, int16_t b, int16_t c, int16_t d, const Tap<int32_t>& y,
              const Tap<int32_t>& x) {
  const int64_t sum =
      int64_t{a} * y.weight_low * x.weight_low + int64_t{b} * y.weight_high * x.weight_low +
      int64_t{c} * y.weight_low * x.weight_high + int64_t{d} * y.weight_high * x.weight_high;
  constexpr int64_t kHalf = 1 << 19;
  return static_cast<int16_t>((sum + (sum > 0 ? kHalf : -kHalf)) / (2 * kHalf));
}

// The images of a resize.
struct Resizing {
  Shape in;
  Shape out;
  Options options;

  ResizeAxis y() const { return {in[1], out[1], options}; }
  ResizeAxis x() const { return {in[2], out[2], options}; }
};

template <class Op>
Resizing ResizingOf(const LayerView& layer) {
  const Op& op = layer.op<Op>();
  return {layer.input(0).shape, layer.output().shape, {op.align_corners, op.half_pixel_centers}};
}

// An image's sizes, in elements, and the taps of both axes.
template <class W>
struct Bilinear {
  explicit Bilinear(const Resizing& r) : Bilinear(r, MakeTaps<W>(r.y()), MakeTaps<W>(r.x())) {}
  Bilinear(const Resizing& r, std::vector<Tap<W>> of_y, std::vector<Tap<W>> of_x)
      : rows(ptrdiff_t{r.out[0]} * r.out[1]),
        image(ptrdiff_t{r.in[1]} * r.in[2] * r.in[3]),
        line(ptrdiff_t{r.in[2]} * r.in[3]),
        channels(r.in[3]),
        columns(r.in[2]),
        y(std::move(of_y)),
        x(std::move(of_x)) {}

  ptrdiff_t out_line() const { return static_cast<ptrdiff_t>(x.size()) * channels; }
  const Tap<W>& RowTap(ptrdiff_t row) const { return y[static_cast<size_t>(row) % y.size()]; }
  // Where the image of an output row starts.
  ptrdiff_t ImageStart(ptrdiff_t row) const {
    return row / static_cast<ptrdiff_t>(y.size()) * image;
  }

  ptrdiff_t rows;  // of all outputs
  ptrdiff_t image;
  ptrdiff_t line;
  ptrdiff_t channels;
  ptrdiff_t columns;
  std::vector<Tap<W>> y;
  std::vector<Tap<W>> x;
};

template <class T, class W>
std::shared_ptr<const Routine> WideRoutine(Bilinear<W> bilinear) {
  return RoutineOf([b = std::move(bilinear)](const RunArguments& arguments) {
    auto* to = static_cast<T*>(arguments.outputs[0]);
    for (ptrdiff_t row = 0; row < b.rows; ++row) {
      const Tap<W>& y = b.RowTap(row);
      const T* const image = static_cast<const T*>(arguments.inputs[0]) + b.ImageStart(row);
      const T* const upper = image + y.low * b.line;
      const T* const lower = image + y.high * b.line;
      for (const Tap<W>& x : b.x) {
        const ptrdiff_t low = x.low * b.channels;
        const ptrdiff_t high = x.high * b.channels;
        for (ptrdiff_t i = 0; i < b.channels; ++i) {
          *to++ = Blend(upper[low + i], lower[low + i], upper[high + i], lower[high + i], y, x);
        }
      }
    }
  });
}

// Pixels in ONNX Runtime's order of operations: the weights of a pixel are multiplied first.
void BlendPixels(const float* const (&pixels)[4], const Tap<float>& y, const Tap<float>& x,
                 ptrdiff_t channels, float* to) {
  const float weights[] = {x.weight_low * y.weight_low, x.weight_high * y.weight_low,
                           x.weight_low * y.weight_high, x.weight_high * y.weight_high};
  for (ptrdiff_t i = 0; i < channels; ++i) {
    to[i] = weights[0] * pixels[0][i] + weights[1] * pixels[1][i] + weights[2] * pixels[2][i] +
            weights[3] * pixels[3][i];
  }
}

std::shared_ptr<const Routine> RoutineByScale(Bilinear<float> bilinear) {
  return RoutineOf([b = std::move(bilinear)](const RunArguments& arguments) {
    if (b.rows == 0 || b.out_line() == 0) return;
    const auto run_row = [&](ptrdiff_t row) {
      const Tap<float>& y = b.RowTap(row);
      const float* const image = static_cast<const float*>(arguments.inputs[0]) + b.ImageStart(row);
      const float* const upper = image + y.low * b.line;
      const float* const lower = image + y.high * b.line;
      float* to = static_cast<float*>(arguments.outputs[0]) + row * b.out_line();
      for (const Tap<float>& x : b.x) {
        const ptrdiff_t low = x.low * b.channels;
        const ptrdiff_t high = x.high * b.channels;
        BlendPixels({upper + low, upper + high, lower + low, lower + high}, y, x, b.channels, to);
        to += b.channels;
      }
    };
    ForParts(arguments.context, b.rows,
             kLeastBytesOfThread / (ptrdiff_t{sizeof(float)} * b.out_line()) + 1,
             [&](ptrdiff_t first, ptrdiff_t last) {
               for (ptrdiff_t row = first; row < last; ++row) run_row(row);
             });
  });
}

// 8 bits, line by line by the kernel.
template <class T, class W>
class BytesRoutine final : public Routine {
 public:
  using Line = BlendLine<T, W>;
  using Function = void (*)(const Line&);

  BytesRoutine(Bilinear<W> bilinear, Function function)
      : b_(std::move(bilinear)), function_(function) {}

  Status Run(const RunArguments& arguments) const override {
    if (b_.rows == 0 || b_.out_line() == 0) return {};
    const ptrdiff_t least = kLeastBytesOfThread / b_.out_line() + 1;
    const int parts = PartsOf(arguments.context, b_.rows, least);
    const size_t bytes =
        static_cast<size_t>(Line::ScratchSize(b_.columns, b_.channels)) * sizeof(W);
    for (int part = 0; part < parts; ++part) {
      if (arguments.context.Scratch(part, bytes) != nullptr) continue;
      return OutOfMemory("no memory for the scratch of an interpolation");
    }
    ForNumberedParts(
        arguments.context, parts, b_.rows, [&](int part, ptrdiff_t first, ptrdiff_t last) {
          auto* const scratch = static_cast<W*>(arguments.context.Scratch(part, bytes));
          for (ptrdiff_t row = first; row < last; ++row) {
            RunRow(arguments, row, scratch);
          }
        });
    return {};
  }

 private:
  void RunRow(const RunArguments& arguments, ptrdiff_t row, W* scratch) const {
    const Tap<W>& y = b_.RowTap(row);
    const T* const image = static_cast<const T*>(arguments.inputs[0]) + b_.ImageStart(row);
    T* const out = static_cast<T*>(arguments.outputs[0]) + row * b_.out_line();
    function_({image + y.low * b_.line, image + y.high * b_.line, b_.columns, y.weight_low,
               y.weight_high, b_.x.data(), static_cast<ptrdiff_t>(b_.x.size()), b_.channels, out,
               scratch});
  }

  Bilinear<W> b_;
  Function function_;
};

// The weight of the upper row or column of a tap. Beyond the sides of an image both are the same
// one. There, all weights of ten bits give the same result, because their sums are exact. Sums of
// float32 are rounded unless the weights have few bits.
double Fraction(const Tap<float>& tap) { return static_cast<double>(tap.weight_high); }
double Fraction(const Tap<int32_t>& tap) {
  return tap.low == tap.high ? 0 : tap.weight_high / 1024.0;
}

// The number of bits, at least one, of the weights of an axis, which have the type W. Nothing if
// they have more bits than ByteBlend takes for lines.
template <class W>
std::optional<int> BitsOf(const ResizeAxis& axis) {
  constexpr int kMostOutputs = 1 << 16;  // for the time that asking takes
  if (axis.out > kMostOutputs) return std::nullopt;
  for (int bits = 1; bits <= ByteBlend::kMostLineShift; ++bits) {
    int o = 0;
    const auto fits = [&] {
      const double high = std::ldexp(Fraction(TapOf(axis, o, W())), bits);
      return high == std::floor(high);
    };
    while (o < axis.out && fits()) ++o;
    if (o == axis.out) return bits;
  }
  return std::nullopt;
}

// The number of bits of the weights of each axis, if they are few. Images that are made two, four
// or eight times as large mostly have such weights. Neither float32 nor ten bits round anything
// then, so integers give the same numbers.
struct FewBits {
  int y;
  int x;
};

template <class W>
std::optional<FewBits> FewBitsOf(const Resizing& r) {
  const std::optional<int> y = BitsOf<W>(r.y());
  const std::optional<int> x = BitsOf<W>(r.x());
  if (!y || !x || *y + *x > ByteBlend::kMostShift) return std::nullopt;
  return FewBits{*y, *x};
}

// The taps with weights of so many bits.
template <class W>
std::vector<Tap<int32_t>> MakeTaps(const ResizeAxis& axis, int bits) {
  std::vector<Tap<int32_t>> taps;
  taps.reserve(static_cast<size_t>(axis.out));
  for (int o = 0; o < axis.out; ++o) {
    const Tap<W> tap = TapOf(axis, o, W());
    const double high = tap.low == tap.high ? 0 : std::ldexp(Fraction(tap), bits);
    const auto weight = static_cast<int32_t>(high);
    taps.push_back({tap.low, tap.high, (1 << bits) - weight, weight});
  }
  return taps;
}

// Both types of bytes.
std::shared_ptr<const Routine> FewBitsRoutine(Bilinear<int32_t> bilinear, int shift, bool is_signed,
                                              const LineRoutines& lines) {
  return RoutineOf(
      [b = std::move(bilinear), shift, is_signed, &lines](const RunArguments& arguments) {
        if (b.rows == 0 || b.out_line() == 0) return;
        const auto run_row = [&](ptrdiff_t row) {
          const Tap<int32_t>& y = b.RowTap(row);
          const auto* const image =
              static_cast<const uint8_t*>(arguments.inputs[0]) + b.ImageStart(row);
          lines.blend_bytes({image + y.low * b.line, image + y.high * b.line, b.columns,
                             y.weight_low, y.weight_high, b.x.data(),
                             static_cast<ptrdiff_t>(b.x.size()), b.channels, shift, is_signed,
                             static_cast<uint8_t*>(arguments.outputs[0]) + row * b.out_line()});
        };
        ForParts(arguments.context, b.rows, kLeastBytesOfThread / b.out_line() + 1,
                 [&](ptrdiff_t first, ptrdiff_t last) {
                   for (ptrdiff_t row = first; row < last; ++row) run_row(row);
                 });
      });
}

// The routine of bytes T: by weights of few bits, or else by those of W.
template <class T, class W>
std::shared_ptr<const Routine> ByteRoutine(const Resizing& r, const LineRoutines& lines,
                                           void (*blend)(const BlendLine<T, W>&)) {
  const std::optional<FewBits> few = FewBitsOf<W>(r);
  if (!few) return std::make_shared<BytesRoutine<T, W>>(Bilinear<W>(r), blend);
  return FewBitsRoutine({r, MakeTaps<W>(r.y(), few->y), MakeTaps<W>(r.x(), few->x)},
                        few->y + few->x, std::is_signed_v<T>, lines);
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

// Whether a scale is that of the extents but for rounding.
bool IsScaleOf(float scale, int in, int out) {
  return std::fabs(double{scale} * in - out) <= 1e-6 * out;
}

ShapesResult InferResizeBilinear(const LayerView& layer) {
  const auto& op = layer.op<ResizeBilinear>();
  if (op.align_corners && op.half_pixel_centers) {
    return layer.Invalid("aligns corners and centres of pixels at once");
  }
  const bool has_scales = op.height_scale != 0 || op.width_scale != 0;
  ShapesResult shapes = InferResize<ResizeBilinear>(layer);
  if (!shapes.ok() || !has_scales) return shapes;
  const Shape& x = layer.input(0).shape;
  if (!IsScaleOf(op.height_scale, x[1], op.height) || !IsScaleOf(op.width_scale, x[2], op.width)) {
    return layer.Invalid("has the scales " + std::to_string(op.height_scale) + " and " +
                         std::to_string(op.width_scale) + ", not those of its extents");
  }
  return shapes;
}

ShapesResult InferResizeNearestNeighbor(const LayerView& layer) {
  return InferResize<ResizeNearestNeighbor>(layer);
}

// Whether the weights of its float32 interpolation have so few bits that bytes take integers.
bool ResizesByFewBits(const LayerView& layer) {
  if (!InferResizeBilinear(layer).ok()) return false;
  return FewBitsOf<float>(ResizingOf<ResizeBilinear>(layer)).has_value();
}

Result<PreparedLayer> PrepareResizeBilinear(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Resizing r = ResizingOf<ResizeBilinear>(layer);
  const Type type = layer.output().type;
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  const ResizeBilinear& op = layer.op<ResizeBilinear>();
  PreparedLayer prepared;
  if (op.height_scale > 0 && type == Type::kFloat32) {
    prepared.routine = RoutineByScale(
        {r, TapsByScale(r.y(), op.height_scale), TapsByScale(r.x(), op.width_scale)});
  } else if (type == Type::kInt8) {
    prepared.routine = ByteRoutine<int8_t>(r, **lines, (*lines)->blend_fixed);
  } else if (type == Type::kUInt8) {
    prepared.routine = ByteRoutine<uint8_t>(r, **lines, (*lines)->blend_real);
  } else if (type == Type::kInt16) {
    prepared.routine = WideRoutine<int16_t>(Bilinear<int32_t>(r));
  } else {
    prepared.routine = WideRoutine<float>(Bilinear<float>(r));
  }
  prepared.constant_bytes =
      (static_cast<size_t>(r.out[1]) + static_cast<size_t>(r.out[2])) * sizeof(Tap<float>);
  return prepared;
}

Result<PreparedLayer> PrepareResizeNearestNeighbor(const LayerView& layer, const LayerOptions&) {
  const auto& op = layer.op<ResizeNearestNeighbor>();
  const Options options{op.align_corners, op.half_pixel_centers};
  const Shape& in = layer.input(0).shape;
  return PrepareIndexed(layer, {All(in[0]), Nearest(in[1], op.height, options),
                                Nearest(in[2], op.width, options), All(in[3])});
}

std::string FloatOfResize(const LayerView& layer) {
  const Tensor& input = layer.input(0);
  if (input.type != Type::kUInt8 || ResizesByFewBits(layer)) return {};
  return "it interpolates uint8 '" + input.name + "' in float32";
}

}  // namespace

constinit const OperatorRow ResizeBilinear::kRow = {
    .name = "RESIZE_BILINEAR",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kQuantized | kFloat,
    .infer = InferResizeBilinear,
    .candidates = Candidate{"bilinear", PrepareResizeBilinear},
    .forces_float = FloatOfResize,
    .list_bytes = BoundPlaces};

constinit const OperatorRow ResizeNearestNeighbor::kRow = {
    .name = "RESIZE_NEAREST_NEIGHBOR",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kAnyType,
    .infer = InferResizeNearestNeighbor,
    .candidates = Moves("copy", PrepareResizeNearestNeighbor),
    .list_bytes = BoundPlaces};

}  // namespace intaglio::nn
