// SOFTMAX over the last dimension in fixed point, as gemmlowp's functions give it: exp of the
// differences to the row's maximum, their sum, and the sum's reciprocal.
#include "intaglio/nn/ops/softmax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>

#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/gemm/lines.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/ops/parallel.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

// Differences are in [-32, 0) with 26 fraction bits, sums have 19.
constexpr int kDifferenceIntegers = 5;
constexpr int kSumIntegers = 12;

template <class T, class Out>
class SoftmaxRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const T*>(arguments.inputs[0]);
    auto* const out = static_cast<Out*>(arguments.outputs[0]);
    ForParts(arguments.context, rows, kLeastBytesOfThread / 4 / std::max(1, depth) + 1,
             [&](ptrdiff_t first, ptrdiff_t last) {
               for (ptrdiff_t row = first; row < last; ++row) {
                 RunRow(in + row * depth, out + row * depth);
               }
             });
    return {};
  }

  ptrdiff_t rows = 0;
  int depth = 0;
  // By -difference: exp(difference * beta * scale) with 31 fraction bits, and rounded to a
  // sum's 19. 0 where the difference is out of range.
  std::array<int32_t, 256> exps = {};
  std::array<int32_t, 256> terms = {};
  decltype(LineRoutines::requantize) requantize = nullptr;

 private:
  void RunRow(const T* in, Out* out) const {
    int32_t max = std::numeric_limits<T>::min();
    for (int i = 0; i < depth; ++i) max = std::max<int32_t>(max, in[i]);
    int64_t sum = 0;
    for (int i = 0; i < depth; ++i) sum += terms[static_cast<size_t>(max - in[i])];
    constexpr int32_t kMin = std::numeric_limits<Out>::min();
    constexpr int32_t kMax = std::numeric_limits<Out>::max();
    // Results below 2^-12 round to 0 in 8 bits; int16 has shorter rows.
    if (sum > std::numeric_limits<int32_t>::max()) {
      std::fill_n(out, depth, static_cast<Out>(kMin));
      return;
    }
    // sum = (1 + fraction) * 2^bits, with the fraction in [0, 1).
    const int zeros = std::countl_zero(static_cast<uint32_t>(sum));
    const int bits = kSumIntegers - zeros;
    const auto fraction =
        static_cast<int32_t>((static_cast<uint32_t>(sum) << zeros) - (uint32_t{1} << 31));
    const int32_t reciprocal = OneOverOnePlusX(FixedPoint<Scalar, 0>::FromRaw(fraction)).raw();
    const int shift = bits + 31 - 8 * static_cast<int>(sizeof(Out));  // to as many fraction bits
    if (shift > 31) {
      std::fill_n(out, depth, static_cast<Out>(kMin));
      return;
    }
    if constexpr (sizeof(Out) == 1) {
      const LineOutput output{std::is_signed_v<Out>, kMin, kMin, kMax};
      constexpr int kRun = 256;
      int32_t run[kRun];
      for (int i = 0; i < depth; i += kRun) {
        const int count = std::min(kRun, depth - i);
        for (int j = 0; j < count; ++j) run[j] = exps[static_cast<size_t>(max - in[i + j])];
        requantize(run, {reciprocal, -shift}, output, out + i, count);
      }
      return;
    }
    for (int i = 0; i < depth; ++i) {
      const int32_t product = SaturatingRoundingDoublingHighMul<Scalar>(
          reciprocal, exps[static_cast<size_t>(max - in[i])]);
      const int32_t value = RoundingDivideByPowerOfTwo<Scalar>(product, shift);
      out[i] = static_cast<Out>(std::clamp(value + kMin, kMin, kMax));
    }
  }
};

