#include "intaglio/nn/passes/fuse_activations.h"

#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/graph_editor.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

// A bound of -0 makes other zeros than one of 0.
bool Is(const std::optional<Clip::Bound>& bound, double number) {
  const double* const real = bound.has_value() ? std::get_if<double>(&*bound) : nullptr;
  return real != nullptr && *real == number && !(number == 0 && std::signbit(*real));
}

// What a layer does if it only clamps, as an activation; kNone if it is no activation.
Activation ClampOf(const Layer& layer) {
  if (layer.op.Is<Relu>()) return Activation::kRelu;
  if (layer.op.Is<Relu6>()) return Activation::kRelu6;
  if (layer.op.Is<ReluN1To1>()) return Activation::kReluN1To1;
  const Clip* const clip = layer.op.As<Clip>();
  if (clip == nullptr) return Activation::kNone;
  if (Is(clip->low, 0) && !clip->high.has_value()) return Activation::kRelu;
  if (Is(clip->low, 0) && Is(clip->high, 6)) return Activation::kRelu6;
  if (Is(clip->low, -1) && Is(clip->high, 1)) return Activation::kReluN1To1;
  return Activation::kNone;
}

// The operator with an activation; none if it has one already, or has no such parameter.
template <class... Ops>
std::optional<Operator> With(const Operator& op, Activation activation) {
  std::optional<Operator> result;
  const auto set = [&](const auto* parameters) {
    if (parameters == nullptr || parameters->activation != Activation::kNone) return;
    auto changed = *parameters;
    changed.activation = activation;
    result = Operator(std::move(changed));
  };
  (set(op.As<Ops>()), ...);
  return result;
}

bool Fuse(GraphEditor& editor, Place clamp) {
  const Activation activation = ClampOf(*clamp);
  if (activation == Activation::kNone) return false;
  const TensorId from = clamp->inputs[0];
  const std::optional<Place> maker = editor.MakerOf(from);
  const bool is_real =
      editor.At(from).type == Type::kFloat32 && editor.At(clamp->outputs[0]).type == Type::kFloat32;
  if (!maker.has_value() || editor.ReadersOf(from) != 1 || !is_real) return false;
  std::optional<Operator> op =
      With<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv, Add, Sub, Mul, Div>((*maker)->op,
                                                                                       activation);
  if (!op.has_value()) return false;
  Layer layer = **maker;
  layer.op = std::move(*op);
  editor.ReplaceGroup(clamp, std::move(layer));
  return true;
}

}  // namespace

size_t FuseActivations(Graph& graph) {
  size_t fused = 0;
  GraphEditor editor(graph);
  for (Place place = editor.layers().begin(); place != editor.layers().end(); ++place) {
    if (Fuse(editor, place)) ++fused;
  }
  editor.Finish([](const Layer&) { return false; });
  if (fused > 0 && graph.folded_shapes != nullptr) graph.folded_shapes = IncompleteShapes();
  return fused;
}

}  // namespace intaglio::nn
