// QUANTIZE and DEQUANTIZE: the borders between real and quantized numbers, and between two
// quantizations.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/half_even.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/table.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// round(x / scale) + zero point in float32, clamped; NaN gives the zero point.
template <class T>
class QuantizeRoutine final : public Routine {
 public:
  QuantizeRoutine(const Affine& q, size_t count, const LineRoutines& lines)
      : q_(q), count_(static_cast<ptrdiff_t>(count)) {
    if (sizeof(T) == 1 && LineRoutines::IsQuantizeScale(q.scale)) quantize_ = lines.quantize;
  }

  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const float*>(arguments.inputs[0]);
    auto* const out = static_cast<T*>(arguments.outputs[0]);
    ForParts(arguments.context, count_, kLeastBytesOfThread,
             [&](ptrdiff_t first, ptrdiff_t last) { Run(in + first, out + first, last - first); });
    return {};
  }

 private:
  void Run(const float* in, T* out, ptrdiff_t count) const {
    if (quantize_ != nullptr)
      return quantize_(in, q_.scale, {std::is_signed_v<T>, q_.zero_point}, out, count);
    ptrdiff_t i = 0;
    for (; i + kLanes <= count; i += kLanes) Convert(in + i, out + i);
    if (i == count) return;
    float last[kLanes] = {};
    T results[kLanes];
    std::copy(in + i, in + count, last);
    Convert(last, results);
    std::copy(results, results + (count - i), out + i);
  }

  // These are the compiler's own vector types, because the compiler does not vectorize loops that
  // compare reals.
  static constexpr ptrdiff_t kLanes = 16;
  static constexpr ptrdiff_t kQuad = 4;
  typedef float Reals __attribute__((vector_size(kQuad * sizeof(float))));
  typedef int32_t Words __attribute__((vector_size(kQuad * sizeof(int32_t))));

  void Convert(const float* in, T* out) const {
    int32_t rounded[kLanes];
    for (ptrdiff_t i = 0; i < kLanes; i += kQuad) {
      const Words words = Rounded(in + i);
      std::memcpy(rounded + i, &words, sizeof words);
    }
    for (ptrdiff_t i = 0; i < kLanes; ++i) out[i] = static_cast<T>(rounded[i]);
  }

  // The limits are integers, so clamping may come before rounding. Adding a half less its last bit
  // rounds ties away from zero and changes no other result, because clamped numbers are below 2^23.
  Words Rounded(const float* in) const {
    constexpr float kAlmostHalf = 0x1.fffffep-2f;
    const Reals zero = {};
    const Reals low = zero + static_cast<float>(std::numeric_limits<T>::min() - q_.zero_point);
    const Reals high = zero + static_cast<float>(std::numeric_limits<T>::max() - q_.zero_point);
    Reals x;
    std::memcpy(&x, in, sizeof x);
    x /= q_.scale;
    x = x > high ? high : x;
    x = x < low ? low : x;
    x = x == x ? x : zero;
    x += x < zero ? zero - kAlmostHalf : zero + kAlmostHalf;
    return __builtin_convertvector(x, Words) + q_.zero_point;
  }

  Affine q_;
  ptrdiff_t count_;
  decltype(LineRoutines::quantize) quantize_ = nullptr;
};

// x - zero point, requantized.
struct Requantization {
  QuantizedMultiplier multiplier;
  int32_t from = 0;
  int32_t to = 0;

  int32_t operator()(int32_t x, Range range) const {
    const int32_t centered = AddAndClamp(x, -from, RangeOf(Type::kInt32));
    return AddAndClamp(Requantize(centered, multiplier), to, range);
  }
};

template <class From, class To>
class RequantizeRoutine final : public Routine {
 public:
  RequantizeRoutine(const Requantization& r, size_t count) : r_(r), count_(count) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const From*>(arguments.inputs[0]);
    auto* const out = static_cast<To*>(arguments.outputs[0]);
    const Requantization r = r_;  // whose fields no store to `out` can change
    constexpr Type kTo = TypeOf<To>;
    for (size_t i = 0; i < count_; ++i) out[i] = static_cast<To>(r(in[i], RangeOf(kTo)));
    return {};
  }

 private:
  Requantization r_;
  size_t count_;
};

