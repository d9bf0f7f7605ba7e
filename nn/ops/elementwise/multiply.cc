// MUL, DIV, SQUARED_DIFFERENCE, FLOOR_DIV, FLOOR_MOD, FMOD, POW.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/nn/ops/elementwise/half_even_pairs.h"
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/byte_product.h"
#include "intaglio/nn/ops/support/half_even.h"
#include "intaglio/nn/ops/support/line_pairs.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

// Numbers that are not quantized: f, then the activation of Op, which is Mul or Div.
template <class Op, class Function>
Result<PreparedLayer> PreparePlain(const LayerView& layer, const Function& f) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Op& op = layer.op<Op>();
  return PrepareBinary(
      layer, VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(
                 layer.output().type, [&](auto zero) {
                   using T = decltype(zero);
                   return BinaryRoutine<T, T, T>(
                       layer, [f, bounds = Bounds<T>::Of(op.activation, op.keeps_infinities)](
                                  T x, T y) { return bounds(static_cast<T>(f(x, y))); });
                 }));
}

// For numbers that are not quantized. It applies f alone, so infinities stay infinities.
template <class... Ts, class Function>
Result<PreparedLayer> PrepareUnbounded(const LayerView& layer, const Function& f) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareBinary(layer, VisitType<Ts...>(layer.output().type, [&](auto zero) {
                         using T = decltype(zero);
                         return BinaryRoutine<T, T, T>(layer, f);
                       }));
}

// f(a - zero point, b - zero point) as an int32 on the output's scale.
template <class... Ts, class Function>
Result<PreparedLayer> PrepareQuantized(const LayerView& layer, const ThreeAffines& q, Range range,
                                       const Function& f) {
  return PrepareBinary(layer, VisitType<Ts...>(layer.output().type, [&](auto zero) {
                         using T = decltype(zero);
                         return BinaryRoutine<T, T, T>(layer, [f, q, range](T x, T y) {
                           const int32_t scaled = f(x - q.a.zero_point, y - q.b.zero_point);
                           return AddAndClamp(scaled, q.out.zero_point, range);
                         });
                       }));
}

// a / b 2^.. for b > 0, by the reciprocal of b.
struct Quotient {
  QuantizedMultiplier multiplier;  // of the scales

  int32_t operator()(int32_t a, int32_t b) const {
    if (b < 0) {
      a = -a;
      b = -b;
    }
    // b = (1 + fraction) 2^bits
    const int zeros = std::countl_zero(static_cast<uint32_t>(b));
    const int bits = 31 - zeros;
    const auto fraction =
        static_cast<int32_t>((static_cast<uint32_t>(b) << zeros) - (uint32_t{1} << 31));
    const int32_t reciprocal = OneOverOnePlusX(FixedPoint<Scalar, 0>::FromRaw(fraction)).raw();
    const int headroom = LeadingSignBits(a);
    const int32_t shifted = static_cast<int32_t>(static_cast<uint32_t>(a) << headroom);
    const int32_t unscaled = SaturatingRoundingDoublingHighMul<Scalar>(shifted, reciprocal);
    const int shift = bits + headroom - multiplier.exponent;
    const int32_t product =
        SaturatingRoundingDoublingHighMul<Scalar>(unscaled, multiplier.mantissa);
    return shift > 31 ? 0 : RoundingDivideByPowerOfTwo<Scalar>(product, shift);
  }

  static int LeadingSignBits(int32_t x) {
    return std::countl_zero(static_cast<uint32_t>(x < 0 ? ~x : x)) - 1;
  }
};

// True where an element of input 1 equals `value`.
template <class T>
bool Holds(const RunArguments& arguments, size_t count, T value) {
  const auto* const b = static_cast<const T*>(arguments.inputs[1]);
  return std::find(b, b + count, value) != b + count;
}

// The routine with a check of the divisors before it.
template <class T>
std::shared_ptr<const Routine> Checked(const LayerView& layer, T zero_point,
                                       std::shared_ptr<const Routine> routine) {
  const auto count = static_cast<size_t>(*CountElements(layer.input(1).shape));
  return RoutineOf([=, routine = std::move(routine)](const RunArguments& arguments) -> Status {
    if (Holds<T>(arguments, count, zero_point)) return InvalidArgument("divides by zero");
    return routine->Run(arguments);
  });
}

