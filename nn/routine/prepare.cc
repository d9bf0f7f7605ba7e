#include "intaglio/nn/routine/prepare.h"

#include <algorithm>
#include <span>
#include <string>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/graph/nested_graphs.h"
#include "intaglio/nn/routine/candidates.h"
#include "intaglio/nn/routine/childnet.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// "int8 or uint8"
std::string NamesOf(TypeSet types) {
  std::string text;
  for (int type = static_cast<int>(kLastType); type >= 0; --type) {
    if ((types & SetOf(static_cast<Type>(type))) == 0) continue;
    const char* const separator = text.empty()                     ? ""
                                  : text.find(" or ") == text.npos ? " or "
                                                                   : ", ";
    text = std::string(NameOf(static_cast<Type>(type))) + separator + text;
  }
  return text;
}

// Whether the layer has outputs, and none of them has elements.
bool MakesNothing(const LayerView& layer) {
  if (layer.layer().outputs.empty()) return false;
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) {
    if (*CountElements(layer.output(i).shape) > 0) return false;
  }
  return true;
}

// Other dimensions of an empty output may have any size, so no routine may loop over them.
Result<PreparedLayer> PrepareNothing(const LayerView&, const LayerOptions&) {
  PreparedLayer prepared;
  prepared.routine = RoutineOf([](const RunArguments&) {});
  return prepared;
}

constexpr Candidate kNothing[] = {Moves("none", PrepareNothing)};

std::span<const Candidate> CandidatesOf(const LayerView& layer) {
  if (MakesNothing(layer)) return kNothing;
  return layer.layer().op.row().candidates.list();
}

// Bounds the objects of a childnet. Its layers charge what they take themselves.
size_t BoundChildnet(const LayerView& layer) { return 4 * BoundKept(layer) + (16 << 10); }

// The part of the bytes charged for a layer that it keeps once it is prepared.
size_t KeptBytes(const LayerView& layer, const Result<PreparedLayer>& prepared) {
  // The layers of nested graphs charge what they keep themselves.
  if (!prepared.ok() || !NestedGraphsOf(layer.layer().op).empty()) return 0;
  return prepared->constant_bytes + BoundKept(layer);
}

// Charges everything that preparing may take before any of it is allocated.
Result<PreparedLayer> PrepareCharged(const Candidate& candidate, const LayerView& layer,
                                     const LayerOptions& options) {
  if (options.ledger == nullptr || candidate.prepare == PrepareNothing) {
    return PrepareCandidate(candidate, layer, options);
  }
  const int64_t extra =
      candidate.extra_bytes == nullptr ? 0 : candidate.extra_bytes(layer, options);
  if (candidate.childnet != nullptr) {
    const auto bound = AddSaturated(static_cast<int64_t>(BoundChildnet(layer)), extra);
    const Status status = options.ledger->Charge(static_cast<size_t>(bound));
    if (!status.ok()) return layer.Wrap(status);
    Result<PreparedLayer> prepared = PrepareCandidate(candidate, layer, options);
    if (!prepared.ok()) options.ledger->Return(static_cast<size_t>(bound));
    return prepared;
  }
  const auto bound =
      static_cast<size_t>(AddSaturated(static_cast<int64_t>(BoundPreparation(layer)), extra));
  const Status status = options.ledger->Charge(bound);
  if (!status.ok()) return layer.Wrap(status);
  Result<PreparedLayer> prepared = PrepareCandidate(candidate, layer, options);
  options.ledger->Return(bound - std::min(bound, KeptBytes(layer, prepared)));
  return prepared;
}

}  // namespace

std::string BestKernel() {
  for (const KernelInfo& kernel : ListKernels()) {
    if (kernel.usable) return kernel.name;
  }
  return {};
}

Result<PreparedLayer> Prepare(const LayerView& layer, const LayerOptions& options) {
  const OperatorRow& row = layer.layer().op.row();
  if (layer.has_input(0) && (row.types & SetOf(layer.input(0).type)) == 0) {
    const Tensor& input = layer.input(0);
    return layer.Unsupported("input '" + input.name + "' is " + NameOf(input.type) + "; " +
                             NamesOf(row.types) + " is supported");
  }
  const Result<const Candidate*> chosen = ChooseCandidate(CandidatesOf(layer), layer, options);
  if (!chosen.ok()) return chosen.status();
  return PrepareCharged(**chosen, layer, options);
}

Result<Graph> ChildnetNamed(const LayerView& layer, const std::string& name) {
  LayerOptions options;
  options.kernel = BestKernel();
  options.routine = CandidateIn(name);
  const Result<const Candidate*> chosen = ChooseCandidate(CandidatesOf(layer), layer, options);
  if (!chosen.ok()) return chosen.status();
  if ((*chosen)->childnet == nullptr) {
    return layer.Unsupported("'" + options.routine + "' is no childnet");
  }
  return (*chosen)->childnet(layer);
}

std::vector<std::string> NamesOfChildnets(const LayerView& layer, bool bounded) {
  std::vector<std::string> names;
  LayerOptions options;
  options.kernel = BestKernel();
  for (std::string& name : NamesOfRoutines(layer, options.kernel, bounded, false)) {
    options.routine = name;
    const Result<const Candidate*> chosen = ChooseCandidate(CandidatesOf(layer), layer, options);
    if (chosen.ok() && (*chosen)->childnet != nullptr) names.push_back(std::move(name));
  }
  return names;
}

std::vector<CandidateInfo> ListCandidates(const LayerView& layer, const LayerOptions& options) {
  return ListCandidates(CandidatesOf(layer), layer, options);
}

std::vector<std::string> NamesOfRoutines(const LayerView& layer, const std::string& kernel,
                                         bool bounded, bool parameters) {
  LayerOptions options;
  options.kernel = kernel;
  std::vector<std::string> names;
  for (const CandidateInfo& candidate : ListCandidates(layer, options)) {
    options.routine = candidate.name;
    for (const CandidateInfo& named : ListCandidates(layer, options)) {
      const bool accepts = named.name == candidate.name && named.why_not.empty();
      if (!accepts || (!bounded && named.numeric != NumericClass::kExact)) continue;
      names.push_back(named.name);
      if (!parameters) continue;
      for (const std::string& list : named.parameters) names.push_back(named.name + list);
    }
  }
  return names;
}

}  // namespace intaglio::nn
