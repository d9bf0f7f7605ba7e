// Activations as layers of their own. Those of 8-bit numbers are tables, whose entries are computed
// as TFLite's reference kernels compute each element.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/elementwise/sigmoid16.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/unary.h"

namespace intaglio::nn {
namespace {

// max(0, x), and min(6, .) with kRelu6, with a change of quantization on the way. TFLite takes the
// quotient of the scales in float32 here.
Result<PreparedLayer> PrepareClamp(const LayerView& layer, Activation activation) {
  const Type type = layer.output().type;
  if (type == Type::kFloat32 && layer.input(0).type == type) {
    return PrepareUnary(UnaryRoutine<float, float>(layer, Bounds<float>::Open(activation)));
  }
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  // If the output's scale is 0, all its elements are its zero point.
  if (q->output.scale == 0) activation = Activation::kNone;
  const Result<Range> range = ActivationRange(layer, activation, type, q->output);
  if (!range.ok()) return range.status();
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, static_cast<double>(q->input.scale / q->output.scale));
  if (!multiplier.ok()) return multiplier.status();
  return PrepareQuantizedUnary(layer, [q = *q, m = *multiplier, range = *range](int32_t x) {
    return AddAndClamp(Requantize(x - q.input.zero_point, m), q.output.zero_point, range);
  });
}

// A negative multiplier as its magnitude.
struct Signed {
  QuantizedMultiplier multiplier;
  bool negative = false;

  int32_t operator()(int32_t x) const {
    const int32_t scaled = Requantize(x, multiplier);
    return negative ? -scaled : scaled;
  }
};

Result<Signed> SignedMultiplier(const LayerView& layer, double real) {
  const Result<QuantizedMultiplier> multiplier = MakeMultiplier(layer, std::fabs(real));
  if (!multiplier.ok()) return multiplier.status();
  return Signed{*multiplier, real < 0};
}

// x (x + 3 clamped to [0, 6]) / 6 in 16-bit fixed point.
struct HardSwish16 {
  Affine in;
  Affine out;
  int16_t output_multiplier = 0;
  int output_exponent = 0;  // <= 0
  int16_t reluish_multiplier = 0;
  int reluish_exponent = 0;

