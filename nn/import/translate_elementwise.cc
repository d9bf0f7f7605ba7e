// Operators that work element by element or row by row.
#include <cmath>

#include "intaglio/nn/import/translate.h"

namespace intaglio::nn {
namespace {

// The fused activation of an operator whose options may be absent, which means their defaults.
template <class Options>
Result<Activation> FusedActivation(const Translation& t) {
  const auto* const options = t.options<Options>();
  if (options != nullptr) return ActivationFrom(options->fused_activation_function());
  if (t.has_options()) return InvalidArgument("has another operator's options");
  return Activation::kNone;
}

}  // namespace

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

Status TranslateL2Normalization(Translation& t) {
  const Result<Activation> activation = FusedActivation<tflite::L2NormOptions>(t);
  if (!activation.ok()) return activation.status();
  if (*activation != Activation::kNone) return Unsupported("a fused activation");
  t.set(L2Normalization{});
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

Status TranslateLocalResponseNormalization(Translation& t) {
  const auto options = t.RequiredOptions<tflite::LocalResponseNormalizationOptions>();
  if (!options.ok()) return options.status();
  t.set(LocalResponseNormalization{(*options)->radius(), (*options)->bias(), (*options)->alpha(),
                                   (*options)->beta()});
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

Status TranslateConcatenation(Translation& t) {
  const Result<Activation> activation = FusedActivation<tflite::ConcatenationOptions>(t);
  if (!activation.ok()) return activation.status();
  const auto* const options = t.options<tflite::ConcatenationOptions>();
  t.set(Concatenation{options == nullptr ? 0 : options->axis(), *activation});
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

}  // namespace intaglio::nn
