// ADD and SUB. Both operands are brought to the scale 2 max(S1, S2) / 2^20, added there, and the
// sum is brought to the output's scale, each time by a fixed-point multiplier. SUB negates the
// second. int16 has 2^15 for 2^20.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/nn/ops/elementwise/half_even_pairs.h"
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/byte_sum.h"
#include "intaglio/nn/ops/support/fit_sum.h"
#include "intaglio/nn/ops/support/half_even.h"
#include "intaglio/nn/ops/support/line_pairs.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

// Below 1, as TFLite asks: no sum of terms can overflow then.
Result<QuantizedMultiplier> MultiplierBelowOne(const LayerView& layer, double real) {
  const Result<QuantizedMultiplier> multiplier = MakeMultiplier(layer, real);
  if (!multiplier.ok() || (multiplier->exponent <= 0 && !(real >= 1))) return multiplier;
  return layer.Unsupported("the multiplier of the scales is " + std::to_string(real) +
                           "; it must be below 1");
}

// The sum of numbers without zero points.
Result<SumOfBytes> MakeSum(const LayerView& layer, const ThreeAffines& q, int shift, int sign) {
  const double twice_max = static_cast<double>(2 * std::max(q.a.scale, q.b.scale));
  const Result<QuantizedMultiplier> a =
      MultiplierBelowOne(layer, static_cast<double>(q.a.scale) / twice_max);
  if (!a.ok()) return a.status();
  const Result<QuantizedMultiplier> b =
      MultiplierBelowOne(layer, static_cast<double>(q.b.scale) / twice_max);
  if (!b.ok()) return b.status();
  const double real = twice_max / static_cast<double>(static_cast<float>(1 << shift) * q.out.scale);
  // TFLite refuses an output scale of 0 for ADD only.
  const Result<QuantizedMultiplier> out =
      sign < 0 && std::isinf(real) ? MakeMultiplier(layer, real) : MultiplierBelowOne(layer, real);
  if (!out.ok()) return out.status();
  SumOfBytes sum;
  sum.scale_a = *a;
  sum.scale_b = *b;
  sum.scale = *out;
  sum.subtract = sign < 0;
  return sum;
}

// Right shifts that bring both operands to the output's scale. TFLite takes this way where all
// scales are powers of two, and then asks that no operand is coarser than the output, and that one
// has its scale.
struct Shifts {
  int a = 0;
  int b = 0;
};

Result<std::optional<Shifts>> ShiftsOf(const LayerView& layer, const ThreeAffines& q) {
  const std::optional<int> a = Log2OfScale(q.a.scale);
  const std::optional<int> b = Log2OfScale(q.b.scale);
  const std::optional<int> out = Log2OfScale(q.out.scale);
  if (!a.has_value() || !b.has_value() || !out.has_value()) return std::optional<Shifts>();
  const Shifts shifts{*out - *a, *out - *b};
  const bool valid = shifts.a >= 0 && shifts.b >= 0 && shifts.a <= 31 && shifts.b <= 31 &&
                     (shifts.a == 0 || shifts.b == 0);
  if (valid) return std::optional(shifts);
  return layer.Unsupported(
      "an output whose scale is not that of the coarser operand, among scales "
      "that are powers of two");
}

Result<PreparedLayer> PrepareInt16(const LayerView& layer, const LayerOptions& options,
                                   const ThreeAffines& q, Range clamp, int sign, bool may_shift) {
  if (q.a.zero_point != 0 || q.b.zero_point != 0 || q.out.zero_point != 0) {
    return layer.Unsupported("int16 with other zero points than 0");
  }
  const Result<std::optional<Shifts>> shifts =
      may_shift ? ShiftsOf(layer, q) : Result<std::optional<Shifts>>(std::optional<Shifts>());
  if (!shifts.ok()) return shifts.status();
  if (shifts->has_value()) {
    return PrepareBinary(layer, BinaryRoutine<int16_t, int16_t, int16_t>(
                                    layer, [s = **shifts, sign, clamp](int32_t x, int32_t y) {
                                      const int32_t sum =
                                          RoundingDivideByPowerOfTwo<Scalar>(x, s.a) +
                                          sign * RoundingDivideByPowerOfTwo<Scalar>(y, s.b);
                                      return AddAndClamp(sum, 0, clamp);
                                    }));
  }
  const Result<SumOfBytes> sum = MakeSum(layer, q, SumOfBytes::kWordShift, sign);
  if (!sum.ok()) return sum.status();
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  const LineOutput output{true, 0, clamp.min, clamp.max};
  return PrepareBinary(
      layer, LinesRoutine<int16_t>(layer, [sum = *sum, output, add = (*lines)->add_words](
                                              const LinePair& line) { add(sum, output, line); }));
}

