#include "intaglio/nn/quantize/quantize_graph.h"

#include <utility>

#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/passes/fold_bias.h"
#include "intaglio/nn/passes/fold_constants.h"
#include "intaglio/nn/passes/fold_normalization.h"
#include "intaglio/nn/passes/fuse_activations.h"
#include "intaglio/nn/quantize/emit.h"
#include "intaglio/nn/quantize/plan.h"
#include "intaglio/nn/routine/prepare.h"

namespace intaglio::nn::quantize {
namespace {

bool IsActivation(Type type) {
  return type == Type::kInt8 || type == Type::kUInt8 || type == Type::kInt16;
}

Status CheckRule(const LayerRule& rule, const Rules& rules) {
  if (rule.weight_bits < 2 || rule.weight_bits > 8) {
    return InvalidArgument("weights of " + std::to_string(rule.weight_bits) +
                           " bits; 2 to 8 are supported");
  }
  if (rule.activation_bits < 2 || rule.activation_bits > 8) {
    return InvalidArgument("activations of " + std::to_string(rule.activation_bits) +
                           " bits; 2 to 8 are supported");
  }
  if (!IsActivation(rule.activations)) {
    return InvalidArgument(std::string("activations of ") + NameOf(rule.activations) +
                           "; int8, uint8 and int16 are supported");
  }
  if (rules.form == Form::kPairs && rule.activations == Type::kInt16) {
    return Unsupported("activations of int16 by ONNX's rules");
  }
  return {};
}

Status CheckRules(const Graph& graph, const Rules& rules) {
  if (!rules.layers.empty() && rules.layers.size() != graph.layers.size()) {
    return InvalidArgument("there are " + std::to_string(rules.layers.size()) + " rules for " +
                           std::to_string(graph.layers.size()) + " layers");
  }
  if (rules.interface.has_value() && !IsActivation(*rules.interface)) {
    return InvalidArgument(std::string("inputs and outputs of ") + NameOf(*rules.interface) +
                           "; int8, uint8 and int16 are supported");
  }
  if (rules.interface.has_value() && rules.form == Form::kDynamic) {
    return InvalidArgument("inputs and outputs of hybrid networks are float32");
  }
  for (size_t i = 0; i < rules.layers.size(); ++i) {
    const Status status = CheckRule(rules.layers[i], rules);
    if (!status.ok()) return LayerView(graph, i).Wrap(status);
  }
  return {};
}

Result<Quantized> EmitOnce(const Graph& graph, const Ranges& ranges, const Rules& rules,
                           const std::vector<std::string>& refused) {
  if (rules.form == Form::kDynamic) return EmitDynamic(graph, rules, refused);
  const Result<Plan> plan = MakePlan(graph, ranges, rules, refused);
  if (!plan.ok()) return plan.status();
  return Emit(graph, ranges, *plan, rules);
}

// Asks the runtime for each quantized layer. Returns whether it refused one.
bool FindRefused(const Quantized& quantized, std::vector<std::string>& refused) {
  bool any = false;
  LayerOptions options;
  options.kernel = BestKernel();
  for (size_t i = 0; i < quantized.layers.size(); ++i) {
    if (!quantized.layers[i].quantized) continue;
    const Result<PreparedLayer> prepared =
        Prepare(LayerView(quantized.graph, quantized.places[i]), options);
    if (prepared.ok()) continue;
    refused[i] = "its integer form is refused: " + prepared.status().message();
    any = true;
  }
  return any;
}

}  // namespace

size_t Simplify(Graph& graph) {
  FoldBudget budget = FoldBudget::ForModelOf(CountConstants(graph));
  size_t removed = FoldBias(graph);
  const FoldedNormalization folded = FoldNormalization(graph, budget);
  removed += folded.factors + folded.offsets;
  return removed + FuseActivations(graph);
}

Result<Quantized> QuantizeGraph(const Graph& graph, const Ranges& ranges, const Rules& rules) {
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  INTAGLIO_RETURN_IF_ERROR(CheckRules(graph, rules));
  std::vector<std::string> refused(graph.layers.size());
  // Each round makes at least one more layer stay float32.
  while (true) {
    Result<Quantized> emitted = EmitOnce(graph, ranges, rules, refused);
    if (!emitted.ok()) return emitted.status();
    const bool asks = rules.form != Form::kPairs && !rules.accepted;
    if (asks && FindRefused(*emitted, refused)) continue;
    INTAGLIO_RETURN_IF_ERROR(Validate(emitted->graph));
    return emitted;
  }
}

}  // namespace intaglio::nn::quantize
