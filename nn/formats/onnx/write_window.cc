// Pools and resizing of images in .onnx files.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/layer_maker.h"
#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/formats/onnx/write_windows.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {
namespace {

// Padding before and behind along one dimension that gives ceil(image / stride) windows.
std::pair<int64_t, int64_t> SamePads(int image, int filter, int stride, int dilation) {
  const int64_t reach = (int64_t{filter} - 1) * dilation + 1;
  const int64_t windows = (int64_t{image} + stride - 1) / stride;
  const int64_t total = std::max<int64_t>((windows - 1) * stride + reach - image, 0);
  return {total / 2, total - total / 2};
}

}  // namespace

bool HasWindows(LayerWriter& w) {
  const Shape& shape = w.output().shape;
  if (shape[1] == 0 || shape[2] == 0) w.Refuse("a window that is larger than the image");
  return w.status().ok();
}

std::vector<int64_t> PadsOf(const Shape& image, Extent filter, Extent stride, Extent dilation,
                            const Padding& padding) {
  if (padding.kind == Padding::Kind::kExplicit) {
    return {padding.top, padding.left, padding.bottom, padding.right};
  }
  if (padding.kind == Padding::Kind::kValid) return {0, 0, 0, 0};
  const auto y = SamePads(image[1], filter.height, stride.height, dilation.height);
  const auto x = SamePads(image[2], filter.width, stride.width, dilation.width);
  return {y.first, x.first, y.second, x.second};
}

