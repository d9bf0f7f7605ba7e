// Layers that move elements, or choose the largest of them, do the same with quantized numbers:
// the order of numbers is that of what they stand for. So DEQUANTIZE may follow such a layer, and
// QUANTIZE may come before it.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

// Input 0 is moved; other inputs say how.
bool MovesOne(const Layer& layer) {
  return IsAnyOf<Reshape, Squeeze, ExpandDims, Transpose, Split, SplitV, Unpack, Slice,
                 StridedSlice, Gather, GatherNd, Tile, BroadcastTo, MirrorPad, Pad, SpaceToDepth,
                 DepthToSpace, Reverse, DynamicSlice, ResizeNearestNeighbor, MaxPool2D>(layer);
}

// All inputs are moved.
bool MovesAll(const Layer& layer) { return IsAnyOf<Concatenation, Pack>(layer); }

// The operator on quantized numbers; none if it is another function of the real ones.
std::optional<Operator> OnIntegers(const Layer& layer) {
  if (const auto* const pad = layer.op.As<Pad>(); pad != nullptr && pad->has_value) {
    const bool zero = std::visit([](auto value) { return value == 0; }, pad->value);
    if (!zero) return {};
    return Pad{pad->paddings};  // with zero points
  }
  if (const auto* const pool = layer.op.As<MaxPool2D>(); pool != nullptr) {
    if (pool->activation != Activation::kNone) return {};
  }
  if (const auto* const join = layer.op.As<Concatenation>(); join != nullptr) {
    if (join->activation != Activation::kNone) return {};
  }
  return layer.op;
}

