#include "intaglio/nn/runtime/exact_routines.h"

#include <algorithm>
#include <string>

#include "intaglio/nn/routine/prepare.h"

namespace intaglio::nn {
namespace {

// The first that is taken by default is among them.
std::vector<std::string> ExactRoutinesOf(const Model& model, size_t index) {
  const LayerView layer(model.graph(), index);
  const LayerInfo& info = model.layers()[index];
  LayerOptions options;
  options.kernel = info.kernel.empty() ? BestKernel() : info.kernel;
  std::vector<std::string> names = NamesOfRoutines(layer, options.kernel, false, true);
  std::erase_if(names, [&](const std::string& name) {  // some refuse only when they are prepared
    options.routine = name;
    return !Prepare(layer, options).ok();
  });
  return names;
}

}  // namespace

std::vector<std::vector<RoutineChoice>> ExactRoutines(const Model& model) {
  std::vector<std::vector<RoutineChoice>> networks;
  for (size_t i = 0; i < model.layers().size(); ++i) {
    const std::vector<std::string> names = ExactRoutinesOf(model, i);
    networks.resize(std::max(networks.size(), names.size()));
    for (size_t n = 0; n < names.size(); ++n) networks[n].push_back({std::to_string(i), names[n]});
  }
  return networks;
}

}  // namespace intaglio::nn
