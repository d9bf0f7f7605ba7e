// Element-wise operators in .tflite files.
#include <cmath>
#include <string>

#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

Status TranslateAdd(Translation& t) {
  const Result<Activation> activation = FusedActivation<tflite::AddOptions>(t);
  if (!activation.ok()) return activation.status();
  const auto* const options = t.options<tflite::AddOptions>();
  t.set(Add{*activation, options == nullptr || options->pot_scale_int16()});
  return {};
}

Status TranslateSub(Translation& t) {
  const Result<Activation> activation = FusedActivation<tflite::SubOptions>(t);
  if (!activation.ok()) return activation.status();
  const auto* const options = t.options<tflite::SubOptions>();
  t.set(Sub{*activation, options == nullptr || options->pot_scale_int16()});
  return {};
}

Status TranslateMul(Translation& t) {
  const Result<Activation> activation = FusedActivation<tflite::MulOptions>(t);
  if (!activation.ok()) return activation.status();
  t.set(Mul{*activation});
  return {};
}

Status TranslateDiv(Translation& t) {
  const Result<Activation> activation = FusedActivation<tflite::DivOptions>(t);
  if (!activation.ok()) return activation.status();
  t.set(Div{*activation});
  return {};
}

Status TranslateLeakyRelu(Translation& t) {
  const auto options = t.RequiredOptions<tflite::LeakyReluOptions>();
  if (!options.ok()) return options.status();
  if (!std::isfinite((*options)->alpha())) {
    return InvalidArgument("alpha is " + std::to_string((*options)->alpha()));
  }
  t.set(LeakyRelu{(*options)->alpha()});
  return {};
}

Status TranslateGelu(Translation& t) {
  const auto* const options = t.options<tflite::GeluOptions>();
  if (options == nullptr && t.has_options()) {
    return InvalidArgument("has another operator's options");
  }
  t.set(Gelu{options != nullptr && options->approximate()});
  return {};
}

Status CheckInfinities(bool kept, const Encoding& e) { return CheckUnset(kept, "infinities", e); }

Status Encode(const Add& op, Encoding& e) {
  INTAGLIO_RETURN_IF_ERROR(CheckInfinities(op.keeps_infinities, e));
  e.SetOptions(tflite::CreateAddOptions(e.builder(), ToTflite(op.activation), op.pot_scale_int16));
  return {};
}

Status Encode(const Sub& op, Encoding& e) {
  INTAGLIO_RETURN_IF_ERROR(CheckInfinities(op.keeps_infinities, e));
  e.SetOptions(tflite::CreateSubOptions(e.builder(), ToTflite(op.activation), op.pot_scale_int16));
  return {};
}

Status Encode(const Mul& op, Encoding& e) {
  INTAGLIO_RETURN_IF_ERROR(CheckInfinities(op.keeps_infinities, e));
  e.SetOptions(tflite::CreateMulOptions(e.builder(), ToTflite(op.activation)));
  return {};
}

Status Encode(const Maximum& op, Encoding& e) { return CheckUnset(op.keeps_nan, "NaN", e); }

Status Encode(const Minimum& op, Encoding& e) { return CheckUnset(op.keeps_nan, "NaN", e); }

Status Encode(const Div& op, Encoding& e) {
  INTAGLIO_RETURN_IF_ERROR(CheckInfinities(op.keeps_infinities, e));
  e.SetOptions(tflite::CreateDivOptions(e.builder(), ToTflite(op.activation)));
  return {};
}

Status Encode(const Elu& op, Encoding& e) {
  if (op.alpha == 1) return {};
  return e.layer().Unsupported("the format has no other alpha than 1");
}

Status Encode(const LeakyRelu& op, Encoding& e) {
  if (!std::isfinite(op.alpha)) {
    return e.layer().Unsupported("no file has an alpha of " + std::to_string(op.alpha));
  }
  e.SetOptions(tflite::CreateLeakyReluOptions(e.builder(), op.alpha));
  return {};
}

Status Encode(const Gelu& op, Encoding& e) {
  e.SetOptions(tflite::CreateGeluOptions(e.builder(), op.approximate));
  return {};
}

