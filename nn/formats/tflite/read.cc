#include "intaglio/nn/formats/tflite/read.h"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "intaglio/nn/graph/input_advice.h"

namespace intaglio::nn {
namespace {

constexpr size_t kMaxInts = 64;  // far more than any shape, list of axes or paddings needs

template <class T>
int64_t Load(const uint8_t* bytes) {
  T value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

// Element i of dense int16, int32 or int64 data, at any address.
int64_t IntAt(const Tensor& tensor, size_t i) {
  const auto* const bytes = static_cast<const uint8_t*>(tensor.data) + i * SizeOf(tensor.type);
  if (tensor.type == Type::kInt16) return Load<int16_t>(bytes);
  return tensor.type == Type::kInt32 ? Load<int32_t>(bytes) : Load<int64_t>(bytes);
}

// The shape and type are set already.
void MakeConstant(Tensor& tensor, const Tensor& from) {
  tensor.constant = true;
  tensor.data = from.data;
  tensor.data_bytes = from.data_bytes;
  tensor.owner = from.owner;
}

}  // namespace

Result<std::vector<int>> Translation::ConstantInts(size_t i, const std::string& what) const {
  if (!has_input(i))
    return InvalidArgument("has no " + what + " (input " + std::to_string(i) + ")");
  const Tensor& tensor = input(i);
  if (!IsConstant(i)) {
    return Unsupported(what + " that are not constant are not supported" +
                       AdviceForTensor(graph_, layer_.inputs[i]));
  }
  if (tensor.type != Type::kInt16 && tensor.type != Type::kInt32 && tensor.type != Type::kInt64) {
    return InvalidArgument(what + " are " + NameOf(tensor.type) + ", not int32 or int64");
  }
  const size_t count = tensor.data_bytes / SizeOf(tensor.type);
  if (count > kMaxInts) {
    return InvalidArgument(what + " has " + std::to_string(count) + " elements");
  }
  std::vector<int> values;
  for (size_t k = 0; k < count; ++k) {
    const int64_t value = IntAt(tensor, k);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
      return InvalidArgument(what + " hold " + std::to_string(value));
    }
    values.push_back(static_cast<int>(value));
  }
  return values;
}

Result<Shape> Translation::DeclaredShape() const {
  if (layer_.outputs.empty()) return InvalidArgument("has no output");
  return graph_.tensors[static_cast<size_t>(layer_.outputs[0])].shape;
}

Result<int> Translation::ConstantInt(size_t i, const std::string& what) const {
  const Result<std::vector<int>> values = ConstantInts(i, what);
  if (!values.ok()) return values.status();
  if (values->size() == 1) return values->front();
  return InvalidArgument(what + " has " + std::to_string(values->size()) + " elements, not one");
}

Result<std::vector<std::pair<int, int>>> Translation::ConstantPairs(size_t i,
                                                                    const std::string& what) const {
  const Result<std::vector<int>> values = ConstantInts(i, what);
  if (!values.ok()) return values.status();
  const Shape& shape = input(i).shape;
  if (shape.size() != 2 || shape[1] != 2) {
    return InvalidArgument(what + " have shape " + ToString(shape) + ", not [rank, 2]");
  }
  std::vector<std::pair<int, int>> pairs;
  for (size_t k = 0; k + 1 < values->size(); k += 2) {
    pairs.emplace_back((*values)[k], (*values)[k + 1]);
  }
  return pairs;
}

Result<Quantization> Translation::IntermediateQuantization(size_t i) const {
  const auto* const ids = from_.intermediates();
  if (i >= Length(ids)) {
    return InvalidArgument("has no intermediate tensor " + std::to_string(i) + " (there are " +
                           std::to_string(Length(ids)) + ")");
  }
  const int32_t id = ids->Get(static_cast<uint32_t>(i));
  if (id < 0 || std::cmp_greater_equal(id, graph_.tensors.size())) {
    return InvalidArgument("intermediate tensor " + std::to_string(i) + " is tensor #" +
                           std::to_string(id) + ", which does not exist (there are " +
                           std::to_string(graph_.tensors.size()) + ")");
  }
  return graph_.tensors[static_cast<size_t>(id)].quantization;
}

Result<const tflite::SubGraph*> Translation::NestedSubgraph(int32_t index) const {
  const size_t count = Length(file_.model->subgraphs());
  if (index >= 1 && std::cmp_less(index, count)) {
    return file_.model->subgraphs()->Get(static_cast<uint32_t>(index));
  }
  return InvalidArgument("runs subgraph #" + std::to_string(index) + " (there are " +
                         std::to_string(count) + ", the first is the model)");
}

Result<Graph> Translation::ReadNested(int32_t index, size_t first,
                                      const std::vector<bool>& constant) const {
  const Result<const tflite::SubGraph*> subgraph = NestedSubgraph(index);
  if (!subgraph.ok()) return subgraph.status();
  Status status = budget_.Enter();
  if (!status.ok()) return status;
  Graph nested;
  status = ReadSubgraph(
      file_, **subgraph, budget_, [&](Graph& graph) { return TakeInputs(first, constant, graph); },
      nested);
  budget_.Leave();
  if (status.ok()) return nested;
  return Status(status.code(), "subgraph #" + std::to_string(index) + ": " + status.message());
}

Status Translation::TakeInputs(size_t first, const std::vector<bool>& constant,
                               Graph& nested) const {
  if (nested.inputs.size() + first != input_count()) {
    return InvalidArgument("has " + std::to_string(nested.inputs.size()) + " inputs, but " +
                           std::to_string(input_count() - first) + " are given");
  }
  std::vector<TensorId> left;
  for (size_t i = first; i < input_count(); ++i) {
    if (!has_input(i)) return InvalidArgument("input " + std::to_string(i - first) + " is absent");
    const TensorId id = nested.inputs[i - first];
    Tensor& tensor = nested.tensors[static_cast<size_t>(id)];
    const Tensor& given = input(i);
    if (tensor.type != given.type || tensor.constant || tensor.variable) {
      return InvalidArgument("input " + std::to_string(i - first) + " '" + tensor.name +
                             "' cannot be the " + NameOf(given.type) + " '" + given.name + "'");
    }
    tensor.shape = given.shape;
    if (!constant[i]) {
      left.push_back(id);
      continue;
    }
    MakeConstant(tensor, given);
  }
  nested.inputs = std::move(left);
  return {};
}

Status Translation::MakeOutputConstant(size_t i, const Tensor& constant) {
  if (i >= layer_.outputs.size()) {
    return InvalidArgument("has " + std::to_string(layer_.outputs.size()) + " outputs, but " +
                           std::to_string(input_count()) + " inputs");
  }
  Tensor& output = graph_.tensors[static_cast<size_t>(layer_.outputs[i])];
  if (output.type != constant.type || output.constant || output.variable) {
    return InvalidArgument("output " + std::to_string(i) + " '" + output.name + "' cannot be the " +
                           NameOf(constant.type) + " '" + constant.name + "'");
  }
  output.shape = constant.shape;
  MakeConstant(output, constant);
  layer_.outputs.erase(layer_.outputs.begin() + static_cast<ptrdiff_t>(i));
  return {};
}

Status Translation::PickInputs(std::initializer_list<size_t> picked) {
  std::vector<TensorId> inputs;
  for (const size_t i : picked) {
    if (!has_input(i)) return InvalidArgument("input " + std::to_string(i) + " is absent");
    inputs.push_back(layer_.inputs[i]);
  }
  layer_.inputs = std::move(inputs);
  return {};
}

Result<Activation> ActivationFrom(tflite::ActivationFunctionType from) {
  switch (from) {
    case tflite::ActivationFunctionType::NONE:
      return Activation::kNone;
    case tflite::ActivationFunctionType::RELU:
      return Activation::kRelu;
    case tflite::ActivationFunctionType::RELU6:
      return Activation::kRelu6;
    case tflite::ActivationFunctionType::RELU_N1_TO_1:
      return Activation::kReluN1To1;
    default:
      return Unsupported("fused activation number " + std::to_string(static_cast<int>(from)) +
                         " is not supported");
  }
}

Result<Padding> PaddingFrom(tflite::Padding from) {
  if (from == tflite::Padding::SAME) return Padding::Same();
  if (from == tflite::Padding::VALID) return Padding::Valid();
  return InvalidArgument("padding number " + std::to_string(static_cast<int>(from)) +
                         " does not exist");
}

Status MissingOptions() { return InvalidArgument("its options are missing or another operator's"); }

Result<bool> KeepsDimensions(const Translation& t) {
  const auto* const options = t.options<tflite::ReducerOptions>();
  if (options == nullptr && t.has_options()) {
    return InvalidArgument("has another operator's options");
  }
  return options != nullptr && options->keep_dims();
}

}  // namespace intaglio::nn