// Without an overflow.
template <class T>
auto Difference(T x, int32_t zero_point) {
  using Wide = std::conditional_t<sizeof(T) == sizeof(int32_t), int64_t, int32_t>;
  return Wide{x} - Wide{zero_point};
}

template <class From>
class DequantizeRoutine final : public Routine {
 public:
  DequantizeRoutine(const Affine& q, size_t count, const LineRoutines& lines)
      : q_(q), count_(static_cast<ptrdiff_t>(count)), dequantize_(lines.dequantize) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const From*>(arguments.inputs[0]);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    ForParts(arguments.context, count_, kLeastBytesOfThread,
             [&](ptrdiff_t first, ptrdiff_t last) { Run(in + first, out + first, last - first); });
    return {};
  }

 private:
  void Run(const From* in, float* out, ptrdiff_t count) const {
    if constexpr (sizeof(From) == 1) {
      return dequantize_(in, {std::is_signed_v<From>, q_.zero_point}, q_.scale, out, count);
    }
    for (ptrdiff_t i = 0; i < count; ++i) {
      // Both factors are exact, but for int32.
      out[i] = q_.scale * static_cast<float>(Difference(in[i], q_.zero_point));
    }
  }

  Affine q_;
  ptrdiff_t count_;
  decltype(LineRoutines::dequantize) dequantize_;
};

// One scale and zero point for each index of an axis, whose elements are `inner` apart.
template <class From>
class DequantizeAxisRoutine final : public Routine {
 public:
  DequantizeAxisRoutine(const Quantization& q, size_t inner, size_t count)
      : q_(q), inner_(inner), count_(count) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const From*>(arguments.inputs[0]);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    for (size_t i = 0; i < count_; ++i) {
      const size_t channel = i / inner_ % q_.scales.size();
      const auto difference = Difference(in[i], q_.zero_points[channel]);
      out[i] = q_.scales[channel] * static_cast<float>(difference);
    }
    return {};
  }

 private:
  Quantization q_;
  size_t inner_;
  size_t count_;
};

// A routine of the class template for a type known at run time only.
template <template <class> class R, class... Arguments>
std::shared_ptr<Routine> MakeFor(Type type, const Arguments&... arguments) {
  switch (type) {
    case Type::kInt8:
      return std::make_shared<R<int8_t>>(arguments...);
    case Type::kUInt8:
      return std::make_shared<R<uint8_t>>(arguments...);
    case Type::kInt16:
      return std::make_shared<R<int16_t>>(arguments...);
    default:
      return nullptr;
  }
}

// The same, also for the types that are only dequantized.
template <template <class> class R, class... Arguments>
std::shared_ptr<Routine> MakeForAny(Type type, const Arguments&... arguments) {
  if (type == Type::kInt32) return std::make_shared<R<int32_t>>(arguments...);
  if (type == Type::kUInt16) return std::make_shared<R<uint16_t>>(arguments...);
  return MakeFor<R>(type, arguments...);
}

template <class From>
struct RequantizeFrom {
  template <class To>
  using Routine = RequantizeRoutine<From, To>;
};

bool IsEightBit(Type type) { return type == Type::kInt8 || type == Type::kUInt8; }

Result<Requantization> RequantizationOf(const LayerView& layer) {
  const Result<Affine> to = AffineOf(layer, layer.output());
  if (!to.ok()) return to.status();
  const Result<Affine> from = AffineOf(layer, layer.input(0));
  if (!from.ok()) return from.status();
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, static_cast<double>(from->scale) / static_cast<double>(to->scale));
  if (!multiplier.ok()) return multiplier.status();
  return Requantization{*multiplier, from->zero_point, to->zero_point};
}

const char* NotToBytes(const LayerView& layer, const LayerOptions&) {
  return IsEightBit(layer.output().type) ? nullptr : "the output has more than 8 bits";
}

