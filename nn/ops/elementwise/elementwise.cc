// Functions of one element: ABS, NEG, EXP, LOG, SQRT, RSQRT, SQUARE, FLOOR, CEIL, ROUND, SIN, COS,
// LOGICAL_NOT.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "intaglio/fixedpoint/inverse_sqrt.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/unary.h"

namespace intaglio::nn {
namespace {

template <class Function>
Result<PreparedLayer> PrepareFloat(const LayerView& layer, const Function& f) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareUnary(UnaryRoutine<float, float>(layer, f));
}

// A table for numbers from the zero point on. A number below it makes the run fail.
Result<PreparedLayer> PrepareNonNegative(const LayerView& layer, const Affine& in,
                                         PreparedLayer prepared) {
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  const auto wrap = [&](auto zero) {
    using T = decltype(zero);
    return RoutineOf([count, routine = prepared.routine,
                      lowest = in.zero_point](const RunArguments& arguments) -> Status {
      const auto* const x = static_cast<const T*>(arguments.inputs[0]);
      if (std::any_of(x, x + count, [=](T element) { return element < lowest; })) {
        return InvalidArgument("the function is not defined for negative numbers");
      }
      return routine->Run(arguments);
    });
  };
  prepared.routine = VisitType<int8_t, int16_t>(layer.input(0).type, wrap);
  return prepared;
}

Result<PreparedLayer> PrepareAbs(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Type type = layer.input(0).type;
  if (type == Type::kFloat32) {
    return PrepareFloat(layer, [](float x) { return std::fabs(x); });
  }
  if (type == Type::kInt32 || type == Type::kInt64) {
    return PrepareUnary(VisitType<int32_t, int64_t>(type, [&](auto zero) {
      using T = decltype(zero);
      return UnaryRoutine<T, T>(layer, [](T x) { return x < 0 ? WrappingSub(T(0), x) : x; });
    }));
  }
  if (type == Type::kUInt16) {
    INTAGLIO_RETURN_IF_ERROR(CheckPlain(layer));
    return PrepareUnary(UnaryRoutine<uint16_t, uint16_t>(layer, [](uint16_t x) { return x; }));
  }
  const bool plain_int16 = type == Type::kInt16 && !layer.input(0).quantization.quantized();
  if (plain_int16 || IsPlain(layer)) {
    return PrepareQuantizedUnary(layer, [](int32_t x) { return x < 0 ? -x : x; });
  }
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  // The quotient is float32, as in TFLite. 1 leaves numbers as they are; it also serves equal
  // scales, even scales of 0.
  const bool alike = q->input.scale == q->output.scale;
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, alike ? 1.0 : static_cast<double>(q->input.scale / q->output.scale));
  if (!multiplier.ok()) return multiplier.status();
  return PrepareQuantizedUnary(layer, [q = *q, m = *multiplier, type](int32_t x) {
    const int32_t magnitude = std::abs(x - q.input.zero_point);
    return AddAndClamp(Requantize(magnitude, m), q.output.zero_point, RangeOf(type));
  });
}

Result<PreparedLayer> PrepareNeg(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Type type = layer.input(0).type;
  if (type == Type::kFloat32) return PrepareFloat(layer, [](float x) { return -x; });
  if (IsQuantized(type)) INTAGLIO_RETURN_IF_ERROR(CheckPlain(layer));
  const auto negate = [&](auto zero) {
    using T = decltype(zero);
    return UnaryRoutine<T, T>(layer, [](T x) { return WrappingSub(T(0), x); });
  };
  return PrepareUnary(
      VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>(type, negate));
}

Result<PreparedLayer> PrepareExp(const LayerView& layer, const LayerOptions& options) {
  if (layer.input(0).type == Type::kFloat32) {
    INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
    return PrepareUnary(LineRoutine<float, float>(layer, FloatLoopsOf(options.kernel).exp));
  }
  return PrepareRealFunction(layer, [](float x) { return std::exp(x); });
}

// What has no logarithm becomes the lowest number of a quantized type.
Result<PreparedLayer> PrepareLog(const LayerView& layer, const LayerOptions&) {
  if (layer.input(0).type == Type::kFloat32) {
    return PrepareFloat(layer, [](float x) { return std::log(x); });
  }
  const Result<Affine> out = AffineOf(layer, layer.output());
  if (!out.ok()) return out.status();
  const float lowest =
      static_cast<float>(RangeOf(layer.output().type).min - out->zero_point) * out->scale;
  return PrepareRealFunction(layer, [=](float x) { return x <= 0 ? lowest : std::log(x); });
}

Result<PreparedLayer> PrepareSqrt(const LayerView& layer, const LayerOptions&) {
  if (layer.input(0).type == Type::kFloat32) {
    return PrepareFloat(layer, [](float x) { return std::sqrt(x); });
  }
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Range range = RangeOf(layer.output().type);
  // float32, and cut off instead of rounded.
  const auto root = [q = *q, range](int32_t x) {
    const float real = q.input.scale * static_cast<float>(x - q.input.zero_point);
    const float scaled = real < 0 ? 0.0f : std::sqrt(real) / q.output.scale;
    return AddAndClamp(static_cast<int32_t>(std::fmin(scaled, 65536.0f)), q.output.zero_point,
                       range);
  };
  return PrepareNonNegative(layer, q->input, PrepareQuantizedUnary(layer, root));
}

