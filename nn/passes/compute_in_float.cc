#include "intaglio/nn/passes/compute_in_float.h"

#include <map>
#include <new>
#include <string>
#include <utility>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/float_form.h"

namespace intaglio::nn {
namespace {

// Tensors in their two forms. The *integers* of a tensor are the tensor itself, its *reals* are
// another tensor, of float32.
class Rewriter {
 public:
  Rewriter(const Graph& graph, std::vector<bool> in_float)
      : old_(graph), in_float_(std::move(in_float)), forms_(graph.tensors.size()) {}

  FloatRewrite Run() {
    Graph& graph = made_.graph;
    graph.name = old_.name;
    graph.tensors = old_.tensors;
    graph.inputs = old_.inputs;
    graph.outputs = old_.outputs;
    if (old_.folded_shapes != nullptr) graph.folded_shapes = IncompleteShapes();
    FindForms();
    for (size_t i = 0; i < old_.layers.size(); ++i) Emit(i);
    for (const TensorId id : old_.outputs) NeedIntegers(id);
    return std::move(made_);
  }

 private:
  struct Forms {
    TensorId reals = kNoTensor;
    // The layers of the old graph that change the form, if there are some.
    size_t quantize = LayerOrigin::kAdapter;
    size_t dequantize = LayerOrigin::kAdapter;
    bool has_integers = true;  // they have been made, or need not be
    bool has_reals = false;
    bool needs_integers = false;  // some layer that computes with integers, or the caller, reads
    bool is_read = false;
    bool is_moved = false;   // made by a QUANTIZE of integers that vanishes
    bool half_even = false;  // how its writer rounds
  };

  Tensor& At(TensorId id) { return made_.graph.tensors[static_cast<size_t>(id)]; }
  Forms& FormsOf(TensorId id) { return forms_[static_cast<size_t>(id)]; }
  bool IsTwofold(TensorId id) const {
    return id != kNoTensor && static_cast<size_t>(id) < old_.tensors.size() &&
           HasFloatForm(old_.tensors[static_cast<size_t>(id)]);
  }
  // A DEQUANTIZE that makes the reals of its tensor, which other layers may read too.
  bool MakesReals(size_t layer) {
    return DequantizesToReals(old_, old_.layers[layer]) &&
           FormsOf(old_.layers[layer].inputs[0]).dequantize == layer;
  }

  void FindForms() {
    FindReaders();
    for (size_t i = 0; i < old_.layers.size(); ++i) {
      const Layer& layer = old_.layers[i];
      if (QuantizesReals(old_, layer)) {
        FormsOf(layer.outputs[0]).quantize = i;
        FormsOf(layer.outputs[0]).reals = layer.inputs[0];
      } else if (DequantizesToReals(old_, layer)) {
        Forms& forms = FormsOf(layer.inputs[0]);
        if (forms.reals == kNoTensor && !forms.is_moved) {
          forms.dequantize = i;
          forms.reals = layer.outputs[0];
        }
      }
      const bool half_even =
          layer.numerics.has_value() && layer.numerics->scaling == Scaling::kFloatHalfEven;
      for (const TensorId id : layer.outputs) FormsOf(id).half_even = half_even;
    }
    for (size_t i = 0; i < old_.layers.size(); ++i) {
      if (in_float_[i] || MakesReals(i)) continue;  // all others read integers
      for (const TensorId id : old_.layers[i].inputs) {
        if (id != kNoTensor) FormsOf(id).needs_integers = true;
      }
    }
    for (const TensorId id : old_.outputs) FormsOf(id).needs_integers = true;
  }

  void FindReaders() {
    for (size_t i = 0; i < old_.layers.size(); ++i) {
      const Layer& layer = old_.layers[i];
      for (const TensorId id : layer.inputs) {
        if (id != kNoTensor) FormsOf(id).is_read = true;
      }
      if (in_float_[i] && Requantizes(old_, layer)) FormsOf(layer.outputs[0]).is_moved = true;
    }
  }

  void Append(Layer layer, LayerOrigin origin) {
    made_.graph.layers.push_back(std::move(layer));
    made_.origins.push_back(origin);
  }

  TensorId RealsOf(TensorId id) {
    TensorId& reals = FormsOf(id).reals;
    if (reals == kNoTensor) {
      Tensor tensor;
      tensor.name = At(id).name.empty() ? "" : At(id).name + "_float32";
      tensor.type = Type::kFloat32;
      tensor.shape = At(id).shape;
      reals = static_cast<TensorId>(made_.graph.tensors.size());
      made_.graph.tensors.push_back(std::move(tensor));
    }
    return reals;
  }

  // Another layer of the old graph, or a new one.
  void Adapt(size_t existing, Layer made, TensorId integers, bool to_float) {
    LayerOrigin origin{existing, integers, to_float};
    if (existing != LayerOrigin::kAdapter) {
      made.op = old_.layers[existing].op;
      made.numerics = old_.layers[existing].numerics;
      made.label = LabelOf(old_, existing);
    }
    Append(std::move(made), origin);
  }

