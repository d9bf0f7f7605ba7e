#include "intaglio/nn/tune/plan.h"

#include <algorithm>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/routine/prepare.h"

namespace intaglio::nn::tune {
namespace {

bool IsUsable(const std::string& kernel, const Machine& machine) {
  return kernel.empty() ||
         std::find(machine.kernels.begin(), machine.kernels.end(), kernel) != machine.kernels.end();
}

// Why a layer cannot be computed as planned; empty: it can.
std::string WhyNot(const LayerPlan& plan, const Graph& graph, const Machine& here) {
  const TimedWay& way = plan.chosen;
  if (!IsUsable(way.kernel, here))
    return "the kernel '" + Printable(way.kernel) + "' is not usable here";
  LayerOptions options;
  options.kernel = way.kernel.empty() ? BestKernel() : way.kernel;
  options.routine = way.routine;
  for (const CandidateInfo& candidate : ListCandidates(LayerView(graph, plan.layer), options)) {
    if (candidate.name != way.routine) continue;
    return candidate.why_not.empty() ? "" : "'" + candidate.name + "': " + candidate.why_not;
  }
  return "there is no routine '" + Printable(way.routine) + "'";
}

Status CheckNetwork(const Plan& plan, const Graph& graph) {
  if (plan.digest != DigestOf(graph)) {
    return InvalidArgument("the plan was made for another network, '" + Printable(plan.model) +
                           "'");
  }
  for (const LayerPlan& layer : plan.layers) {
    if (layer.layer >= graph.layers.size()) {
      return InvalidArgument("the plan has a layer " + std::to_string(layer.layer) +
                             ", but the network has " + std::to_string(graph.layers.size()));
    }
    if (layer.operator_name != NameOf(graph.layers[layer.layer].op)) {
      return InvalidArgument("layer " + std::to_string(layer.layer) + " of the plan is a " +
                             Printable(layer.operator_name) + ", but the network has a " +
                             NameOf(graph.layers[layer.layer].op) + " there");
    }
  }
  return {};
}

}  // namespace

Result<Replay> ReplayOf(const Plan& plan, const Graph& graph, const PrepareOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  INTAGLIO_RETURN_IF_ERROR(CheckNetwork(plan, graph));
  Replay replay;
  const Machine here = ThisMachine();
  if (plan.machine != here) {
    replay.warnings.push_back("the plan was made on another machine (" +
                              Printable(Describe(plan.machine)) + "; this is " + Describe(here) +
                              ")");
  }
  if (plan.threads != options.threads) {
    replay.warnings.push_back("the plan was made for " + std::to_string(plan.threads) +
                              " threads, not for " + std::to_string(options.threads));
  }
  for (const LayerPlan& layer : plan.layers) {
    const std::string why_not = WhyNot(layer, graph, here);
    if (why_not.empty()) {
      replay.choices.push_back({std::to_string(layer.layer), layer.chosen.routine,
                                layer.chosen.kernel, layer.chosen.threads});
    } else {
      replay.warnings.push_back(LabelOf(graph, layer.layer) +
                                " runs as without a plan: " + why_not);
    }
  }
  return replay;
}

}  // namespace intaglio::nn::tune
