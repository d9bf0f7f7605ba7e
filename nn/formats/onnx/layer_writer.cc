#include "intaglio/nn/formats/onnx/layer_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "intaglio/nn/formats/onnx/layer_maker.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/ops/support/quantization.h"

namespace intaglio::nn::onnx {
namespace {

const Permutation kToChannelsFirst = {0, 3, 1, 2};
const Permutation kToOurs = {0, 2, 3, 1};

size_t IndexOf(Order order) { return static_cast<size_t>(order); }
Order Other(Order order) { return order == Order::kOurs ? Order::kChannelsFirst : Order::kOurs; }

// The shape with dimensions of extent 1 before it, so that it broadcasts as before.
Shape AsImage(const Shape& shape) {
  Shape image(4 - shape.size(), 1);
  image.insert(image.end(), shape.begin(), shape.end());
  return image;
}

bool IsOne(const Shape& shape) { return Count(shape) == 1; }

Value ZeroPoints(NodeWriter& nodes, const Quantization& q, Type type) {
  if (type == Type::kInt32) return kNoValue;  // must be 0, and must not be written
  if (!q.per_axis()) return nodes.Number(type, q.zero_points[0]);
  switch (type) {
    case Type::kInt8:
      return nodes.Vector(std::vector<int8_t>(q.zero_points.begin(), q.zero_points.end()));
    case Type::kUInt8:
      return nodes.Vector(std::vector<uint8_t>(q.zero_points.begin(), q.zero_points.end()));
    case Type::kUInt16:
      return nodes.Vector(std::vector<uint16_t>(q.zero_points.begin(), q.zero_points.end()));
    default:
      return nodes.Vector(std::vector<int16_t>(q.zero_points.begin(), q.zero_points.end()));
  }
}

Value Scales(NodeWriter& nodes, const Quantization& q) {
  return q.per_axis() ? nodes.Vector(q.scales) : nodes.Scalar(q.scales[0]);
}

std::vector<Value> WithParameters(NodeWriter& nodes, Value value, const Quantization& q,
                                  Type type) {
  return {value, Scales(nodes, q), ZeroPoints(nodes, q, type)};
}

Attributes AxisOf(const Quantization& q) {
  if (!q.per_axis()) return {};
  return {{"axis", q.axis}};
}

Value DequantizedBy(NodeWriter& nodes, Value numbers, const Quantization& q, Type type) {
  return nodes.Node("DequantizeLinear", WithParameters(nodes, numbers, q, type), AxisOf(q));
}

bool ZeroPointsFit(const Quantization& q, Type type) {
  const Range range = type == Type::kInt32 ? Range{0, 0} : RangeOf(type);
  return std::all_of(q.zero_points.begin(), q.zero_points.end(), [&](int32_t zero_point) {
    return zero_point >= range.min && zero_point <= range.max;
  });
}

}  // namespace

int AxisIn(Order order, int axis, size_t rank) {
  if (axis < 0) axis += static_cast<int>(rank);
  if (order == Order::kOurs || rank != 4) return axis;
  const auto at = std::find(kToChannelsFirst.begin(), kToChannelsFirst.end(), axis);
  return static_cast<int>(at - kToChannelsFirst.begin());
}

bool IsQuantized(const Tensor& tensor) {
  return tensor.quantization.quantized() && SizeOf(tensor.type) <= 2 && tensor.type != Type::kBool;
}

bool SameQuantization(const Tensor& a, const Tensor& b) {
  return a.type == b.type && a.quantization.scales == b.quantization.scales &&
         a.quantization.zero_points == b.quantization.zero_points;
}

std::string NameOfForm(const Tensor& tensor, Order order) {
  const char* const suffix = tensor.shape.size() == 4 ? "/nchw" : "/image";
  return order == Order::kOurs ? tensor.name : tensor.name + suffix;
}

bool TensorValues::Has(TensorId id, Order order) const {
  return forms_[static_cast<size_t>(id)].numbers[IndexOf(order)] != kNoValue;
}

void TensorValues::Set(TensorId id, Order order, Value value) {
  FormsOf(id).numbers[IndexOf(order)] = value;
}

Value TensorValues::ConstantIn(const Tensor& tensor, Order order) {
  if (order == Order::kOurs) return nodes_.Constant(tensor);
  Tensor image = tensor;
  image.shape = AsImage(tensor.shape);
  image.quantization = {};
  return nodes_.Constant(Permuted(image, kToChannelsFirst));
}

// The value in the other order than this one.
Value TensorValues::Converted(TensorId id, Value value, Order from) {
  const Shape& shape = At(id).shape;
  const Shape image = shape.size() < 4 ? AsImage(shape) : shape;
  Permutation permutation = from == Order::kOurs ? kToChannelsFirst : kToOurs;
  const Shape first = InOrder(Order::kChannelsFirst, image);
  const Shape& source = from == Order::kOurs ? image : first;
  if (KeepsOrder(permutation, source)) {
    return from == Order::kOurs ? nodes_.Reshaped(value, shape, first)
                                : nodes_.Reshaped(value, first, shape);
  }
  return nodes_.Transposed(from == Order::kOurs ? nodes_.Reshaped(value, shape, image) : value,
                           permutation);
}

Value TensorValues::Numbers(TensorId id, Order order) {
  const Tensor& tensor = At(id);
  // One element broadcasts in any order.
  if (tensor.shape.size() < 4 && IsOne(tensor.shape)) order = Order::kOurs;
  Value& value = FormsOf(id).numbers[IndexOf(order)];
  if (value != kNoValue) return value;
  if (tensor.constant) {
    value = ConstantIn(tensor, order);
  } else if (const Value other = FormsOf(id).numbers[IndexOf(Other(order))]; other != kNoValue) {
    value = Converted(id, other, Other(order));
  }
  nodes_.Rename(value, NameOfForm(tensor, order));
  return value;
}

Value TensorValues::Real(TensorId id, Order order) {
  const Tensor& tensor = At(id);
  if (!IsQuantized(tensor)) return Numbers(id, order);
  if (tensor.shape.size() < 4 && IsOne(tensor.shape)) order = Order::kOurs;
  Value& value = FormsOf(id).real[IndexOf(order)];
  if (value != kNoValue) return value;
  if (tensor.quantization.per_axis() && tensor.shape.size() != 4 && order != Order::kOurs) {
    value = Converted(id, Real(id, Order::kOurs), Order::kOurs);
    return value;
  }
  Quantization q = tensor.quantization;
  if (q.per_axis()) q.axis = AxisIn(order, q.axis, tensor.shape.size());
  value = DequantizedBy(nodes_, Numbers(id, order), q, tensor.type);
  nodes_.Rename(value, NameOfForm(tensor, order) + "/real");
  return value;
}

LayerWriter::LayerWriter(const LayerView& layer, NodeWriter& nodes, TensorValues& values)
    : layer_(layer), nodes_(nodes), values_(values), order_(PreferredOrder()) {
  const auto check = [&](const Tensor& tensor) {
    const Quantization& q = tensor.quantization;
    if (q.per_axis() && (q.axis < 0 || std::cmp_greater_equal(q.axis, tensor.shape.size()))) {
      std::string what = "'";
      what.append(ShortName(tensor.name)).append("' has scales along an axis that does not exist");
      Refuse(what);
    }
    if (IsQuantized(tensor) && !ZeroPointsFit(tensor.quantization, tensor.type)) {
      Refuse("a zero point of '" + ShortName(tensor.name) + "' is no " + NameOf(tensor.type));
    }
  };
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (layer.has_input(i)) check(layer.input(i));
  }
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) check(layer.output(i));
}

