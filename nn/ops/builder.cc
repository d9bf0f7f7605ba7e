#include "intaglio/nn/ops/builder.h"

namespace intaglio::nn {

const Tensor* Builder::Find(TensorId id) const {
  if (id < 0 || static_cast<size_t>(id) >= graph_.tensors.size()) return nullptr;
  return &graph_.tensors[static_cast<size_t>(id)];
}

TensorId Builder::AddTensor(Tensor tensor) {
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph_.tensors.size()) - 1;
}

Value Builder::Input(std::string name, Type type, Shape shape, Quantization quantization) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.quantization = std::move(quantization);
  graph_.inputs.push_back(AddTensor(std::move(tensor)));
  return {graph_.inputs.back()};
}

Constant Builder::AddConstant(std::string name, Type type, Shape shape, Quantization quantization,
                              const void* data, size_t bytes, std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.quantization = std::move(quantization);
  tensor.constant = true;
  tensor.data = data;
  tensor.data_bytes = bytes;
  tensor.owner = std::move(owner);
  return {AddTensor(std::move(tensor))};
}

Value Builder::Layer(Operator op, std::vector<TensorId> inputs, Type type, Quantization out) {
  if (!status_.ok()) return {};
  const size_t index = graph_.layers.size();
  Tensor output;
  output.name = std::string(NameOf(op)) + "_" + std::to_string(index);
  output.type = type;
  output.quantization = std::move(out);
  for (const TensorId id : inputs) {
    if (id == kNoTensor || Find(id) != nullptr) continue;
    status_ =
        InvalidArgument(output.name + ": input #" + std::to_string(id) + " is not of this builder");
    return {};
  }
  const TensorId id = AddTensor(std::move(output));
  graph_.layers.push_back({std::move(op), std::move(inputs), {id}, {}});
  Result<std::vector<Shape>> shapes = InferShapes(graph_, index);
  if (!shapes.ok()) {
    status_ = shapes.status();
    return {};
  }
  graph_.tensors[static_cast<size_t>(id)].shape = std::move((*shapes)[0]);
  return {id};
}

Value Builder::SameType(Operator op, Value x, Quantization out) {
  const Tensor* const input = Find(x.id);
  if (input == nullptr) return Layer(std::move(op), {x.id}, Type::kInt8, std::move(out));
  if (!out.quantized()) out = input->quantization;
  return Layer(std::move(op), {x.id}, input->type, std::move(out));
}

namespace {

// A constant that is missing at the end of a layer's inputs is left out.
std::vector<TensorId> Inputs(Value x, Constant weights, Constant bias) {
  if (bias.id == kNoTensor) return {x.id, weights.id};
  return {x.id, weights.id, bias.id};
}

}  // namespace

Value Builder::Conv2D(Value x, Constant filter, Constant bias, const nn::Conv2D& op,
                      Quantization out) {
  const Tensor* const input = Find(x.id);
  return Layer(op, Inputs(x, filter, bias), input ? input->type : Type::kInt8, std::move(out));
}

Value Builder::DepthwiseConv2D(Value x, Constant filter, Constant bias,
                               const nn::DepthwiseConv2D& op, Quantization out) {
  const Tensor* const input = Find(x.id);
  return Layer(op, Inputs(x, filter, bias), input ? input->type : Type::kInt8, std::move(out));
}

Value Builder::FullyConnected(Value x, Constant weights, Constant bias,
                              const nn::FullyConnected& op, Quantization out) {
  const Tensor* const input = Find(x.id);
  return Layer(op, Inputs(x, weights, bias), input ? input->type : Type::kInt8, std::move(out));
}

Value Builder::Add(Value a, Value b, const nn::Add& op, Quantization out) {
  const Tensor* const input = Find(a.id);
  return Layer(op, {a.id, b.id}, input ? input->type : Type::kInt8, std::move(out));
}

Value Builder::AveragePool2D(Value x, const nn::AveragePool2D& op) { return SameType(op, x, {}); }
Value Builder::MaxPool2D(Value x, const nn::MaxPool2D& op) { return SameType(op, x, {}); }
Value Builder::Pad(Value x, const nn::Pad& op) { return SameType(op, x, {}); }
Value Builder::Reshape(Value x, Shape shape) {
  return SameType(nn::Reshape{std::move(shape)}, x, {});
}

namespace {

// Results in [0, 1), in steps of 1/256.
Quantization UnitInterval(const Tensor* x) {
  return PerTensor(1.0f / 256, x != nullptr && x->type == Type::kUInt8 ? 0 : -128);
}
// Results in [-1, 1), in steps of 1/128.
Quantization UnitBall(const Tensor* x) {
  return PerTensor(1.0f / 128, x != nullptr && x->type == Type::kUInt8 ? 128 : 0);
}

}  // namespace

Value Builder::Softmax(Value x, float beta) {
  return SameType(nn::Softmax{beta}, x, UnitInterval(Find(x.id)));
}
Value Builder::Logistic(Value x) { return SameType(nn::Logistic{}, x, UnitInterval(Find(x.id))); }
Value Builder::Tanh(Value x) { return SameType(nn::Tanh{}, x, UnitBall(Find(x.id))); }
Value Builder::Relu(Value x, Quantization out) { return SameType(nn::Relu{}, x, std::move(out)); }
Value Builder::Relu6(Value x, Quantization out) { return SameType(nn::Relu6{}, x, std::move(out)); }
Value Builder::Mean(Value x, const nn::Mean& op, Quantization out) {
  return SameType(op, x, std::move(out));
}

Value Builder::Concatenation(std::span<const Value> values, const nn::Concatenation& op,
                             Quantization out) {
  std::vector<TensorId> inputs;
  for (const Value value : values) inputs.push_back(value.id);
  const Tensor* const first = inputs.empty() ? nullptr : Find(inputs[0]);
  if (!out.quantized() && first != nullptr) out = first->quantization;
  return Layer(op, std::move(inputs), first ? first->type : Type::kInt8, std::move(out));
}

Value Builder::Quantize(Value x, Type type, Quantization out) {
  return Layer(nn::Quantize{}, {x.id}, type, std::move(out));
}
Value Builder::Dequantize(Value x) { return Layer(nn::Dequantize{}, {x.id}, Type::kFloat32, {}); }

void Builder::Output(Value value, std::string name) {
  if (!status_.ok()) return;
  if (Find(value.id) == nullptr) {
    status_ = InvalidArgument("output '" + name + "' is not of this builder");
    return;
  }
  graph_.tensors[static_cast<size_t>(value.id)].name = std::move(name);
  graph_.outputs.push_back(value.id);
}

Result<Graph> Builder::Finish() {
  Graph graph = std::exchange(graph_, {});
  const Status status = std::exchange(status_, {});
  if (!status.ok()) return status;
  if (graph.outputs.empty()) {
    return InvalidArgument(
        "the graph has no outputs: call Output for each value that it is to give");
  }
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  return graph;
}

}  // namespace intaglio::nn
