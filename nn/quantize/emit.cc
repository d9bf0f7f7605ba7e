#include "intaglio/nn/quantize/emit.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/expect_finite.h"
#include "intaglio/nn/passes/quantized_groups.h"
#include "intaglio/nn/quantize/constants.h"
#include "intaglio/nn/quantize/observer.h"

namespace intaglio::nn::quantize {
namespace {

constexpr const char* kQuantizedSuffix = "_quantized";
constexpr const char* kRealSuffix = "_dequantized";

class Emitter {
 public:
  Emitter(const Graph& graph, const Ranges& ranges, const Plan& plan, const Rules& rules)
      : graph_(graph), ranges_(ranges), plan_(plan), rules_(rules) {
    reals_.assign(graph.tensors.size(), kNoTensor);
    homes_.assign(graph.tensors.size(), kNoTensor);
    named_.assign(graph.tensors.size(), false);
    for (const TensorId id : graph.inputs) named_[Index(id)] = true;
    for (const TensorId id : graph.outputs) named_[Index(id)] = true;
    converted_.assign(graph.tensors.size(), false);
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const TensorId id = graph.outputs[i];
      converted_[Index(id)] = plan.outputs[i] != kNoNode && plan.outputs[i] != HomeOf(id);
    }
  }

  Result<Quantized> Run() {
    Graph& out = emitted_.graph;
    out.name = graph_.name;
    if (graph_.folded_shapes != nullptr) out.folded_shapes = IncompleteShapes();
    for (const TensorId id : graph_.inputs) {
      const bool integer = HomeOf(id) != kNoNode;
      out.inputs.push_back(integer ? AddHome(id) : Real(id));
    }
    for (size_t i = 0; i < graph_.layers.size(); ++i) INTAGLIO_RETURN_IF_ERROR(EmitLayer(i));
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      out.outputs.push_back(Output(graph_.outputs[i], plan_.outputs[i]));
    }
    emitted_.integers = homes_;
    emitted_.lowest.assign(homes_.size(), 0);
    for (size_t i = 0; i < homes_.size(); ++i) {
      if (homes_[i] == kNoTensor) continue;
      emitted_.lowest[i] = LowestOf(NodeAt(plan_.homes[i]).levels);
    }
    return std::move(emitted_);
  }

 private:
  static size_t Index(TensorId id) { return static_cast<size_t>(id); }
  const Tensor& At(TensorId id) const { return graph_.tensors[Index(id)]; }
  const Node& NodeAt(NodeId node) const { return plan_.nodes[static_cast<size_t>(node)]; }
  NodeId HomeOf(TensorId id) const { return plan_.homes[Index(id)]; }
  Graph& out() { return emitted_.graph; }

  TensorId Add(Tensor tensor) {
    out().tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(out().tensors.size()) - 1;
  }

  TensorId AddConverted(TensorId id, const char* suffix, Type type, Quantization quantization) {
    Tensor tensor;
    tensor.name = At(id).name + suffix;
    tensor.type = type;
    tensor.shape = At(id).shape;
    tensor.quantization = std::move(quantization);
    return Add(std::move(tensor));
  }

  TensorId Output(TensorId id, NodeId node) {
    if (node == kNoNode) return Real(id);
    if (node == HomeOf(id)) return homes_[Index(id)];
    const TensorId output = Integer(node);
    out().tensors[static_cast<size_t>(output)].name = At(id).name;
    return output;
  }

  // Whether inputs and outputs of the graph stay float32, so that these keep the tensor's name.
  bool KeepsRealName(TensorId id) const {
    return named_[Index(id)] && !rules_.interface.has_value();
  }

  TensorId AddHome(TensorId id) {
    const Node& node = NodeAt(HomeOf(id));
    const bool is_named = !KeepsRealName(id) && !converted_[Index(id)];
    const char* const suffix = is_named ? "" : kQuantizedSuffix;
    homes_[Index(id)] = AddConverted(id, suffix, node.levels.type, QuantizationOf(node.parameters));
    forms_[FormOf(id, node)] = homes_[Index(id)];
    return homes_[Index(id)];
  }

  // A layer with one input and one output, which ONNX rounds in its own way.
  void AddConversion(Operator op, TensorId from, TensorId to) {
    Layer layer{std::move(op), {from}, {to}, ""};
    if (rules_.form == Form::kPairs) layer.numerics = Numerics{.scaling = Scaling::kFloatHalfEven};
    layer.label = layer.op.row().name + std::string(" '") + out().tensors[Index(to)].name + "'";
    out().layers.push_back(std::move(layer));
  }