Result<PreparedLayer> PrepareByTable(const LayerView& layer, const LayerOptions&) {
  const Result<Requantization> r = RequantizationOf(layer);
  if (!r.ok()) return r.status();
  const Range range = RangeOf(layer.output().type);
  return PrepareTable(layer,
                      MakeTable(layer.input(0).type, [&](int32_t x) { return (*r)(x, range); }));
}

Result<PreparedLayer> PrepareRequantize(const LayerView& layer, const LayerOptions&) {
  const Type in = layer.input(0).type;
  const Type out = layer.output().type;
  const Result<Requantization> made = RequantizationOf(layer);
  if (!made.ok()) return made.status();
  const Requantization& r = *made;
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  PreparedLayer prepared;
  switch (in) {
    case Type::kInt8:
      prepared.routine = MakeFor<RequantizeFrom<int8_t>::Routine>(out, r, count);
      break;
    case Type::kUInt8:
      prepared.routine = MakeFor<RequantizeFrom<uint8_t>::Routine>(out, r, count);
      break;
    case Type::kInt16:
      prepared.routine = MakeFor<RequantizeFrom<int16_t>::Routine>(out, r, count);
      if (out == Type::kInt32) {
        prepared.routine = std::make_shared<RequantizeRoutine<int16_t, int32_t>>(r, count);
      }
      break;
    default:
      prepared.routine = MakeFor<RequantizeFrom<int32_t>::Routine>(out, r, count);
  }
  if (prepared.routine == nullptr) {
    return layer.Unsupported(std::string("from ") + NameOf(in) + " to " + NameOf(out));
  }
  return prepared;
}

}  // namespace

Result<PreparedLayer> PrepareQuantize(const LayerView& layer, const LayerOptions& options) {
  const Result<Affine> to = AffineOf(layer, layer.output());
  if (!to.ok()) return to.status();
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  PreparedLayer prepared;
  prepared.routine = MakeFor<QuantizeRoutine>(layer.output().type, *to, count, **lines);
  if (prepared.routine == nullptr) {
    return layer.Unsupported(std::string("from float32 to ") + NameOf(layer.output().type));
  }
  return prepared;
}

namespace {

// ONNX's rules, of which quantizations per axis are a part.
template <class T>
void QuantizeLine(const HalfEvenQuantizer& q, const float* in, ptrdiff_t count, T* out) {
  for (ptrdiff_t i = 0; i < count; ++i) out[i] = static_cast<T>(QuantizeHalfEven(q, in[i]));
}

// Lines of `inner` elements. Line i has quantizer i modulo their number.
struct HalfEvenLines {
  std::vector<HalfEvenQuantizer> quantizers;
  ptrdiff_t inner = 0;
  ptrdiff_t count = 0;
  decltype(FloatLoops::quantize_half_even) bytes = nullptr;

