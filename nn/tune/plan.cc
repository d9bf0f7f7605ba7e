#include "intaglio/nn/tune/plan.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/passes/float_form.h"
#include "intaglio/nn/routine/childnet.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/nn/tune/compose.h"
#include "intaglio/nn/tune/device_ways.h"
#include "intaglio/nn/tune/hash.h"
#include "intaglio/nn/tune/parameters_digest.h"

namespace intaglio::nn::tune {
namespace {

bool IsUsable(const std::string& kernel, const Machine& machine) {
  return kernel.empty() ||
         std::find(machine.kernels.begin(), machine.kernels.end(), kernel) != machine.kernels.end();
}

std::string NoKernel(const std::string& kernel) {
  return "the kernel '" + Printable(kernel) + "' is not usable here";
}

std::string WhyNotRoutine(const LayerChoice& way, const LayerView& layer, const Machine& here);

// Why the choices for the layers of a childnet cannot be taken.
std::string WhyNotChildren(const std::string& routine, const LayerView& layer,
                           const Machine& here) {
  const Result<std::vector<ChildChoice>> children = ChildChoicesIn(routine);
  if (!children.ok()) return children.status().message();
  const Result<Graph> graph = ChildnetNamed(layer, routine);
  if (!graph.ok()) return graph.status().message();
  const std::string of = " of the childnet '" + std::string(CandidateIn(routine)) + "'";
  std::vector<bool> is_named(graph->layers.size());
  for (const ChildChoice& child : *children) {
    if (child.layer >= is_named.size() || is_named[child.layer]) {
      return "there is no layer " + std::to_string(child.layer) + of + ", or it comes twice";
    }
    is_named[child.layer] = true;
    const std::string why_not =
        !IsUsable(child.choice.kernel, here)
            ? NoKernel(child.choice.kernel)
            : WhyNotRoutine(child.choice, LayerView(*graph, child.layer), here);
    if (!why_not.empty()) return "layer " + std::to_string(child.layer) + of + ": " + why_not;
  }
  return "";
}

// Why the routine of a layer cannot be taken; empty: it can. An empty name is the default.
std::string WhyNotRoutine(const LayerChoice& way, const LayerView& layer, const Machine& here) {
  if (way.routine.empty()) return "";
  LayerOptions options;
  options.kernel = way.kernel.empty() ? BestKernel() : way.kernel;
  options.routine = way.routine;
  for (const CandidateInfo& candidate : ListCandidates(layer, options)) {
    if (candidate.name != CandidateIn(way.routine)) continue;
    const std::string_view parameters = ParametersIn(way.routine);
    const std::vector<std::string>& known = candidate.parameters;
    if (!parameters.empty() && std::find(known.begin(), known.end(), parameters) == known.end()) {
      break;
    }
    if (!candidate.why_not.empty()) return "'" + candidate.name + "': " + candidate.why_not;
    const std::vector<std::string> childnets = NamesOfChildnets(layer, true);
    const bool is_childnet =
        std::find(childnets.begin(), childnets.end(), candidate.name) != childnets.end();
    return is_childnet || !LayersIn(way.routine).empty() ? WhyNotChildren(way.routine, layer, here)
                                                         : "";
  }
  return "there is no routine '" + Printable(way.routine) + "'";
}

// The same of the routine of a plan; `layer` is its number in `graph`.
std::string WhyNotRoutine(const TimedWay& way, const Graph& graph, size_t layer,
                          const Machine& here) {
  if (way.routine.empty()) return "there is no routine ''";
  return WhyNotRoutine({way.routine, way.kernel}, LayerView(graph, layer), here);
}

// Why a layer cannot be computed as planned, as far as the layer itself tells; empty: it can.
std::string WhyNot(const LayerPlan& plan, const OtherForm& form, const Machine& here,
                   const PrepareOptions& options) {
  const TimedWay& way = plan.chosen;
  if (RunsOnDevice(way.routine) && !way.converted) {
    return WhyNotOnDevice(form.graph(), plan.layer, way.routine, options);
  }
  if (!IsUsable(way.kernel, here)) return NoKernel(way.kernel);
  if (!way.converted) return WhyNotRoutine(way, form.graph(), plan.layer, here);
  return form.is_int8() ? "" : WhyNotFloat(form.graph(), plan.layer);
}

Status CheckDigest(const Plan& plan, const Graph& graph) {
  if (HasDigest(graph, plan.digest)) return {};
  return InvalidArgument("the plan was made for another network, '" + Printable(plan.model) + "'");
}

Status CheckLayers(const Plan& plan, const Graph& graph) {
  std::vector<bool> is_named(graph.layers.size());
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
    // To check a childnet takes time, so entries must not be more than layers.
    if (is_named[layer.layer]) {
      return InvalidArgument("the plan has layer " + std::to_string(layer.layer) + " twice");
    }
    is_named[layer.layer] = true;
  }
  return {};
}

void Warn(const Graph& graph, size_t layer, const std::string& why_not, Replay& replay) {
  replay.warnings.push_back(LabelOf(graph, layer) + " runs as without a plan: " + why_not);
}

// Takes the layers of a device that is not here out of the plan, and says so once.
Plan WithoutOtherDevice(const Plan& plan, const PrepareOptions& options, Replay& replay) {
  const std::string here = DeviceName(options);
  const bool is_same = plan.device == here;
  const std::string name = options.device == nullptr ? "" : options.device->name();
  Plan kept = plan;
  const size_t left_out = std::erase_if(kept.layers, [&](const LayerPlan& layer) {
    const std::string& routine = layer.chosen.routine;
    return RunsOnDevice(routine) && (name.empty() || routine.rfind(name + ":", 0) != 0);
  });
  if (left_out == 0 && (plan.device.empty() || is_same)) return kept;
  std::string warning = "the plan was made for the device '" + Printable(plan.device) + "'; ";
  warning += here.empty() ? "there is none here" : "this one is '" + Printable(here) + "'";
  if (left_out > 0) {
    warning += ", so " + std::to_string(left_out) +
               (left_out == 1 ? " layer runs" : " layers run") + " as without a plan";
  }
  replay.warnings.push_back(std::move(warning));
  return kept;
}

// Converted layers whose routine does not take them, with the reason.
std::vector<std::pair<size_t, std::string>> RefusedRoutines(const Plan& plan,
                                                            const Composed& composed,
                                                            const Machine& here,
                                                            const PrepareOptions& prepare) {
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
      const Graph& graph = composed.network.graph;
      std::string why_not = RunsOnDevice(layer.chosen.routine)
                                ? WhyNotOnDevice(graph, i, layer.chosen.routine, prepare)
                                : WhyNotRoutine(layer.chosen, graph, i, here);
      if (!why_not.empty()) refused.emplace_back(layer.layer, std::move(why_not));
    }
  }
  return refused;
}

