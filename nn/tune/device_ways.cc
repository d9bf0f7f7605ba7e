#include "intaglio/nn/tune/device_ways.h"

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/runtime/backend.h"

namespace intaglio::nn::tune {
namespace {

// What stands before the colon of "cuda:qint8/gemm"; empty if there is none.
std::string BackendOf(const std::string& routine) {
  const size_t colon = routine.find(':');
  return colon < routine.find('/') ? routine.substr(0, colon) : "";
}

bool HasVariables(const LayerView& layer) {
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (layer.has_input(i) && layer.input(i).variable) return true;
  }
  return false;
}

}  // namespace

bool RunsOnDevice(const std::string& routine) {
  const std::string backend = BackendOf(routine);
  return !backend.empty() && backend != "cpu";
}

std::string DeviceName(const PrepareOptions& options) {
  if (options.device == nullptr) return "";
  return options.device->name().append(": ").append(options.device->hardware());
}

std::string WhyNotOnDevice(const Graph& graph, size_t layer, const std::string& routine,
                           const PrepareOptions& options) {
  if (options.device == nullptr) return "there is no device";
  if (HasVariables(LayerView(graph, layer))) return "layers with variables stay on the CPU";
  for (const CandidateInfo& candidate : options.device->ListCandidates(graph, layer)) {
    if (candidate.name != routine) continue;
    return candidate.why_not.empty() ? "" : "'" + candidate.name + "': " + candidate.why_not;
  }
  return "the device has no routine '" + Printable(routine) + "'";
}

std::vector<Ways> WaysOnDevice(const Graph& graph, const PrepareOptions& options,
                               bool allow_bounded) {
  std::vector<Ways> ways(graph.layers.size());
  for (size_t i = 0; options.device != nullptr && i < ways.size(); ++i) {
    if (HasVariables(LayerView(graph, i))) continue;
    for (const CandidateInfo& candidate : options.device->ListCandidates(graph, i)) {
      const bool is_own = BackendOf(candidate.name) == options.device->name();
      const bool is_allowed = allow_bounded || candidate.numeric == NumericClass::kExact;
      if (is_own && is_allowed && candidate.why_not.empty()) {
        ways[i].push_back({.routine = candidate.name});
      }
    }
  }
  return ways;
}

}  // namespace intaglio::nn::tune
