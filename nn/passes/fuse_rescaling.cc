// Sums of integers that are scaled and rounded by hand, as compilers write out what one layer of
// integers does:
//
//   CONV_2D - CAST - MUL by constants - ROUND - ADD of a zero point - MINIMUM, MAXIMUM - CAST - y
//
// The output of CONV_2D is int32. The layer that comes of it has the constants as the scales of its
// weights, and 1 as the scales of its input and output, so that its multipliers are these
// constants.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

constexpr int kMostSteps = 16;  // tools write up to six

// A constant of one element.
std::optional<double> OneNumber(GraphEditor& editor, TensorId id) {
  const Tensor* const tensor = id == kNoTensor ? nullptr : ConstantBehind(editor, id);
  if (tensor == nullptr || tensor->data_bytes != SizeOf(tensor->type)) return {};
  if (tensor->type == Type::kFloat32) {
    float value = 0;
    std::memcpy(&value, tensor->data, sizeof(value));
    return static_cast<double>(value);
  }
  if (tensor->type != Type::kInt32) return {};
  int32_t value = 0;
  std::memcpy(&value, tensor->data, sizeof(value));
  return static_cast<double>(value);
}

// An operand that is a constant of one element, and the other one.
struct WithNumber {
  TensorId other = kNoTensor;
  double number = 0;
};

std::optional<WithNumber> OperandAndNumber(GraphEditor& editor, const Layer& layer,
                                           bool in_any_order) {
  for (const size_t i : {size_t{1}, size_t{0}}) {
    const std::optional<double> number = OneNumber(editor, layer.inputs[i]);
    const TensorId other = layer.inputs[1 - i];
    if (number.has_value() && std::isfinite(*number) &&
        editor.At(other).shape == editor.At(layer.outputs[0]).shape) {
      return WithNumber{other, *number};
    }
    if (!in_any_order) return {};
  }
  return {};
}

