// Inside the .tflite reader: what the translation of one operator sees and makes (rows.h).
#ifndef INTAGLIO_NN_FORMATS_TFLITE_READ_H_
#define INTAGLIO_NN_FORMATS_TFLITE_READ_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/formats/tflite/subgraph.h"
#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {

class Resources;

// An operator of the file whose tensor ids have been checked. Inputs and outputs start out as the
// file's.
class Translation {
 public:
  Translation(const TfliteFile& file, Budget& budget, Graph& graph, const tflite::Operator& from,
              Resources& resources, const FoldTensor& fold, Layer& layer)
      : file_(file),
        budget_(budget),
        graph_(graph),
        from_(from),
        resources_(resources),
        fold_(fold),
        layer_(layer) {}

  // The options of the operator; null where the file has none, or another operator's.
  template <class Options>
  const Options* options() const {
    return from_.builtin_options_as<Options>();
  }
  // The bytes of a custom operator's options; null where the file has none.
  const flatbuffers::Vector<uint8_t>* custom_options() const { return from_.custom_options(); }
  bool has_options() const { return from_.builtin_options() != nullptr; }
  // The options of an operator that needs them.
  template <class Options>
  Result<const Options*> RequiredOptions() const {
    if (const Options* const found = options<Options>(); found != nullptr) return found;
    return InvalidArgument("its options are missing or another operator's");
  }

  // The layer so far.
  LayerView view() const {
    return LayerView(graph_, static_cast<size_t>(&layer_ - graph_.layers.data()));
  }

  size_t input_count() const { return layer_.inputs.size(); }
  bool has_input(size_t i) const { return i < input_count() && layer_.inputs[i] != kNoTensor; }
  const Tensor& input(size_t i) const {  // only where has_input(i)
    return graph_.tensors[static_cast<size_t>(layer_.inputs[i])];
  }

  // Whether an input is a constant or follows from constants. In the second case it becomes a
  // constant.
  bool IsConstant(size_t i) const { return has_input(i) && fold_(layer_.inputs[i]); }

  // The id of an input, kNoTensor where it is absent.
  TensorId id(size_t i) const { return i < input_count() ? layer_.inputs[i] : kNoTensor; }
  void AddInput(TensorId id) { layer_.inputs.push_back(id); }
  // The shape that the file declares for output 0.
  Result<Shape> DeclaredShape() const;

  // The elements of an int32 or int64 constant that fixes the layer's shape; `what` names it in
  // messages. The layer does not read it when it runs: drop it with KeepInputs.
  Result<std::vector<int>> ConstantInts(size_t i, const std::string& what) const;
  // The only element of such a constant.
  Result<int> ConstantInt(size_t i, const std::string& what) const;
  // The pairs of a [n, 2] constant.
  Result<std::vector<std::pair<int, int>>> ConstantPairs(size_t i, const std::string& what) const;

  void KeepInputs(size_t count) {
    while (input_count() > count) layer_.inputs.pop_back();
  }
  // The quantization of a tensor that the operator names beside its inputs and outputs.
  Result<Quantization> IntermediateQuantization(size_t i) const;

  // Makes these inputs of the file those of the layer.
  Status PickInputs(std::initializer_list<size_t> picked);
  void set(Operator op) { layer_.op = std::move(op); }

  size_t output_count() const { return layer_.outputs.size(); }
  TensorId output_id(size_t i) const { return layer_.outputs[i]; }
  Resources& resources() const { return resources_; }

  // A subgraph that the operator runs. It is an error if the file does not have it.
  Result<const tflite::SubGraph*> NestedSubgraph(int32_t index) const;
  // Reads that subgraph as a graph. Its inputs are made like the layer's inputs from `first` on.
  // The inputs that `constant` marks are constants of this graph: they become constants of the
  // nested graph, too, and are no longer its inputs.
  Result<Graph> ReadNested(int32_t index, size_t first, const std::vector<bool>& constant) const;
  void DropInput(size_t i) {
    layer_.inputs.erase(layer_.inputs.begin() + static_cast<ptrdiff_t>(i));
  }
  // Makes output i a copy of a constant. It is no longer an output of the layer.
  Status MakeOutputConstant(size_t i, const Tensor& constant);

  // The operator makes no layer.
  void Drop() { dropped_ = true; }
  bool dropped() const { return dropped_; }

 private:
  Status TakeInputs(size_t first, const std::vector<bool>& constant, Graph& nested) const;

  const TfliteFile& file_;
  Budget& budget_;
  Graph& graph_;
  const tflite::Operator& from_;
  Resources& resources_;
  const FoldTensor& fold_;
  Layer& layer_;
  bool dropped_ = false;
};

Result<Activation> ActivationFrom(tflite::ActivationFunctionType from);
Result<Padding> PaddingFrom(tflite::Padding from);

Status MissingOptions();

// The fused activation of an operator whose options may be absent, which means their defaults.
template <class Options>
Result<Activation> FusedActivation(const Translation& t) {
  const auto* const options = t.options<Options>();
  if (options != nullptr) return ActivationFrom(options->fused_activation_function());
  if (t.has_options()) return InvalidArgument("has another operator's options");
  return Activation::kNone;
}

// An operator whose only parameter is the int of a constant.
template <class Op>
Status FromInt(Translation& t, size_t constant, size_t data, const char* what) {
  const Result<int> value = t.ConstantInt(constant, what);
  if (!value.ok()) return value.status();
  t.set(Op{*value});
  return t.PickInputs({data});
}

// The axes of a reduction are input 1.
Result<bool> KeepsDimensions(const Translation& t);
template <class Op>
Status TranslateReduction(Translation& t) {
  Result<std::vector<int>> axes = t.ConstantInts(1, "axes");
  if (!axes.ok()) return axes.status();
  const Result<bool> keep_dims = KeepsDimensions(t);
  if (!keep_dims.ok()) return keep_dims.status();
  t.set(Op{std::move(*axes), *keep_dims});
  return t.PickInputs({0});
}

// Operators without parameters.
template <class Op>
Status TranslatePlain(Translation& t) {
  t.set(Op{});
  return {};
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_READ_H_
