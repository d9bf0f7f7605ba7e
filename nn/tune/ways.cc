#include "intaglio/nn/tune/ways.h"

#include <algorithm>
#include <string>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/routine/routine_name.h"

namespace intaglio::nn::tune {
namespace {

// Without the portable one: a round of it would take longer than all others together.
std::vector<std::string> BestKernels() {
  std::vector<std::string> names;
  for (const KernelInfo& kernel : ListKernels()) {
    if (!names.empty() && kernel.name == "scalar") continue;
    if (kernel.usable && names.size() < kMostKernels) names.push_back(kernel.name);
  }
  return names;
}

// A bounded routine that computes the layer anyway gives the same bits with other parameters.
void AddOwnParameters(const Model& model, size_t layer, Ways& ways) {
  const std::string& own = model.layers()[layer].routine;
  for (const CandidateInfo& candidate : model.ListRoutines(layer)) {
    if (candidate.name != CandidateIn(own) || candidate.numeric != NumericClass::kBounded) continue;
    for (const std::string& parameters : candidate.parameters) {
      const std::string routine = candidate.name + parameters;
      if (routine != own) ways.push_back({.routine = routine});
    }
  }
}

Ways WaysOf(const Model& model, size_t layer, const std::vector<std::string>& kernels,
            bool allow_bounded) {
  const LayerInfo& info = model.layers()[layer];
  const LayerView view(model.graph(), layer);
  Ways ways = {LayerChoice{}};
  for (const std::string& routine : NamesOfRoutines(view, info.kernel, allow_bounded, true)) {
    if (routine != info.routine) ways.push_back({.routine = routine});
  }
  if (!allow_bounded) AddOwnParameters(model, layer, ways);
  if (info.kernel.empty()) return ways;
  for (const std::string& kernel : kernels) {
    if (kernel == info.kernel) continue;
    for (const std::string& routine : NamesOfRoutines(view, kernel, allow_bounded, false))
      ways.push_back({routine, kernel});
  }
  return ways;
}

}  // namespace

std::vector<Ways> RoutinesAndKernels(const Model& untuned, const PrepareOptions& options,
                                     bool allow_bounded) {
  const std::vector<std::string> kernels =
      options.kernel.empty() ? BestKernels() : std::vector<std::string>();
  std::vector<Ways> ways;
  for (size_t i = 0; i < untuned.layers().size(); ++i) {
    ways.push_back(WaysOf(untuned, i, kernels, allow_bounded));
  }
  return ways;
}

std::vector<Ways> FewerThreads(const std::vector<LayerChoice>& chosen, int threads) {
  std::vector<Ways> ways;
  for (const LayerChoice& choice : chosen) {
    Ways& of_layer = ways.emplace_back(Ways{choice});
    for (int fewer = threads / 2; fewer >= 1; fewer /= 2) {
      of_layer.push_back(choice);
      of_layer.back().threads = fewer;
    }
  }
  return ways;
}

std::vector<RoutineChoice> ChoicesOf(const std::vector<Ways>& ways, size_t variant) {
  std::vector<RoutineChoice> choices;
  for (size_t i = 0; i < ways.size(); ++i) {
    const LayerChoice& way = ways[i][variant < ways[i].size() ? variant : 0];
    choices.push_back({std::to_string(i), way.routine, way.kernel, way.threads});
  }
  return choices;
}

size_t CountVariants(const std::vector<Ways>& ways) {
  size_t count = 1;
  for (const Ways& of_layer : ways) count = std::max(count, of_layer.size());
  return count;
}

}  // namespace intaglio::nn::tune