// The axis of the result that is axis `axis` of x; negative if there is none.
int AxisBehind(const Layer& layer, const Shape& x, const Shape& y, int axis) {
  if (const auto* const transpose = layer.op.As<Transpose>(); transpose != nullptr) {
    const std::vector<int>& p = transpose->permutation;
    const auto at = std::find(p.begin(), p.end(), axis);
    return at == p.end() ? -1 : static_cast<int>(at - p.begin());
  }
  if (!IsAnyOf<Reshape, Squeeze, ExpandDims>(layer)) return -1;
  const auto from = static_cast<size_t>(axis);
  if (from >= x.size()) return -1;
  const Result<int64_t> before = CountElements(Shape(x.begin(), x.begin() + axis));
  for (size_t i = 0; i < y.size(); ++i) {
    const auto end = y.begin() + static_cast<ptrdiff_t>(i);
    const Result<int64_t> count = CountElements(Shape(y.begin(), end));
    if (y[i] == x[from] && before.ok() && count.ok() && *count == *before) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// The quantization of the result of a layer that moves x; none if it has none.
std::optional<Quantization> QuantizationBehind(const Layer& layer, const Tensor& x,
                                               const Shape& result) {
  Quantization q = x.quantization;
  if (!q.per_axis()) return q;
  q.axis = AxisBehind(layer, x.shape, result, q.axis);
  if (q.axis < 0) return {};
  return q;
}

bool SameQuantization(const Tensor& a, const Tensor& b) {
  return a.type == b.type && a.quantization.scales == b.quantization.scales &&
         a.quantization.zero_points == b.quantization.zero_points;
}

// What the moved inputs are dequantized from, all by the same parameters; empty if they are not.
std::vector<TensorId> SourcesOf(GraphEditor& editor, const Layer& layer) {
  const size_t count = MovesAll(layer) ? layer.inputs.size() : 1;
  std::vector<TensorId> sources;
  for (size_t i = 0; i < count; ++i) {
    const TensorId from = DequantizedFrom(editor, layer.inputs[i]);
    if (from == kNoTensor) return {};
    const Tensor& first = editor.At(sources.empty() ? from : sources[0]);
    if (!SameQuantization(editor.At(from), first)) return {};
    if (count > 1 && first.quantization.per_axis()) return {};
    sources.push_back(from);
  }
  return sources;
}

bool IsMovable(const Layer& layer, Type type) {
  if ((layer.op.row().types & SetOf(type)) == 0) return false;
  if (IsAnyOf<MaxPool2D, ResizeNearestNeighbor>(layer)) return IsByte(type);
  // A bias: its values alone move.
  if (type == Type::kInt32) return IsAnyOf<Reshape, Squeeze, ExpandDims>(layer);
  return IsByte(type) || type == Type::kInt16 || type == Type::kUInt16;
}

// Lets a layer move what its inputs are dequantized from, and dequantizes its results.
bool Sink(GraphEditor& editor, Place place) {
  if (!MovesOne(*place) && !MovesAll(*place)) return false;
  const std::vector<TensorId> sources = SourcesOf(editor, *place);
  if (sources.empty()) return false;
  const Tensor source = editor.At(sources[0]);
  const std::optional<Operator> op = OnIntegers(*place);
  if (!op.has_value() || !IsMovable(*place, source.type)) return false;

  Layer moved = *place;
  moved.op = *op;
  std::copy(sources.begin(), sources.end(), moved.inputs.begin());
  std::vector<Layer> dequantize;
  std::vector<Tensor> results;
  for (const TensorId id : place->outputs) {
    const Tensor& real = editor.At(id);
    std::optional<Quantization> q = QuantizationBehind(*place, source, real.shape);
    if (!q.has_value()) return false;
    Tensor result;
    result.name = real.name;
    result.type = source.type;
    result.shape = real.shape;
    result.quantization = std::move(*q);
    results.push_back(std::move(result));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    moved.outputs[i] = editor.Add(std::move(results[i]));
    dequantize.push_back({Dequantize{},
                          {moved.outputs[i]},
                          {place->outputs[i]},
                          place->label,
                          Numerics{.scaling = Scaling::kFloatHalfEven}});
  }
  editor.Replace(place, std::move(moved));
  for (Layer& layer : dequantize) editor.InsertAfter(place, std::move(layer));
  return true;
}

// Quantizes what a layer moves in the place of its result.
bool Raise(GraphEditor& editor, Place quantize) {
  const TensorId result = quantize->inputs[0];
  const std::optional<Place> maker = editor.MakerOf(result);
  if (!maker.has_value() || editor.ReadersOf(result) != 1) return false;
  const Place place = *maker;
  const bool moves_one = MovesOne(*place) && place->outputs.size() == 1;
  const Tensor to = editor.At(quantize->outputs[0]);
  const std::optional<Operator> op = OnIntegers(*place);
  if (!op.has_value() || !(moves_one || MovesAll(*place)) || !IsMovable(*place, to.type) ||
      to.quantization.scales.size() != 1) {
    return false;
  }
  // More than one reader would still need the real numbers.
  if (moves_one && editor.ReadersOf(place->inputs[0]) != 1) return false;

  Layer moved = *place;
  moved.op = *op;
  for (size_t i = 0; i < (moves_one ? 1 : moved.inputs.size()); ++i) {
    const TensorId real = moved.inputs[i];
    moved.inputs[i] = editor.AddLike(real, to.type, to.quantization, editor.At(real).shape);
    editor.InsertBefore(
        place, {Quantize{}, {real}, {moved.inputs[i]}, quantize->label, quantize->numerics});
  }
  moved.outputs = quantize->outputs;
  editor.Remove(quantize);
  editor.Replace(place, std::move(moved));
  return true;
}

}  // namespace

size_t SinkDequantize(GraphEditor& editor) {
  size_t moves = 0;
  for (Place place = editor.layers().begin(); place != editor.layers().end(); ++place) {
    if (Sink(editor, place)) ++moves;
  }
  return moves;
}

size_t RaiseQuantize(GraphEditor& editor) {
  size_t moves = 0;
  // Layers that it adds come before the place, and are visited.
  for (Place place = editor.layers().end(); place != editor.layers().begin();) {
    const Place quantize = std::prev(place);
    if (IsQuantize(*quantize) && Raise(editor, quantize)) {
      ++moves;
    } else {
      place = quantize;
    }
  }
  return moves;
}

}  // namespace intaglio::nn