Status TakeLayers(const Plan& plan, const OtherForm& form, const Machine& here,
                  const PrepareOptions& options, Replay& replay) {
  const Graph& graph = form.graph();
  std::vector<LayerWay> ways(graph.layers.size());
  bool accepted = plan.machine == here && plan.accepted == AcceptedKey(plan, graph);
  for (const LayerPlan& layer : plan.layers) {
    const std::string why_not = WhyNot(layer, form, here, options);
    if (!why_not.empty()) {
      accepted = accepted && !layer.chosen.converted;
      Warn(graph, layer.layer, why_not, replay);
      continue;
    }
    const TimedWay& way = layer.chosen;
    ways[layer.layer] = {{way.routine, way.kernel, way.threads}, way.converted};
  }
  Result<Composed> composed = Compose(form, ways, accepted);
  if (!composed.ok()) return composed.status();
  // A layer may be refused because another one was. Each round takes one converted layer back at
  // least.
  for (bool again = true; again;) {
    again = false;
    for (const auto& [layer, why_not] : RefusedRoutines(plan, *composed, here, options)) {
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

uint64_t AcceptedKey(const Plan& plan, const Graph& graph) {
  Hash hash;
  hash.Add(plan.digest);
  hash.Add(plan.machine.cpu);
  hash.Add(plan.machine.library);
  for (const std::string& kernel : plan.machine.kernels) hash.Add(kernel);
  std::map<std::string, NamedRange> ranges;  // in the same order, however they are given
  for (const NamedRange& range : plan.ranges) ranges[range.tensor] = range;
  for (const auto& [tensor, range] : ranges) {
    hash.Add(tensor);
    hash.Add(uint64_t{std::bit_cast<uint32_t>(range.min)});
    hash.Add(uint64_t{std::bit_cast<uint32_t>(range.max)});
  }
  for (const LayerPlan& layer : plan.layers) {
    if (layer.chosen.converted) hash.Add(uint64_t{layer.layer});
  }
  // The digest says nothing of these.
  for (const Layer& layer : graph.layers) AddParameters(layer.op, hash);
  for (const Tensor& tensor : graph.tensors) {
    hash.Add(std::span<const int32_t>(tensor.quantization.zero_points));
  }
  return hash.value();
}

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
  const Plan kept = WithoutOtherDevice(plan, options, replay);
  INTAGLIO_RETURN_IF_ERROR(TakeLayers(kept, *form, here, options, replay));
  return replay;
}

}  // namespace intaglio::nn::tune
