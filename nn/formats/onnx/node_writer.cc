#include "intaglio/nn/formats/onnx/node_writer.h"

#include <algorithm>
#include <utility>

#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;  // half of what a file may have
constexpr size_t kBytesPerNode = 128;

void SetValue(AttributeProto& to, int64_t value) {
  to.set_type(AttributeProto::INT);
  to.set_i(value);
}
void SetValue(AttributeProto& to, float value) {
  to.set_type(AttributeProto::FLOAT);
  to.set_f(value);
}
void SetValue(AttributeProto& to, const std::string& value) {
  to.set_type(AttributeProto::STRING);
  to.set_s(value);
}
void SetValue(AttributeProto& to, const std::vector<int64_t>& values) {
  to.set_type(AttributeProto::INTS);
  for (const int64_t value : values) to.add_ints(value);
}

void SetValue(AttributeProto& to, const std::vector<float>& values) {
  to.set_type(AttributeProto::FLOATS);
  for (const float value : values) to.add_floats(value);
}
void SetValue(AttributeProto& to, const std::vector<std::string>& values) {
  to.set_type(AttributeProto::STRINGS);
  for (const std::string& value : values) to.add_strings(value);
}

template <class T>
Value One(NodeWriter& nodes, double value) {
  return nodes.Scalar(static_cast<T>(value));
}

}  // namespace

std::vector<int64_t> Widened(const std::vector<int>& values) {
  return {values.begin(), values.end()};
}

TensorProto::DataType CodeOf(Type type) {
  switch (type) {
    case Type::kInt8:
      return TensorProto::INT8;
    case Type::kUInt8:
      return TensorProto::UINT8;
    case Type::kInt16:
      return TensorProto::INT16;
    case Type::kUInt16:
      return TensorProto::UINT16;
    case Type::kInt32:
      return TensorProto::INT32;
    case Type::kInt64:
      return TensorProto::INT64;
    case Type::kFloat32:
      return TensorProto::FLOAT;
    case Type::kBool:
      break;
  }
  return TensorProto::BOOL;
}

Status CheckSize(size_t bytes) {
  if (bytes < kMaxBytes) return {};
  return Unsupported("the model comes to about " + std::to_string(bytes) +
                     " bytes; files of less than 1 GiB are written");
}

void NodeWriter::Charge(size_t bytes) {
  bytes_ += bytes;  // a sum of sizes of things in memory
  if (status_.ok()) status_ = CheckSize(bytes_);
}

Value NodeWriter::NewValue(const char* what) {
  wanted_.push_back(name_.empty() ? what : name_ + "/" + what);
  return static_cast<Value>(wanted_.size()) - 1;
}

Value NodeWriter::AddInput(const Tensor& tensor) {
  inputs_.push_back(NewValue("input"));
  Rename(inputs_.back(), tensor.name);
  SetType(*graph_.add_input(), tensor);
  return inputs_.back();
}

void NodeWriter::SetType(ValueInfoProto& info, const Tensor& tensor) const {
  TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(CodeOf(tensor.type));
  TensorShapeProto& shape = *type.mutable_shape();
  for (const int extent : tensor.shape) shape.add_dim()->set_dim_value(extent);
}

void NodeWriter::SetOperator(NodeProto& node, const std::string& op) {
  const std::string prefix = std::string(kMicrosoft) + ".";
  const bool is_standard = !op.starts_with(prefix);
  node.set_op_type(is_standard ? op : op.substr(prefix.size()));
  if (is_standard) return;
  node.set_domain(kMicrosoft);
  uses_microsoft_ = true;
}

std::vector<Value> NodeWriter::Nodes(const char* op, std::vector<Value> inputs, size_t outputs,
                                     const Attributes& attributes) {
  Charge(kBytesPerNode + (inputs.size() + outputs) * (name_.size() + 16));
  NodeProto& node = *graph_.add_node();
  SetOperator(node, op);
  for (const Attribute& attribute : attributes) {
    AttributeProto& to = *node.add_attribute();
    to.set_name(attribute.name);
    std::visit([&](const auto& value) { SetValue(to, value); }, attribute.value);
  }
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  node_inputs_.push_back(std::move(inputs));
  std::vector<Value> made;
  for (size_t i = 0; i < outputs; ++i) made.push_back(NewValue(op));
  node_outputs_.push_back(made);
  return made;
}

Value NodeWriter::Node(const char* op, std::vector<Value> inputs, const Attributes& attributes) {
  return Nodes(op, std::move(inputs), 1, attributes)[0];
}

Value NodeWriter::Constant(Type type, const Shape& shape, const void* data, size_t bytes) {
  constexpr size_t kSmall = 64;
  std::string key;
  if (bytes <= kSmall) {
    key = std::to_string(static_cast<int>(type)) + ToString(shape);
    if (bytes > 0) key.append(static_cast<const char*>(data), bytes);
    const auto found = small_constants_.find(key);
    if (found != small_constants_.end()) return found->second;
  }
  Charge(kBytesPerNode + (bytes < least_apart_ ? bytes : 0) + name_.size());
  if (!status_.ok()) return kNoValue;
  TensorProto& tensor = *graph_.add_initializer();
  tensor.set_data_type(CodeOf(type));
  for (const int extent : shape) tensor.add_dims(extent);
  if (bytes > 0) {
    tensor.set_raw_data(data, bytes);
  } else {
    tensor.set_raw_data(std::string());
  }
  constants_.push_back(NewValue("constant"));
  if (!key.empty()) small_constants_[key] = constants_.back();
  return constants_.back();
}

