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
  t.set(Add{*activation});
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
