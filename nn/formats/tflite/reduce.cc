// Operators that work along rows or reduce axes, in .tflite files.
#include <cmath>
#include <string>
#include <utility>

#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

Status TranslateL2Normalization(Translation& t) {
  const Result<Activation> activation = FusedActivation<tflite::L2NormOptions>(t);
  if (!activation.ok()) return activation.status();
  if (*activation != Activation::kNone) return Unsupported("a fused activation");
  t.set(L2Normalization{});
  return {};
}

Status TranslateLocalResponseNormalization(Translation& t) {
  const auto options = t.RequiredOptions<tflite::LocalResponseNormalizationOptions>();
  if (!options.ok()) return options.status();
  t.set(LocalResponseNormalization{(*options)->radius(), (*options)->bias(), (*options)->alpha(),
                                   (*options)->beta()});
  return {};
}

Status TranslateSoftmax(Translation& t) {
  const auto* const options = t.options<tflite::SoftmaxOptions>();
  if (options == nullptr) return InvalidArgument("its options are missing or another operator's");
  if (!std::isfinite(options->beta())) {
    return InvalidArgument("beta is " + std::to_string(options->beta()));
  }
  t.set(Softmax{options->beta()});
  return {};
}

Status TranslateArgMax(Translation& t) { return FromInt<ArgMax>(t, 1, 0, "axes"); }

Status TranslateArgMin(Translation& t) { return FromInt<ArgMin>(t, 1, 0, "axes"); }

Status TranslateTopK(Translation& t) { return FromInt<TopK>(t, 1, 0, "counts"); }

Status TranslateCumsum(Translation& t) {
  const Result<int> axis = t.ConstantInt(1, "axes");
  if (!axis.ok()) return axis.status();
  const auto* const options = t.options<tflite::CumsumOptions>();
  if (options == nullptr && t.has_options()) {
    return InvalidArgument("has another operator's options");
  }
  t.set(Cumsum{*axis, options != nullptr && options->exclusive(),
               options != nullptr && options->reverse()});
  return t.PickInputs({0});
}

Status Encode(const LocalResponseNormalization& op, Encoding& e) {
  e.SetOptions(tflite::CreateLocalResponseNormalizationOptions(e.builder(), op.radius, op.bias,
                                                               op.alpha, op.beta));
  return {};
}

template <class Op>
Status EncodeReduction(const Op& op, Encoding& e) {
  e.AppendInput(e.Ints("axes", op.axes));
  e.SetOptions(tflite::CreateReducerOptions(e.builder(), op.keep_dims));
  return {};
}

Status Encode(const Softmax& op, Encoding& e) {
  e.SetOptions(tflite::CreateSoftmaxOptions(e.builder(), op.beta));
  return {};
}

Status Encode(const L2Normalization&, Encoding& e) {
  e.SetOptions(tflite::CreateL2NormOptions(e.builder()));
  return {};
}

Status Encode(const Mean& op, Encoding& e) { return EncodeReduction(op, e); }

Status Encode(const Sum& op, Encoding& e) { return EncodeReduction(op, e); }

Status Encode(const ReduceMax& op, Encoding& e) {
  INTAGLIO_RETURN_IF_ERROR(CheckUnset(op.keeps_infinities, "infinities", e));
  return EncodeReduction(op, e);
}

Status Encode(const ReduceMin& op, Encoding& e) {
  INTAGLIO_RETURN_IF_ERROR(CheckUnset(op.keeps_infinities, "infinities", e));
  return EncodeReduction(op, e);
}

Status Encode(const ReduceProd& op, Encoding& e) { return EncodeReduction(op, e); }

Status Encode(const ReduceAny& op, Encoding& e) { return EncodeReduction(op, e); }

Status Encode(const ReduceAll& op, Encoding& e) { return EncodeReduction(op, e); }

Status Encode(const ArgMax& op, Encoding& e) {
  e.SetOptions(tflite::CreateArgMaxOptions(e.builder(), ToTflite(e.layer().output().type)));
  return Append(e, e.Int("axis", op.axis));
}

Status Encode(const ArgMin& op, Encoding& e) {
  e.SetOptions(tflite::CreateArgMinOptions(e.builder(), ToTflite(e.layer().output().type)));
  return Append(e, e.Int("axis", op.axis));
}

Status Encode(const Cumsum& op, Encoding& e) {
  e.SetOptions(tflite::CreateCumsumOptions(e.builder(), op.exclusive, op.reverse));
  return Append(e, e.Int("axis", op.axis));
}

Status Encode(const TopK& op, Encoding& e) {
  const bool last = op.axis == -1 || std::cmp_equal(op.axis + 1, e.layer().input(0).shape.size());
  if (last && op.greatest) return Append(e, e.Int("k", op.k));
  return e.layer().Unsupported("the format has the greatest elements of the last dimension only");
}

constexpr TfliteRow kRows[] = {
    {Code::SOFTMAX, 3, TranslateSoftmax, &Softmax::kRow, WriteBy<Softmax, Encode>},
    {Code::MEAN, 3, TranslateReduction<Mean>, &Mean::kRow, WriteBy<Mean, Encode>},
    {Code::ARG_MAX, 3, TranslateArgMax, &ArgMax::kRow, WriteBy<ArgMax, Encode>},
    {Code::ARG_MIN, 3, TranslateArgMin, &ArgMin::kRow, WriteBy<ArgMin, Encode>},
    {Code::CUMSUM, 1, TranslateCumsum, &Cumsum::kRow, WriteBy<Cumsum, Encode>},
    {Code::TOPK_V2, 3, TranslateTopK, &TopK::kRow, WriteBy<TopK, Encode>},
    {Code::LOG_SOFTMAX, 2, TranslatePlain<LogSoftmax>, &LogSoftmax::kRow},
    {Code::L2_NORMALIZATION, 2, TranslateL2Normalization, &L2Normalization::kRow,
     WriteBy<L2Normalization, Encode>},
    {Code::LOCAL_RESPONSE_NORMALIZATION, 1, TranslateLocalResponseNormalization,
     &LocalResponseNormalization::kRow, WriteBy<LocalResponseNormalization, Encode>},
    {Code::SUM, 2, TranslateReduction<Sum>, &Sum::kRow, WriteBy<Sum, Encode>},
    {Code::REDUCE_MAX, 3, TranslateReduction<ReduceMax>, &ReduceMax::kRow,
     WriteBy<ReduceMax, Encode>},
    {Code::REDUCE_MIN, 3, TranslateReduction<ReduceMin>, &ReduceMin::kRow,
     WriteBy<ReduceMin, Encode>},
    {Code::REDUCE_PROD, 2, TranslateReduction<ReduceProd>, &ReduceProd::kRow,
     WriteBy<ReduceProd, Encode>},
    {Code::REDUCE_ANY, 1, TranslateReduction<ReduceAny>, &ReduceAny::kRow,
     WriteBy<ReduceAny, Encode>},
    {Code::REDUCE_ALL, 1, TranslateReduction<ReduceAll>, &ReduceAll::kRow,
     WriteBy<ReduceAll, Encode>},
};

}  // namespace

std::span<const TfliteRow> ReduceRows() { return kRows; }

}  // namespace intaglio::nn