// The prepared layer of integers with such a check; floats need none.
template <class... Ts>
Result<PreparedLayer> CheckDivisors(const LayerView& layer, int32_t zero_point,
                                    Result<PreparedLayer> prepared) {
  if (!prepared.ok()) return prepared;
  const auto checked = VisitType<Ts...>(layer.output().type, [&](auto zero) {
    using T = decltype(zero);
    return Checked<T>(layer, static_cast<T>(zero_point), prepared->routine);
  });
  if (checked != nullptr) prepared->routine = checked;
  return prepared;
}

template <class T>
T Divide(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return y == T(-1) && std::is_signed_v<T> ? WrappingSub(T(0), x) : static_cast<T>(x / y);
  } else {
    return x / y;
  }
}

template <class T>
T FloorDivide(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if (y == -1) return WrappingSub(T(0), x);
    const T quotient = static_cast<T>(x / y);
    return static_cast<T>(x % y != 0 && (x % y < 0) != (y < 0) ? quotient - 1 : quotient);
  } else {
    return static_cast<T>(std::floor(static_cast<double>(x) / static_cast<double>(y)));
  }
}

template <class T>
T FloorModulo(T x, T y) {
  T rest = 0;
  if constexpr (std::is_integral_v<T>) {
    rest = y == -1 ? T(0) : static_cast<T>(x % y);
  } else {
    rest = std::fmod(x, y);
  }
  return static_cast<T>(rest != 0 && (y < 0) != (rest < 0) ? rest + y : rest);
}

// What is left of x after steps of y towards zero.
template <class T>
T Remainder(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return y == T(-1) && std::is_signed_v<T> ? T(0) : static_cast<T>(x % y);
  } else {
    return std::fmod(x, y);
  }
}

// x^y as a T: of integers, where y >= 0, modulo 2^n; of an integer to a real power, cut off, and
// the nearest T where it is none, or the highest for NaN.
template <class T, class Power>
T PowerOf(T x, Power y) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Power>) {
    T power = 1;
    for (; y > 0; y >>= 1, x = WrappingMul(x, x)) {
      if ((y & 1) != 0) power = WrappingMul(power, x);
    }
    return power;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr double kAbove = 2.0 * (std::numeric_limits<T>::max() / 2 + 1);
    const double power = std::pow(static_cast<double>(x), static_cast<double>(y));
    if (!(power < kAbove)) return std::numeric_limits<T>::max();
    return power <= -kAbove ? std::numeric_limits<T>::lowest() : static_cast<T>(power);
  } else if constexpr (std::is_integral_v<Power>) {
    return static_cast<T>(std::pow(static_cast<double>(x), static_cast<double>(y)));
  } else {
    return std::pow(x, y);
  }
}

Result<PreparedLayer> PrepareByteLines(const LayerView& layer, const LayerOptions& options,
                                       ByteProduct p) {
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  if (options.fit) p.product = WithFit(p.product, p.output);
  return PrepareBinary(
      layer, LinesRoutine<uint8_t>(layer, [p, multiply = (*lines)->multiply](const LinePair& line) {
        multiply(p.product, p.output, line);
      }));
}

// What MUL of quantized numbers is made of.
struct Product {
  ThreeAffines q;
  Range range;
  QuantizedMultiplier multiplier;
};
Result<Product> ProductOf(const LayerView& layer) {
  const Result<ThreeAffines> q = AffinesOf(layer);
  if (!q.ok()) return q.status();
  const Result<Range> range =
      ActivationRange(layer, layer.op<Mul>().activation, layer.output().type, q->out);
  if (!range.ok()) return range.status();
  // All in float32.
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, static_cast<double>(q->a.scale * q->b.scale / q->out.scale));
  if (!multiplier.ok()) return multiplier.status();
  return Product{*q, *range, *multiplier};
}

ByteProduct AsByteProduct(Type type, const Product& p) {
  return {{.zero_a = MovedZero(type, p.q.a.zero_point),
           .zero_b = MovedZero(type, p.q.b.zero_point),
           .scale = p.multiplier},
          MakeLineOutput(type, p.q.out, p.range)};
}

}  // namespace

Result<ByteProduct> ByteProductOf(const LayerView& layer) {
  const Result<Product> product = ProductOf(layer);
  if (!product.ok()) return product.status();
  return AsByteProduct(layer.output().type, *product);
}

