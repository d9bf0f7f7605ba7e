// Inside FuseQuantization: what the kinds of groups share, and one function for each kind.
#ifndef INTAGLIO_NN_PASSES_QUANTIZED_GROUPS_H_
#define INTAGLIO_NN_PASSES_QUANTIZED_GROUPS_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/ops/support/activation.h"
#include "intaglio/nn/passes/graph_editor.h"

namespace intaglio::nn {

using Place = GraphEditor::Place;

template <class... Ops>
bool IsAnyOf(const Layer& layer) {
  return (layer.op.Is<Ops>() || ...);
}

inline bool IsByte(Type type) { return type == Type::kInt8 || type == Type::kUInt8; }

// The activation of a layer of one of these operators, or of none of them.
template <class... Ops>
Activation ActivationOf(const Layer& layer) {
  Activation activation = Activation::kNone;
  (void)((layer.op.Is<Ops>() && (activation = layer.op.As<Ops>()->activation, true)) || ...);
  return activation;
}

// Bounds of float32 numbers.
struct ClampBounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};
// Those of a layer that only clamps.
std::optional<ClampBounds> ClampBoundsOf(const Layer& layer);

// QUANTIZE or DEQUANTIZE by ONNX's rules.
bool IsQuantize(const Layer& layer);
bool IsDequantize(const Layer& layer);

// The tensor that a DEQUANTIZE by ONNX's rules makes this one of; kNoTensor if none does.
TensorId DequantizedFrom(const GraphEditor& editor, TensorId id);
// The same for tensors of 8 bits with one positive scale.
TensorId DequantizedFromBytes(GraphEditor& editor, TensorId id);

// What a QUANTIZE does to a result, together with the layers before it that only clamp.
struct Tail {
  TensorId from;      // the result, which nothing else reads
  Numerics numerics;  // with the clamp
};
// None if the output has not one positive scale.
std::optional<Tail> TailOf(GraphEditor& editor, Place quantize);

// The layer that makes a tensor which nothing else reads.
std::optional<Place> OnlyMaker(GraphEditor& editor, TensorId id);
// The same, also of a tensor that is then only reshaped, with the same last dimension.
std::optional<Place> OnlyMakerOfLines(GraphEditor& editor, TensorId id);
// Replaces the group that ends with `last` by a layer whose output has this shape, and reshapes
// that where the output of `last` has another one.
void ReplaceGroupOfLines(GraphEditor& editor, Place last, Layer layer, const Shape& shape);

// The elements of a constant, or of one that is only reshaped; null for other tensors.
const Tensor* ConstantBehind(GraphEditor& editor, TensorId id);
// Whether a tensor is a constant or is moved together from constants.
bool FollowsFromConstants(GraphEditor& editor, TensorId id);

// Each fuses the group that ends here if there is one.
bool FuseProduct(GraphEditor& editor, Place quantize);
bool FuseRealProduct(GraphEditor& editor, Place product);
// Whether FuseRealProduct does so, with results that are finite.
bool IsFiniteProductOfBytes(GraphEditor& editor, Place place);
// The same of products of integers that are scaled by layers behind them; `place` is the CAST or
// the QUANTIZE that ends the group.
bool FuseRoundedSums(GraphEditor& editor, Place place);
// The same for a result of float32, and for a bias of float32 that is added to it.
bool FuseScaledSums(GraphEditor& editor, Place scaling);
// Whether FuseScaledSums might do so, with results that are finite.
bool AreScaledSums(GraphEditor& editor, Place scaling);
bool FuseBiasOfScaledSums(GraphEditor& editor, Place add);
// Functions of one tensor of 8 bits that end with a QUANTIZE or a CAST.
bool FuseTable(GraphEditor& editor, Place last);
bool FusePair(GraphEditor& editor, Place quantize);
// The same of a tensor of 8 bits and one of float32.
bool FuseRealPair(GraphEditor& editor, Place quantize);
// The same as FusePair where ONNX Runtime has a fused kernel, by its rules.
bool FuseOrtPair(GraphEditor& editor, Place quantize);
// GATHER of 256 numbers of 8 bits by numbers of 8 bits, as the writer of .onnx files says
// MAP_BYTES.
bool FuseLookup(GraphEditor& editor, Place gather);

// Both change all layers that move elements: they come before the DEQUANTIZE that they follow, and
// behind the QUANTIZE that follows them. They return the number of layers that move integers now.
size_t SinkDequantize(GraphEditor& editor);
size_t RaiseQuantize(GraphEditor& editor);

// Fuses products whose quantization each run tells. Returns their number.
size_t FuseDynamicProducts(GraphEditor& editor);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_QUANTIZED_GROUPS_H_
