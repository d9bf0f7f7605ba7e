// Inside QuantizeGraph: which layers become integers, and with which parameters.
#ifndef INTAGLIO_NN_QUANTIZE_PLAN_H_
#define INTAGLIO_NN_QUANTIZE_PLAN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/quantize/demands.h"
#include "intaglio/nn/quantize/quantize_graph.h"

namespace intaglio::nn::quantize {

// A tensor in a quantized form, an index of Plan::nodes. One tensor has several nodes where readers
// demand several forms of it.
using NodeId = int;
inline constexpr NodeId kNoNode = -1;

struct Node {
  TensorId tensor = kNoTensor;
  Levels levels;
  Parameters parameters;
};

struct LayerPlan {
  const Demand* demand = nullptr;  // null: the layer stays float32
  std::string reason;              // why
  Levels levels;                   // of the activations, as a rule says
  std::vector<NodeId> inputs;      // kNoNode: the tensor as it is
  std::vector<NodeId> outputs;
};

struct Plan {
  std::vector<Node> nodes;
  std::vector<LayerPlan> layers;
  // For each tensor, the node in which its maker writes it; kNoNode: it is no integer there.
  std::vector<NodeId> homes;
  // For each output of the graph, the node of Rules::interface; kNoNode: it is no integer.
  std::vector<NodeId> outputs;
};

Levels LevelsOf(Type activations, int bits = 8);
LayerRule RuleOf(const Rules& rules, size_t layer);

// `refused` says for each layer why the runtime refused its integer form; empty: it did not.
Result<Plan> MakePlan(const Graph& graph, const Ranges& ranges, const Rules& rules,
                      const std::vector<std::string>& refused);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_PLAN_H_
