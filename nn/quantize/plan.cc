#include "intaglio/nn/quantize/plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/quantize/constants.h"

namespace intaglio::nn::quantize {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, const Ranges& ranges, const Rules& rules)
      : graph_(graph), ranges_(ranges), rules_(rules) {
    plan_.homes.assign(graph.tensors.size(), kNoNode);
    made_by_layer_.assign(graph.tensors.size(), false);
    ends_.assign(graph.tensors.size(), false);
    for (const TensorId id : graph.inputs) ends_[Index(id)] = true;
    for (const TensorId id : graph.outputs) ends_[Index(id)] = true;
  }

  Result<Plan> Make(const std::vector<std::string>& refused) {
    if (rules_.interface.has_value()) {
      for (const TensorId id : graph_.inputs) {
        if (IsReal(id)) Home(id) = NewNode(id, LevelsOf(*rules_.interface));
      }
    }
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      LayerPlan& layer = plan_.layers.emplace_back();
      const LayerRule rule = RuleOf(rules_, i);
      layer.levels = LevelsOf(rule.activations, rule.activation_bits);
      layer.reason = WhyFloat(i);
      if (layer.reason.empty() && !refused.empty()) layer.reason = refused[i];
      if (layer.reason.empty()) PlanLayer(i, layer);
      for (const TensorId id : graph_.layers[i].outputs) made_by_layer_[Index(id)] = true;
    }
    for (const TensorId id : graph_.outputs) plan_.outputs.push_back(NodeOfOutput(id));
    INTAGLIO_RETURN_IF_ERROR(SetParameters());
    MatchOutputs();
    return std::move(plan_);
  }

 private:
  // The parameters that nodes share.
  struct Group {
    NodeId parent;
    std::optional<Parameters> fixed;
    int bits;            // the fewest of all nodes
    bool whole = false;  // a node is an input or an output of the graph: all bits of the type
  };

  static size_t Index(TensorId id) { return static_cast<size_t>(id); }
  const Tensor& At(TensorId id) const { return graph_.tensors[Index(id)]; }
  bool IsReal(TensorId id) const { return id != kNoTensor && At(id).type == Type::kFloat32; }
  NodeId& Home(TensorId id) { return plan_.homes[Index(id)]; }

  std::string WhyFloat(size_t index) const {
    const Layer& layer = graph_.layers[index];
    if (RuleOf(rules_, index).keep_float) return "a rule keeps it";
    const Demand* const demand = DemandOf(layer.op);
    const LayerView view(graph_, index);
    if (demand == nullptr) return std::string(NameOf(layer.op)) + " has no form of integers here";
    const Type type = plan_.layers[index].levels.type;
    if ((demand->types & SetOf(type)) == 0) {
      return std::string(NameOf(layer.op)) + " has no form of " + NameOf(type);
    }
    bool from_integers = false;  // or from an input of the graph
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      if (!IsData(*demand, i) || !view.has_input(i)) continue;
      const Tensor& x = view.input(i);
      if (x.type != Type::kFloat32) return std::string("it computes with ") + NameOf(x.type);
      if (x.variable) return "it reads a variable";
      from_integers |= IsIntegerOrInput(layer.inputs[i]);
    }
    const bool moves = demand->sharing == Sharing::kInput || demand->sharing == Sharing::kAll;
    if (moves && !from_integers) return "it moves numbers of float32";
    if (demand->has_weights()) {
      if (const char* const reason = WhyNotWeights(view)) return reason;
    }
    const char* const reason = demand->why_not == nullptr ? nullptr : demand->why_not(view);
    return reason == nullptr ? "" : reason;
  }

  static const char* WhyNotWeights(const LayerView& view) {
    const Tensor& weights = view.input(1);
    if (!weights.constant || weights.type != Type::kFloat32) return "its weights are no constant";
    if (!view.has_input(2)) return nullptr;
    const Tensor& bias = view.input(2);
    const bool good = bias.constant && bias.type == Type::kFloat32;
    return good ? nullptr : "its bias is no constant";
  }

  static bool IsData(const Demand& demand, size_t input) {
    return ((demand.data >> std::min<size_t>(input, 31)) & 1) != 0;
  }

  bool IsIntegerOrInput(TensorId id) const {
    if (At(id).constant) return false;
    return plan_.homes[Index(id)] != kNoNode || !made_by_layer_[Index(id)];
  }

  void PlanLayer(size_t index, LayerPlan& plan) {
    const Layer& layer = graph_.layers[index];
    const Demand& demand = *DemandOf(layer.op);
    plan.demand = &demand;
    plan.inputs.assign(layer.inputs.size(), kNoNode);
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      if (IsData(demand, i) && IsReal(layer.inputs[i])) {
        plan.inputs[i] = NodeFor(layer.inputs[i], LevelsOf(plan.levels.type));
      }
    }
    const bool few = demand.sharing == Sharing::kOwn || demand.sharing == Sharing::kAll;
    const Levels levels = few ? plan.levels : LevelsOf(plan.levels.type);
    for (const TensorId id : layer.outputs) {
      plan.outputs.push_back(IsReal(id) ? NewNode(id, levels) : kNoNode);
      if (IsReal(id)) Home(id) = plan.outputs.back();
    }
    if (demand.sharing == Sharing::kFixed) FixOutputs(demand, plan);
    if (demand.sharing == Sharing::kInput) ShareInput(plan);
    if (demand.sharing == Sharing::kAll) ShareAll(layer, plan);
  }

  NodeId NewNode(TensorId id, const Levels& levels) {
    const auto node = static_cast<NodeId>(plan_.nodes.size());
    plan_.nodes.push_back({id, levels, {}});
    groups_.push_back({node, {}, levels.bits, ends_[Index(id)]});
    return node;
  }

  // The form in which the tensor is made, if it has this type; else one for all who want them. A
  // constant has one for each reader.
  NodeId NodeFor(TensorId id, const Levels& levels) {
    if (At(id).constant) return NewNode(id, levels);
    if (Home(id) != kNoNode &&
        plan_.nodes[static_cast<size_t>(Home(id))].levels.type == levels.type) {
      return Home(id);
    }
    const auto [place, is_new] = converted_.try_emplace({id, levels.type}, kNoNode);
    if (is_new) place->second = NewNode(id, levels);
    return place->second;
  }

  // Its own, where its maker writes another type: readers inside have other forms.
  NodeId NodeOfOutput(TensorId id) {
    if (!rules_.interface.has_value() || !IsReal(id) || At(id).constant) return kNoNode;
    const bool fits = Home(id) != kNoNode && LevelsAt(Home(id)).type == *rules_.interface;
    return fits ? Home(id) : NewNode(id, LevelsOf(*rules_.interface));
  }

  // Between types of 8 bits no number changes: the scale is the same.
  void MatchOutputs() {
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const NodeId home = Home(graph_.outputs[i]);
      if (plan_.outputs[i] == kNoNode || home == kNoNode || home == plan_.outputs[i]) continue;
      const Node& from = plan_.nodes[static_cast<size_t>(home)];
      Node& to = plan_.nodes[static_cast<size_t>(plan_.outputs[i])];
      if (SizeOf(from.levels.type) != 1 || SizeOf(to.levels.type) != 1) continue;
      to.parameters = from.parameters;
      to.parameters.zero_point += HighestOf(to.levels) - HighestOf(from.levels);
    }
  }

  const Levels& LevelsAt(NodeId node) const {
    return plan_.nodes[static_cast<size_t>(node)].levels;
  }

  Group& GroupOf(NodeId node) { return groups_[static_cast<size_t>(node)]; }
  NodeId Root(NodeId node) {
    while (GroupOf(node).parent != node)
      node = GroupOf(node).parent = GroupOf(GroupOf(node).parent).parent;
    return node;
  }
  std::optional<Parameters>& FixedOf(NodeId node) { return GroupOf(Root(node)).fixed; }

  // At most one of them has fixed parameters, or both the same.
  void Unite(NodeId a, NodeId b) {
    const NodeId from = Root(b);
    const NodeId to = Root(a);
    if (from == to) return;
    if (!GroupOf(to).fixed.has_value()) GroupOf(to).fixed = GroupOf(from).fixed;
    GroupOf(to).bits = std::min(GroupOf(to).bits, GroupOf(from).bits);
    GroupOf(to).whole = GroupOf(to).whole || GroupOf(from).whole;
    GroupOf(from).parent = to;
  }

  void FixOutputs(const Demand& demand, const LayerPlan& plan) {
    for (const NodeId node : plan.outputs) {
      if (node != kNoNode) FixedOf(node) = demand.fixed(LevelsOf(plan.levels.type));
    }
  }

  void ShareInput(const LayerPlan& plan) {
    const auto input = std::find_if(plan.inputs.begin(), plan.inputs.end(),
                                    [](NodeId node) { return node != kNoNode; });
    for (const NodeId node : plan.outputs) {
      if (node != kNoNode) Unite(*input, node);
    }
  }

  // Inputs with fixed parameters join only where all have the same. Otherwise they are requantized.
  void ShareAll(const Layer& layer, LayerPlan& plan) {
    const NodeId output = plan.outputs[0];
    std::optional<Parameters> same;
    bool agree = true;
    for (const NodeId node : plan.inputs) {
      if (node == kNoNode || IsConstant(node)) continue;
      agree = agree && FixedOf(node).has_value() && (!same.has_value() || same == FixedOf(node));
      same = FixedOf(node);
    }
    const bool saturates = layer.op.Is<Maximum>() || layer.op.Is<Minimum>();
    for (NodeId& node : plan.inputs) {
      if (node == kNoNode) continue;
      const Node form = plan_.nodes[static_cast<size_t>(node)];
      if (!agree && FixedOf(node).has_value()) node = NewNode(form.tensor, form.levels);
      Unite(output, node);
      // A bound that lies beyond all numbers need not be represented.
      if (saturates && IsConstant(node)) narrow_.push_back(node);
    }
  }

  bool IsConstant(NodeId node) const {
    return At(plan_.nodes[static_cast<size_t>(node)].tensor).constant;
  }

  Result<RealRange> RangeOf(TensorId id) const {
    const Tensor& tensor = At(id);
    if (tensor.constant) return RangeOfConstant(tensor);
    const TensorRange known = Index(id) < ranges_.size() ? ranges_[Index(id)] : TensorRange();
    if (known.range.has_value()) return *known.range;
    if (!known.problem.empty()) return InvalidArgument(known.problem);
    return InvalidArgument("there is no range of tensor #" + std::to_string(id) + " '" +
                           ShortName(tensor.name) + "'");
  }

  Status SetParameters() {
    const auto count = static_cast<NodeId>(plan_.nodes.size());
    std::vector<RealRange> ranges(plan_.nodes.size());
    for (NodeId node = 0; node < count; ++node) {
      if (FixedOf(node).has_value()) continue;
      if (std::find(narrow_.begin(), narrow_.end(), node) != narrow_.end()) continue;
      const Result<RealRange> range = RangeOf(plan_.nodes[static_cast<size_t>(node)].tensor);
      if (!range.ok()) return range.status();
      RealRange& all = ranges[static_cast<size_t>(Root(node))];
      all = Union(all, *range);
    }
    for (NodeId node = 0; node < count; ++node) {
      Node& form = plan_.nodes[static_cast<size_t>(node)];
      const Group& group = GroupOf(Root(node));
      if (form.levels.type != Type::kInt16) {
        form.levels.bits = group.whole || group.fixed.has_value() ? 8 : group.bits;
      }
      form.parameters =
          FixedOf(node).has_value()
              ? *FixedOf(node)
              : ChooseParameters(ranges[static_cast<size_t>(Root(node))], form.levels);
    }
    return {};
  }

  const Graph& graph_;
  const Ranges& ranges_;
  const Rules& rules_;
  Plan plan_;
  std::vector<Group> groups_;   // one for each node
  std::vector<NodeId> narrow_;  // these do not widen the range of their group
  std::vector<bool> made_by_layer_;
  std::vector<bool> ends_;  // inputs and outputs of the graph
  std::map<std::pair<TensorId, Type>, NodeId> converted_;
};

}  // namespace

Levels LevelsOf(Type activations, int bits) {
  if (activations == Type::kInt16) return {Type::kInt16, 16, true};
  return {activations, bits, false};
}

LayerRule RuleOf(const Rules& rules, size_t layer) {
  return layer < rules.layers.size() ? rules.layers[layer] : LayerRule();
}

Result<Plan> MakePlan(const Graph& graph, const Ranges& ranges, const Rules& rules,
                      const std::vector<std::string>& refused) {
  return Planner(graph, ranges, rules).Make(refused);
}

}  // namespace intaglio::nn::quantize
