// Convolutions and matrix products of dequantized numbers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

// How a layer sees its weights.
struct Layout {
  int axis = 0;  // of the channels
  int64_t channels = 0;
  int64_t depth = 0;  // products of one sum
};

int64_t Count(const Shape& shape, size_t first, size_t last) {
  const Result<int64_t> count = CountElements(Shape(shape.begin() + static_cast<ptrdiff_t>(first),
                                                    shape.begin() + static_cast<ptrdiff_t>(last)));
  return count.ok() ? *count : std::numeric_limits<int64_t>::max();
}

std::optional<Layout> LayoutOf(const Layer& layer, const Shape& weights) {
  const size_t rank = weights.size();
  if (IsAnyOf<Conv2D, FullyConnected, TransposeConv>(layer)) {
    return Layout{0, weights[0], Count(weights, 1, rank)};
  }
  if (layer.op.Is<DepthwiseConv2D>()) return Layout{3, weights[3], Count(weights, 1, 3)};
  const auto* const product = layer.op.As<BatchMatMul>();
  if (product == nullptr || rank < 2) return {};
  const size_t axis = rank - (product->adjoint_b ? 2 : 1);
  const size_t other = rank - (product->adjoint_b ? 1 : 2);
  return Layout{static_cast<int>(axis), weights[axis], weights[other]};
}

// The depth that BATCH_MATMUL sums at most.
constexpr int64_t kMostDepth = 1 << 15;

// A product of float32 whose inputs are dequantized.
struct Product {
  Place place;
  TensorId x = kNoTensor;
  TensorId weights = kNoTensor;
  Layout layout;
  std::vector<float> scales;  // input scale * weight scale, one or one per channel
  int64_t largest_sum = 0;    // without the bias

  float ScaleOf(size_t channel) const { return scales[scales.size() > 1 ? channel : 0]; }
};

int64_t Magnitude(const Tensor& tensor) {
  const Range range = RangeOf(tensor.type);
  int64_t magnitude = 0;
  for (const int32_t zero_point : tensor.quantization.zero_points) {
    magnitude =
        std::max({magnitude, int64_t{range.max} - zero_point, int64_t{zero_point} - range.min});
  }
  return magnitude;
}

bool HasOneZeroPoint(const Quantization& q) {
  return std::all_of(q.zero_points.begin(), q.zero_points.end(),
                     [&](int32_t zero_point) { return zero_point == q.zero_points[0]; });
}

bool FitsWeights(GraphEditor& editor, const Layer& layer, const Tensor& weights, TensorId id,
                 const Layout& layout) {
  const Quantization& q = weights.quantization;
  if (!IsByte(weights.type) || !q.quantized()) return false;
  if (q.per_axis()) {
    if (q.axis != layout.axis || static_cast<int64_t>(q.scales.size()) != layout.channels) {
      return false;
    }
  }
  const bool constant = FollowsFromConstants(editor, id);
  if (layer.op.Is<TransposeConv>() && !constant) return false;
  const bool by_channel = IsAnyOf<Conv2D, FullyConnected, BatchMatMul>(layer) && constant;
  return by_channel || HasOneZeroPoint(q);
}

std::optional<Product> ProductAt(GraphEditor& editor, Place place) {
  const Layer& layer = *place;
  if (!IsAnyOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv, BatchMatMul>(layer)) {
    return {};
  }
  // Readers of ONNX set none. Clamps are layers there.
  const Activation activation =
      ActivationOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv>(layer);
  if (activation != Activation::kNone) return {};
  Product product;
  product.place = place;
  product.x = DequantizedFromBytes(editor, layer.inputs[0]);
  product.weights = DequantizedFrom(editor, layer.inputs[1]);
  if (product.x == kNoTensor || product.weights == kNoTensor) return {};
  const Tensor& x = editor.At(product.x);
  const Tensor& weights = editor.At(product.weights);
  const std::optional<Layout> layout = LayoutOf(layer, weights.shape);
  if (!layout.has_value() || !FitsWeights(editor, layer, weights, product.weights, *layout)) {
    return {};
  }
  product.layout = *layout;
  if (layout->depth > (layer.op.Is<BatchMatMul>() ? kMostDepth : 1 << 20)) return {};
  product.largest_sum = layout->depth * Magnitude(x) * Magnitude(weights);
  for (const float scale : weights.quantization.scales) {
    product.scales.push_back(x.quantization.scales[0] * scale);
    if (!std::isfinite(product.scales.back())) return {};
  }
  return product;
}

// The bias of a product as part of its sums, or as it is.
struct Bias {
  TensorId id = kNoTensor;
  int64_t largest = 0;  // of one of the sums
};

// A bias that has been dequantized by the scales of the product.
std::optional<Bias> QuantizedBias(GraphEditor& editor, const Product& product, TensorId real) {
  const TensorId id = DequantizedFrom(editor, real);
  const Tensor* const bias = ConstantBehind(editor, id);
  if (bias == nullptr || bias->type != Type::kInt32) return {};
  const Quantization& q = editor.At(id).quantization;
  for (int64_t c = 0; c < product.layout.channels; ++c) {
    const auto i = static_cast<size_t>(c);
    const size_t at = q.scales.size() > 1 ? i : 0;
    if (at >= q.scales.size() || q.zero_points[at] != 0) return {};
    const float scale = product.ScaleOf(i);
    // Tools compute the product of the scales in float32 or in float64.
    if (!(std::fabs(q.scales[at] - scale) <= 1e-6f * scale)) return {};
  }
  Bias result{id, 0};
  for (size_t i = 0; i * sizeof(int32_t) < bias->data_bytes; ++i) {
    int32_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(bias->data) + i * sizeof value, sizeof value);
    result.largest = std::max(result.largest, std::abs(int64_t{value}));
  }
  return result;
}