Result<PreparedLayer> PrepareRsqrt(const LayerView& layer, const LayerOptions&) {
  if (layer.input(0).type == Type::kFloat32) {
    return PrepareFloat(layer, [](float x) { return 1.0f / std::sqrt(x); });
  }
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  if (layer.input(0).type == Type::kInt16) {
    const float highest = 32767 * q->output.scale;
    Result<PreparedLayer> prepared =
        PrepareRealFunction(layer, [=](float x) { return x <= 0 ? highest : 1.0f / std::sqrt(x); });
    if (!prepared.ok()) return prepared;
    return PrepareNonNegative(layer, q->input, std::move(*prepared));
  }
  // TFLite takes the root in float32, but the quotient in double.
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, 1.0 / static_cast<double>(std::sqrt(q->input.scale) * q->output.scale));
  if (!multiplier.ok()) return multiplier.status();
  const Range range = RangeOf(layer.output().type);
  constexpr int kFraction = 20;  // bits on the way
  QuantizedMultiplier last{multiplier->mantissa, multiplier->exponent - kFraction};
  if (last.exponent < -31) last = {};
  const auto inverse = [q = *q, last, range](int32_t x) {
    const int32_t centered = x - q.input.zero_point;
    if (centered <= 0) return range.max;
    const InverseSqrtMultiplier root = TfliteInverseSqrt(centered);
    const int32_t fine = Requantize(1, {root.multiplier, kFraction - root.right_shift});
    return AddAndClamp(Requantize(fine, last), q.output.zero_point, range);
  };
  return PrepareNonNegative(layer, q->input, PrepareQuantizedUnary(layer, inverse));
}

Result<PreparedLayer> PrepareSquare(const LayerView& layer, const LayerOptions&) {
  return PrepareFloat(layer, [](float x) { return x * x; });
}

Result<PreparedLayer> PrepareFloor(const LayerView& layer, const LayerOptions&) {
  return PrepareFloat(layer, [](float x) { return std::floor(x); });
}

Result<PreparedLayer> PrepareCeil(const LayerView& layer, const LayerOptions&) {
  return PrepareFloat(layer, [](float x) { return std::ceil(x); });
}

Result<PreparedLayer> PrepareRound(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareUnary(
      LineRoutine<float, float>(layer, FloatLoopsOf(options.kernel).round_half_even));
}

Result<PreparedLayer> PrepareSin(const LayerView& layer, const LayerOptions&) {
  return PrepareFloat(layer, [](float x) { return std::sin(x); });
}

Result<PreparedLayer> PrepareCos(const LayerView& layer, const LayerOptions&) {
  return PrepareFloat(layer, [](float x) { return std::cos(x); });
}

Result<PreparedLayer> PrepareLogicalNot(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareUnary(
      UnaryRoutine<uint8_t, uint8_t>(layer, [](uint8_t x) { return x == 0 ? 1 : 0; }));
}

std::string FloatOfSqrt(const LayerView& layer) {
  const Tensor& input = layer.input(0);
  if (input.type != Type::kInt16) return {};
  return "it takes the roots of int16 '" + input.name + "' in float32";
}

}  // namespace

constinit const OperatorRow LogicalNot::kRow =
    UnaryRow("LOGICAL_NOT", kBool, Candidate{"elementwise", PrepareLogicalNot});

constinit const OperatorRow Abs::kRow =
    UnaryRow("ABS", kNumbers | kUInt16, kBytesByTable<PrepareAbs>);

constinit const OperatorRow Neg::kRow =
    UnaryRow("NEG", kNumbers | kUInt16, Candidate{"elementwise", PrepareNeg}, "not quantized");

constinit const OperatorRow Exp::kRow = UnaryRow("EXP", kReal, kIntegersByTable<PrepareExp>);

constinit const OperatorRow Log::kRow = UnaryRow("LOG", kReal, kIntegersByTable<PrepareLog>);

constinit const OperatorRow Sqrt::kRow = {.name = "SQRT",
                                          .min_inputs = 1,
                                          .max_inputs = 1,
                                          .types = kReal,
                                          .infer = InferUnary,
                                          .candidates = kBytesByTable<PrepareSqrt>,
                                          .forces_float = FloatOfSqrt};

constinit const OperatorRow Rsqrt::kRow = UnaryRow("RSQRT", kReal, kIntegersByTable<PrepareRsqrt>);

constinit const OperatorRow Square::kRow =
    UnaryRow("SQUARE", kFloat, Candidate{"elementwise", PrepareSquare});

constinit const OperatorRow Floor::kRow =
    UnaryRow("FLOOR", kFloat, Candidate{"elementwise", PrepareFloor});

constinit const OperatorRow Ceil::kRow =
    UnaryRow("CEIL", kFloat, Candidate{"elementwise", PrepareCeil});

constinit const OperatorRow Round::kRow =
    UnaryRow("ROUND", kFloat, Candidate{"elementwise", PrepareRound});

constinit const OperatorRow Sin::kRow =
    UnaryRow("SIN", kFloat, Candidate{"elementwise", PrepareSin});

constinit const OperatorRow Cos::kRow =
    UnaryRow("COS", kFloat, Candidate{"elementwise", PrepareCos});

}  // namespace intaglio::nn
