#include "intaglio/nn/formats/tflite/write.h"

#include <memory>

#include "intaglio/nn/formats/tflite/version.h"
#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn {
namespace {

using Number = std::variant<double, int64_t>;

template <class T>
std::shared_ptr<const void> One(const Number& value) {
  return std::make_shared<const T>(std::visit([](auto v) { return static_cast<T>(v); }, value));
}

std::shared_ptr<const void> One(Type type, const Number& value) {
  switch (type) {
    case Type::kInt8:
      return One<int8_t>(value);
    case Type::kInt16:
      return One<int16_t>(value);
    case Type::kUInt16:
      return One<uint16_t>(value);
    case Type::kInt32:
      return One<int32_t>(value);
    case Type::kInt64:
      return One<int64_t>(value);
    case Type::kFloat32:
      return One<float>(value);
    case Type::kUInt8:
    case Type::kBool:
      break;
  }
  return One<uint8_t>(value);
}

template <class Int>
Tensor MakeInts(Type type, std::vector<Int> values, Shape shape) {
  const auto owned = std::make_shared<const std::vector<Int>>(std::move(values));
  Tensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.data = owned->data();
  tensor.data_bytes = owned->size() * sizeof(Int);
  tensor.owner = owned;
  return tensor;
}

}  // namespace

TensorId Encoding::AddTensor(Tensor tensor, const char* what) {
  const Layer& layer = layer_.layer();
  if (!layer.outputs.empty()) tensor.name = ShortName(layer_.output().name) + "/";
  tensor.name += what;
  parts_.new_tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(parts_.graph_tensors + parts_.new_tensors.size()) - 1;
}

TensorId Encoding::AddConstant(Tensor tensor, const char* what) {
  tensor.constant = true;
  return AddTensor(std::move(tensor), what);
}

TensorId Encoding::Add(const char* what, Type type, Shape shape, Quantization quantization) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.quantization = std::move(quantization);
  return AddTensor(std::move(tensor), what);
}

TensorId Encoding::Ints(const char* what, std::vector<int32_t> values, Shape shape) {
  return AddConstant(MakeInts(Type::kInt32, std::move(values), std::move(shape)), what);
}

TensorId Encoding::IntsOf(Type type, const char* what, const std::vector<int32_t>& values) {
  if (type == Type::kInt32) return Ints(what, values);
  const Shape shape = {static_cast<int>(values.size())};
  const std::vector<int64_t> wide(values.begin(), values.end());
  return AddConstant(MakeInts(Type::kInt64, wide, shape), what);
}

TensorId Encoding::Pairs(const char* what, const std::vector<std::pair<int, int>>& pairs) {
  std::vector<int32_t> values;
  for (const auto& [before, after] : pairs) {
    values.push_back(before);
    values.push_back(after);
  }
  return Ints(what, std::move(values), {static_cast<int>(pairs.size()), 2});
}

TensorId Encoding::NumberLike(const char* what, const Tensor& like, const Number& value) {
  Tensor tensor;
  tensor.type = like.type;
  tensor.shape = {1};
  tensor.quantization = like.quantization;
  tensor.owner = One(like.type, value);
  tensor.data = tensor.owner.get();
  tensor.data_bytes = SizeOf(like.type);
  return AddConstant(std::move(tensor), what);
}

std::vector<EncodedOperator> Encoding::Finish() {
  if (operator_.name == nullptr) operator_.name = NameOf(layer_.layer().op);
  before_.push_back(std::move(operator_));
  for (EncodedOperator& op : before_) op.version = TfliteVersion(op.name, layer_);
  return std::move(before_);
}

tflite::ActivationFunctionType ToTflite(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return tflite::ActivationFunctionType::RELU;
    case Activation::kRelu6:
      return tflite::ActivationFunctionType::RELU6;
    case Activation::kReluN1To1:
      return tflite::ActivationFunctionType::RELU_N1_TO_1;
    case Activation::kNone:
      break;
  }
  return tflite::ActivationFunctionType::NONE;
}

Result<tflite::Padding> ToTflite(const LayerView& layer, const Padding& padding) {
  if (padding.kind == Padding::Kind::kSame) return tflite::Padding::SAME;
  const bool none =
      padding.top == 0 && padding.bottom == 0 && padding.left == 0 && padding.right == 0;
  if (padding.kind == Padding::Kind::kValid || none) return tflite::Padding::VALID;
  return layer.Unsupported("explicit padding cannot be written; pad in a layer of its own");
}

tflite::TensorType ToTflite(Type type) {
  switch (type) {
    case Type::kInt8:
      return tflite::TensorType::INT8;
    case Type::kUInt8:
      return tflite::TensorType::UINT8;
    case Type::kInt16:
      return tflite::TensorType::INT16;
    case Type::kUInt16:
      return tflite::TensorType::UINT16;
    case Type::kInt32:
      return tflite::TensorType::INT32;
    case Type::kInt64:
      return tflite::TensorType::INT64;
    case Type::kBool:
      return tflite::TensorType::BOOL;
    case Type::kFloat32:
      break;
  }
  return tflite::TensorType::FLOAT32;
}

Status CheckUnset(bool parameter, const char* what, const Encoding& e) {
  if (!parameter) return {};
  return e.layer().Unsupported(std::string("the format cannot say that it keeps ") + what);
}

Status Append(Encoding& e, TensorId constant) {
  e.AppendInput(constant);
  return {};
}

}  // namespace intaglio::nn