// Bounds of what a layer makes of its input, if it only clamps.
struct Clamped {
  TensorId from = kNoTensor;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

std::optional<Clamped> ClampedBy(GraphEditor& editor, const Layer& layer) {
  if (const std::optional<ClampBounds> bounds = ClampBoundsOf(layer)) {
    return Clamped{layer.inputs[0], static_cast<double>(bounds->low),
                   static_cast<double>(bounds->high)};
  }
  if (!IsAnyOf<Maximum, Minimum>(layer)) return {};
  const std::optional<WithNumber> operands = OperandAndNumber(editor, layer, true);
  if (!operands.has_value()) return {};
  Clamped clamped{operands->other};
  (layer.op.Is<Maximum>() ? clamped.low : clamped.high) = operands->number;
  return clamped;
}

// What a result of 8 bits is rounded from, which nothing else reads.
struct Rounded {
  TensorId from = kNoTensor;  // float32
  // Bounds of the rounded numbers, and what is added to them.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double zero_point = 0;
  bool needs_int32 = false;  // they are int32 before they are clamped
};

// Makes bounds that come before those known so far part of them.
void ClampBefore(double low, double high, Rounded& rounded) {
  const double least = rounded.low;
  const double most = rounded.high;
  rounded.high = std::clamp(high, least, most);
  rounded.low = std::clamp(std::min(low, high), least, most);
  // What is added after them does not overflow.
  constexpr double kFarFromOverflow = 1 << 30;
  if (std::fabs(low) <= kFarFromOverflow && std::fabs(high) <= kFarFromOverflow) {
    rounded.needs_int32 = false;
  }
}

// Goes one layer back from whole numbers. Fails where the layer is none of those that may stand
// between ROUND and the last CAST.
bool StepBack(GraphEditor& editor, const Layer& layer, Rounded& rounded) {
  if (const std::optional<Clamped> clamped = ClampedBy(editor, layer)) {
    rounded.from = clamped->from;
    ClampBefore(clamped->low, clamped->high, rounded);
    return true;
  }
  if (layer.op.Is<Cast>()) {
    rounded.from = layer.inputs[0];
    const Type from = editor.At(rounded.from).type;
    const Type to = editor.At(layer.outputs[0]).type;
    if (from == Type::kFloat32 && to == Type::kInt32) rounded.needs_int32 = true;
    return (from == Type::kFloat32 || from == Type::kInt32) &&
           (to == Type::kFloat32 || to == Type::kInt32);
  }
  if (!IsAnyOf<Add, Sub>(layer) || ActivationOf<Add, Sub>(layer) != Activation::kNone) return false;
  const bool adds = layer.op.Is<Add>();
  const std::optional<WithNumber> operands = OperandAndNumber(editor, layer, adds);
  constexpr double kMost = 1 << 16;
  if (!operands.has_value() || operands->number != std::nearbyint(operands->number) ||
      std::fabs(operands->number) > kMost) {
    return false;
  }
  const double added = adds ? operands->number : -operands->number;
  rounded.from = operands->other;
  rounded.zero_point += added;
  rounded.low -= added;
  rounded.high -= added;
  return true;
}

// Clamps of numbers that are about to be rounded are clamps of the rounded ones.
void StepOverClamps(GraphEditor& editor, Rounded& rounded) {
  for (int i = 0; i < kMostSteps; ++i) {
    const std::optional<Place> maker = OnlyMaker(editor, rounded.from);
    if (!maker.has_value()) return;
    const std::optional<Clamped> clamped = ClampedBy(editor, **maker);
    if (!clamped.has_value()) return;
    rounded.from = clamped->from;
    ClampBefore(std::nearbyint(clamped->low), std::nearbyint(clamped->high), rounded);
  }
}

// Whether all numbers are those of the type.
bool AreWithin(const Rounded& rounded, Type type) {
  const Range range = RangeOf(type);
  const auto is_whole = [](double value) { return value == std::nearbyint(value); };
  return is_whole(rounded.low) && is_whole(rounded.high) && rounded.low <= rounded.high &&
         rounded.low + rounded.zero_point >= range.min &&
         rounded.high + rounded.zero_point <= range.max && rounded.zero_point >= range.min &&
         rounded.zero_point <= range.max;
}

std::optional<Rounded> RoundedBefore(GraphEditor& editor, const Layer& cast) {
  Rounded rounded;
  rounded.from = cast.inputs[0];
  const Type type = editor.At(cast.outputs[0]).type;
  if (!IsByte(type)) return {};
  for (int i = 0; i < kMostSteps; ++i) {
    const Type from = editor.At(rounded.from).type;
    const std::optional<Place> maker = OnlyMaker(editor, rounded.from);
    if (!maker.has_value() || (from != Type::kFloat32 && from != Type::kInt32)) return {};
    if (!(*maker)->op.Is<Round>()) {
      if (!StepBack(editor, **maker, rounded)) return {};
      continue;
    }
    rounded.from = (*maker)->inputs[0];
    StepOverClamps(editor, rounded);
    return AreWithin(rounded, type) ? std::optional(rounded) : std::nullopt;
  }
  return {};
}

// The same of QUANTIZE with the scale 1.
std::optional<Rounded> RoundedByQuantize(GraphEditor& editor, Place quantize) {
  const Tensor& out = editor.At(quantize->outputs[0]);
  const std::optional<Tail> tail = TailOf(editor, quantize);
  if (!tail.has_value() || !IsByte(out.type) || out.quantization.scales[0] != 1.0f) return {};
  const Range range = RangeOf(out.type);
  Rounded rounded;
  rounded.from = tail->from;
  rounded.zero_point = out.quantization.zero_points[0];
  rounded.low = std::max(range.min, tail->numerics.clamp_min) - rounded.zero_point;
  rounded.high = std::min(range.max, tail->numerics.clamp_max) - rounded.zero_point;
  return rounded;
}

// A product of bytes whose sums are multiplied by constants.
struct ScaledSums {
  Place product;
  std::vector<float> scales;  // one, or one per channel
  bool is_positive = false;   // sums below 0 become 0
};

constexpr size_t kBias = 2;

bool IsProduct(const Layer& layer) {
  return IsAnyOf<Conv2D, DepthwiseConv2D, FullyConnected>(layer) &&
         ActivationOf<Conv2D, DepthwiseConv2D, FullyConnected>(layer) == Activation::kNone;
}

bool HasBias(const Layer& product) {
  return product.inputs.size() > kBias && product.inputs[kBias] != kNoTensor;
}

// The constants without their other dimensions.
TensorId AsLine(GraphEditor& editor, TensorId id, int channels) {
  Tensor line = *ConstantBehind(editor, id);
  line.shape = {channels};
  return editor.Add(std::move(line));
}

// The product behind sums of int32, which nothing else reads.
bool FindProduct(GraphEditor& editor, TensorId sums, ScaledSums& found) {
  if (editor.At(sums).type != Type::kInt32) return false;
  std::optional<Place> maker = OnlyMakerOfLines(editor, sums);
  if (maker.has_value() && (*maker)->op.Is<Reshape>()) {  // one for a quantization, one for lines
    maker = OnlyMakerOfLines(editor, (*maker)->inputs[0]);
  }
  if (!maker.has_value()) return false;
  if (const std::optional<Clamped> clamped = ClampedBy(editor, **maker)) {
    if (clamped->low != 0 || std::isfinite(clamped->high)) return false;
    found.is_positive = true;
    maker = OnlyMakerOfLines(editor, clamped->from);
  }
  if (!maker.has_value() || !IsProduct(**maker)) return false;
  const std::optional<Numerics>& numerics = (*maker)->numerics;
  found.product = *maker;
  return numerics.has_value() && numerics->scaling == Scaling::kNone &&
         editor.At((*maker)->inputs[1]).constant;
}

// The dimension of weights that has the channels.
int ChannelAxis(const Layer& product) { return product.op.Is<DepthwiseConv2D>() ? 3 : 0; }

// Constants along the last dimension of a tensor: one, or one for each place.
std::optional<std::vector<float>> AlongChannels(GraphEditor& editor, TensorId id, int channels) {
  const Tensor* const tensor = ConstantBehind(editor, id);
  if (tensor == nullptr || tensor->type != Type::kFloat32) return {};
  const size_t count = tensor->data_bytes / sizeof(float);
  const Shape& shape = editor.At(id).shape;
  const bool is_line =
      std::cmp_equal(count, channels) && !shape.empty() && shape.back() == channels;
  if (count != 1 && !is_line) return {};
  std::vector<float> values(count);
  std::memcpy(values.data(), tensor->data, tensor->data_bytes);
  return values;
}

// The factors that a layer multiplies sums of int32 by, which it or a layer before makes float32.
bool FindScales(GraphEditor& editor, const Layer& layer, ScaledSums& found) {
  const Shape& shape = editor.At(layer.outputs[0]).shape;
  if (shape.empty()) return false;
  if (IsDequantize(layer)) {
    const Quantization& q = editor.At(layer.inputs[0]).quantization;
    const bool has_zero_points = std::any_of(q.zero_points.begin(), q.zero_points.end(),
                                             [](int32_t zero) { return zero != 0; });
    const bool is_last = !q.per_axis() || q.axis + 1 == static_cast<int>(shape.size());
    found.scales = q.scales;
    return !has_zero_points && is_last && FindProduct(editor, layer.inputs[0], found);
  }
  if (!layer.op.Is<Mul>() || ActivationOf<Mul>(layer) != Activation::kNone) return false;
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<Place> cast = OnlyMaker(editor, layer.inputs[i]);
    if (!cast.has_value() || !(*cast)->op.Is<Cast>()) continue;
    if (editor.At(layer.inputs[i]).type != Type::kFloat32) continue;
    std::optional<std::vector<float>> scales =
        AlongChannels(editor, layer.inputs[1 - i], shape.back());
    if (!scales.has_value()) continue;
    found.scales = std::move(*scales);
    return FindProduct(editor, (*cast)->inputs[0], found);
  }
  return false;
}

