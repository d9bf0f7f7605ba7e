// SOFTMAX over the last dimension in fixed point, as gemmlowp's functions give it: exp of the
// differences to the row's maximum, their sum, and the sum's reciprocal.
#include "intaglio/nn/ops/reduce/softmax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>

#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// Differences are in [-32, 0) with 26 fraction bits, sums have 19.
constexpr int kDifferenceIntegers = 5;
constexpr int kSumIntegers = 12;

// By -difference: exp(difference * beta * scale) with 31 fraction bits. 0 where the difference is
// out of range.
using Exps = std::array<int32_t, 256>;

// Inputs are bytes, int8 numbers among them moved up by 128.
template <class Out>
class SoftmaxRoutine final : public Routine {
 public:
  SoftmaxRoutine(ptrdiff_t rows, ptrdiff_t depth, const Exps& exps, const LineRoutines& lines,
                 const LookupRoutines& lookups)
      : rows_(rows),
        depth_(depth),
        terms_([&](int i) {
          return RoundingDivideByPowerOfTwo<Scalar, kSumIntegers>(exps[static_cast<size_t>(i)]);
        }),
        exps_([&](int i) { return LiveOrZero(exps[static_cast<size_t>(i)]); }),
        lines_(lines),
        lookups_(lookups) {
    std::reverse_copy(exps.begin(), exps.end(), reversed_exps_.begin());
    live_ = std::count_if(exps.begin(), exps.end(), [](int32_t e) { return e >= kLeastLive; });
  }

  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const uint8_t*>(arguments.inputs[0]);
    auto* const out = static_cast<Out*>(arguments.outputs[0]);
    ForParts(arguments.context, rows_, kLeastBytesOfThread / 4 / std::max<ptrdiff_t>(1, depth_) + 1,
             [&](ptrdiff_t first, ptrdiff_t last) {
               for (ptrdiff_t row = first; row < last; row += kRowsAtOnce) {
                 RunRows(in + row * depth_, out + row * depth_, std::min(kRowsAtOnce, last - row));
               }
             });
    return {};
  }

 private:
  static constexpr ptrdiff_t kRowsAtOnce = 64;
  static constexpr uint8_t kFlip = std::is_same_v<Out, uint8_t> ? 0 : 0x80;
  static constexpr int32_t kMin = std::numeric_limits<Out>::min();
  static constexpr int32_t kMax = std::numeric_limits<Out>::max();
  static constexpr int kResultBits = 8 * static_cast<int>(sizeof(Out));  // of fraction
  static constexpr LineOutput kOutput = {std::is_signed_v<Out>, kMin, kMin, kMax};
  // Larger sums, which int16's shorter rows do not have, give 0 in 8 bits as this one does.
  static constexpr int64_t kMostSum = std::numeric_limits<int32_t>::max();
  // Smaller ones give 0 in 8 bits, whatever the sum: it is at least 1.
  static constexpr int32_t kLeastLive = 1 << 22;
  // A table that ends in zeros may be looked up in half the registers.
  static int32_t LiveOrZero(int32_t exp) { return exp < kLeastLive ? 0 : exp; }

  void RunRows(const uint8_t* in, Out* out, ptrdiff_t count) const {
    RowSum sums[kRowsAtOnce];
    lookups_.sum_rows(terms_, {in, kFlip, count, depth_}, sums);
    int32_t fractions[kRowsAtOnce];
    int32_t reciprocals[kRowsAtOnce];
    int zeros[kRowsAtOnce];
    for (ptrdiff_t r = 0; r < count; ++r) {
      // sum = (1 + fraction) * 2^(kSumIntegers - zeros), with the fraction in [0, 1).
      const auto sum = static_cast<uint32_t>(std::min<int64_t>(sums[r].sum, kMostSum));
      zeros[r] = std::countl_zero(sum);
      fractions[r] = static_cast<int32_t>((sum << zeros[r]) - (uint32_t{1} << 31));
    }
    lines_.reciprocals(fractions, reciprocals, count);
    RowScale scales[kRowsAtOnce];
    for (ptrdiff_t r = 0; r < count; ++r) {
      const int shift = kSumIntegers - zeros[r] + 31 - kResultBits;
      scales[r] = {sums[r].largest, {reciprocals[r], -shift}};
      if (shift > 31) scales[r].scale = {};  // below 2^-12, which rounds to 0
    }
    if (sizeof(Out) == 1 && lookups_.scale_rows != nullptr) {
      return lookups_.scale_rows(exps_, {in, kFlip, count, depth_}, scales,
                                 reinterpret_cast<uint8_t*>(out));
    }
    for (ptrdiff_t r = 0; r < count; ++r, in += depth_, out += depth_) {
      const auto [largest, scale] = scales[r];
      WriteRow(in, reversed_exps_.data() + 255 - largest, largest, scale, out);
    }
  }

  // exps[i] is that of the byte i, at most `largest`.
  void WriteRow(const uint8_t* in, const int32_t* exps, int32_t largest,
                const QuantizedMultiplier& scale, Out* out) const {
    if constexpr (sizeof(Out) > 1) {
      for (ptrdiff_t i = 0; i < depth_; ++i) {
        const int32_t value = RequantizeDoubleRounding<Scalar>(exps[in[i] ^ kFlip], scale.mantissa,
                                                               0, scale.right_shift());
        out[i] = static_cast<Out>(std::min(value + kMin, kMax));
      }
    } else if (2 * depth_ >= live_) {
      Translate(in, exps, largest, scale, out);
    } else {
      // In whole vectors, however wide, which spares the routine a tail.
      constexpr ptrdiff_t kVector = 16;
      int32_t found[128 + kVector] = {};
      Out results[128 + kVector];
      for (ptrdiff_t i = 0; i < depth_; ++i) found[i] = exps[in[i] ^ kFlip];
      const ptrdiff_t whole = (depth_ + kVector - 1) / kVector * kVector;
      lines_.requantize(found, scale, kOutput, results, whole);
      std::copy_n(results, depth_, out);
    }
  }

  // Computes the results of all bytes, and looks up those of the row.
  void Translate(const uint8_t* in, const int32_t* exps, int32_t largest,
                 const QuantizedMultiplier& scale, Out* out) const {
    std::array<Out, 256> results;
    results.fill(static_cast<Out>(kMin));
    // Numbers in either half of the table lie in the other, where they are moved.
    const ptrdiff_t end = largest + 1;
    for (ptrdiff_t first = std::max<ptrdiff_t>(0, end - live_); first < end;) {
      const ptrdiff_t next = kFlip == 0 ? end : std::min<ptrdiff_t>(end, first < 128 ? 128 : 256);
      lines_.requantize(exps + first, scale, kOutput, results.data() + (first ^ kFlip),
                        next - first);
      first = next;
    }
    lookups_.translate(reinterpret_cast<const uint8_t*>(results.data()), in,
                       reinterpret_cast<uint8_t*>(out), depth_);
  }

  ptrdiff_t rows_;
  ptrdiff_t depth_;
  Exps reversed_exps_;
  TermTable terms_;  // exps rounded to a sum's fraction bits
  ExpTable exps_;
  ptrdiff_t live_;  // differences from 0 on that may give more than 0 in 8 bits
  const LineRoutines& lines_;
  const LookupRoutines& lookups_;
};