namespace {

Result<PreparedLayer> PrepareMul(const LayerView& layer, const LayerOptions& options) {
  const Type type = layer.output().type;
  const bool plain_int16 = type == Type::kInt16 && !layer.output().quantization.quantized();
  if (!IsQuantized(type) || plain_int16 || IsPlain(layer)) {
    return PreparePlain<Mul>(layer, [](auto x, auto y) { return WrappingMul(x, y); });
  }
  const Result<Product> product = ProductOf(layer);
  if (!product.ok()) return product.status();
  if (SizeOf(type) == 1 && product->multiplier.exponent <= 0) {
    return PrepareByteLines(layer, options, AsByteProduct(type, *product));
  }
  return PrepareQuantized<int8_t, uint8_t, int16_t>(
      layer, product->q, product->range,
      [m = product->multiplier](int32_t x, int32_t y) { return Requantize(WrappingMul(x, y), m); });
}

Result<PreparedLayer> PrepareDiv(const LayerView& layer, const LayerOptions&) {
  const Activation activation = layer.op<Div>().activation;
  const Type type = layer.output().type;
  if (!IsQuantized(type) || IsPlain(layer)) {
    return CheckDivisors<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>(
        layer, 0, PreparePlain<Div>(layer, [](auto x, auto y) { return Divide(x, y); }));
  }
  const Result<ThreeAffines> q = AffinesOf(layer);
  if (!q.ok()) return q.status();
  const Result<Range> range = ActivationRange(layer, activation, type, q->out);
  if (!range.ok()) return range.status();
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, static_cast<double>(q->a.scale / (q->b.scale * q->out.scale)));
  if (!multiplier.ok()) return multiplier.status();
  // A quotient of numbers of 16 bits has at least 14 bits of headroom.
  if (multiplier->exponent > 14) {
    return layer.Unsupported("the quotient of the scales is " +
                             std::to_string(q->a.scale / (q->b.scale * q->out.scale)));
  }
  return CheckDivisors<int8_t, uint8_t, int16_t>(
      layer, q->b.zero_point,
      PrepareQuantized<int8_t, uint8_t, int16_t>(layer, *q, *range, Quotient{*multiplier}));
}

Result<PreparedLayer> PrepareSquaredDifference(const LayerView& layer, const LayerOptions&) {
  if (layer.output().type != Type::kInt8) {
    return PrepareUnbounded<int32_t, float>(layer, [](auto x, auto y) {
      const auto difference = WrappingSub(x, y);
      return WrappingMul(difference, difference);
    });
  }
  constexpr int kShift = 7;
  const Result<ThreeAffines> q = AffinesOf(layer);
  if (!q.ok()) return q.status();
  const auto twice_max = static_cast<double>(2 * std::max(q->a.scale, q->b.scale));
  const Result<QuantizedMultiplier> a =
      MakeMultiplier(layer, static_cast<double>(q->a.scale) / twice_max);
  if (!a.ok()) return a.status();
  const Result<QuantizedMultiplier> b =
      MakeMultiplier(layer, static_cast<double>(q->b.scale) / twice_max);
  if (!b.ok()) return b.status();
  const Result<QuantizedMultiplier> out = MakeMultiplier(
      layer, twice_max * twice_max / static_cast<double>((1 << 2 * kShift) * q->out.scale));
  if (!out.ok()) return out.status();
  if (out->exponent > 0) return layer.Unsupported("the output's scale is too small");
  return PrepareQuantized<int8_t>(
      layer, *q, RangeOf(Type::kInt8), [a = *a, b = *b, out = *out](int32_t x, int32_t y) {
        const int32_t difference =
            Requantize(x * (1 << kShift), a) - Requantize(y * (1 << kShift), b);
        return Requantize(difference * difference, out);
      });
}

// FLOOR_DIV and FLOOR_MOD compute with the numbers of int8 and int16 as they are, whatever the
// scales, as TFLite does. It has no unsigned types, so nothing depends on theirs.
Result<PreparedLayer> PrepareFloorDiv(const LayerView& layer, const LayerOptions&) {
  return CheckDivisors<int8_t, int16_t, int32_t>(
      layer, 0, PrepareUnbounded<int8_t, int16_t, int32_t, float>(layer, [](auto x, auto y) {
        return FloorDivide(x, y);
      }));
}