constexpr TfliteRow kRows[] = {
    {Code::ADD, 5, TranslateAdd, &Add::kRow, WriteBy<Add, Encode>},
    {Code::LOGISTIC, 3, TranslatePlain<Logistic>, &Logistic::kRow},
    {Code::TANH, 3, TranslatePlain<Tanh>, &Tanh::kRow},
    {Code::RELU, 3, TranslatePlain<Relu>, &Relu::kRow},
    {Code::RELU6, 3, TranslatePlain<Relu6>, &Relu6::kRow},
    {Code::QUANTIZE, 6, TranslatePlain<Quantize>, &Quantize::kRow},
    {Code::DEQUANTIZE, 9, TranslatePlain<Dequantize>, &Dequantize::kRow},
    {Code::CAST, 9, TranslatePlain<Cast>, &Cast::kRow},
    {Code::SELECT, 4, TranslatePlain<Select>, &Select::kRow},
    {Code::SELECT_V2, 2, TranslatePlain<SelectV2>, &SelectV2::kRow},
    {Code::SUB, 5, TranslateSub, &Sub::kRow, WriteBy<Sub, Encode>},
    {Code::MUL, 7, TranslateMul, &Mul::kRow, WriteBy<Mul, Encode>},
    {Code::DIV, 2, TranslateDiv, &Div::kRow, WriteBy<Div, Encode>},
    {Code::MAXIMUM, 4, TranslatePlain<Maximum>, &Maximum::kRow, WriteBy<Maximum, Encode>},
    {Code::MINIMUM, 4, TranslatePlain<Minimum>, &Minimum::kRow, WriteBy<Minimum, Encode>},
    {Code::SQUARED_DIFFERENCE, 2, TranslatePlain<SquaredDifference>, &SquaredDifference::kRow},
    {Code::FLOOR_DIV, 3, TranslatePlain<FloorDiv>, &FloorDiv::kRow},
    {Code::FLOOR_MOD, 2, TranslatePlain<FloorMod>, &FloorMod::kRow},
    {Code::POW, 1, TranslatePlain<Pow>, &Pow::kRow},
    {Code::EQUAL, 5, TranslatePlain<Equal>, &Equal::kRow},
    {Code::NOT_EQUAL, 4, TranslatePlain<NotEqual>, &NotEqual::kRow},
    {Code::LESS, 3, TranslatePlain<Less>, &Less::kRow},
    {Code::LESS_EQUAL, 2, TranslatePlain<LessEqual>, &LessEqual::kRow},
    {Code::GREATER, 2, TranslatePlain<Greater>, &Greater::kRow},
    {Code::GREATER_EQUAL, 3, TranslatePlain<GreaterEqual>, &GreaterEqual::kRow},
    {Code::LOGICAL_AND, 1, TranslatePlain<LogicalAnd>, &LogicalAnd::kRow},
    {Code::LOGICAL_OR, 1, TranslatePlain<LogicalOr>, &LogicalOr::kRow},
    {Code::LOGICAL_NOT, 1, TranslatePlain<LogicalNot>, &LogicalNot::kRow},
    {Code::ABS, 5, TranslatePlain<Abs>, &Abs::kRow},
    {Code::NEG, 2, TranslatePlain<Neg>, &Neg::kRow},
    {Code::EXP, 2, TranslatePlain<Exp>, &Exp::kRow},
    {Code::LOG, 2, TranslatePlain<Log>, &Log::kRow},
    {Code::SQRT, 2, TranslatePlain<Sqrt>, &Sqrt::kRow},
    {Code::RSQRT, 3, TranslatePlain<Rsqrt>, &Rsqrt::kRow},
    {Code::SQUARE, 1, TranslatePlain<Square>, &Square::kRow},
    {Code::FLOOR, 2, TranslatePlain<Floor>, &Floor::kRow},
    {Code::CEIL, 2, TranslatePlain<Ceil>, &Ceil::kRow},
    {Code::ROUND, 2, TranslatePlain<Round>, &Round::kRow},
    {Code::SIN, 2, TranslatePlain<Sin>, &Sin::kRow},
    {Code::COS, 2, TranslatePlain<Cos>, &Cos::kRow},
    {Code::RELU_N1_TO_1, 1, TranslatePlain<ReluN1To1>, &ReluN1To1::kRow},
    {Code::HARD_SWISH, 1, TranslatePlain<HardSwish>, &HardSwish::kRow},
    {Code::ELU, 1, TranslatePlain<Elu>, &Elu::kRow, WriteBy<Elu, Encode>},
    {Code::GELU, 2, TranslateGelu, &Gelu::kRow, WriteBy<Gelu, Encode>},
    {Code::LEAKY_RELU, 2, TranslateLeakyRelu, &LeakyRelu::kRow, WriteBy<LeakyRelu, Encode>},
    {Code::PRELU, 1, TranslatePlain<Prelu>, &Prelu::kRow},
};

}  // namespace

std::span<const TfliteRow> ElementwiseRows() { return kRows; }

}  // namespace intaglio::nn