// Channels first where an input has no other form yet, and all others can have it.
Order LayerWriter::PreferredOrder() const {
  if (layer_.layer().outputs.empty() || layer_.output().shape.size() != 4) return Order::kOurs;
  bool is_first = false;
  for (size_t i = 0; i < layer_.input_count(); ++i) {
    if (!layer_.has_input(i) || layer_.input(i).constant) continue;
    const Shape& shape = layer_.input(i).shape;
    if (shape.size() != 4 && !IsOne(shape)) return Order::kOurs;
    const TensorId id = layer_.layer().inputs[i];
    is_first = is_first || (shape.size() == 4 && !values_.Has(id, Order::kOurs));
  }
  return is_first ? Order::kChannelsFirst : Order::kOurs;
}

Value LayerWriter::RealAsOutput(size_t i, Order order) {
  if (!IsQuantized(output()) || SameQuantization(input(i), output())) return Real(i, order);
  return Dequantized(Numbers(i, order), output().quantization, output().type);
}

std::vector<Value> LayerWriter::AllNumbers() {
  std::vector<Value> values;
  for (size_t i = 0; i < input_count(); ++i) values.push_back(has(i) ? Numbers(i) : kNoValue);
  return values;
}

std::vector<Value> LayerWriter::AllReal() {
  std::vector<Value> values;
  for (size_t i = 0; i < input_count(); ++i) values.push_back(has(i) ? Real(i) : kNoValue);
  return values;
}