// Whether one shape is a reshape of the other with the same channels.
bool AreSameLines(const Shape& a, const Shape& b) {
  const Result<int64_t> count_a = CountElements(a);
  const Result<int64_t> count_b = CountElements(b);
  return count_a.ok() && count_b.ok() && *count_a == *count_b && !a.empty() && !b.empty() &&
         a.back() == b.back();
}

std::optional<ScaledSums> ScaledSumsAt(GraphEditor& editor, Place place) {
  ScaledSums found;
  if (!FindScales(editor, *place, found)) return {};
  const Shape& shape = editor.At(place->outputs[0]).shape;
  if (!AreSameLines(editor.At(found.product->outputs[0]).shape, shape)) return {};
  const bool are_scales = std::all_of(found.scales.begin(), found.scales.end(), [](float scale) {
    return std::isfinite(scale) && scale > 0;
  });
  const size_t zero_points = editor.At(found.product->inputs[1]).quantization.zero_points.size();
  const bool fits = zero_points <= 1 || std::cmp_equal(zero_points, shape.back());
  return are_scales && !found.scales.empty() && fits ? std::optional(found) : std::nullopt;
}

TensorId WithScales(GraphEditor& editor, const ScaledSums& sums) {
  Tensor weights = editor.At(sums.product->inputs[1]);
  const std::vector<int32_t> zero_points = weights.quantization.zero_points;
  Quantization q;
  const size_t count = std::max(sums.scales.size(), zero_points.size());
  for (size_t i = 0; i < count; ++i) {
    q.scales.push_back(sums.scales[sums.scales.size() > 1 ? i : 0]);
    q.zero_points.push_back(zero_points.empty() ? 0 : zero_points[zero_points.size() > 1 ? i : 0]);
  }
  q.axis = q.per_axis() ? ChannelAxis(*sums.product) : 0;
  weights.quantization = std::move(q);
  return editor.Add(std::move(weights));
}

// The input with the scale 1 and the zero point that it has.
TensorId WithScaleOne(GraphEditor& editor, Place product) {
  const TensorId id = product->inputs[0];
  const Quantization q = editor.At(id).quantization;
  if (q.scales == std::vector<float>{1.0f}) return id;
  const Tensor x = editor.At(id);
  const int32_t zero_point = q.quantized() ? q.zero_points[0] : 0;
  const TensorId one = editor.AddLike(id, x.type, PerTensor(1.0f, zero_point), x.shape);
  editor.InsertBefore(product, {Reshape{x.shape}, {id}, {one}, product->label, {}});
  return one;
}

