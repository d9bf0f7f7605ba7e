// ADD and SUB. Both operands are brought to the scale 2 max(S1, S2) / 2^20, added there, and the
// sum is brought to the output's scale, each time by a fixed-point multiplier. An operand of 8 bits
// has 256 values, so its first step is a table; SUB negates the second. int16 has 2^15 for 2^20.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/nn/ops/binary.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

constexpr int kShiftOf8Bit = 20;
constexpr int kShiftOfInt16 = 15;

using TermTable = std::array<int32_t, 256>;

class AddRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* const a = static_cast<const uint8_t*>(arguments.inputs[0]);
    const auto* const b = static_cast<const uint8_t*>(arguments.inputs[1]);
    auto* const out = static_cast<uint8_t*>(arguments.outputs[0]);
    const ptrdiff_t step_a = loops.inner_strides()[0];
    const ptrdiff_t step_b = loops.inner_strides()[1];
    const ptrdiff_t extent = loops.inner_extent();
    // Copies, because the compiler must take a byte written for a part of any object.
    const int32_t* const table_a = first.data();
    const int32_t* const table_b = second.data();
    const int32_t zero = zero_point;
    const Range range = clamp;
    // Terms are below 255 * 2^20 / 2, and the multiplier is below 1.
    const DoubleRoundingBounded<Scalar> scale(multiplier.mantissa, multiplier.right_shift());
    loops.Run([=](const Loops<3>::Offsets& offsets) {
      const uint8_t* in_a = a + offsets[0];
      const uint8_t* in_b = b + offsets[1];
      uint8_t* const row = out + offsets[2];
      for (ptrdiff_t i = 0; i < extent; ++i, in_a += step_a, in_b += step_b) {
        const int32_t sum = scale(table_a[*in_a] + table_b[*in_b]) + zero;
        row[i] = static_cast<uint8_t>(std::clamp(sum, range.min, range.max));
      }
    });
    return {};
  }

  Loops<3> loops;  // the operands, the output
  TermTable first;
  TermTable second;
  QuantizedMultiplier multiplier;
  int32_t zero_point = 0;
  Range clamp;
};

// Below 1, as TFLite asks: no sum of terms can overflow then.
Result<QuantizedMultiplier> MultiplierBelowOne(const LayerView& layer, double real) {
  const Result<QuantizedMultiplier> multiplier = MakeMultiplier(layer, real);
  if (!multiplier.ok() || multiplier->exponent <= 0) return multiplier;
  return layer.Unsupported("the multiplier of the scales is " + std::to_string(real) +
                           "; it must be below 1");
}

// What brings an operand to the common scale.
struct Term {
  Affine q;
  QuantizedMultiplier multiplier;
  int shift = 0;

  int32_t operator()(int32_t x) const {
    return Requantize((x - q.zero_point) * (1 << shift), multiplier);
  }
};

Result<Term> MakeTerm(const LayerView& layer, const Affine& q, double twice_max, int shift) {
  const Result<QuantizedMultiplier> multiplier =
      MultiplierBelowOne(layer, static_cast<double>(q.scale) / twice_max);
  if (!multiplier.ok()) return multiplier.status();
  return Term{q, *multiplier, shift};
}

struct Terms {
  Term a;
  Term b;
  QuantizedMultiplier out;
};

Result<Terms> MakeTerms(const LayerView& layer, const ThreeAffines& q, int shift) {
  const double twice_max = static_cast<double>(2 * std::max(q.a.scale, q.b.scale));
  const Result<Term> a = MakeTerm(layer, q.a, twice_max, shift);
  if (!a.ok()) return a.status();
  const Result<Term> b = MakeTerm(layer, q.b, twice_max, shift);
  if (!b.ok()) return b.status();
  const Result<QuantizedMultiplier> out = MultiplierBelowOne(
      layer, twice_max / static_cast<double>(static_cast<float>(1 << shift) * q.out.scale));
  if (!out.ok()) return out.status();
  return Terms{*a, *b, *out};
}

TermTable Tabulate(const Term& term, Type type, int sign) {
  TermTable table{};
  const Range range = RangeOf(type);
  for (int32_t x = range.min; x <= range.max; ++x) {
    table[static_cast<uint8_t>(x)] = sign * term(x);
  }
  return table;
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

Result<PreparedLayer> PrepareInt16(const LayerView& layer, const ThreeAffines& q, Range clamp,
                                   int sign, bool may_shift) {
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
  const Result<Terms> terms = MakeTerms(layer, q, kShiftOfInt16);
  if (!terms.ok()) return terms.status();
  return PrepareBinary(layer, BinaryRoutine<int16_t, int16_t, int16_t>(
                                  layer, [t = *terms, sign, clamp](int32_t x, int32_t y) {
                                    return AddAndClamp(Requantize(t.a(x) + sign * t.b(y), t.out), 0,
                                                       clamp);
                                  }));
}

template <class T>
std::shared_ptr<const Routine> PlainRoutine(const LayerView& layer, Activation activation,
                                            int sign) {
  const Bounds<T> bounds(activation);
  if (sign < 0) {
    return BinaryRoutine<T, T, T>(layer, [bounds](T x, T y) { return bounds(WrappingSub(x, y)); });
  }
  return BinaryRoutine<T, T, T>(layer, [bounds](T x, T y) { return bounds(WrappingAdd(x, y)); });
}

Result<PreparedLayer> PrepareAddition(const LayerView& layer, Activation activation, int sign,
                                      bool may_shift) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Type type = layer.output().type;
  if (!IsQuantized(type)) {
    return PrepareBinary(layer, VisitType<int32_t, int64_t, float>(type, [&](auto zero) {
                           return PlainRoutine<decltype(zero)>(layer, activation, sign);
                         }));
  }
  const Result<ThreeAffines> q = AffinesOf(layer);
  if (!q.ok()) return q.status();
  const Result<Range> clamp = ActivationRange(layer, activation, type, q->out);
  if (!clamp.ok()) return clamp.status();
  if (type == Type::kInt16) return PrepareInt16(layer, *q, *clamp, sign, may_shift);
  const Result<Terms> terms = MakeTerms(layer, *q, kShiftOf8Bit);
  if (!terms.ok()) return terms.status();

  auto routine = std::make_shared<AddRoutine>();
  routine->loops = BroadcastLoops<3>(layer);
  routine->first = Tabulate(terms->a, type, 1);
  routine->second = Tabulate(terms->b, type, sign);
  routine->multiplier = terms->out;
  routine->zero_point = q->out.zero_point;
  routine->clamp = *clamp;
  Result<PreparedLayer> prepared = PrepareBinary(layer, std::move(routine));
  if (prepared.ok()) prepared->constant_bytes = 2 * sizeof(TermTable);
  return prepared;
}

}  // namespace

Result<PreparedLayer> PrepareAdd(const LayerView& layer, const LayerOptions&) {
  const Add& op = layer.op<Add>();
  return PrepareAddition(layer, op.activation, 1, op.pot_scale_int16);
}

Result<PreparedLayer> PrepareSub(const LayerView& layer, const LayerOptions&) {
  const Sub& op = layer.op<Sub>();
  return PrepareAddition(layer, op.activation, -1, op.pot_scale_int16);
}

}  // namespace intaglio::nn