Value LayerWriter::NumbersPermuted(size_t i, const Permutation& permutation) {
  const Tensor& tensor = input(i);
  if (!tensor.constant) return nodes_.Transposed(Numbers(i, Order::kOurs), permutation);
  Tensor plain = tensor;
  plain.quantization = {};
  const Value value = nodes_.Constant(Permuted(plain, permutation));
  nodes_.Rename(value, tensor.name);
  return value;
}

Value LayerWriter::RealPermuted(size_t i, const Permutation& permutation) {
  const Value numbers = NumbersPermuted(i, permutation);
  if (!IsQuantized(input(i))) return numbers;
  Quantization q = input(i).quantization;
  if (q.per_axis()) q.axis = InverseOf(permutation)[static_cast<size_t>(q.axis)];
  return Dequantized(numbers, q, input(i).type);
}

void LayerWriter::AppendParameters(const Tensor& tensor, std::vector<Value>& inputs) {
  inputs.push_back(Scales(nodes_, tensor.quantization));
  inputs.push_back(ZeroPoints(nodes_, tensor.quantization, tensor.type));
}

Value LayerWriter::Dequantized(Value numbers, const Quantization& quantization, Type type) {
  if (!ZeroPointsFit(quantization, type)) {
    Refuse("numbers of " + std::string(NameOf(type)) + " cannot have this zero point");
  }
  return DequantizedBy(nodes_, numbers, quantization, type);
}

Value LayerWriter::Quantized(Value real, const Quantization& quantization, Type type) {
  return nodes_.Node("QuantizeLinear", WithParameters(nodes_, real, quantization, type),
                     AxisOf(quantization));
}

Value LayerWriter::Activated(Value value, Activation activation, Type type) {
  switch (activation) {
    case Activation::kRelu:
      return type == Type::kFloat32 ? nodes_.Node("Relu", {value})
                                    : nodes_.Node("Clip", {value, nodes_.Number(type, 0)});
    case Activation::kRelu6:
      return nodes_.Node("Clip", {value, nodes_.Number(type, 0), nodes_.Number(type, 6)});
    case Activation::kReluN1To1:
      return nodes_.Node("Clip", {value, nodes_.Number(type, -1), nodes_.Number(type, 1)});
    case Activation::kNone:
      break;
  }
  return value;
}

namespace {

// A real number in numbers of the output, which may lie outside of its type.
double InSteps(double real, const Quantization& q) {
  return std::nearbyint(real / static_cast<double>(q.scales[0])) + q.zero_points[0];
}

// Whether the type holds no numbers that the activation would change.
bool IsImplied(Activation activation, const Tensor& tensor) {
  const Quantization& q = tensor.quantization;
  if (q.per_axis() || !(q.scales[0] > 0)) return false;
  const Range range = RangeOf(tensor.type);
  const double low = activation == Activation::kReluN1To1 ? -1 : 0;
  if (InSteps(low, q) > range.min) return false;
  if (activation == Activation::kRelu) return true;
  return InSteps(activation == Activation::kRelu6 ? 6 : 1, q) >= range.max;
}

}  // namespace

// The bounds that the layer's numerics have.
Value LayerWriter::ClampedTo(Value real, const Tensor& output) {
  const Numerics numerics = layer_.numerics();
  const Quantization& q = output.quantization;
  const Range range = RangeOf(output.type);
  const bool has_low = numerics.clamp_min > range.min;
  const bool has_high = numerics.clamp_max < range.max;
  const auto bound = [&](int32_t number) {
    return nodes_.Scalar(static_cast<float>(number - q.zero_points[0]) * q.scales[0]);
  };
  if (!has_low && !has_high) return real;
  if (has_low && !has_high && numerics.clamp_min == q.zero_points[0]) {
    return nodes_.Node("Relu", {real});
  }
  return nodes_.Node("Clip", {real, has_low ? bound(numerics.clamp_min) : kNoValue,
                              has_high ? bound(numerics.clamp_max) : kNoValue});
}

Value LayerWriter::ToOutput(Value real, Activation activation, size_t output) {
  const Tensor& tensor = layer_.output(output);
  if (!IsQuantized(tensor)) return Activated(real, activation, tensor.type);
  const Quantization& q = tensor.quantization;
  if (q.per_axis()) Refuse("an output with several scales cannot be written");
  if (!(q.scales[0] > 0)) Refuse("a scale of 0 cannot be written");
  if (!status_.ok()) return kNoValue;
  if (activation != Activation::kNone && !IsImplied(activation, tensor)) {
    real = Activated(real, activation, Type::kFloat32);
  }
  real = ClampedTo(real, tensor);
  return Quantized(real, q, tensor.type);
}

}  // namespace intaglio::nn::onnx
