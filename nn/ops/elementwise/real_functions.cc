// Functions of one float32 number that .tflite files do not have. Apply says what each computes:
// in float64 where it takes that, so that rounding the result hides the last places in which C
// libraries differ; in float32 where a few operations are all there is.
#include <cmath>
#include <cstdint>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/unary.h"

namespace intaglio::nn {
namespace {

double Apply(const Tan&, double x) { return std::tan(x); }
double Apply(const Asin&, double x) { return std::asin(x); }
double Apply(const Acos&, double x) { return std::acos(x); }
double Apply(const Atan&, double x) { return std::atan(x); }
double Apply(const Sinh&, double x) { return std::sinh(x); }
double Apply(const Cosh&, double x) { return std::cosh(x); }
double Apply(const Asinh&, double x) { return std::asinh(x); }
double Apply(const Acosh&, double x) { return std::acosh(x); }
double Apply(const Atanh&, double x) { return std::atanh(x); }

double Apply(const Softsign&, double x) { return x / (1 + std::fabs(x)); }

// tanh(log(1 + p)) is n / (n + 2) for n = p (p + 2). Above 40 it is 1 to the last place.
double Apply(const Mish&, double x) {
  if (x > 40) return x;
  const double power = std::exp(x);
  const double n = power * (power + 2);
  return x * (n / (n + 2));
}

double Apply(const Selu& op, double x) {
  return double{op.gamma} * (x < 0 ? double{op.alpha} * std::expm1(x) : x);
}

double Apply(const Celu& op, double x) {
  return x < 0 ? double{op.alpha} * std::expm1(x / double{op.alpha}) : x;
}

double Apply(const Swish& op, double x) { return x / (1 + std::exp(-(double{op.alpha} * x))); }

float Apply(const Reciprocal&, float x) { return 1.0f / x; }

float Apply(const HardSigmoid& op, float x) {
  const float line = op.alpha * x + op.beta;
  const float above = line < 0.0f ? 0.0f : line;
  return above > 1.0f ? 1.0f : above;
}

float Apply(const ThresholdedRelu& op, float x) { return x > op.alpha ? x : 0.0f; }

float Apply(const Shrink& op, float x) {
  if (x < -op.threshold) return x + op.bias;
  return x > op.threshold ? x - op.bias : 0.0f;
}

bool Apply(const IsNan&, float x) { return std::isnan(x); }

bool Apply(const IsInf& op, float x) {
  return std::isinf(x) && (x < 0 ? op.negative : op.positive);
}

template <class Op>
Result<PreparedLayer> PrepareFunction(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareUnary(UnaryRoutine<float, float>(
      layer, [op = layer.op<Op>()](float x) { return static_cast<float>(Apply(op, x)); }));
}

template <class Op>
Result<PreparedLayer> PrepareTest(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kBool));
  PreparedLayer prepared;
  prepared.routine = UnaryRoutine<float, uint8_t>(
      layer, [op = layer.op<Op>()](float x) { return Apply(op, x) ? 1 : 0; });
  return prepared;
}

Result<PreparedLayer> PrepareErf(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareUnary(LineRoutine<float, float>(layer, FloatLoopsOf(options.kernel).erf));
}

Result<PreparedLayer> PrepareSoftplus(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareUnary(LineRoutine<float, float>(layer, FloatLoopsOf(options.kernel).softplus));
}

constexpr OperatorRow FloatRow(const char* name, PrepareLayer prepare) {
  return UnaryRow(name, kFloat, Candidate{"elementwise", prepare});
}

}  // namespace

constinit const OperatorRow Erf::kRow = FloatRow("ERF", PrepareErf);
constinit const OperatorRow Reciprocal::kRow = FloatRow("RECIPROCAL", PrepareFunction<Reciprocal>);
constinit const OperatorRow Softplus::kRow = FloatRow("SOFTPLUS", PrepareSoftplus);
constinit const OperatorRow Softsign::kRow = FloatRow("SOFTSIGN", PrepareFunction<Softsign>);
constinit const OperatorRow Mish::kRow = FloatRow("MISH", PrepareFunction<Mish>);
constinit const OperatorRow Tan::kRow = FloatRow("TAN", PrepareFunction<Tan>);
constinit const OperatorRow Asin::kRow = FloatRow("ASIN", PrepareFunction<Asin>);
constinit const OperatorRow Acos::kRow = FloatRow("ACOS", PrepareFunction<Acos>);
constinit const OperatorRow Atan::kRow = FloatRow("ATAN", PrepareFunction<Atan>);
constinit const OperatorRow Sinh::kRow = FloatRow("SINH", PrepareFunction<Sinh>);
constinit const OperatorRow Cosh::kRow = FloatRow("COSH", PrepareFunction<Cosh>);
constinit const OperatorRow Asinh::kRow = FloatRow("ASINH", PrepareFunction<Asinh>);
constinit const OperatorRow Acosh::kRow = FloatRow("ACOSH", PrepareFunction<Acosh>);
constinit const OperatorRow Atanh::kRow = FloatRow("ATANH", PrepareFunction<Atanh>);
constinit const OperatorRow Selu::kRow = FloatRow("SELU", PrepareFunction<Selu>);
constinit const OperatorRow Celu::kRow = FloatRow("CELU", PrepareFunction<Celu>);
constinit const OperatorRow Swish::kRow = FloatRow("SWISH", PrepareFunction<Swish>);
constinit const OperatorRow HardSigmoid::kRow =
    FloatRow("HARD_SIGMOID", PrepareFunction<HardSigmoid>);
constinit const OperatorRow ThresholdedRelu::kRow =
    FloatRow("THRESHOLDED_RELU", PrepareFunction<ThresholdedRelu>);
constinit const OperatorRow Shrink::kRow = FloatRow("SHRINK", PrepareFunction<Shrink>);
constinit const OperatorRow IsNan::kRow = FloatRow("IS_NAN", PrepareTest<IsNan>);
constinit const OperatorRow IsInf::kRow = FloatRow("IS_INF", PrepareTest<IsInf>);

}  // namespace intaglio::nn
