#include "intaglio/nn/passes/infer_shapes.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/graph/nested_graphs.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/fold_constants.h"

namespace intaglio::nn {
namespace {

Tensor& At(Graph& graph, TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

// The tensors are computed again.
void MakeOpen(Graph& graph, const std::vector<TensorId>& ids) {
  for (const TensorId id : ids) {
    Tensor& tensor = At(graph, id);
    tensor.constant = false;
    tensor.data = nullptr;
    tensor.data_bytes = 0;
    tensor.owner = nullptr;
  }
}

// Puts the layers that were removed back to where they were.
void PutBack(const FoldedShapes& folded, Graph& graph) {
  std::vector<Layer> layers;
  auto next = folded.layers.begin();
  for (size_t i = 0; i <= graph.layers.size(); ++i) {
    for (; next != folded.layers.end() && (next->before <= i || i == graph.layers.size()); ++next) {
      layers.push_back(next->layer);
      MakeOpen(graph, next->layer.outputs);
    }
    if (i < graph.layers.size()) layers.push_back(std::move(graph.layers[i]));
  }
  graph.layers = std::move(layers);
}

using Source = std::shared_ptr<const ParameterSource>;

// Undoes what folding, and taking parameters from constants, made of shapes. Returns the sources of
// parameters, one per layer, null of most.
Result<std::vector<Source>> Unfold(Graph& graph) {
  const std::shared_ptr<const FoldedShapes> folded = std::move(graph.folded_shapes);
  graph.folded_shapes = nullptr;
  if (folded == nullptr) return std::vector<Source>(graph.layers.size());
  if (!folded->complete) {
    return Unsupported(
        "the graph does not keep how its constants and parameters follow from shapes");
  }
  for (const auto& [id, tensor] : folded->tensors) At(graph, id) = tensor;
  PutBack(*folded, graph);
  std::vector<Source> source_of(graph.tensors.size());  // the layer that writes a tensor
  for (const Source& source : folded->sources) {
    for (const TensorId id : source->outputs) source_of[static_cast<size_t>(id)] = source;
  }
  std::vector<Source> sources;
  for (Layer& layer : graph.layers) {
    const bool writes = !layer.outputs.empty();
    sources.push_back(writes ? source_of[static_cast<size_t>(layer.outputs[0])] : nullptr);
    if (sources.back() == nullptr) continue;
    layer.inputs = sources.back()->inputs;
    layer.outputs = sources.back()->outputs;
    MakeOpen(graph, layer.outputs);
  }
  return sources;
}

// Infers the shapes of one graph.
class Inference {
 public:
  Inference(Graph& graph, FoldBudget& budget)
      : graph_(graph), budget_(budget), folder_(graph, budget), used_(graph.tensors.size()) {}

  Status Run() {
    Result<std::vector<Source>> sources = Unfold(graph_);
    if (!sources.ok()) return sources.status();
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      Source& source = (*sources)[i];
      INTAGLIO_RETURN_IF_ERROR(source == nullptr ? InferNested(i) : TakeParameters(i, *source));
      folder_.FoldParameters(i);
      SetVariableShape(graph_.layers[i]);
      INTAGLIO_RETURN_IF_ERROR(SetOutputShapes(graph_, i));
      folder_.Add(i, std::move(source));
    }
    folder_.Finish();
    return {};
  }

 private:
  Status TakeParameters(size_t index, const ParameterSource& source) {
    const FoldTensor fold = [this](TensorId id) { return folder_.Fold(id); };
    const Status status = source.take(graph_, fold, graph_.layers[index]);
    return status.ok() ? status : LayerView(graph_, index).Wrap(status);
  }

  // A reader makes such a variable like its first value.
  void SetVariableShape(const Layer& layer) {
    if (layer.op.Is<AssignVariable>() && layer.inputs.size() == 2) {
      Tensor& variable = At(graph_, layer.inputs[1]);
      const bool is_first = !used_[static_cast<size_t>(layer.inputs[1])];
      if (is_first && variable.data == nullptr) variable.shape = At(graph_, layer.inputs[0]).shape;
    }
    for (const TensorId id : layer.inputs) {
      if (id != kNoTensor) used_[static_cast<size_t>(id)] = true;
    }
  }

  Status InferNested(size_t index) {
    const Operator op = graph_.layers[index].op;
    if (const While* const loop = op.As<While>(); loop != nullptr) {
      return InferBoth<While>(index, {"the condition", loop->condition.get()},
                              {"the body", loop->body.get()}, 0);
    }
    if (const If* const choice = op.As<If>(); choice != nullptr) {
      return InferBoth<If>(index, {"the first branch", choice->then_branch.get()},
                           {"the second branch", choice->else_branch.get()}, 1);
    }
    return {};
  }

  // The inputs of the nested graphs are those of the layer from `first` on.
  template <class Op>
  Status InferBoth(size_t index, const NestedGraph& a, const NestedGraph& b, size_t first) {
    auto inferred_a = std::make_shared<Graph>(*a.graph);
    auto inferred_b = std::make_shared<Graph>(*b.graph);
    INTAGLIO_RETURN_IF_ERROR(InferInside(index, a.name, first, *inferred_a));
    INTAGLIO_RETURN_IF_ERROR(InferInside(index, b.name, first, *inferred_b));
    graph_.layers[index].op = Op{std::move(inferred_a), std::move(inferred_b)};
    return {};
  }

  Status InferInside(size_t index, const char* name, size_t first, Graph& nested) {
    const LayerView layer(graph_, index);
    for (size_t i = 0; i < nested.inputs.size() && layer.has_input(first + i); ++i) {
      At(nested, nested.inputs[i]).shape = layer.input(first + i).shape;
    }
    const Status status = Inference(nested, budget_).Run();
    if (status.ok()) return {};
    return layer.Wrap({status.code(), std::string(name) + ": " + status.message()});
  }

  Graph& graph_;
  FoldBudget& budget_;
  ConstantFolder folder_;
  std::vector<bool> used_;  // per tensor: by a layer before
};

}  // namespace

Status SetInputShapes(const std::vector<Shape>& shapes, Graph& graph) {
  if (shapes.size() > graph.inputs.size()) {
    return InvalidArgument("shapes for " + std::to_string(shapes.size()) +
                           " inputs were given, but the model has " +
                           std::to_string(graph.inputs.size()));
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].empty()) continue;
    Tensor& tensor = At(graph, graph.inputs[i]);
    const Result<size_t> bytes = CountBytes(shapes[i], tensor.type);
    const Status status = !bytes.ok()            ? bytes.status()
                          : shapes[i].size() > 8 ? InvalidArgument("more than 8 dimensions")
                          : tensor.constant      ? InvalidArgument("it is a constant")
                          : tensor.quantization.per_axis()
                              ? InvalidArgument("it is quantized per axis")
                              : Status();
    if (!status.ok()) {
      return {status.code(), "input " + std::to_string(i) + " '" + tensor.name +
                                 "' cannot have the shape " + ToString(shapes[i]) + ": " +
                                 status.message()};
    }
    tensor.shape = shapes[i];
  }
  return {};
}

Status SetOutputShapes(Graph& graph, size_t layer) {
  Result<std::vector<Shape>> shapes = InferShapes(graph, layer);
  if (!shapes.ok()) return shapes.status();
  const std::vector<TensorId>& outputs = graph.layers[layer].outputs;
  for (size_t i = 0; i < std::min(outputs.size(), shapes->size()); ++i) {
    Tensor& output = At(graph, outputs[i]);
    if (!output.constant) output.shape = std::move((*shapes)[i]);
  }
  return {};
}

Result<Graph> ResizeInputs(Graph graph, const std::vector<Shape>& shapes,
                           const Limits& limits) try {
  const DefaultFloatEnvironment environment;
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  INTAGLIO_RETURN_IF_ERROR(SetInputShapes(shapes, graph));
  const size_t constants = CountConstants(graph);
  Ledger ledger(limits, constants);
  FoldBudget budget = FoldBudget::ForModelOf(constants, limits, &ledger);
  INTAGLIO_RETURN_IF_ERROR(Inference(graph, budget).Run());
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  return graph;
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while shapes were inferred");
}

}  // namespace intaglio::nn
