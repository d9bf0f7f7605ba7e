#include "intaglio/nn/passes/fold_bias.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/graph_editor.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

constexpr size_t kBias = 2;

bool AreFloat32(GraphEditor& editor, const Layer& product) {
  return editor.At(product.inputs[0]).type == Type::kFloat32 &&
         editor.At(product.inputs[1]).type == Type::kFloat32;
}

// Whether the outputs are sums of integers as they are.
bool AreSums(const Layer& product) {
  return IsAnyOf<Conv2D, DepthwiseConv2D, FullyConnected>(product) &&
         product.numerics.has_value() && product.numerics->scaling == Scaling::kNone;
}

// The product without a bias or an activation that makes a tensor for one reader alone.
std::optional<Place> ProductFor(GraphEditor& editor, TensorId id) {
  if (editor.At(id).quantization.quantized()) return {};
  const std::optional<Place> maker = OnlyMakerOfLines(editor, id);
  if (!maker.has_value()) return {};
  const Layer& layer = **maker;
  if (!IsAnyOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv>(layer)) return {};
  if (layer.inputs.size() > kBias && layer.inputs[kBias] != kNoTensor) return {};
  if (!AreFloat32(editor, layer) && !AreSums(layer)) return {};
  const Activation activation =
      ActivationOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv>(layer);
  return activation == Activation::kNone ? maker : std::nullopt;
}

// The constants of this type as one line, which they are for all results but the last dimension.
std::optional<Tensor> Line(const Tensor& constant, Type type, int channels) {
  if (!constant.constant || constant.type != type || constant.shape.empty() ||
      constant.shape.back() != channels ||
      constant.data_bytes != static_cast<size_t>(channels) * SizeOf(type)) {
    return {};
  }
  Tensor line = constant;
  line.shape = {channels};
  return line;
}

// Whether no sum overflows int32 with this bias, whatever the elements of input and weights.
bool FitsSums(const Tensor& weights, const Tensor& bias) {
  constexpr int64_t kLargestProduct = 255 * 255;
  const int64_t channels = bias.shape[0];
  const auto depth = static_cast<int64_t>(weights.data_bytes) / std::max<int64_t>(channels, 1);
  int64_t largest = 0;
  for (int64_t c = 0; c < channels; ++c) {
    int32_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(bias.data) + c * int64_t{sizeof(value)},
                sizeof(value));
    largest = std::max(largest, std::abs(int64_t{value}));
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return depth < kMost / kLargestProduct && largest <= kMost - depth * kLargestProduct;
}

bool Fold(GraphEditor& editor, Place add) {
  if (!add->op.Is<Add>() || ActivationOf<Add>(*add) != Activation::kNone) return false;
  for (size_t i = 0; i < 2; ++i) {
    const TensorId sum = add->inputs[i];
    const std::optional<Place> product = ProductFor(editor, sum);
    const Shape& shape = editor.At(sum).shape;
    if (!product.has_value() || shape != editor.At(add->outputs[0]).shape) continue;
    const Type type = editor.At(sum).type;
    std::optional<Tensor> bias = Line(editor.At(add->inputs[1 - i]), type, shape.back());
    if (!bias.has_value()) continue;
    Layer layer = **product;
    if (type == Type::kInt32 && !FitsSums(editor.At(layer.inputs[1]), *bias)) continue;
    layer.inputs.resize(std::max(layer.inputs.size(), kBias + 1), kNoTensor);
    layer.inputs[kBias] = editor.Add(std::move(*bias));
    const Shape shape_of_sums = editor.At(layer.outputs[0]).shape;
    ReplaceGroupOfLines(editor, add, std::move(layer), shape_of_sums);
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