  static int16_t ShiftLeft(int16_t x, int amount) {
    const int64_t wide = amount > 31 ? (x == 0  ? 0
                                        : x < 0 ? INT32_MIN
                                                : INT32_MAX)
                                     : int64_t{x} * (int64_t{1} << amount);
    return static_cast<int16_t>(std::clamp<int64_t>(wide, -32768, 32767));
  }
  // The high halves of doubled products: rounded to nearest, ties away from zero; or cut off.
  static int16_t RoundedHighMul(int16_t a, int16_t b) {
    if (a == b && a == -32768) return 32767;
    const int32_t product = int32_t{a} * b;
    return static_cast<int16_t>((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
  }
  static int16_t HighMul(int16_t a, int16_t b) {
    if (a == b && a == -32768) return 32767;
    return static_cast<int16_t>(int32_t{a} * b / (1 << 15));
  }
  static int16_t DivideByPowerOfTwo(int16_t x, int exponent) {
    if (exponent > 31) return 0;
    return static_cast<int16_t>(RoundingDivideByPowerOfTwo<Scalar>(x, exponent));
  }

  int32_t operator()(int32_t x) const {
    const auto fine = static_cast<int16_t>((x - in.zero_point) * (1 << 7));
    const int16_t unscaled = RoundedHighMul(fine, output_multiplier);
    int16_t reluish = fine;
    if (reluish_exponent > 0) reluish = ShiftLeft(reluish, reluish_exponent - 1);
    reluish = RoundedHighMul(reluish, reluish_multiplier);
    if (reluish_exponent > 0) reluish = ShiftLeft(reluish, 1);
    if (reluish_exponent < 0) reluish = DivideByPowerOfTwo(reluish, -reluish_exponent);
    reluish = static_cast<int16_t>((reluish + (1 << 15)) >> 1);
    const int16_t product = DivideByPowerOfTwo(HighMul(reluish, unscaled), -output_exponent);
    const auto moved = static_cast<int16_t>(product + out.zero_point);
    return moved;
  }
};

// The upper 16 bits of a mantissa, rounded, which saturates.
int16_t Narrow(int32_t mantissa) {
  constexpr int32_t kHighest = std::numeric_limits<int32_t>::max();
  if (mantissa >= kHighest - (1 << 15)) return 32767;
  return static_cast<int16_t>((mantissa + (1 << 15)) >> 16);
}

float ApproximateGelu(float x) {
  constexpr float kSqrtTwoOverPi = static_cast<float>(M_2_SQRTPI * M_SQRT1_2);
  return 0.5f * x * (1.0f + std::tanh(kSqrtTwoOverPi * (x + 0.044715f * x * x * x)));
}

// As TFLite computes it, whose tables of 8 bits follow from it.
float GeluOfFloats(float x) { return 0.5f * x * std::erfc(x * static_cast<float>(-M_SQRT1_2)); }

// The exact number, rounded once.
float ExactGelu(float x) {
  const double wide = x;
  return static_cast<float>(0.5 * wide * std::erfc(wide * -M_SQRT1_2));
}

// x, or alpha x / 2^31 2^.. where x is negative, both requantized.
struct QuantizedPrelu {
  Affine x;
  Affine alpha;
  Affine out;
  QuantizedMultiplier identity;
  QuantizedMultiplier product;
  Range range;

  template <class X, class A>
  int32_t operator()(X element, A slope) const {
    const int32_t centered = element - x.zero_point;
    const int32_t scaled = centered >= 0
                               ? Requantize(centered, identity)
                               : Requantize(centered * (slope - alpha.zero_point), product);
    return AddAndClamp(scaled, out.zero_point, range);
  }
};

}  // namespace

ShapesResult InferUnary(const LayerView& layer) { return std::vector<Shape>{layer.input(0).shape}; }

namespace {

Result<PreparedLayer> PrepareRelu(const LayerView& layer, const LayerOptions&) {
  return PrepareClamp(layer, Activation::kRelu);
}

Result<PreparedLayer> PrepareRelu6(const LayerView& layer, const LayerOptions&) {
  return PrepareClamp(layer, Activation::kRelu6);
}

Result<PreparedLayer> PrepareReluN1To1(const LayerView& layer, const LayerOptions&) {
  return PrepareClamp(layer, Activation::kReluN1To1);
}

Result<PreparedLayer> PrepareLogistic8(const LayerView& layer, const LayerOptions&) {
  return PrepareRealFunction(layer, [](float x) { return 1.0f / (1.0f + std::exp(-x)); });
}

Result<PreparedLayer> PrepareLogisticFloat(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareUnary(LineRoutine<float, float>(layer, FloatLoopsOf(options.kernel).logistic));
}

constexpr Candidate kLogisticWays[] = {{"table", PrepareLogistic8, kEightBit},
                                       {"elementwise", PrepareLogistic16, kInt16},
                                       {"elementwise", PrepareLogisticFloat, kFloat}};

Result<PreparedLayer> PrepareTanh(const LayerView& layer, const LayerOptions&) {
  return PrepareRealFunction(layer, [](float x) { return std::tanh(x); });
}

Result<PreparedLayer> PrepareTanhFloat(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareUnary(LineRoutine<float, float>(layer, FloatLoopsOf(options.kernel).tanh));
}

constexpr Candidate kTanhWays[] = {{"table", PrepareTanh, kEightBit},
                                   {"elementwise", PrepareTanh16, kInt16},
                                   {"elementwise", PrepareTanhFloat, kFloat}};

Result<PreparedLayer> PrepareElu(const LayerView& layer, const LayerOptions& options) {
  const float alpha = layer.op<Elu>().alpha;
  if (layer.input(0).type != Type::kFloat32) {
    return PrepareRealFunction(layer,
                               [alpha](float x) { return x < 0 ? alpha * std::expm1(x) : x; });
  }
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareUnary(LineRoutine<float, float>(
      layer, [alpha, elu = FloatLoopsOf(options.kernel).elu](
                 const float* x, ptrdiff_t count, float* to) { elu(alpha, x, count, to); }));
}

Result<PreparedLayer> PrepareGelu(const LayerView& layer, const LayerOptions&) {
  if (layer.op<Gelu>().approximate) return PrepareRealFunction(layer, ApproximateGelu);
  const bool is_real = layer.output().type == Type::kFloat32;
  return PrepareRealFunction(layer, is_real ? ExactGelu : GeluOfFloats);
}

Result<PreparedLayer> PrepareHardSwish(const LayerView& layer, const LayerOptions&) {
  const Type type = layer.output().type;
  if (type == Type::kFloat32 && layer.input(0).type == type) {
    return PrepareUnary(UnaryRoutine<float, float>(
        layer, [](float x) { return x * std::min(6.0f, std::max(0.0f, x + 3)) / 6; }));
  }
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const float fine_scale = (1.0f / 128.0f) * q->input.scale;
  constexpr float kReluishScale = 3.0f / 32768.0f;
  const Result<QuantizedMultiplier> output =
      MakeMultiplier(layer, static_cast<double>(fine_scale / q->output.scale));
  if (!output.ok()) return output.status();
  const Result<QuantizedMultiplier> reluish =
      MakeMultiplier(layer, static_cast<double>(fine_scale / kReluishScale));
  if (!reluish.ok()) return reluish.status();
  if (output->exponent > 0) {
    return layer.Unsupported("the input's scale is more than 128 times the output's");
  }
  const HardSwish16 function{q->input,
                             q->output,
                             Narrow(output->mantissa),
                             output->exponent,
                             Narrow(reluish->mantissa),
                             reluish->exponent};
  return PrepareTable(layer, MakeTable(type, [&](int32_t x) {
                        const Range range = RangeOf(type);
                        return std::clamp(function(x), range.min, range.max);
                      }));
}

Result<PreparedLayer> PrepareLeakyRelu(const LayerView& layer, const LayerOptions&) {
  const float alpha = layer.op<LeakyRelu>().alpha;
  const Type type = layer.output().type;
  if (type == Type::kFloat32 && layer.input(0).type == type) {
    return PrepareUnary(
        UnaryRoutine<float, float>(layer, [alpha](float x) { return x > 0 ? x : x * alpha; }));
  }
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  // float32 products and quotients, as in TFLite.
  const Result<Signed> slope =
      SignedMultiplier(layer, static_cast<double>(q->input.scale * alpha / q->output.scale));
  if (!slope.ok()) return slope.status();
  const Result<Signed> identity =
      SignedMultiplier(layer, static_cast<double>(q->input.scale / q->output.scale));
  if (!identity.ok()) return identity.status();
  const Range range = RangeOf(type);
  return PrepareQuantizedUnary(
      layer, [q = *q, slope = *slope, identity = *identity, range](int32_t x) {
        const int32_t centered = x - q.input.zero_point;
        const int32_t scaled = centered >= 0 ? identity(centered) : slope(centered);
        return AddAndClamp(scaled, q.output.zero_point, range);
      });
}

ShapesResult InferPrelu(const LayerView& layer) {
  const Result<Shape> shape = BroadcastShape(layer);
  if (!shape.ok()) return shape.status();
  if (*shape == layer.input(0).shape) return std::vector<Shape>{*shape};
  return layer.Invalid("slopes of " + ToString(layer.input(1).shape) + " do not broadcast to " +
                       ToString(layer.input(0).shape));
}

Result<PreparedLayer> PreparePrelu(const LayerView& layer, const LayerOptions&) {
  const Type type = layer.output().type;
  const Type slopes = layer.input(1).type;
  if (type == Type::kFloat32) {
    INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
    return PrepareBinary(layer, BinaryRoutine<float, float, float>(layer, [](float x, float alpha) {
                           return x >= 0 ? x : x * alpha;
                         }));
  }
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Result<Affine> alpha = AffineOf(layer, layer.input(1));
  if (!alpha.ok()) return alpha.status();
  const Result<QuantizedMultiplier> identity =
      MakeMultiplier(layer, static_cast<double>(q->input.scale / q->output.scale));
  if (!identity.ok()) return identity.status();
  const Result<QuantizedMultiplier> product =
      MakeMultiplier(layer, static_cast<double>(q->input.scale * alpha->scale / q->output.scale));
  if (!product.ok()) return product.status();
  const QuantizedPrelu f{q->input, *alpha, q->output, *identity, *product, RangeOf(type)};
  std::shared_ptr<const Routine> routine;
  if (type == Type::kInt16 && slopes == Type::kInt8) {
    routine = BinaryRoutine<int16_t, int8_t, int16_t>(layer, f);
  } else if (type == slopes) {
    routine = VisitType<int8_t, uint8_t>(type, [&](auto zero) {
      using T = decltype(zero);
      return BinaryRoutine<T, T, T>(layer, f);
    });
  }
  return PrepareBinary(layer, std::move(routine));
}

}  // namespace

constinit const OperatorRow Logistic::kRow =
    UnaryRow("LOGISTIC", kQuantized | kFloat, kLogisticWays,
             "int16 of scales to 5.33, zero points 0, to the scale 2^-15");

constinit const OperatorRow Tanh::kRow =
    UnaryRow("TANH", kQuantized | kFloat, kTanhWays,
             "int16 of scales to 5.33, zero points 0, to the scale 2^-15");

constinit const OperatorRow Relu::kRow =
    UnaryRow("RELU", kQuantized | kFloat, kBytesByTable<PrepareRelu>);

constinit const OperatorRow Relu6::kRow =
    UnaryRow("RELU6", kQuantized | kFloat, kBytesByTable<PrepareRelu6>);

constinit const OperatorRow ReluN1To1::kRow =
    UnaryRow("RELU_N1_TO_1", kQuantized | kFloat, kBytesByTable<PrepareReluN1To1>);

constinit const OperatorRow HardSwish::kRow =
    UnaryRow("HARD_SWISH", kEightBit | kFloat, kBytesByTable<PrepareHardSwish>);

constinit const OperatorRow Elu::kRow =
    UnaryRow("ELU", SetOf(Type::kInt8) | kFloat, kIntegersByTable<PrepareElu>);

constinit const OperatorRow Gelu::kRow =
    UnaryRow("GELU", kQuantized | kFloat, kIntegersByTable<PrepareGelu>);

constinit const OperatorRow LeakyRelu::kRow =
    UnaryRow("LEAKY_RELU", kQuantized | kFloat, kBytesByTable<PrepareLeakyRelu>);

constinit const OperatorRow Prelu::kRow = {.name = "PRELU",
                                           .min_inputs = 2,
                                           .max_inputs = 2,
                                           .types = kQuantized | kFloat,
                                           .infer = InferPrelu,
                                           .candidates = Candidate{"elementwise", PreparePrelu},
                                           .remark = "int16 with int8 slopes",
                                           .parameters = kWeights};

}  // namespace intaglio::nn