Value NodeWriter::Number(Type type, double value) {
  switch (type) {
    case Type::kInt8:
      return One<int8_t>(*this, value);
    case Type::kUInt8:
      return One<uint8_t>(*this, value);
    case Type::kInt16:
      return One<int16_t>(*this, value);
    case Type::kUInt16:
      return One<uint16_t>(*this, value);
    case Type::kInt32:
      return One<int32_t>(*this, value);
    case Type::kInt64:
      return One<int64_t>(*this, value);
    case Type::kFloat32:
      return One<float>(*this, value);
    case Type::kBool:
      break;
  }
  const bool is_true = value != 0;
  return Scalar(is_true);
}

Value NodeWriter::Transposed(Value value, const Permutation& permutation) {
  Permutation all = permutation;
  const auto before = moved_.find(value);
  if (before != moved_.end() && !before->second.permutation.empty()) {
    value = before->second.from;
    all = Compose(before->second.permutation, permutation);
  }
  if (IsIdentity(all)) return value;
  const Value result = Node("Transpose", {value}, {{"perm", Widened(all)}});
  moved_[result] = {value, all, {}};
  return result;
}

Value NodeWriter::Reshaped(Value value, const Shape& from, const Shape& to) {
  Shape source = from;
  const auto before = moved_.find(value);
  if (before != moved_.end() && before->second.permutation.empty()) {
    value = before->second.from;
    source = before->second.shape;
  }
  if (source == to) return value;
  Attributes attributes;
  // Otherwise 0 means the input's extent.
  if (std::find(to.begin(), to.end(), 0) != to.end()) attributes = {{"allowzero", 1}};
  const Value result = Node("Reshape", {value, Ints(to)}, attributes);
  moved_[result] = {value, {}, source};
  return result;
}

Value NodeWriter::CastTo(Value value, Type from, Type to) {
  if (from == to) return value;
  return Node("Cast", {value}, {{"to", int64_t{CodeOf(to)}}});
}

std::string NodeWriter::Unique(const std::string& wanted) {
  std::string name = wanted.empty() ? "value" : wanted;
  int& copies = copies_[name];
  const std::string first = name;
  while (!taken_.insert(name).second) name = first + "_" + std::to_string(++copies);
  return name;
}

std::string NodeWriter::NameOf(Value value) {
  names_.resize(wanted_.size());
  if (value == kNoValue) return {};
  std::string& name = names_[static_cast<size_t>(value)];
  if (name.empty()) name = Unique(wanted_[static_cast<size_t>(value)]);
  return name;
}

namespace {

// Keeps those elements of a list that `keep` says, in their order.
template <class T>
void Keep(const std::vector<bool>& keep, std::vector<T>& list) {
  size_t kept = 0;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) std::swap(list[kept++], list[i]);
  }
  list.resize(kept);
}
template <class T>
void Keep(const std::vector<bool>& keep, google::protobuf::RepeatedPtrField<T>& list) {
  int kept = 0;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) list.SwapElements(kept++, static_cast<int>(i));
  }
  list.DeleteSubrange(kept, list.size() - kept);
}

}  // namespace

void NodeWriter::DropUnread(const std::vector<Value>& outputs) {
  std::vector<bool> read(wanted_.size());
  const auto mark = [&](const std::vector<Value>& values) {
    for (const Value value : values) {
      if (value != kNoValue) read[static_cast<size_t>(value)] = true;
    }
  };
  const auto is_read = [&](Value value) { return read[static_cast<size_t>(value)]; };
  mark(outputs);
  std::vector<bool> keep(node_inputs_.size());
  for (size_t i = keep.size(); i-- > 0;) {
    keep[i] = std::any_of(node_outputs_[i].begin(), node_outputs_[i].end(), is_read);
    if (keep[i]) mark(node_inputs_[i]);
  }
  Keep(keep, node_inputs_);
  Keep(keep, node_outputs_);
  Keep(keep, *graph_.mutable_node());
  std::vector<bool> keep_constant;
  for (const Value value : constants_) keep_constant.push_back(is_read(value));
  Keep(keep_constant, constants_);
  Keep(keep_constant, *graph_.mutable_initializer());
}

// An output is made by a node, and has a name of its own.
std::vector<Value> NodeWriter::MadeAlone(std::vector<Value> outputs) {
  std::set<Value> used(inputs_.begin(), inputs_.end());
  used.insert(constants_.begin(), constants_.end());
  for (Value& value : outputs) {
    if (used.insert(value).second) continue;
    value = Node("Identity", {value});
    used.insert(value);
  }
  return outputs;
}

void NodeWriter::Finish(const std::vector<Value>& outputs,
                        const std::vector<const Tensor*>& tensors) {
  const std::vector<Value> made = MadeAlone(outputs);
  DropUnread(made);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    graph_.mutable_input(static_cast<int>(i))->set_name(NameOf(inputs_[i]));
  }
  for (size_t i = 0; i < made.size(); ++i) {
    ValueInfoProto& info = *graph_.add_output();
    SetType(info, *tensors[i]);
    Rename(made[i], tensors[i]->name.empty() ? "output" : tensors[i]->name);
    info.set_name(NameOf(made[i]));
  }
  for (size_t i = 0; i < constants_.size(); ++i) {
    graph_.mutable_initializer(static_cast<int>(i))->set_name(NameOf(constants_[i]));
  }
  for (size_t i = 0; i < node_inputs_.size(); ++i) {
    NodeProto& node = *graph_.mutable_node(static_cast<int>(i));
    for (const Value value : node_inputs_[i]) node.add_input(NameOf(value));
    for (const Value value : node_outputs_[i]) node.add_output(NameOf(value));
    node.set_name(node.output(0));
  }
}

}  // namespace intaglio::nn::onnx