  // The tensor as it is, or dequantized.
  TensorId Real(TensorId id) {
    if (id == kNoTensor) return id;
    TensorId& real = reals_[Index(id)];
    if (real != kNoTensor) return real;
    if (HomeOf(id) == kNoNode) {
      real = Add(At(id));
      if (converted_[Index(id)]) out().tensors[static_cast<size_t>(real)].name += "_real";
      return real;
    }
    real = AddConverted(id, KeepsRealName(id) ? "" : kRealSuffix, Type::kFloat32, {});
    AddConversion(Dequantize{}, homes_[Index(id)], real);
    return real;
  }

  using FormKey = std::tuple<TensorId, Type, int, float, int32_t>;
  static FormKey FormOf(TensorId id, const Node& node) {
    return {id, node.levels.type, node.levels.bits, node.parameters.scale,
            node.parameters.zero_point};
  }

  // Integers of 8 bits saturate by themselves.
  static bool NeedsBound(const Node& node) {
    return node.levels.type != Type::kInt16 && node.levels.bits < 8;
  }

  // A layer that keeps integers at or above the least.
  void AddBound(const Node& node, TensorId from, TensorId to) {
    const int32_t lowest = LowestOf(node.levels);
    const auto byte = std::make_shared<const uint8_t>(static_cast<uint8_t>(lowest));
    Tensor bound;
    bound.name = At(node.tensor).name + "_least";
    bound.type = node.levels.type;
    bound.shape = {1};
    bound.quantization = QuantizationOf(node.parameters);
    bound.constant = true;
    bound.data = byte.get();
    bound.data_bytes = 1;
    bound.owner = byte;
    const TensorId least = Operand(Add(std::move(bound)));
    const TensorId real = Operand(from);
    const bool pairs = rules_.form == Form::kPairs;
    const TensorId result = pairs ? AddConverted(node.tensor, "_bounded", Type::kFloat32, {}) : to;
    out().layers.push_back(
        {Maximum{}, {real, least}, {result}, "MAXIMUM '" + out().tensors[Index(to)].name + "'"});
    if (pairs) AddConversion(Quantize{}, result, to);
  }

  // A tensor of the same form, to be bounded.
  TensorId AddUnbounded(const Node& node) {
    return AddConverted(node.tensor, "_unbounded", node.levels.type,
                        QuantizationOf(node.parameters));
  }

  TensorId Integer(NodeId number) {
    const Node& node = NodeAt(number);
    const auto [place, is_new] = forms_.try_emplace(FormOf(node.tensor, node), kNoTensor);
    if (!is_new) return place->second;
    const Tensor& tensor = At(node.tensor);
    if (tensor.constant) {
      return place->second = Add(QuantizeConstant(tensor, node.parameters, node.levels));
    }
    const TensorId made = homes_[Index(node.tensor)];
    const TensorId from = made == kNoTensor ? Real(node.tensor) : made;
    const TensorId to = AddConverted(node.tensor, kQuantizedSuffix, node.levels.type,
                                     QuantizationOf(node.parameters));
    const TensorId rounded = NeedsBound(node) ? AddUnbounded(node) : to;
    if (rules_.form == Form::kPairs && made != kNoTensor) {
      AddConversion(Quantize{}, Real(node.tensor), rounded);  // ONNX requantizes through float32
    } else {
      AddConversion(Quantize{}, from, rounded);
    }
    if (rounded != to) AddBound(node, rounded, to);
    return place->second = to;
  }

  // A tensor of integers for a layer: as it is, or dequantized once for all.
  TensorId Operand(TensorId integer) {
    if (rules_.form != Form::kPairs) return integer;
    const auto [place, is_new] = dequantized_.try_emplace(integer, kNoTensor);
    if (!is_new) return place->second;
    Tensor tensor;
    tensor.name = out().tensors[Index(integer)].name + kRealSuffix;
    tensor.type = Type::kFloat32;
    tensor.shape = out().tensors[Index(integer)].shape;
    place->second = Add(std::move(tensor));
    AddConversion(Dequantize{}, integer, place->second);
    return place->second;
  }

  Status EmitLayer(size_t index) {
    const Layer& layer = graph_.layers[index];
    const LayerPlan& plan = plan_.layers[index];
    const LayerView view(graph_, index);
    Outcome outcome{view.label(), plan.demand != nullptr, plan.reason, ""};
    Layer copy = layer;
    copy.label = outcome.label;
    for (size_t i = 0; i < copy.inputs.size(); ++i) {
      const bool integer = plan.demand != nullptr && plan.inputs[i] != kNoNode;
      const bool weights =
          plan.demand != nullptr && plan.demand->has_weights() && (i == 1 || i == 2);
      if (weights) continue;
      copy.inputs[i] = integer ? Operand(Integer(plan.inputs[i])) : Real(layer.inputs[i]);
    }
    if (plan.demand != nullptr) {
      INTAGLIO_RETURN_IF_ERROR(EmitParameters(view, plan, copy, outcome));
      EmitOutputs(view, plan, copy);
    } else {
      if (rules_.form != Form::kPairs && !rules_.keeps_float_rules) FollowTflite(layer, copy);
      for (TensorId& id : copy.outputs) id = Real(id);
      emitted_.places.push_back(out().layers.size());
      out().layers.push_back(std::move(copy));
    }
    emitted_.layers.push_back(std::move(outcome));
    return {};
  }