Layer Scaled(GraphEditor& editor, const ScaledSums& sums, const Numerics& numerics) {
  Layer layer = *sums.product;
  layer.inputs[0] = WithScaleOne(editor, sums.product);
  layer.inputs[1] = WithScales(editor, sums);
  layer.numerics = numerics;
  return layer;
}

// Whether all sums, scaled, are numbers of int32 with room for a zero point.
bool FitInt32(const ScaledSums& sums) {
  constexpr float kMost = 0.5f;  // sums are less than 2^31
  return std::all_of(sums.scales.begin(), sums.scales.end(),
                     [](float scale) { return scale <= kMost; });
}

}  // namespace

bool FuseRoundedSums(GraphEditor& editor, Place place) {
  std::optional<Rounded> rounded;
  if (place->op.Is<Cast>()) rounded = RoundedBefore(editor, *place);
  if (IsQuantize(*place)) rounded = RoundedByQuantize(editor, place);
  if (!rounded.has_value()) return false;
  const std::optional<Place> scaling = OnlyMaker(editor, rounded->from);
  if (!scaling.has_value()) return false;
  const std::optional<ScaledSums> sums = ScaledSumsAt(editor, *scaling);
  if (!sums.has_value() || (rounded->needs_int32 && !FitInt32(*sums))) return false;
  if (sums->is_positive) ClampBefore(0, std::numeric_limits<double>::infinity(), *rounded);
  const auto zero_point = static_cast<int32_t>(rounded->zero_point);
  Numerics numerics{.scaling = Scaling::kFloatHalfEven, .float32_scales = true};
  numerics.clamp_min = static_cast<int32_t>(rounded->low) + zero_point;
  numerics.clamp_max = static_cast<int32_t>(rounded->high) + zero_point;
  Layer layer = Scaled(editor, *sums, numerics);
  const TensorId y = place->outputs[0];
  const Shape shape = editor.At(sums->product->outputs[0]).shape;
  if (place->op.Is<Quantize>()) {
    ReplaceGroupOfLines(editor, place, std::move(layer), shape);
    return true;
  }
  // Who reads y may take it for numbers without a quantization.
  const Tensor like = editor.At(y);
  const TensorId one = editor.AddLike(y, like.type, PerTensor(1.0f, zero_point), shape);
  layer.outputs = {one};
  const std::string label = place->label;
  editor.InsertBefore(place, std::move(layer));
  editor.ReplaceGroup(place, {Reshape{like.shape}, {one}, {}, label});
  return true;
}

bool AreScaledSums(GraphEditor& editor, Place place) {
  const std::optional<ScaledSums> sums = ScaledSumsAt(editor, place);
  if (!sums.has_value()) return false;
  constexpr float kMostSum = 0x1p31f;
  return std::all_of(sums->scales.begin(), sums->scales.end(),
                     [](float scale) { return std::isfinite(scale * kMostSum); });
}

bool FuseScaledSums(GraphEditor& editor, Place place) {
  const std::optional<ScaledSums> sums = ScaledSumsAt(editor, place);
  if (!sums.has_value() || sums->is_positive) return false;
  const Shape shape = editor.At(sums->product->outputs[0]).shape;
  ReplaceGroupOfLines(editor, place, Scaled(editor, *sums, Numerics{.scaling = Scaling::kToFloat}),
                      shape);
  return true;
}

bool FuseBiasOfScaledSums(GraphEditor& editor, Place place) {
  if (!place->op.Is<Add>() || ActivationOf<Add>(*place) != Activation::kNone) return false;
  const Shape& shape = editor.At(place->outputs[0]).shape;
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<Place> product = OnlyMakerOfLines(editor, place->inputs[i]);
    if (!product.has_value() || !IsProduct(**product) || HasBias(**product)) continue;
    const std::optional<Numerics>& numerics = (*product)->numerics;
    if (!numerics.has_value() || numerics->scaling != Scaling::kToFloat) continue;
    if (shape.empty() || shape != editor.At(place->inputs[i]).shape) continue;
    const TensorId bias = place->inputs[1 - i];
    const std::optional<std::vector<float>> values = AlongChannels(editor, bias, shape.back());
    if (!values.has_value() || !std::cmp_equal(values->size(), shape.back())) continue;
    Layer layer = **product;
    layer.inputs.resize(kBias + 1, kNoTensor);
    layer.inputs[kBias] = AsLine(editor, bias, shape.back());
    const Shape shape_of_sums = editor.At(layer.outputs[0]).shape;
    ReplaceGroupOfLines(editor, place, std::move(layer), shape_of_sums);
    return true;
  }
  return false;
}

}  // namespace intaglio::nn