namespace {

template <class Op>
Attributes WindowOf(const Op& op, const LayerWriter& w) {
  return {{"kernel_shape", Sizes(op.filter)},
          {"pads", PadsOf(w.input(0).shape, op.filter, op.stride, {1, 1}, op.padding)},
          {"strides", Sizes(op.stride)}};
}

// A pool of real numbers. It does not change the quantization.
template <class Op>
void WritePool(const Op& op, LayerWriter& w, const char* name) {
  if (w.output().type != Type::kFloat32 && !IsQuantized(w.output())) {
    return w.Refuse("integers without a quantization");
  }
  if (!HasWindows(w)) return;
  const Value x = w.RealAsOutput(0, Order::kChannelsFirst);
  w.SetReal(w.nodes().Node(name, {x}, WindowOf(op, w)), Order::kChannelsFirst, op.activation);
}

void Write(const AveragePool2D& op, LayerWriter& w) { WritePool(op, w, "AveragePool"); }

// The node takes integers as they are, unless they are clamped.
void Write(const MaxPool2D& op, LayerWriter& w) {
  if (op.activation != Activation::kNone || w.input(0).type == Type::kInt16) {
    return WritePool(op, w, "MaxPool");
  }
  if (!HasWindows(w)) return;
  const Value x = w.Numbers(0, Order::kChannelsFirst);
  w.SetNumbers(w.nodes().Node("MaxPool", {x}, WindowOf(op, w)), Order::kChannelsFirst);
}

void Write(const L2Pool2D& op, LayerWriter& w) {
  if (!HasWindows(w)) return;
  NodeWriter& nodes = w.nodes();
  const Value x = w.Real(0, Order::kChannelsFirst);
  const Value means = nodes.Node("AveragePool", {nodes.Node("Mul", {x, x})}, WindowOf(op, w));
  w.SetReal(nodes.Node("Sqrt", {means}), Order::kChannelsFirst, op.activation);
}

// How the places of pixels follow from one another.
template <class Op>
std::string CoordinatesOf(const Op& op) {
  if (op.align_corners) return "align_corners";
  return op.half_pixel_centers ? "half_pixel" : "asymmetric";
}

template <class Op>
Value Resized(const Op& op, LayerWriter& w, Value x, Attributes attributes) {
  const Shape& shape = w.output().shape;
  const Value sizes = w.nodes().Ints({shape[0], shape[3], op.height, op.width});
  attributes.push_back({"coordinate_transformation_mode", CoordinatesOf(op)});
  return w.nodes().Node("Resize", {x, kNoValue, kNoValue, sizes}, attributes);
}

// Whether readers of the scale find this size.
bool GivesSize(float scale, int in, int out) {
  return std::floor(static_cast<float>(in) * scale) == static_cast<float>(out);
}

// Scales that readers of the sizes would round otherwise.
bool NeedsScales(const ResizeBilinear& op, const Shape& in) {
  if (op.height_scale == 0) return false;
  const auto quotient = [](int to, int from) {
    return static_cast<float>(to) / static_cast<float>(from);
  };
  return (op.height_scale != quotient(op.height, in[1]) ||
          op.width_scale != quotient(op.width, in[2])) &&
         GivesSize(op.height_scale, in[1], op.height) && GivesSize(op.width_scale, in[2], op.width);
}

void Write(const ResizeBilinear& op, LayerWriter& w) {
  const Value x = w.Real(0, Order::kChannelsFirst);
  const Attributes linear = {{"mode", "linear"}};
  if (!NeedsScales(op, w.input(0).shape)) {
    return w.SetReal(Resized(op, w, x, linear), Order::kChannelsFirst);
  }
  const Value scales = w.nodes().Vector<float>({1, 1, op.height_scale, op.width_scale});
  Attributes attributes = linear;
  attributes.push_back({"coordinate_transformation_mode", CoordinatesOf(op)});
  w.SetReal(w.nodes().Node("Resize", {x, kNoValue, scales}, attributes), Order::kChannelsFirst);
}

// Where places are rounded, halves go to the next pixel. Without centers they are cut off.
void Write(const ResizeNearestNeighbor& op, LayerWriter& w) {
  if (op.align_corners && op.half_pixel_centers) {
    return w.Refuse("the format aligns corners or counts from centers");
  }
  const bool rounds = op.align_corners || op.half_pixel_centers;
  const std::string nearest = rounds ? "round_prefer_ceil" : "floor";
  const Attributes attributes = {{"mode", "nearest"}, {"nearest_mode", nearest}};
  const Value x = w.Numbers(0, Order::kChannelsFirst);
  w.SetNumbers(Resized(op, w, x, attributes), Order::kChannelsFirst);
}

// Column k of a table [O, K] of numbers.
template <class T>
std::vector<T> Column(const Tensor& table, size_t k) {
  const auto count = static_cast<size_t>(table.shape[1]);
  std::vector<T> column(static_cast<size_t>(table.shape[0]));
  for (size_t i = 0; i < column.size(); ++i) {
    std::memcpy(&column[i], static_cast<const T*>(table.data) + i * count + k, sizeof(T));
  }
  return column;
}

// The offsets and, one after the other, the weighted elements: the order of the sum.
void Write(const Interpolate& op, LayerWriter& w) {
  constexpr int kMostTaps = 64;
  const Tensor& places = w.input(1);
  const Tensor& weights = w.input(2);
  if (!places.constant || !weights.constant || places.shape[1] > kMostTaps) {
    return w.Refuse("weights that a run computes, or more than 64 for an element");
  }
  NodeWriter& nodes = w.nodes();
  const size_t rank = w.input(0).shape.size();
  const int axis = onnx::AxisIn(w.order(), op.axis, rank);
  Shape line(rank, 1);
  line[static_cast<size_t>(axis)] = places.shape[0];
  const Value x = w.Numbers(0);
  Value sum = nodes.Scalar(0.0f);
  if (w.has(3)) sum = nodes.Reshaped(w.Numbers(3, Order::kOurs), w.input(3).shape, line);
  for (size_t k = 0; k < static_cast<size_t>(places.shape[1]); ++k) {
    const Value at = nodes.Vector(Column<int32_t>(places, k));
    const std::vector<float> column = Column<float>(weights, k);
    const Value by =
        nodes.Constant(Type::kFloat32, line, column.data(), column.size() * sizeof(float));
    const Value elements = nodes.Node("Gather", {x, at}, {{"axis", axis}});
    sum = nodes.Node("Add", {sum, nodes.Node("Mul", {elements, by})});
  }
  w.SetNumbers(sum);
}

constexpr WriteRow kRows[] = {
    {&AveragePool2D::kRow, WriteBy<AveragePool2D, Write>},
    {&Interpolate::kRow, WriteBy<Interpolate, Write>},
    {&L2Pool2D::kRow, WriteBy<L2Pool2D, Write>},
    {&MaxPool2D::kRow, WriteBy<MaxPool2D, Write>},
    {&ResizeBilinear::kRow, WriteBy<ResizeBilinear, Write>},
    {&ResizeNearestNeighbor::kRow, WriteBy<ResizeNearestNeighbor, Write>},
};

}  // namespace

std::span<const WriteRow> WindowWriteRows() { return kRows; }

}  // namespace intaglio::nn::onnx