  // Files of .tflite have no other rules for layers that stay float32, and what is simulated is
  // what they compute.
  void FollowTflite(const Layer& layer, Layer& copy) const {
    if (IsFinite(layer)) ExpectFinite(copy.op);
    const auto* const resize = copy.op.As<ResizeBilinear>();
    if (resize == nullptr) return;
    ResizeBilinear op = *resize;
    op.height_scale = op.width_scale = 0;
    copy.op = op;
  }

  // Whether the samples showed finite numbers only: calibration knows no range of a tensor that
  // was infinite or NaN.
  bool IsFinite(const Layer& layer) const {
    const auto is_finite = [this](TensorId id) {
      if (id == kNoTensor || At(id).constant || At(id).type != Type::kFloat32) return true;
      const TensorRange known = Index(id) < ranges_.size() ? ranges_[Index(id)] : TensorRange();
      return known.range.has_value() && known.problem.empty();
    };
    return std::all_of(layer.inputs.begin(), layer.inputs.end(), is_finite) &&
           std::all_of(layer.outputs.begin(), layer.outputs.end(), is_finite);
  }

  // Weights and bias.
  Status EmitParameters(const LayerView& view, const LayerPlan& plan, Layer& layer,
                        Outcome& outcome) {
    if (!plan.demand->has_weights()) return {};
    const LayerRule rule = RuleOf(rules_, emitted_.layers.size());
    const Result<std::vector<RealRange>> ranges =
        RangesOfChannels(view.input(1), plan.demand->weight_axis);
    if (!ranges.ok()) return view.Wrap(ranges.status());
    const bool unsigned_weights =
        plan.levels.type == Type::kUInt8 && rules_.form == Form::kIntegers;
    std::vector<float> scales =
        WeightScales(*ranges, rule.weight_bits, rule.per_channel && !unsigned_weights);
    const float input_scale = NodeAt(plan.inputs[0]).parameters.scale;
    const Type bias_type = plan.levels.type == Type::kInt16 ? Type::kInt64 : Type::kInt32;
    const std::vector<float> bias =
        view.has_input(2) ? RealsOf(view.input(2)) : std::vector<float>();
    if (const std::optional<size_t> i = FindNotFinite(bias); i.has_value()) {
      return view.Wrap(NotFinite(view.input(2).name, *i, bias[*i]));
    }
    const size_t widened = WidenForBias(bias, input_scale, bias_type, scales);
    if (widened > 0) {
      outcome.note = "the bias made the scales of " + std::to_string(widened) + " of " +
                     std::to_string(bias.size()) + " channels of weights larger";
    }
    const Type type = unsigned_weights ? Type::kUInt8 : Type::kInt8;
    const TensorId weights =
        Weights(view.layer().inputs[1], plan.demand->weight_axis, scales, type, rule.weight_bits);
    layer.inputs[1] = Operand(weights);
    if (!view.has_input(2)) return {};
    layer.inputs[2] = Operand(Add(QuantizeBiases(view.input(2), input_scale, scales, bias_type)));
    return {};
  }

  TensorId Weights(TensorId id, int axis, const std::vector<float>& scales, Type type, int bits) {
    const auto [place, is_new] = weights_.try_emplace({id, axis, scales, type, bits}, kNoTensor);
    if (is_new) place->second = Add(QuantizeWeights(At(id), axis, scales, type, bits));
    return place->second;
  }

  void EmitOutputs(const LayerView& view, const LayerPlan& plan, Layer& layer) {
    std::vector<std::pair<TensorId, TensorId>> rounded;  // of float32, of integers
    std::vector<std::pair<NodeId, TensorId>> bounded;    // and the integers before
    for (size_t i = 0; i < layer.outputs.size(); ++i) {
      const TensorId id = layer.outputs[i];
      if (plan.outputs[i] == kNoNode) {
        layer.outputs[i] = Real(id);
        continue;
      }
      layer.outputs[i] = AddHome(id);
      if (MayFallBelow(view.layer(), plan, NodeAt(plan.outputs[i]))) {
        layer.outputs[i] = AddUnbounded(NodeAt(plan.outputs[i]));
        bounded.emplace_back(plan.outputs[i], layer.outputs[i]);
      }
      if (rules_.form != Form::kPairs) continue;
      rounded.emplace_back(AddConverted(id, "_real", Type::kFloat32, {}), layer.outputs[i]);
      layer.outputs[i] = rounded.back().first;
    }
    if (plan.demand->rewrite != nullptr && rules_.form != Form::kPairs) {
      const Node& output = NodeAt(plan.outputs[0]);
      layer.op = plan.demand->rewrite(view, output.parameters, output.levels);
    }
    if (rules_.form != Form::kPairs) layer.numerics.reset();
    emitted_.places.push_back(out().layers.size());
    out().layers.push_back(std::move(layer));
    for (const auto& [from, to] : rounded) AddConversion(Quantize{}, from, to);
    for (const auto& [node, from] : bounded) {
      AddBound(NodeAt(node), from, homes_[Index(NodeAt(node).tensor)]);
    }
  }

