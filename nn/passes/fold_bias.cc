#include "intaglio/nn/passes/fold_bias.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/graph_editor.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

constexpr size_t kBias = 2;

// The product of float32 without a bias or an activation that makes a tensor for one reader alone.
std::optional<Place> ProductFor(GraphEditor& editor, TensorId id) {
  const std::optional<Place> maker = editor.MakerOf(id);
  if (!maker.has_value() || editor.ReadersOf(id) != 1) return {};
  const Layer& layer = **maker;
  if (!IsAnyOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv>(layer)) return {};
  if (layer.inputs.size() > kBias && layer.inputs[kBias] != kNoTensor) return {};
  for (const TensorId operand : {layer.inputs[0], layer.inputs[1]}) {
    if (editor.At(operand).type != Type::kFloat32) return {};
  }
  const Activation activation =
      ActivationOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv>(layer);
  return activation == Activation::kNone ? maker : std::nullopt;
}

// The constants as one line, which they are for all results but the last dimension.
std::optional<Tensor> Line(const Tensor& constant, int channels) {
  if (!constant.constant || constant.type != Type::kFloat32 || constant.shape.empty() ||
      constant.shape.back() != channels ||
      constant.data_bytes != static_cast<size_t>(channels) * sizeof(float)) {
    return {};
  }
  Tensor line = constant;
  line.shape = {channels};
  return line;
}

bool Fold(GraphEditor& editor, Place add) {
  if (!add->op.Is<Add>() || ActivationOf<Add>(*add) != Activation::kNone) return false;
  for (size_t i = 0; i < 2; ++i) {
    const TensorId sum = add->inputs[i];
    const std::optional<Place> product = ProductFor(editor, sum);
    const Shape& shape = editor.At(sum).shape;
    if (!product.has_value() || shape != editor.At(add->outputs[0]).shape) continue;
    std::optional<Tensor> bias = Line(editor.At(add->inputs[1 - i]), shape.back());
    if (!bias.has_value()) continue;
    Layer layer = **product;
    layer.inputs.resize(std::max(layer.inputs.size(), kBias + 1), kNoTensor);
    layer.inputs[kBias] = editor.Add(std::move(*bias));
    editor.ReplaceGroup(add, std::move(layer));
    return true;
  }
  return false;
}

}  // namespace

size_t FoldBias(Graph& graph) {
  size_t folded = 0;
  GraphEditor editor(graph);
  for (Place place = editor.layers().begin(); place != editor.layers().end(); ++place) {
    if (Fold(editor, place)) ++folded;
  }
  editor.Finish([](const Layer&) { return false; });
  if (folded > 0 && graph.folded_shapes != nullptr) graph.folded_shapes = IncompleteShapes();
  return folded;
}

}  // namespace intaglio::nn
