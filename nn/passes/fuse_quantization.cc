#include "intaglio/nn/passes/fuse_quantization.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/passes/graph_editor.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

bool HasOnnxRules(const Layer& layer) {
  return layer.numerics.has_value() && layer.numerics->scaling == Scaling::kFloatHalfEven;
}

// q times a scale within these limits is exact to half a unit in the last place, so that dividing
// it by the scale gives q again.
bool IsOrdinary(float scale) { return scale > 1e-30f && scale < 1e30f; }

bool IsOneScale(const Quantization& q) {
  return q.scales.size() == 1 && std::isfinite(q.scales[0]) && q.scales[0] > 0;
}

// A bound of the real numbers as one of the output.
int32_t Quantized(float bound, Type type, const Quantization& q) {
  const Range range = RangeOf(type);
  const float low = static_cast<float>(range.min - q.zero_points[0]);
  const float high = static_cast<float>(range.max - q.zero_points[0]);
  const float clamped = std::fmin(std::fmax(bound / q.scales[0], low), high);
  return static_cast<int32_t>(std::nearbyint(clamped)) + q.zero_points[0];
}

float Real(const Clip::Bound& bound) {
  return std::visit([](auto value) { return static_cast<float>(value); }, bound);
}

// Clamps to `bounds` come before those that `numerics` has.
void ClampBefore(const ClampBounds& bounds, Type type, const Quantization& q, Numerics& numerics) {
  const int32_t high = Quantized(bounds.high, type, q);
  const int32_t low = std::min(Quantized(bounds.low, type, q), high);
  const int32_t min = numerics.clamp_min;
  const int32_t max = numerics.clamp_max;
  numerics.clamp_min = std::clamp(low, min, max);
  numerics.clamp_max = std::clamp(high, min, max);
}

bool FuseIdentity(GraphEditor& editor, Place quantize) {
  const TensorId from = DequantizedFromBytes(editor, quantize->inputs[0]);
  if (from == kNoTensor) return false;
  const Tensor& x = editor.At(from);
  const Tensor& y = editor.At(quantize->outputs[0]);
  const bool same = x.type == y.type && x.shape == y.shape &&
                    x.quantization.scales == y.quantization.scales &&
                    x.quantization.zero_points == y.quantization.zero_points;
  if (!same || !IsOrdinary(x.quantization.scales[0])) return false;
  return editor.Alias(quantize->outputs[0], from);
}

void FuseGroups(GraphEditor& editor, bool ort_fused, FusedQuantization& fused) {
  for (Place place = editor.layers().begin(); place != editor.layers().end(); ++place) {
    editor.Resolve(place);
    if (FuseLookup(editor, place)) ++fused.tables;
    if (FuseRoundedSums(editor, place)) ++fused.products;
    if (place->op.Is<Cast>() && FuseTable(editor, place)) ++fused.tables;
    if (!IsQuantize(*place)) continue;
    if (FuseIdentity(editor, place)) {
      ++fused.identities;
    } else if (FuseProduct(editor, place)) {
      ++fused.products;
    } else if (ort_fused && FuseOrtPair(editor, place)) {
      ++fused.pairs;
    } else if (FuseTable(editor, place)) {
      ++fused.tables;
    } else if (FusePair(editor, place)) {
      ++fused.pairs;
    } else if (FuseRealPair(editor, place)) {
      ++fused.real_pairs;
    }
  }
  for (Place place = editor.layers().begin(); place != editor.layers().end(); ++place) {
    if (FuseRealProduct(editor, place) || FuseScaledSums(editor, place)) ++fused.real_products;
    FuseBiasOfScaledSums(editor, place);
  }
}

}  // namespace

std::optional<ClampBounds> ClampBoundsOf(const Layer& layer) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (layer.op.Is<Relu>()) return ClampBounds{0, kInfinity};
  if (layer.op.Is<Relu6>()) return ClampBounds{0, 6};
  if (layer.op.Is<ReluN1To1>()) return ClampBounds{-1, 1};
  const Clip* const clip = layer.op.As<Clip>();
  if (clip == nullptr) return {};
  ClampBounds bounds;
  if (clip->low.has_value() && !std::isnan(Real(*clip->low))) bounds.low = Real(*clip->low);
  if (clip->high.has_value() && !std::isnan(Real(*clip->high))) bounds.high = Real(*clip->high);
  return bounds;
}

std::optional<Place> OnlyMaker(GraphEditor& editor, TensorId id) {
  if (id == kNoTensor || editor.ReadersOf(id) != 1) return {};
  return editor.MakerOf(id);
}

