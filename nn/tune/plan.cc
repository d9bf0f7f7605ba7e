#include "intaglio/nn/tune/plan.h"

#include <algorithm>
#include <utility>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/passes/float_form.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/nn/tune/compose.h"

namespace intaglio::nn::tune {
namespace {

bool IsUsable(const std::string& kernel, const Machine& machine) {
  return kernel.empty() ||
         std::find(machine.kernels.begin(), machine.kernels.end(), kernel) != machine.kernels.end();
}

// Why the routine of a layer cannot be taken; empty: it can. `layer` is its number in `graph`.
std::string WhyNotRoutine(const TimedWay& way, const Graph& graph, size_t layer) {
  LayerOptions options;
  options.kernel = way.kernel.empty() ? BestKernel() : way.kernel;
  options.routine = way.routine;
  for (const CandidateInfo& candidate : ListCandidates(LayerView(graph, layer), options)) {
    if (candidate.name != CandidateIn(way.routine)) continue;
    const std::string_view parameters = ParametersIn(way.routine);
    const std::vector<std::string>& known = candidate.parameters;
    if (!parameters.empty() && std::find(known.begin(), known.end(), parameters) == known.end()) {
      break;
    }
    return candidate.why_not.empty() ? "" : "'" + candidate.name + "': " + candidate.why_not;
  }
  return "there is no routine '" + Printable(way.routine) + "'";
}

// Why a layer cannot be computed as planned, as far as the layer itself tells; empty: it can.
std::string WhyNot(const LayerPlan& plan, const OtherForm& form, const Machine& here) {
  const TimedWay& way = plan.chosen;
  if (!IsUsable(way.kernel, here))
    return "the kernel '" + Printable(way.kernel) + "' is not usable here";
  if (!way.converted) return WhyNotRoutine(way, form.graph(), plan.layer);
  return form.is_int8() ? "" : WhyNotFloat(form.graph(), plan.layer);
}

Status CheckDigest(const Plan& plan, const Graph& graph) {
  if (HasDigest(graph, plan.digest)) return {};
  return InvalidArgument("the plan was made for another network, '" + Printable(plan.model) + "'");
}

Status CheckLayers(const Plan& plan, const Graph& graph) {
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

void Warn(const Graph& graph, size_t layer, const std::string& why_not, Replay& replay) {
  replay.warnings.push_back(LabelOf(graph, layer) + " runs as without a plan: " + why_not);
}

// Converted layers whose routine does not take them, with the reason.
std::vector<std::pair<size_t, std::string>> RefusedRoutines(const Plan& plan,
                                                            const Composed& composed) {
  std::vector<std::pair<size_t, std::string>> refused = composed.refused;
  const std::vector<LayerOrigin>& origins = composed.network.origins;
  for (const LayerPlan& layer : plan.layers) {
    const bool is_converted =
        layer.chosen.converted &&
        std::find(composed.converted_layers.begin(), composed.converted_layers.end(),
                  layer.layer) != composed.converted_layers.end();
    if (!is_converted || layer.chosen.routine == kVanishes) continue;
    for (size_t i = 0; i < origins.size(); ++i) {
      if (origins[i].layer != layer.layer) continue;
      std::string why_not = WhyNotRoutine(layer.chosen, composed.network.graph, i);
      if (!why_not.empty()) refused.emplace_back(layer.layer, std::move(why_not));
    }
  }
  return refused;
}

Status TakeLayers(const Plan& plan, const OtherForm& form, const Machine& here, Replay& replay) {
  const Graph& graph = form.graph();
  std::vector<LayerWay> ways(graph.layers.size());
  for (const LayerPlan& layer : plan.layers) {
    const std::string why_not = WhyNot(layer, form, here);
    if (!why_not.empty()) {
      Warn(graph, layer.layer, why_not, replay);
      continue;
    }
    const TimedWay& way = layer.chosen;
    ways[layer.layer] = {{way.routine, way.kernel, way.threads}, way.converted};
  }
  Result<Composed> composed = Compose(form, ways);
  if (!composed.ok()) return composed.status();
  // A layer may be refused because another one was. Each round takes one converted layer back at
  // least.
  for (bool again = true; again;) {
    again = false;
    for (const auto& [layer, why_not] : RefusedRoutines(plan, *composed)) {
      again = again || ways[layer].converted;
      if (ways[layer].converted) Warn(graph, layer, why_not, replay);
      ways[layer] = {};
    }
    if (!again) break;
    composed = Compose(form, ways);
    if (!composed.ok()) return composed.status();
  }
  replay.graph = std::move(composed->network.graph);
  replay.choices = std::move(composed->choices);
  replay.converted_layers = std::move(composed->converted_layers);
  return {};
}

}  // namespace

std::string SchemaOf(const std::string& routine) { return routine.substr(0, routine.find('/')); }

Result<Replay> ReplayOf(const Plan& plan, const Graph& graph, const PrepareOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  INTAGLIO_RETURN_IF_ERROR(CheckDigest(plan, graph));
  const Result<OtherForm> form = plan.ranges.empty() ? Result<OtherForm>(OtherForm::Float32(graph))
                                                     : OtherForm::Int8(graph, plan.ranges);
  if (!form.ok()) return form.status();
  INTAGLIO_RETURN_IF_ERROR(CheckLayers(plan, form->graph()));
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
  INTAGLIO_RETURN_IF_ERROR(TakeLayers(plan, *form, here, replay));
  return replay;
}

}  // namespace intaglio::nn::tune