  // Whether a layer's integers may be less than the least of its levels.
  static bool MayFallBelow(const Layer& layer, const LayerPlan& plan, const Node& node) {
    if (!NeedsBound(node) || plan.demand->sharing != Sharing::kOwn) return false;
    const Activation activation =
        ActivationOf<Conv2D, DepthwiseConv2D, TransposeConv, FullyConnected, nn::Add, Sub, Mul>(
            layer);
    const bool positive = activation == Activation::kRelu || activation == Activation::kRelu6 ||
                          IsAnyOf<Relu, Relu6, Abs, SquaredDifference>(layer);
    return !positive;
  }

  const Graph& graph_;
  const Ranges& ranges_;
  const Plan& plan_;
  const Rules& rules_;
  Quantized emitted_;
  std::vector<bool> named_;      // inputs and outputs of the graph
  std::vector<bool> converted_;  // outputs that their makers write in another form
  std::vector<TensorId> reals_;  // per tensor of the graph: as it is, or dequantized
  std::vector<TensorId> homes_;  // per tensor of the graph: as integers, as it is made
  std::map<FormKey, TensorId> forms_;
  std::map<TensorId, TensorId> dequantized_;  // for Form::kPairs
  std::map<std::tuple<TensorId, int, std::vector<float>, Type, int>, TensorId> weights_;
};

// The axis of channels of constant weights in hybrid layers. BATCH_MATMUL has one scale.
Result<bool> QuantizeHybrid(const Graph& graph, size_t index, const LayerRule& rule, Graph& out) {
  const LayerView view(graph, index);
  const Demand* const demand = DemandOf(view.layer().op);
  const Tensor& weights = view.input(1);
  const int axis = demand->has_weights() ? demand->weight_axis : 0;
  const Result<std::vector<RealRange>> ranges = RangesOfChannels(weights, axis);
  if (!ranges.ok()) return view.Wrap(ranges.status());
  const bool per_channel = rule.per_channel && demand->has_weights();
  const std::vector<float> scales = WeightScales(*ranges, rule.weight_bits, per_channel);
  out.tensors.push_back(QuantizeWeights(weights, axis, scales, Type::kInt8, rule.weight_bits));
  out.layers[index].inputs[1] = static_cast<TensorId>(out.tensors.size()) - 1;
  return true;
}

std::string WhyNotHybrid(const LayerView& view, const LayerRule& rule) {
  const Demand* const demand = DemandOf(view.layer().op);
  if (rule.keep_float) return "a rule keeps it";
  if (demand == nullptr || !demand->hybrid) {
    return std::string(NameOf(view.layer().op)) + " has no hybrid form here";
  }
  if (view.input(0).type != Type::kFloat32) return "it computes no float32";
  const Tensor& weights = view.input(1);
  if (!weights.constant || weights.type != Type::kFloat32) return "its weights are no constant";
  return "";
}

}  // namespace

Result<Quantized> Emit(const Graph& graph, const Ranges& ranges, const Plan& plan,
                       const Rules& rules) {
  return Emitter(graph, ranges, plan, rules).Run();
}

Result<Quantized> EmitDynamic(const Graph& graph, const Rules& rules,
                              const std::vector<std::string>& refused) {
  Quantized emitted;
  Graph& out = emitted.graph;
  out = graph;
  if (graph.folded_shapes != nullptr) out.folded_shapes = IncompleteShapes();
  emitted.integers.assign(graph.tensors.size(), kNoTensor);
  emitted.lowest.assign(graph.tensors.size(), 0);
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const LayerView view(graph, i);
    const LayerRule rule = RuleOf(rules, i);
    Outcome outcome{view.label(), false, WhyNotHybrid(view, rule), ""};
    out.layers[i].label = outcome.label;
    if (outcome.reason.empty() && !refused.empty()) outcome.reason = refused[i];
    if (outcome.reason.empty()) {
      const Result<bool> done = QuantizeHybrid(graph, i, rule, out);
      if (!done.ok()) return done.status();
      outcome.quantized = true;
    }
    emitted.layers.push_back(std::move(outcome));
    emitted.places.push_back(i);
  }
  return emitted;
}

}  // namespace intaglio::nn::quantize
