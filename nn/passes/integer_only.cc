#include "intaglio/nn/passes/integer_only.h"

#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/graph/nested_graphs.h"

namespace intaglio::nn {
namespace {

bool IsFloat(const Tensor& tensor) { return tensor.type == Type::kFloat32; }

std::string Describe(const char* kind, size_t i, const Tensor& tensor) {
  return std::string(kind) + " " + std::to_string(i) + " '" + tensor.name + "' is float32";
}

}  // namespace

std::string WhatForcesFloat(const Graph& graph, size_t index) {
  const LayerView layer(graph, index);
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (layer.has_input(i) && IsFloat(layer.input(i))) return Describe("input", i, layer.input(i));
  }
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) {
    if (IsFloat(layer.output(i))) return Describe("output", i, layer.output(i));
  }
  if (layer.numerics().scaling == Scaling::kFloatHalfEven) return "a float32 multiplier";
  // What TFLite does to every element in float32; tables of 256 are made beforehand.
  const Operator& op = layer.layer().op;
  if (op.row().forces_float != nullptr) {
    const std::string why = op.row().forces_float(layer);
    if (!why.empty()) return why;
  }
  for (const NestedGraph& nested : NestedGraphsOf(op)) {
    const Status status = CheckIntegerOnly(*nested.graph);
    if (!status.ok()) return std::string(nested.name) + ": " + status.message();
  }
  return {};
}

Status CheckIntegerOnly(const Graph& graph) {
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const std::string why = WhatForcesFloat(graph, i);
    if (!why.empty()) return LayerView(graph, i).Unsupported("needs floating point: " + why);
  }
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (!IsFloat(graph.tensors[i])) continue;
    return Unsupported("tensor #" + std::to_string(i) + " '" + graph.tensors[i].name +
                       "' is float32");
  }
  return {};
}

}  // namespace intaglio::nn