template <class T>
std::shared_ptr<const Routine> PlainRoutine(const LayerView& layer, const Bounds<T>& bounds,
                                            int sign) {
  if (sign < 0) {
    return BinaryRoutine<T, T, T>(layer, [bounds](T x, T y) { return bounds(WrappingSub(x, y)); });
  }
  return BinaryRoutine<T, T, T>(layer, [bounds](T x, T y) { return bounds(WrappingAdd(x, y)); });
}

// Op is Add or Sub.
template <class Op>
Result<PreparedLayer> PrepareAddition(const LayerView& layer, const LayerOptions& options,
                                      int sign) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Op& op = layer.op<Op>();
  const Activation activation = op.activation;
  const Type type = layer.output().type;
  if (!IsQuantized(type) || IsPlain(layer)) {
    return PrepareBinary(layer,
                         VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(
                             type, [&](auto zero) {
                               using T = decltype(zero);
                               return PlainRoutine<T>(
                                   layer, Bounds<T>::Of(activation, op.keeps_infinities), sign);
                             }));
  }
  const Result<ThreeAffines> q = AffinesOf(layer);
  if (!q.ok()) return q.status();
  const Result<Range> clamp = ActivationRange(layer, activation, type, q->out);
  if (!clamp.ok()) return clamp.status();
  if (type == Type::kInt16)
    return PrepareInt16(layer, options, *q, *clamp, sign, op.pot_scale_int16);
  const Result<ByteSum> defined = ByteSumOf(layer, activation, sign);
  if (!defined.ok()) return defined.status();

  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  const LineOutput output = defined->output;
  const SumOfBytes sum = FitSum(**lines, defined->sum, output);
  return PrepareBinary(
      layer, LinesRoutine<uint8_t>(layer, [sum, output, add = (*lines)->add](const LinePair& line) {
        add(sum, output, line);
      }));
}

}  // namespace

Result<ByteSum> ByteSumOf(const LayerView& layer, Activation activation, int sign) {
  const Type type = layer.output().type;
  const Result<ThreeAffines> q = AffinesOf(layer);
  if (!q.ok()) return q.status();
  const Result<Range> clamp = ActivationRange(layer, activation, type, q->out);
  if (!clamp.ok()) return clamp.status();
  Result<SumOfBytes> sum = MakeSum(layer, *q, SumOfBytes::kTermShift, sign);
  if (!sum.ok()) return sum.status();
  sum->zero_a = MovedZero(type, q->a.zero_point);
  sum->zero_b = MovedZero(type, q->b.zero_point);
  return ByteSum{*sum, MakeLineOutput(type, q->out, *clamp)};
}

namespace {

Result<PreparedLayer> PrepareAdd(const LayerView& layer, const LayerOptions& options) {
  return PrepareAddition<Add>(layer, options, 1);
}

Result<PreparedLayer> PrepareSub(const LayerView& layer, const LayerOptions& options) {
  return PrepareAddition<Sub>(layer, options, -1);
}

template <class Op, PairKind kKind, auto kPrepare>
constexpr Candidate kWays[] = {{"float32", PrepareHalfEven<Op, kKind>, kEightBit, NeedsHalfEven},
                               {"elementwise", kPrepare, kAnyType, RefusesHalfEven}};

}  // namespace

constinit const OperatorRow Add::kRow =
    BinaryRow("ADD", kNumbers | kUInt16, kWays<Add, PairKind::kAdd, PrepareAdd>,
              "int16 with zero points 0; uint16 not quantized");

constinit const OperatorRow Sub::kRow =
    BinaryRow("SUB", kNumbers | kUInt16, kWays<Sub, PairKind::kSub, PrepareSub>,
              "int16 with zero points 0; uint16 not quantized");

constinit const OperatorRow QLinearAdd::kRow =
    BinaryRow("QLINEAR_ADD", kEightBit, Candidate{"float32", PrepareQLinearAdd});

}  // namespace intaglio::nn