  void Run(Context& context, const float* in, Type type, void* out) const {
    const auto run = [&](const HalfEvenQuantizer& q, ptrdiff_t first, ptrdiff_t last) {
      if (type == Type::kInt16) {
        return QuantizeLine(q, in + first, last - first, static_cast<int16_t*>(out) + first);
      }
      if (type == Type::kUInt16) {
        return QuantizeLine(q, in + first, last - first, static_cast<uint16_t*>(out) + first);
      }
      bytes(q.of_bytes(), in + first, last - first, static_cast<uint8_t*>(out) + first);
    };
    if (quantizers.size() == 1) {
      return ForParts(context, count, kLeastBytesOfThread,
                      [&](ptrdiff_t first, ptrdiff_t last) { run(quantizers[0], first, last); });
    }
    size_t line = 0;
    for (ptrdiff_t first = 0; first < count; first += inner, ++line) {
      run(quantizers[line % quantizers.size()], first, first + inner);
    }
  }
};

Result<HalfEvenLines> HalfEvenLinesOf(const LayerView& layer) {
  const Tensor& output = layer.output();
  const Quantization& q = output.quantization;
  HalfEvenLines lines;
  lines.count = static_cast<ptrdiff_t>(*CountElements(output.shape));
  lines.inner = lines.count;
  if (!q.per_axis()) {
    const Result<HalfEvenQuantizer> one = OutputQuantizer(layer);
    if (!one.ok()) return one.status();
    lines.quantizers.push_back(*one);
    return lines;
  }
  const auto axis = static_cast<size_t>(q.axis);
  if (axis >= output.shape.size() || std::cmp_not_equal(output.shape[axis], q.scales.size())) {
    return layer.Invalid("the output has " + std::to_string(q.scales.size()) +
                         " scales along axis " + std::to_string(q.axis));
  }
  lines.inner = 1;
  for (size_t i = axis + 1; i < output.shape.size(); ++i) lines.inner *= output.shape[i];
  for (size_t i = 0; i < q.scales.size(); ++i) {
    if (!(q.scales[i] > 0)) return layer.Invalid("a scale of the output is 0");
    lines.quantizers.push_back({q.scales[i], q.zero_points[i], RangeOf(output.type)});
  }
  return lines;
}

Result<PreparedLayer> PrepareHalfEvenLines(const LayerView& layer, const LayerOptions& options) {
  const Type type = layer.output().type;
  if (!IsEightBit(type) && type != Type::kInt16 && type != Type::kUInt16) {
    return layer.Unsupported(std::string("from float32 to ") + NameOf(type));
  }
  Result<HalfEvenLines> lines = HalfEvenLinesOf(layer);
  if (!lines.ok()) return lines.status();
  lines->bytes = FloatLoopsOf(options.kernel).quantize_half_even;
  PreparedLayer prepared;
  prepared.routine = RoutineOf([lines = std::move(*lines), type](const RunArguments& arguments) {
    lines.Run(arguments.context, static_cast<const float*>(arguments.inputs[0]), type,
              arguments.outputs[0]);
  });
  return prepared;
}

constexpr Candidate kQuantizeWays[] = {
    {"half-even", PrepareHalfEvenLines, kFloat, NeedsHalfEven, /*bounded=*/0},
    {"quantize", PrepareQuantize, kFloat, nullptr, /*bounded=*/0},
    {"table", PrepareByTable, kEightBit, NotToBytes},
    {"elementwise", PrepareRequantize}};

const char* NotPerAxis(const LayerView& layer, const LayerOptions&) {
  return layer.input(0).quantization.per_axis() ? nullptr : "the input has one scale";
}

Result<PreparedLayer> PrepareDequantizeAxis(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  const Tensor& input = layer.input(0);
  const Result<size_t> inner = QuantizedStride(layer);
  if (!inner.ok()) return inner.status();
  PreparedLayer prepared;
  prepared.routine =
      MakeForAny<DequantizeAxisRoutine>(input.type, input.quantization, *inner, count);
  return prepared;
}

// Constants of float16, which are float32 once they are read.
Result<PreparedLayer> PrepareCopy(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  PreparedLayer prepared;
  prepared.routine = RoutineOf([count](const RunArguments& arguments) {
    std::memmove(arguments.outputs[0], arguments.inputs[0], count * sizeof(float));
  });
  prepared.alias = true;
  return prepared;
}

Result<PreparedLayer> PrepareDequantize(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  const Result<Affine> from = AffineOfAny(layer, layer.input(0));
  if (!from.ok()) return from.status();
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  PreparedLayer prepared;
  prepared.routine = MakeForAny<DequantizeRoutine>(layer.input(0).type, *from, count, **lines);
  return prepared;
}

constexpr TypeSet kDequantized = kQuantized | kUInt16 | SetOf(Type::kInt32);

constexpr Candidate kDequantizeWays[] = {
    Moves("copy", PrepareCopy, 0, kFloat),
    {"dequantize-axis", PrepareDequantizeAxis, kDequantized, NotPerAxis},
    {"dequantize", PrepareDequantize, kDequantized}};

}  // namespace

constinit const OperatorRow Quantize::kRow =
    UnaryRow("QUANTIZE", kQuantized | SetOf(Type::kInt32) | kFloat, kQuantizeWays,
             "to int8, uint8, int16; int16 to int32; float32 to uint16 by ONNX's rules");

constinit const OperatorRow Dequantize::kRow =
    UnaryRow("DEQUANTIZE", kDequantized | kFloat, kDequantizeWays, "to float32");

}  // namespace intaglio::nn
