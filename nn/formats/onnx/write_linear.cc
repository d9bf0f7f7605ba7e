// Convolutions and matrix products in .onnx files.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/layer_maker.h"
#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/formats/onnx/write_windows.h"
#include "intaglio/nn/ops/linear/integer_products.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {
namespace {

// Whether the layer gives its sums as they are.
bool GivesSums(const LayerWriter& w) { return w.layer().numerics().scaling == Scaling::kNone; }

// input scale * weight scale, as the reader computes it: one, or one per channel.
std::vector<float> ScalesOfProducts(LayerWriter& w) {
  std::vector<float> scales;
  if (!IsQuantized(w.input(0)) || !IsQuantized(w.input(1))) return {1};
  if (w.input(0).quantization.per_axis()) w.Refuse("an input with several scales");
  const float x = w.input(0).quantization.scales[0];
  for (const float scale : w.input(1).quantization.scales) scales.push_back(x * scale);
  return scales;
}

// A bias of int64 as float32, which DequantizeLinear does not take.
Value RoundedBias(LayerWriter& w, const Tensor& bias, const std::vector<float>& scales) {
  if (!bias.constant) {
    const Value real = w.nodes().CastTo(w.Numbers(2, Order::kOurs), Type::kInt64, Type::kFloat32);
    return w.nodes().Node("Mul", {real, w.nodes().Vector(scales)});
  }
  std::vector<float> values;
  for (size_t i = 0; i < bias.data_bytes / sizeof(int64_t); ++i) {
    int64_t value = 0;
    std::memcpy(&value, static_cast<const char*>(bias.data) + i * sizeof value, sizeof value);
    const float scale = scales[scales.size() > 1 ? i : 0];
    values.push_back(static_cast<float>(static_cast<double>(value) * static_cast<double>(scale)));
  }
  return w.nodes().Vector(values);
}

// Input 2 as a line of real numbers; kNoValue if there is none.
Value BiasOf(LayerWriter& w) {
  if (!w.has(2)) return kNoValue;
  const Tensor& bias = w.input(2);
  const Shape line = {static_cast<int>(Count(bias.shape))};
  const std::vector<float> scales = ScalesOfProducts(w);
  if (scales.size() > 1 && std::cmp_not_equal(scales.size(), line[0])) {
    w.Refuse("has another number of scales than of biases");
    return kNoValue;
  }
  if (bias.type == Type::kInt64) return RoundedBias(w, bias, scales);
  const Value numbers = w.nodes().Reshaped(w.Numbers(2, Order::kOurs), bias.shape, line);
  if (bias.type != Type::kInt32) return numbers;
  return w.Dequantized(numbers, PerAxis(scales, 0), Type::kInt32);
}

// The zero points of an input, one or one per channel; kNoValue if all are 0.
Value ZeroPointsOf(LayerWriter& w, size_t i) {
  const Tensor& tensor = w.input(i);
  const std::vector<int32_t>& zero_points = tensor.quantization.zero_points;
  if (std::all_of(zero_points.begin(), zero_points.end(), [](int32_t z) { return z == 0; })) {
    return kNoValue;
  }
  const bool is_one = std::all_of(zero_points.begin(), zero_points.end(),
                                  [&](int32_t z) { return z == zero_points[0]; });
  if (is_one) return w.nodes().Number(tensor.type, zero_points[0]);
  std::vector<uint8_t> bytes;
  for (const int32_t zero_point : zero_points) bytes.push_back(static_cast<uint8_t>(zero_point));
  return w.nodes().Constant(tensor.type, {static_cast<int>(bytes.size())}, bytes.data(),
                            bytes.size());
}

// Sums with the zero points of x and of the weights, and an int32 bias.
Value SumsOf(LayerWriter& w, const char* op, Value x, Value weights, const Attributes& attributes,
             const Shape& bias_shape) {
  NodeWriter& nodes = w.nodes();
  if (SizeOf(w.input(0).type) != 1 || SizeOf(w.input(1).type) != 1) {
    w.Refuse("sums of numbers that do not have 8 bits");
    return kNoValue;
  }
  const Value sums =
      nodes.Node(op, {x, weights, ZeroPointsOf(w, 0), ZeroPointsOf(w, 1)}, attributes);
  if (!w.has(2)) return sums;
  const Value bias = nodes.Reshaped(w.Numbers(2, Order::kOurs), w.input(2).shape, bias_shape);
  return nodes.Node("Add", {sums, bias});
}

// A filter, in the order of the format.
struct Filter {
  Permutation permutation;
  Extent extent;
  int groups = 1;
};

Filter FilterOf(const Conv2D&, const Shape& image, const Shape& filter) {
  const int groups = filter[3] == 0 ? 1 : image[3] / filter[3];
  return {{0, 3, 1, 2}, {filter[1], filter[2]}, groups};
}
Filter FilterOf(const DepthwiseConv2D&, const Shape& image, const Shape& filter) {
  return {{3, 0, 1, 2}, {filter[1], filter[2]}, image[3]};
}

template <class Op>
Attributes WindowOf(const Op& op, const LayerWriter& w, const Filter& filter) {
  const Shape& image = w.input(0).shape;
  return {{"dilations", Sizes(op.dilation)},
          {"group", filter.groups},
          {"kernel_shape", Sizes(filter.extent)},
          {"pads", PadsOf(image, filter.extent, op.stride, op.dilation, op.padding)},
          {"strides", Sizes(op.stride)}};
}

template <class Op>
void WriteConvolution(const Op& op, LayerWriter& w) {
  if (!HasWindows(w)) return;
  const Order order = Order::kChannelsFirst;
  const Filter filter = FilterOf(op, w.input(0).shape, w.input(1).shape);
  const Attributes window = WindowOf(op, w, filter);
  if (GivesSums(w)) {
    const Value weights = w.NumbersPermuted(1, filter.permutation);
    const Shape column = {w.output().shape[3], 1, 1};
    const Value x = w.Numbers(0, order);
    return w.SetNumbers(SumsOf(w, "ConvInteger", x, weights, window, column), order);
  }
  const Value x = w.Real(0, order);
  const Value weights = w.RealPermuted(1, filter.permutation);
  w.SetReal(w.nodes().Node("Conv", {x, weights, BiasOf(w)}, window), order, op.activation);
}

// The padding at the begin of one dimension, what the format calls padding at the end, and how far
// the output reaches beyond what the filter touches.
struct Scattered {
  int64_t before = 0;
  int64_t behind = 0;
  int64_t beyond = 0;
};

Scattered ScatteredAlong(int64_t image, int64_t filter, int64_t stride, int64_t out, bool same) {
  const int64_t back = (out + stride - 1) / stride;
  const int64_t total = std::max<int64_t>((back - 1) * stride + filter - out, 0);
  const int64_t before = same ? total / 2 : 0;
  const int64_t excess = (image - 1) * stride + filter - before - out;
  return {before, std::max<int64_t>(excess, 0), std::max<int64_t>(-excess, 0)};
}

// The padding is that of the convolution back from the output to the input. A shape that a run
// computes is this one, or the run fails.
void Write(const TransposeConv& op, LayerWriter& w) {
  if (op.padding.kind == Padding::Kind::kExplicit) return w.Refuse("explicit padding");
  const Shape& image = w.input(0).shape;
  const Shape& filter = w.input(1).shape;
  const bool same = op.padding.kind == Padding::Kind::kSame;
  const Scattered y = ScatteredAlong(image[1], filter[1], op.stride.height, op.shape[1], same);
  const Scattered x = ScatteredAlong(image[2], filter[2], op.stride.width, op.shape[2], same);
  const Attributes window = {{"kernel_shape", Sizes({filter[1], filter[2]})},
                             {"output_padding", std::vector<int64_t>{y.beyond, x.beyond}},
                             {"pads", std::vector<int64_t>{y.before, x.before, y.behind, x.behind}},
                             {"strides", Sizes(op.stride)}};
  const Value values = w.Real(0, Order::kChannelsFirst);
  const Value weights = w.RealPermuted(1, {3, 0, 1, 2});
  w.SetReal(w.nodes().Node("ConvTranspose", {values, weights, BiasOf(w)}, window),
            Order::kChannelsFirst, op.activation);
}

// x [..., K] by constants [O, K], which the file has as [K, O].
void WriteProduct(const FullyConnected& op, LayerWriter& w) {
  const Value x = w.Real(0, Order::kOurs);
  const Value weights = w.RealPermuted(1, {1, 0});
  w.SetReal(w.nodes().Node("MatMul", {x, weights}), Order::kOurs, op.activation);
}

// Lines of the weights' depth.
void WriteProductOfLines(const FullyConnected& op, LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  const Tensor& input = w.input(0);
  const Shape& weights = w.input(1).shape;
  const int depth = weights[1];
  const Shape lines = {depth == 0 ? 0 : static_cast<int>(Count(input.shape) / depth), depth};
  const Value x = nodes.Reshaped(w.Numbers(0, Order::kOurs), input.shape, lines);
  Value y = kNoValue;
  if (GivesSums(w)) {
    y = SumsOf(w, "MatMulInteger", x, w.NumbersPermuted(1, {1, 0}), {}, {weights[0]});
  } else {
    const Value real = IsQuantized(input) ? w.Dequantized(x, input.quantization, input.type) : x;
    const Value by = w.Real(1, Order::kOurs);
    y = w.ToOutput(nodes.Node("Gemm", {real, by, BiasOf(w)}, {{"transB", 1}}), op.activation);
  }
  w.SetNumbers(nodes.Reshaped(y, {lines[0], weights[0]}, w.output().shape), Order::kOurs);
}

void Write(const FullyConnected& op, LayerWriter& w) {
  const bool keeps_lines = op.keep_num_dims && w.input(0).shape.size() > 2;
  const bool is_plain = keeps_lines && !w.has(2) && w.input(1).constant && !GivesSums(w);
  is_plain ? WriteProduct(op, w) : WriteProductOfLines(op, w);
}

// The permutation that may exchange the last two dimensions.
Permutation LastExchanged(const LayerWriter& w, size_t i, bool exchanged) {
  const size_t rank = w.input(i).shape.size();
  Permutation permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  if (exchanged && rank >= 2) std::swap(permutation[rank - 1], permutation[rank - 2]);
  return permutation;
}

void Write(const BatchMatMul& op, LayerWriter& w) {
  const Permutation a = LastExchanged(w, 0, op.adjoint_a);
  const Permutation b = LastExchanged(w, 1, op.adjoint_b);
  if (GivesSums(w)) {
    const Value x = w.NumbersPermuted(0, a);
    const Value y = w.NumbersPermuted(1, b);
    return w.SetNumbers(SumsOf(w, "MatMulInteger", x, y, {}, {}), Order::kOurs);
  }
  const Value x = w.RealPermuted(0, a);
  w.SetReal(w.nodes().Node("MatMul", {x, w.RealPermuted(1, b)}), Order::kOurs);
}

// An input of one element as a number.
Value OneOf(LayerWriter& w, size_t i) {
  if (!w.has(i)) return kNoValue;
  return w.nodes().Reshaped(w.Numbers(i, Order::kOurs), w.input(i).shape, {});
}

// What follows the sums of products whose quantization a run tells: scales, and a bias. Channels
// lie in the dimension that `channels` has.
Value WithScale(LayerWriter& w, Value sums, const Shape& channels) {
  if (!w.has(4)) return sums;
  NodeWriter& nodes = w.nodes();
  const std::vector<float>& scales = w.input(1).quantization.scales;
  const bool is_one = scales.size() <= 1;
  const Value weights = is_one ? nodes.Scalar(scales.empty() ? 1.0f : scales[0])
                               : nodes.Constant(Type::kFloat32, channels, scales.data(),
                                                scales.size() * sizeof(float));
  const Value scale = nodes.Node("Mul", {weights, OneOf(w, 4)});
  const Value y = nodes.Node("Mul", {nodes.CastTo(sums, Type::kInt32, Type::kFloat32), scale});
  if (!w.has(5)) return y;
  return nodes.Node("Add",
                    {y, nodes.Reshaped(w.Numbers(5, Order::kOurs), w.input(5).shape, channels)});
}

Value ZeroPointsOfWeights(LayerWriter& w) { return w.has(3) ? OneOf(w, 3) : ZeroPointsOf(w, 1); }

void Write(const IntegerMatMul&, LayerWriter& w) {
  const std::vector<Value> inputs = {w.Numbers(0, Order::kOurs), w.Numbers(1, Order::kOurs),
                                     OneOf(w, 2), ZeroPointsOfWeights(w)};
  const Value sums = w.nodes().Node("MatMulInteger", inputs);
  w.SetNumbers(WithScale(w, sums, {w.output().shape.back()}), Order::kOurs);
}

void Write(const IntegerConv2D& op, LayerWriter& w) {
  if (!HasWindows(w)) return;
  const Order order = Order::kChannelsFirst;
  const Filter filter = FilterOf(op.conv, w.input(0).shape, w.input(1).shape);
  const std::vector<Value> inputs = {w.Numbers(0, order), w.NumbersPermuted(1, filter.permutation),
                                     OneOf(w, 2), ZeroPointsOfWeights(w)};
  const Value sums = w.nodes().Node("ConvInteger", inputs, WindowOf(op.conv, w, filter));
  w.SetNumbers(WithScale(w, sums, {w.output().shape[3], 1, 1}), order);
}

constexpr WriteRow kRows[] = {
    {&BatchMatMul::kRow, WriteBy<BatchMatMul, Write>},
    {&Conv2D::kRow, WriteBy<Conv2D, WriteConvolution<Conv2D>>},
    {&DepthwiseConv2D::kRow, WriteBy<DepthwiseConv2D, WriteConvolution<DepthwiseConv2D>>},
    {&FullyConnected::kRow, WriteBy<FullyConnected, Write>},
    {&IntegerConv2D::kRow, WriteBy<IntegerConv2D, Write>},
    {&IntegerMatMul::kRow, WriteBy<IntegerMatMul, Write>},
    {&TransposeConv::kRow, WriteBy<TransposeConv, Write>},
};

}  // namespace

std::span<const WriteRow> LinearWriteRows() { return kRows; }

}  // namespace intaglio::nn::onnx
