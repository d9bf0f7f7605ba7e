#include "intaglio/nn/formats/onnx/layer_maker.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/infer_shapes.h"
#include "intaglio/nn/passes/permutation.h"

namespace intaglio::nn::onnx {
namespace {

template <class T, class To>
std::vector<To> Convert(const Tensor& tensor) {
  std::vector<T> values(tensor.data_bytes / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.data, values.size() * sizeof(T));
  return {values.begin(), values.end()};
}

bool Same(const Quantization& a, const Quantization& b) {
  return a.scales == b.scales && a.zero_points == b.zero_points && a.axis == b.axis;
}

bool IsPermutation(Permutation order, size_t rank) {
  std::sort(order.begin(), order.end());
  return order.size() == rank && IsIdentity(order);
}

}  // namespace

Tensor LayerMaker::At(TensorId id) const {
  return id == kNoTensor ? Tensor{} : graph_.tensors[static_cast<size_t>(id)];
}

void LayerMaker::Charge(size_t bytes) { Fail(ledger_.Charge(bytes)); }

void LayerMaker::CheckMemory(size_t bytes) {
  Charge(bytes);
  ledger_.Return(bytes);
}

TensorId LayerMaker::AddTensor(Tensor tensor) {
  Charge(sizeof(Tensor) + label_.size());
  if (tensor.name.empty()) tensor.name = label_;
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph_.tensors.size() - 1);
}

void LayerMaker::AddLayer(Operator op, std::vector<TensorId> inputs, std::vector<TensorId> outputs,
                          std::optional<Numerics> numerics) {
  Charge(sizeof(Layer) + label_.size());
  const size_t index = graph_.layers.size();
  graph_.layers.push_back({std::move(op), std::move(inputs), std::move(outputs), label_, numerics});
  folder_.FoldParameters(index);
  const Status status = SetOutputShapes(graph_, index);
  if (!status.ok()) {
    graph_.layers.pop_back();
    const std::string prefix = label_ + ": ";
    const bool labelled = !label_.empty() && status.message().rfind(prefix, 0) == 0;
    Fail(labelled ? Status(status.code(), status.message().substr(prefix.size())) : status);
  }
  folder_.Add(index);
  const Layer& layer = graph_.layers[index];
  if (layer.op.Is<Dequantize>()) dequantized_[layer.outputs[0]] = layer.inputs[0];
}

std::vector<TensorId> LayerMaker::AddMany(Operator op, std::vector<TensorId> inputs,
                                          const std::vector<Type>& types) {
  std::vector<TensorId> outputs;
  for (const Type type : types) {
    Tensor output;
    output.type = type;
    outputs.push_back(AddTensor(std::move(output)));
  }
  AddLayer(std::move(op), std::move(inputs), outputs, std::nullopt);
  return outputs;
}

TensorId LayerMaker::Add(Operator op, std::vector<TensorId> inputs, Type type,
                         Quantization quantization, std::optional<Numerics> numerics) {
  Tensor output;
  output.type = type;
  output.quantization = std::move(quantization);
  const TensorId id = AddTensor(std::move(output));
  AddLayer(std::move(op), std::move(inputs), {id}, numerics);
  return id;
}

TensorId LayerMaker::AddLike(Operator op, std::vector<TensorId> inputs) {
  Tensor first = At(inputs[0]);
  return Add(std::move(op), std::move(inputs), first.type, std::move(first.quantization));
}

TensorId LayerMaker::Requantized(TensorId id, Quantization quantization) {
  if (Same(At(id).quantization, quantization)) return id;
  if (IsConstant(id)) {
    Tensor copy = At(id);
    copy.quantization = std::move(quantization);
    return AddTensor(std::move(copy));
  }
  return Add(Reshape{ShapeOf(id)}, {id}, At(id).type, std::move(quantization));
}

TensorId LayerMaker::Transposed(TensorId id, std::vector<int> permutation) {
  if (IsIdentity(permutation)) return id;
  const Shape shape = ShapeOf(id);
  // Any other order is an error, which TRANSPOSE finds.
  if (IsPermutation(permutation, shape.size()) && KeepsOrder(permutation, shape) &&
      IsConstant(id)) {
    return AddTensor(Permuted(At(id), permutation));
  }
  return AddLike(Transpose{std::move(permutation)}, {id});
}

TensorId LayerMaker::Reshaped(TensorId id, Shape shape) {
  if (ShapeOf(id) == shape) return id;
  return AddLike(Reshape{std::move(shape)}, {id});
}

TensorId LayerMaker::CastTo(TensorId id, Type type) {
  if (At(id).type == type) return id;
  return Add(Cast{}, {id}, type);
}

bool LayerMaker::IsConstant(TensorId id) { return id != kNoTensor && folder_.Fold(id); }

TensorId LayerMaker::DequantizedConstant(TensorId id) {
  const auto found = dequantized_.find(id);
  if (found == dequantized_.end() || !IsConstant(found->second)) return kNoTensor;
  return found->second;
}

std::vector<int64_t> LayerMaker::Ints(TensorId id, const char* what) {
  if (!IsConstant(id)) {
    FailUnknown({id}, std::string(what) + ": only values that are known beforehand are supported");
  }
  const Tensor tensor = At(id);
  switch (tensor.type) {
    case Type::kInt64:
      return Convert<int64_t, int64_t>(tensor);
    case Type::kInt32:
      return Convert<int32_t, int64_t>(tensor);
    case Type::kUInt8:
    case Type::kBool:
      return Convert<uint8_t, int64_t>(tensor);
    case Type::kInt8:
      return Convert<int8_t, int64_t>(tensor);
    case Type::kInt16:
      return Convert<int16_t, int64_t>(tensor);
    case Type::kUInt16:
      return Convert<uint16_t, int64_t>(tensor);
    default:
      Fail(InvalidArgument(std::string(what) + ": must be integers"));
      return {};
  }
}

std::vector<float> LayerMaker::Floats(TensorId id, const char* what) {
  if (!IsConstant(id) || At(id).type != Type::kFloat32) {
    FailUnknown(
        {id}, std::string(what) + ": only float32 values that are known beforehand are supported");
  }
  return Convert<float, float>(At(id));
}

void LayerMaker::Finish() { folder_.Finish(); }

int Axis(LayerMaker& make, int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  make.Fail(InvalidArgument("axis " + std::to_string(axis) + " does not exist in " +
                            std::to_string(rank) + " dimensions"));
  return 0;
}

std::vector<int> Inverse(const std::vector<int>& permutation) {
  std::vector<int> inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int>(i);
  }
  return inverse;
}

std::vector<int> AxisLast(int axis, int rank) {
  std::vector<int> permutation(static_cast<size_t>(std::max(rank, 1)));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::rotate(permutation.begin() + axis, permutation.begin() + axis + 1, permutation.end());
  return permutation;
}

int64_t Count(const Shape& shape) {
  const Result<int64_t> count = CountElements(shape);
  return count.ok() ? *count : 0;
}

}  // namespace intaglio::nn::onnx