  TensorId NeedReals(TensorId id) {
    Forms& forms = FormsOf(id);
    const TensorId reals = RealsOf(id);
    if (!forms.has_reals && forms.quantize == LayerOrigin::kAdapter) {
      Layer layer{.op = Dequantize{}, .inputs = {id}, .outputs = {reals}, .label = ""};
      Adapt(forms.dequantize, std::move(layer), id, true);
    }
    forms.has_reals = true;
    return reals;
  }

  void NeedIntegers(TensorId id) {
    if (!IsTwofold(id) || FormsOf(id).has_integers) return;
    Forms& forms = FormsOf(id);
    Layer layer{.op = Quantize{}, .inputs = {RealsOf(id)}, .outputs = {id}, .label = ""};
    if (forms.half_even) layer.numerics = Numerics{.scaling = Scaling::kFloatHalfEven};
    Adapt(LayerOrigin::kAdapter, std::move(layer), id, false);
    forms.has_integers = true;
  }

  void Emit(size_t i) {
    const Layer& layer = old_.layers[i];
    if (in_float_[i] && Requantizes(old_, layer)) return EmitMove(layer);
    if (in_float_[i]) return EmitFloat(i);
    if (QuantizesReals(old_, layer) && Vanishes(layer.outputs[0])) return;
    if (MakesReals(i)) {
      // Its reader may have made it run already, or the reals are what was computed.
      if (!FormsOf(layer.inputs[0]).has_reals) NeedReals(layer.inputs[0]);
      return;
    }
    Layer copy = layer;
    copy.label = LabelOf(old_, i);
    for (TensorId& id : copy.inputs) {
      const bool reads_reals = DequantizesToReals(old_, layer) && !FormsOf(id).has_integers;
      if (reads_reals) {
        id = RealsOf(id);
      } else {
        NeedIntegers(id);
      }
    }
    Append(std::move(copy), {.layer = i});
  }

  // A QUANTIZE of reals that only layers in float32 read. One that nobody reads stays.
  bool Vanishes(TensorId id) { return FormsOf(id).is_read && !FormsOf(id).needs_integers; }

  // The reals of the output are those of the input.
  void EmitMove(const Layer& layer) {
    const TensorId reals = NeedReals(layer.inputs[0]);
    Forms& forms = FormsOf(layer.outputs[0]);
    forms.reals = reals;
    forms.has_reals = true;
    forms.has_integers = false;
  }

  void EmitFloat(size_t i) {
    const LayerView view(old_, i);
    Layer layer = old_.layers[i];
    for (size_t k = 0; k < layer.inputs.size(); ++k) {
      TensorId& id = layer.inputs[k];
      if (id == kNoTensor) continue;
      if (IsTwofold(id)) {
        id = NeedReals(id);
      } else if (std::vector<double> scales = ScalesOfConstant(view, k); !scales.empty()) {
        id = RealConstant(id, std::move(scales));
      }
    }
    for (TensorId& id : layer.outputs) {
      if (!IsTwofold(id)) continue;
      Forms& forms = FormsOf(id);
      forms.has_integers = false;
      forms.has_reals = true;
      id = RealsOf(id);
    }
    layer.label = view.label();
    layer.op = *FloatOperator(view);
    layer.numerics.reset();
    Append(std::move(layer), {.layer = i});
  }

  TensorId RealConstant(TensorId id, std::vector<double> scales) {
    const auto [made, is_new] = constants_.try_emplace({id, scales}, kNoTensor);
    if (is_new) {
      Tensor real = DequantizeConstant(old_.tensors[static_cast<size_t>(id)], scales);
      made->second = static_cast<TensorId>(made_.graph.tensors.size());
      made_.graph.tensors.push_back(std::move(real));
    }
    return made->second;
  }

  const Graph& old_;
  const std::vector<bool> in_float_;
  std::vector<Forms> forms_;  // by tensor of the old graph
  std::map<std::pair<TensorId, std::vector<double>>, TensorId> constants_;
  FloatRewrite made_;
};

}  // namespace

std::vector<size_t> ListFloatLayers(const Graph& graph) {
  std::vector<size_t> layers;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (WhyNotFloat(graph, i).empty()) layers.push_back(i);
  }
  return layers;
}

Result<FloatRewrite> ComputeInFloat(const Graph& graph, std::span<const size_t> layers) try {
  std::vector<bool> in_float(graph.layers.size(), false);
  for (const size_t layer : layers) {
    if (layer >= graph.layers.size()) {
      return InvalidArgument("there is no layer " + std::to_string(layer) +
                             " to compute in float32");
    }
    const std::string why = WhyNotFloat(graph, layer);
    if (!why.empty()) {
      return LayerView(graph, layer).Unsupported("cannot be computed in float32: " + why);
    }
    in_float[layer] = true;
  }
  if (layers.empty()) {
    FloatRewrite same{graph, {}};
    for (size_t i = 0; i < graph.layers.size(); ++i) same.origins.push_back({.layer = i});
    return same;
  }
  return Rewriter(graph, std::move(in_float)).Run();
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while a network was rewritten for float32");
}

}  // namespace intaglio::nn