std::optional<Place> OnlyMakerOfLines(GraphEditor& editor, TensorId id) {
  const std::optional<Place> maker = OnlyMaker(editor, id);
  if (!maker.has_value() || !(*maker)->op.Is<Reshape>()) return maker;
  const TensorId from = (*maker)->inputs[0];
  const Shape& before = editor.At(from).shape;
  const Shape& behind = editor.At(id).shape;
  if (before.empty() || behind.empty() || before.back() != behind.back()) return {};
  return OnlyMaker(editor, from);
}

void ReplaceGroupOfLines(GraphEditor& editor, Place last, Layer layer, const Shape& shape) {
  const TensorId y = last->outputs[0];
  const Tensor like = editor.At(y);
  if (like.shape == shape) return editor.ReplaceGroup(last, std::move(layer));
  const TensorId before = editor.AddLike(y, like.type, like.quantization, shape);
  layer.outputs = {before};
  const std::string label = last->label;
  editor.InsertBefore(last, std::move(layer));
  editor.ReplaceGroup(last, {Reshape{like.shape}, {before}, {}, label, {}});
}

bool IsQuantize(const Layer& layer) { return layer.op.Is<Quantize>() && HasOnnxRules(layer); }
bool IsDequantize(const Layer& layer) { return layer.op.Is<Dequantize>() && HasOnnxRules(layer); }

TensorId DequantizedFrom(const GraphEditor& editor, TensorId id) {
  if (id == kNoTensor) return kNoTensor;
  const std::optional<Place> maker = editor.MakerOf(id);
  return maker.has_value() && IsDequantize(**maker) ? (*maker)->inputs[0] : kNoTensor;
}

TensorId DequantizedFromBytes(GraphEditor& editor, TensorId id) {
  const TensorId from = DequantizedFrom(editor, id);
  if (from == kNoTensor) return kNoTensor;
  const Tensor& tensor = editor.At(from);
  return IsByte(tensor.type) && IsOneScale(tensor.quantization) ? from : kNoTensor;
}

std::optional<Tail> TailOf(GraphEditor& editor, Place quantize) {
  const Tensor& out = editor.At(quantize->outputs[0]);
  const Quantization& q = out.quantization;
  if (!(IsByte(out.type) || out.type == Type::kInt16) || !IsOneScale(q)) return {};
  Tail tail{quantize->inputs[0], *quantize->numerics};
  while (editor.ReadersOf(tail.from) == 1) {
    const std::optional<Place> maker = editor.MakerOf(tail.from);
    if (!maker.has_value()) return {};
    const std::optional<ClampBounds> bounds = ClampBoundsOf(**maker);
    if (!bounds.has_value()) return tail;
    ClampBefore(*bounds, out.type, q, tail.numerics);
    tail.from = (*maker)->inputs[0];
  }
  return {};
}

namespace {

// What a tensor is moved from, through a few layers of these operators.
template <class... Moves>
TensorId MovedFrom(GraphEditor& editor, TensorId id) {
  constexpr int kMostLayers = 16;  // real models have one or two
  for (int i = 0; i < kMostLayers && id != kNoTensor; ++i) {
    const std::optional<Place> maker = editor.MakerOf(id);
    if (!maker.has_value()) return id;
    if (!IsAnyOf<Moves...>(**maker)) return kNoTensor;
    id = (*maker)->inputs[0];
  }
  return kNoTensor;
}

}  // namespace

const Tensor* ConstantBehind(GraphEditor& editor, TensorId id) {
  const TensorId from = MovedFrom<Reshape, Squeeze, ExpandDims>(editor, id);
  return from != kNoTensor && editor.At(from).constant ? &editor.At(from) : nullptr;
}

bool FollowsFromConstants(GraphEditor& editor, TensorId id) {
  const TensorId from = MovedFrom<Reshape, Squeeze, ExpandDims, Transpose>(editor, id);
  return from != kNoTensor && editor.At(from).constant;
}

FusedQuantization FuseQuantization(Graph& graph, bool ort_fused) {
  FusedQuantization fused;
  GraphEditor editor(graph);
  fused.moves = SinkDequantize(editor) + RaiseQuantize(editor);
  FuseGroups(editor, ort_fused, fused);
  fused.dynamic_products = FuseDynamicProducts(editor);
  editor.Finish([](const Layer& layer) { return IsQuantize(layer) || IsDequantize(layer); });
  if (fused.total() > 0 && graph.folded_shapes != nullptr) {
    graph.folded_shapes = IncompleteShapes();
  }
  return fused;
}

}  // namespace intaglio::nn