// A bias of float32 as multiples of the scales of the product.
std::optional<Bias> RoundedBias(GraphEditor& editor, const Product& product, TensorId real) {
  const Tensor* const bias = ConstantBehind(editor, real);
  const auto channels = static_cast<size_t>(product.layout.channels);
  if (bias == nullptr || bias->type != Type::kFloat32 ||
      bias->data_bytes != channels * sizeof(float)) {
    return {};
  }
  auto rounded = std::make_shared<std::vector<int32_t>>(channels);
  Bias result;
  for (size_t c = 0; c < channels; ++c) {
    float value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(bias->data) + c * sizeof value, sizeof value);
    const float quotient = std::nearbyint(value / product.ScaleOf(c));
    if (!(std::fabs(quotient) < 0x1p30f)) return {};
    (*rounded)[c] = static_cast<int32_t>(quotient);
    result.largest = std::max(result.largest, std::abs(int64_t{(*rounded)[c]}));
  }
  Tensor tensor;
  tensor.name = bias->name;
  tensor.type = Type::kInt32;
  tensor.shape = {static_cast<int>(channels)};
  tensor.constant = true;
  tensor.data = rounded->data();
  tensor.data_bytes = channels * sizeof(int32_t);
  tensor.owner = std::move(rounded);
  result.id = editor.Add(std::move(tensor));
  return result;
}

bool SumsFit(const Product& product, const Bias& bias) {
  return product.largest_sum + bias.largest <= std::numeric_limits<int32_t>::max();
}

// The layer on integers, but for its outputs and numerics.
Layer OnIntegers(const Product& product, const Bias& bias) {
  Layer layer = *product.place;
  layer.inputs[0] = product.x;
  layer.inputs[1] = product.weights;
  if (layer.inputs.size() > 2) layer.inputs[2] = bias.id;
  return layer;
}

TensorId BiasOf(const Layer& layer) {
  return layer.inputs.size() > 2 ? layer.inputs[2] : kNoTensor;
}

}  // namespace

bool FuseProduct(GraphEditor& editor, Place quantize) {
  const std::optional<Tail> tail = TailOf(editor, quantize);
  if (!tail.has_value()) return false;
  const std::optional<Product> product = ProductAt(editor, *editor.MakerOf(tail->from));
  if (!product.has_value()) return false;
  const float out_scale = editor.At(quantize->outputs[0]).quantization.scales[0];
  for (const float scale : product->scales) {
    if (!std::isfinite(scale / out_scale)) return false;
  }
  std::optional<Bias> bias = Bias();
  if (const TensorId real = BiasOf(*product->place); real != kNoTensor) {
    bias = QuantizedBias(editor, *product, real);
    if (!bias.has_value()) bias = RoundedBias(editor, *product, real);
  }
  if (!bias.has_value() || !SumsFit(*product, *bias)) return false;
  Layer layer = OnIntegers(*product, *bias);
  layer.numerics = tail->numerics;
  editor.ReplaceGroup(quantize, std::move(layer));
  return true;
}

namespace {

// The bias of a product whose result is float32; none if that is no product of integers.
std::optional<Bias> BiasOfReals(GraphEditor& editor, const Product& product) {
  std::optional<Bias> bias = Bias();
  if (const TensorId real = BiasOf(*product.place); real != kNoTensor) {
    bias = QuantizedBias(editor, product, real);
    if (!bias.has_value() && ConstantBehind(editor, real) != nullptr) bias = Bias{real, 0};
  }
  return bias.has_value() && SumsFit(product, *bias) ? bias : std::nullopt;
}

// The largest magnitude of constants of float32, or what is not finite among them.
float LargestOf(const Tensor& reals) {
  float largest = 0;
  for (size_t i = 0; i * sizeof(float) < reals.data_bytes; ++i) {
    float value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(reals.data) + i * sizeof value, sizeof value);
    if (!std::isfinite(value)) return value;
    largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

}  // namespace

bool IsFiniteProductOfBytes(GraphEditor& editor, Place place) {
  const std::optional<Product> product = ProductAt(editor, place);
  if (!product.has_value()) return false;
  const std::optional<Bias> bias = BiasOfReals(editor, *product);
  if (!bias.has_value()) return false;
  const Tensor* const added = bias->id == kNoTensor ? nullptr : ConstantBehind(editor, bias->id);
  const bool adds_reals = added != nullptr && added->type == Type::kFloat32;
  const float largest_bias = adds_reals ? LargestOf(*added) : 0;
  constexpr float kMostSum = 0x1p31f;
  return std::all_of(product->scales.begin(), product->scales.end(),
                     [=](float scale) { return std::isfinite(scale * kMostSum + largest_bias); });
}

bool FuseRealProduct(GraphEditor& editor, Place place) {
  const std::optional<Product> product = ProductAt(editor, place);
  if (!product.has_value()) return false;
  const std::optional<Bias> bias = BiasOfReals(editor, *product);
  if (!bias.has_value()) return false;
  Layer layer = OnIntegers(*product, *bias);
  layer.numerics = Numerics{.scaling = Scaling::kToFloat};
  editor.Replace(place, std::move(layer));
  return true;
}

}  // namespace intaglio::nn
