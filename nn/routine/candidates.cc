#include "intaglio/nn/routine/candidates.h"

#include <algorithm>
#include <bit>

#include "intaglio/nn/routine/routine_name.h"

namespace intaglio::nn {
namespace {

// The input whose type decides; null if the layer has no such input.
const Tensor* TypedInput(const Candidate& candidate, const LayerView& layer) {
  return layer.has_input(candidate.typed_input) ? &layer.input(candidate.typed_input) : nullptr;
}

bool AcceptsType(const Candidate& candidate, const Tensor* input) {
  return input == nullptr || (candidate.types & SetOf(input->type)) != 0;
}

// The name of a candidate that does not accept the layer's type has the first type that it accepts.
std::string TypeName(const Candidate& candidate, const LayerView& layer) {
  if (candidate.kind != nullptr) return candidate.kind;
  const Tensor* const input = TypedInput(candidate, layer);
  const Type type = input != nullptr && AcceptsType(candidate, input)
                        ? input->type
                        : static_cast<Type>(std::countr_zero(candidate.types));
  return std::string(type == Type::kFloat32 ? "" : "q") + NameOf(type);
}

std::string NameOf(const Candidate& candidate, const LayerView& layer) {
  return std::string(candidate.backend) + ":" + TypeName(candidate, layer) + "/" +
         candidate.algorithm;
}

bool Accepts(const Candidate& candidate, const LayerView& layer, const LayerOptions& options) {
  return AcceptsType(candidate, TypedInput(candidate, layer)) &&
         (candidate.why_not == nullptr || candidate.why_not(layer, options) == nullptr);
}

std::string WhyNot(const Candidate& candidate, const LayerView& layer,
                   const LayerOptions& options) {
  const Tensor* const input = TypedInput(candidate, layer);
  if (!AcceptsType(candidate, input)) return std::string("not for ") + NameOf(input->type);
  const char* const why_not =
      candidate.why_not == nullptr ? nullptr : candidate.why_not(layer, options);
  return why_not == nullptr ? "" : why_not;
}

NumericClass NumericOf(const Candidate& candidate, const LayerView& layer) {
  const Tensor* const input = TypedInput(candidate, layer);
  const bool bounded = input != nullptr && (candidate.bounded & SetOf(input->type)) != 0;
  return bounded ? NumericClass::kBounded : NumericClass::kExact;
}

// "cpu:qint8/gemm accepts it; cpu:qint16/gemm: not for int8"
std::string Describe(const std::vector<CandidateInfo>& infos) {
  std::string text;
  for (const CandidateInfo& info : infos) {
    text += (text.empty() ? "" : "; ") + info.name +
            (info.why_not.empty() ? " accepts it" : ": " + info.why_not);
  }
  return text.empty() ? "there is none for this operator" : text;
}

}  // namespace

std::vector<CandidateInfo> ListCandidates(std::span<const Candidate> candidates,
                                          const LayerView& layer, const LayerOptions& options) {
  std::vector<CandidateInfo> infos;
  for (const Candidate& candidate : candidates) {
    infos.push_back({NameOf(candidate, layer), NumericOf(candidate, layer),
                     WhyNot(candidate, layer, options), ListParameters(candidate)});
  }
  return infos;
}

Result<const Candidate*> ChooseCandidate(std::span<const Candidate> candidates,
                                         const LayerView& layer, const LayerOptions& options) {
  const std::string& wanted = options.routine;
  const std::string_view name = CandidateIn(wanted);
  const auto found =
      std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return (wanted.empty() || NameOf(candidate, layer) == name) &&
               Accepts(candidate, layer, options);
      });
  const std::string what =
      wanted.empty() ? "no routine accepts it: " : "routine '" + wanted + "' does not run it: ";
  if (found != candidates.end()) {
    const std::string why_not = WhyNotParameters(wanted, *found);
    if (why_not.empty()) return &*found;
    return layer.Unsupported(what + why_not);
  }
  return layer.Unsupported(what + Describe(ListCandidates(candidates, layer, options)));
}

Result<PreparedLayer> PrepareCandidate(const Candidate& candidate, const LayerView& layer,
                                       const LayerOptions& options) {
  Result<PreparedLayer> prepared = candidate.prepare(layer, options);
  if (!prepared.ok()) return prepared;
  prepared->name = NameOf(candidate, layer).append(SettingsIn(options.routine));
  if (prepared->routine != nullptr) return prepared;
  return layer.Unsupported("'" + prepared->name + "' made no routine");
}

}  // namespace intaglio::nn