Result<PreparedLayer> PrepareFloorMod(const LayerView& layer, const LayerOptions&) {
  const Type type = layer.output().type;
  if (type == Type::kUInt8 || type == Type::kUInt16) INTAGLIO_RETURN_IF_ERROR(CheckPlain(layer));
  return CheckDivisors<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>(
      layer, 0,
      PrepareUnbounded<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(
          layer, [](auto x, auto y) { return FloorModulo(x, y); }));
}

Result<PreparedLayer> PrepareFmod(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckPlain(layer));
  return CheckDivisors<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>(
      layer, 0,
      PrepareUnbounded<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(
          layer, [](auto x, auto y) { return Remainder(x, y); }));
}

// The routine with a check of the powers before it.
template <class Power>
std::shared_ptr<const Routine> CheckPowers(const LayerView& layer,
                                           std::shared_ptr<const Routine> routine) {
  const auto count = static_cast<size_t>(*CountElements(layer.input(1).shape));
  return RoutineOf([count, routine = std::move(routine)](const RunArguments& arguments) -> Status {
    const auto* const y = static_cast<const Power*>(arguments.inputs[1]);
    if (std::any_of(y, y + count, [](Power power) { return power < 0; })) {
      return InvalidArgument("a negative power of an integer");
    }
    return routine->Run(arguments);
  });
}

template <class T, class Power>
std::shared_ptr<const Routine> PowerRoutine(const LayerView& layer) {
  auto routine =
      BinaryRoutine<T, Power, T>(layer, [](T x, Power y) { return PowerOf<T, Power>(x, y); });
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Power>) {
    return CheckPowers<Power>(layer, std::move(routine));
  }
  return routine;
}

Result<PreparedLayer> PreparePow(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), layer.input(0).type));
  const Type powers = layer.input(1).type;
  auto routine = VisitType<int32_t, int64_t, float>(layer.output().type, [&](auto zero) {
    using T = decltype(zero);
    return VisitType<int32_t, int64_t, float>(
        powers, [&](auto y) { return PowerRoutine<T, decltype(y)>(layer); });
  });
  if (routine == nullptr) return layer.Unsupported(std::string("powers of ") + NameOf(powers));
  return PrepareBinary(layer, std::move(routine));
}

constexpr Candidate kMulWays[] = {
    {"float32", PrepareHalfEven<Mul, PairKind::kMul>, kEightBit, NeedsHalfEven},
    {"elementwise", PrepareMul, kAnyType, RefusesHalfEven}};

}  // namespace

constinit const OperatorRow Mul::kRow =
    BinaryRow("MUL", kNumbers | kUInt16, kMulWays, "uint16 not quantized");

constinit const OperatorRow QLinearMul::kRow =
    BinaryRow("QLINEAR_MUL", kEightBit, Candidate{"float32", PrepareQLinearMul});

constinit const OperatorRow Div::kRow =
    BinaryRow("DIV", kNumbers | kUInt16, Candidate{"elementwise", PrepareDiv},
              "quantized scales a / (b * output) below 2^14; uint16 not quantized");

constinit const OperatorRow SquaredDifference::kRow =
    BinaryRow("SQUARED_DIFFERENCE", SetOf(Type::kInt8) | SetOf(Type::kInt32) | kFloat,
              Candidate{"elementwise", PrepareSquaredDifference});

constinit const OperatorRow FloorDiv::kRow =
    BinaryRow("FLOOR_DIV", kSigned, Candidate{"elementwise", PrepareFloorDiv},
              "numbers as they are, whatever their scales");

constinit const OperatorRow FloorMod::kRow =
    BinaryRow("FLOOR_MOD", kNumbers | kUInt16, Candidate{"elementwise", PrepareFloorMod},
              "signed numbers as they are, whatever their scales; uint8 and uint16 not quantized");

constinit const OperatorRow Fmod::kRow =
    BinaryRow("FMOD", kNumbers | kUInt16, Candidate{"elementwise", PrepareFmod}, "not quantized");

constinit const OperatorRow Pow::kRow = BinaryRow(
    "POW", kInteger | kFloat, Candidate{"elementwise", PreparePow}, "powers int32, int64, float32");

}  // namespace intaglio::nn