// exp of every difference that 8 bits can have.
Result<Exps> MakeExps(const LayerView& layer, float beta, float scale) {
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
  Exps exps{};
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

}  // namespace

Result<std::array<int32_t, 256>> SoftmaxExpsOf(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckOutput(layer));
  if (layer.input(0).shape.empty()) return layer.Invalid("the input has no dimension");
  return MakeExps(layer, layer.op<Softmax>().beta, layer.input(0).quantization.scales[0]);
}

namespace {

Result<PreparedLayer> PrepareSoftmax8(const LayerView& layer, const LayerOptions& options) {
  const Result<Exps> exps = SoftmaxExpsOf(layer);
  if (!exps.ok()) return exps.status();
  const Tensor& in = layer.input(0);
  const ptrdiff_t depth = in.shape.back();
  const ptrdiff_t rows = depth == 0 ? 0 : static_cast<ptrdiff_t>(*CountElements(in.shape) / depth);
  const Type type = layer.output().type;
  const bool widens = type != in.type;
  if (widens && depth >= 1 << kSumIntegers) {
    return layer.Unsupported("rows of " + std::to_string(depth) + " elements to int16");
  }
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  const Result<const LookupRoutines*> lookups = LookupsOf(options.kernel);
  if (!lookups.ok()) return layer.Wrap(lookups.status());
  PreparedLayer prepared;
  prepared.routine =
      VisitType<int8_t, uint8_t, int16_t>(type, [&](auto zero) -> std::shared_ptr<const Routine> {
        return std::make_shared<SoftmaxRoutine<decltype(zero)>>(rows, depth, *exps, **lines,
                                                                **lookups);
      });
  prepared.constant_bytes = sizeof(Exps) + sizeof(TermTable) + sizeof(ExpTable);
  prepared.in_place_inputs = widens ? 0 : 1;
  return prepared;
}

constexpr Candidate kSoftmaxWays[] = {{"softmax", PrepareSoftmax8, kEightBit},
                                      {"softmax", PrepareSoftmax16, kInt16},
                                      {"softmax", PrepareSoftmaxFloat, kFloat}};

}  // namespace

constinit const OperatorRow Softmax::kRow =
    UnaryRow("SOFTMAX", kQuantized | kFloat, kSoftmaxWays,
             "output of 8 bits in steps of 1/256, of 16 in steps of 2^-15; int8 also to int16");

}  // namespace intaglio::nn