// exp of every difference that 8 bits can have.
Result<std::array<int32_t, 256>> MakeExps(const LayerView& layer, float beta, float scale) {
  const double real = std::min(
      static_cast<double>(beta) * static_cast<double>(scale) * (1 << (31 - kDifferenceIntegers)),
      static_cast<double>(std::numeric_limits<int32_t>::max()));
  if (!(real > 1)) {
    return layer.Invalid("beta " + std::to_string(beta) + " and input scale " +
                         std::to_string(scale) + " are too small");
  }
  // A real number just below 2^31 may round up to the exponent 32, which QuantizeMultiplier
  // refuses.
  int exponent = 0;
  const double mantissa = std::frexp(real, &exponent);
  int64_t fixed = std::llround(mantissa * 2147483648.0);
  if (fixed == int64_t{1} << 31) {
    fixed /= 2;
    ++exponent;
  }
  const double limit =
      std::floor(31.0 * (1 << (31 - kDifferenceIntegers)) / std::ldexp(1, exponent));
  std::array<int32_t, 256> exps{};
  for (int32_t difference = 0; difference < 256 && difference <= limit; ++difference) {
    const auto shifted = static_cast<int32_t>(-(int64_t{difference} << exponent));
    const int32_t scaled =
        SaturatingRoundingDoublingHighMul<Scalar>(shifted, static_cast<int32_t>(fixed));
    exps[static_cast<size_t>(difference)] =
        ExpOnNegativeValues(FixedPoint<Scalar, kDifferenceIntegers>::FromRaw(scaled)).raw();
  }
  return exps;
}

// The output is 0 to 255/256 in steps of 1/256, or of 2^-16 in int16. TFLite ignores what a uint8
// output says of itself.
Status CheckOutput(const LayerView& layer) {
  const Type type = layer.output().type;
  const bool widens = layer.input(0).type == Type::kInt8 && type == Type::kInt16;
  if (type != layer.input(0).type && !widens) return SameTypeInOut(layer).status();
  const Result<Affine> input = AffineOf(layer, layer.input(0));
  if (!input.ok()) return input.status();
  const Result<Affine> q = AffineOf(layer, layer.output());
  if (!q.ok()) return q.status();
  if (type == Type::kUInt8) return {};
  const float steps = widens ? 65536.0f : 256.0f;
  if (q->zero_point == RangeOf(type).min && std::fabs(q->scale * steps - 1) <= 0.001f) return {};
  return layer.Unsupported("the output has the scale " + std::to_string(q->scale) +
                           " and the zero point " + std::to_string(q->zero_point) + "; 1/" +
                           (widens ? "65536 and -32768" : "256 and -128") + " are supported");
}

template <class T, class Out>
std::shared_ptr<Routine> MakeRoutine(int64_t rows, int depth, const std::array<int32_t, 256>& exps,
                                     const LineRoutines& lines) {
  auto routine = std::make_shared<SoftmaxRoutine<T, Out>>();
  routine->rows = static_cast<ptrdiff_t>(rows);
  routine->depth = depth;
  routine->requantize = lines.requantize;
  routine->exps = exps;
  for (size_t i = 0; i < exps.size(); ++i) {
    routine->terms[i] = RoundingDivideByPowerOfTwo<Scalar, kSumIntegers>(exps[i]);
  }
  return routine;
}

}  // namespace

Result<std::array<int32_t, 256>> SoftmaxExpsOf(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckOutput(layer));
  if (layer.input(0).shape.empty()) return layer.Invalid("the input has no dimension");
  return MakeExps(layer, layer.op<Softmax>().beta, layer.input(0).quantization.scales[0]);
}

Result<PreparedLayer> PrepareSoftmax(const LayerView& layer, const LayerOptions& options) {
  if (layer.input(0).type == Type::kInt16) return PrepareSoftmax16(layer);
  if (layer.input(0).type == Type::kFloat32) return PrepareSoftmaxFloat(layer);
  const Result<std::array<int32_t, 256>> exps = SoftmaxExpsOf(layer);
  if (!exps.ok()) return exps.status();
  const Tensor& in = layer.input(0);
  const int depth = in.shape.back();
  const int64_t rows = depth == 0 ? 0 : *CountElements(in.shape) / depth;
  const bool widens = layer.output().type == Type::kInt16;
  if (widens && depth >= 1 << kSumIntegers) {
    return layer.Unsupported("rows of " + std::to_string(depth) + " elements to int16");
  }
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  PreparedLayer prepared;
  if (widens) {
    prepared.routine = MakeRoutine<int8_t, int16_t>(rows, depth, *exps, **lines);
  } else if (in.type == Type::kInt8) {
    prepared.routine = MakeRoutine<int8_t, int8_t>(rows, depth, *exps, **lines);
  } else {
    prepared.routine = MakeRoutine<uint8_t, uint8_t>(rows, depth, *exps, **lines);
  }
  prepared.name = RoutineName(in.type, "softmax");
  prepared.constant_bytes = 2 * sizeof(*exps);
  prepared.in_place_inputs = widens ? 0 : 1;
  return prepared;
}

}  // namespace intaglio::nn
