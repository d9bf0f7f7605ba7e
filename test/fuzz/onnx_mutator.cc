#include "intaglio/test/fuzz/onnx_mutator.h"

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/formats/onnx/registry.h"
#include "intaglio/test/fuzz/random_values.h"

namespace intaglio::fuzz {
namespace {

using nn::onnx::AttributeProto;
using nn::onnx::GraphProto;
using nn::onnx::ModelProto;
using nn::onnx::NodeProto;
using nn::onnx::TensorProto;
using nn::onnx::ValueInfoProto;
template <class T>
using Repeated = google::protobuf::RepeatedPtrField<T>;

template <class T>
T& OneOf(Repeated<T>& list, Random& random) {
  return *list.Mutable(static_cast<int>(Below(static_cast<size_t>(list.size()), random)));
}

template <class T>
void EraseOne(T& list, Random& random) {
  if (list.empty()) return;
  list.erase(list.begin() +
             static_cast<ptrdiff_t>(Below(static_cast<size_t>(list.size()), random)));
}

template <class T>
void SwapTwo(Repeated<T>& list, Random& random) {
  const auto count = static_cast<size_t>(list.size());
  if (count == 0) return;
  list.SwapElements(static_cast<int>(Below(count, random)), static_cast<int>(Below(count, random)));
}

int64_t AnyInt(Random& random) {
  const int64_t value = InterestingInt(random);
  return OneIn(32, random) ? value * (int64_t{1} << 31) : value;
}

template <class Ints>
void MutateInts(Ints& values, Random& random) {
  const auto count = static_cast<size_t>(values.size());
  const size_t choice = Below(6, random);
  if (count == 0 || choice == 0) {
    values.Add(AnyInt(random));
  } else if (choice == 1) {
    EraseOne(values, random);
  } else {
    values.Set(static_cast<int>(Below(count, random)), AnyInt(random));
  }
}

int AnyType(Random& random) {
  static constexpr TensorProto::DataType kTypes[] = {
      TensorProto::FLOAT, TensorProto::INT8,  TensorProto::UINT8, TensorProto::INT16,
      TensorProto::INT32, TensorProto::INT64, TensorProto::BOOL,  TensorProto::INT4};
  return OneIn(8, random) ? static_cast<int>(Below(28, random)) : fuzz::OneOf(kTypes, random);
}

void MutateBytes(std::string& bytes, Random& random) {
  switch (Below(6, random)) {
    case 0:
      bytes.resize(Below(bytes.size() + 17, random));
      break;
    case 1:
      if (!bytes.empty()) fuzz::OneOf(bytes, random) = static_cast<char>(random());
      break;
    default: {
      const int64_t integer = AnyInt(random);
      const float real = InterestingFloat(random);
      const bool is_real = OneIn(3, random);
      const size_t size = is_real ? sizeof(real) : OneIn(2, random) ? 8 : 4;
      if (bytes.size() < size) break;
      std::memcpy(bytes.data() + Below(bytes.size() / size, random) * size,
                  is_real ? static_cast<const void*>(&real) : &integer, size);
    }
  }
}

void MutateConstant(TensorProto& tensor, Random& random) {
  switch (Below(6, random)) {
    case 0:
      tensor.set_data_type(AnyType(random));
      break;
    case 1:
      MutateInts(*tensor.mutable_dims(), random);
      break;
    case 2:
      if (tensor.float_data_size() > 0) {
        tensor.set_float_data(
            static_cast<int>(Below(static_cast<size_t>(tensor.float_data_size()), random)),
            InterestingFloat(random));
      }
      if (tensor.int64_data_size() > 0) MutateInts(*tensor.mutable_int64_data(), random);
      if (tensor.int32_data_size() > 0) {
        tensor.set_int32_data(
            static_cast<int>(Below(static_cast<size_t>(tensor.int32_data_size()), random)),
            InterestingInt(random));
      }
      break;
    default:
      if (tensor.has_raw_data()) MutateBytes(*tensor.mutable_raw_data(), random);
  }
}

void MutateValue(ValueInfoProto& value, Random& random) {
  auto& type = *value.mutable_type()->mutable_tensor_type();
  auto& dims = *type.mutable_shape()->mutable_dim();
  switch (Below(6, random)) {
    case 0:
      type.set_elem_type(AnyType(random));
      break;
    case 1:
      dims.Add()->set_dim_value(AnyInt(random));
      break;
    case 2:
      EraseOne(dims, random);
      break;
    case 3:
      if (!dims.empty()) OneOf(dims, random).set_dim_param("n");
      break;
    default:
      if (!dims.empty()) OneOf(dims, random).set_dim_value(AnyInt(random));
  }
}

// A name of something in the graph, or "", or a name of nothing.
std::string AnyName(GraphProto& graph, Random& random) {
  switch (Below(16, random)) {
    case 0:
      return "";
    case 1:
      return "nothing";
    case 2:
    case 3:
    case 4:
      if (graph.input_size() > 0) return OneOf(*graph.mutable_input(), random).name();
      break;
    case 5:
    case 6:
    case 7:
      if (graph.initializer_size() > 0) return OneOf(*graph.mutable_initializer(), random).name();
      break;
    default:
      break;
  }
  if (graph.node_size() == 0) return "";
  NodeProto& node = OneOf(*graph.mutable_node(), random);
  return node.output_size() == 0 ? "" : OneOf(*node.mutable_output(), random);
}

void MutateNames(Repeated<std::string>& names, GraphProto& graph, Random& random) {
  switch (Below(6, random)) {
    case 0:
      *names.Add() = AnyName(graph, random);
      break;
    case 1:
      EraseOne(names, random);
      break;
    case 2:
      SwapTwo(names, random);
      break;
    default:
      if (!names.empty()) OneOf(names, random) = AnyName(graph, random);
  }
}

void MutateAttribute(AttributeProto& attribute, Random& random) {
  static constexpr const char* kWords[] = {"SAME_UPPER",    "SAME_LOWER", "VALID",   "constant",
                                           "reflect",       "edge",       "wrap",    "linear",
                                           "nearest",       "cubic",      "forward", "reverse",
                                           "bidirectional", "tanh",       "none",    "bilinear"};
  if (OneIn(16, random)) {
    attribute.set_type(static_cast<AttributeProto::AttributeType>(Below(15, random)));
  } else if (attribute.has_t()) {
    MutateConstant(*attribute.mutable_t(), random);
  } else if (attribute.ints_size() > 0) {
    MutateInts(*attribute.mutable_ints(), random);
  } else if (attribute.floats_size() > 0) {
    attribute.set_floats(
        static_cast<int>(Below(static_cast<size_t>(attribute.floats_size()), random)),
        InterestingFloat(random));
  } else if (!attribute.s().empty()) {
    attribute.set_s(fuzz::OneOf(kWords, random));
  } else if (attribute.type() == AttributeProto::FLOAT) {
    attribute.set_f(InterestingFloat(random));
  } else {
    attribute.set_i(AnyInt(random));
  }
}

void MutateAttributes(GraphProto& graph, NodeProto& node, Random& random) {
  auto& own = *node.mutable_attribute();
  auto& others = *OneOf(*graph.mutable_node(), random).mutable_attribute();
  if (own.empty() || OneIn(8, random)) {
    if (!others.empty()) {
      const AttributeProto copy = OneOf(others, random);
      *own.Add() = copy;
    }
  } else if (OneIn(8, random)) {
    EraseOne(own, random);
  } else {
    MutateAttribute(OneOf(own, random), random);
  }
}

void ChangeOperator(NodeProto& node, Random& random) {
  static const std::vector<nn::OnnxOperator> operators = nn::ListOnnxOperators();
  const std::string& name = fuzz::OneOf(operators, random).name;
  const size_t dot = name.rfind('.');
  node.set_op_type(name.substr(dot == std::string::npos ? 0 : dot + 1));
  node.set_domain(dot == std::string::npos ? "" : name.substr(0, dot));
}

void MutateNode(GraphProto& graph, Random& random) {
  auto& nodes = *graph.mutable_node();
  if (nodes.empty()) return;
  NodeProto& node = OneOf(nodes, random);
  switch (Below(12, random)) {
    case 0:
      return ChangeOperator(node, random);
    case 1: {
      const NodeProto copy = node;
      *nodes.Add() = copy;
      return;
    }
    case 2:
      return EraseOne(nodes, random);
    case 3:
      return SwapTwo(nodes, random);
    case 4:
      return MutateNames(*node.mutable_output(), graph, random);
    case 5:
    case 6:
    case 7:
      return MutateNames(*node.mutable_input(), graph, random);
    default:
      return MutateAttributes(graph, node, random);
  }
}

// The model's graph, or sometimes one that a node has.
GraphProto& AnyGraph(ModelProto& model, Random& random) {
  GraphProto& graph = *model.mutable_graph();
  if (graph.node_size() == 0 || OneIn(2, random)) return graph;
  for (AttributeProto& attribute : *OneOf(*graph.mutable_node(), random).mutable_attribute()) {
    if (attribute.has_g()) return *attribute.mutable_g();
  }
  return graph;
}

void MutateOnce(ModelProto& model, Random& random) {
  GraphProto& graph = AnyGraph(model, random);
  switch (Below(12, random)) {
    case 0:
      if (graph.input_size() > 0) MutateValue(OneOf(*graph.mutable_input(), random), random);
      break;
    case 1:
      if (graph.output_size() > 0) MutateValue(OneOf(*graph.mutable_output(), random), random);
      break;
    case 2:
      graph.add_output()->set_name(AnyName(graph, random));
      break;
    case 3:
      if (model.opset_import_size() > 0) {
        OneOf(*model.mutable_opset_import(), random)
            .set_version(static_cast<int64_t>(Below(30, random)));
      }
      break;
    case 4:
    case 5:
    case 6:
      if (graph.initializer_size() > 0) {
        MutateConstant(OneOf(*graph.mutable_initializer(), random), random);
      }
      break;
    default:
      MutateNode(graph, random);
  }
}

std::optional<ModelProto> Parse(std::span<const uint8_t> bytes) {
  ModelProto model;
  const bool parsed = model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (!parsed || !model.has_graph()) return std::nullopt;
  return model;
}

std::vector<uint8_t> Serialize(const ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  return {bytes.begin(), bytes.end()};
}

// A value among the graph's inputs and constants that has the type of `like`.
std::optional<std::string> Alike(const GraphProto& graph, const ValueInfoProto& like) {
  for (const ValueInfoProto& output : graph.output()) {
    if (output.type().tensor_type().elem_type() == like.type().tensor_type().elem_type()) {
      return output.name();
    }
  }
  return std::nullopt;
}

// Gives the values of a graph other names, those of the map or new ones.
void Rename(GraphProto& graph, const std::map<std::string, std::string>& names) {
  const auto rename = [&names](std::string& name) {
    const auto known = names.find(name);
    if (known != names.end()) {
      name = known->second;
    } else if (!name.empty()) {
      name += "'";
    }
  };
  for (NodeProto& node : *graph.mutable_node()) {
    for (std::string& name : *node.mutable_input()) rename(name);
    for (std::string& name : *node.mutable_output()) rename(name);
  }
  for (TensorProto& tensor : *graph.mutable_initializer()) rename(*tensor.mutable_name());
  for (ValueInfoProto& value : *graph.mutable_input()) rename(*value.mutable_name());
  for (ValueInfoProto& value : *graph.mutable_output()) rename(*value.mutable_name());
}

}  // namespace

std::vector<uint8_t> MutateOnnx(std::span<const uint8_t> bytes, uint32_t seed) {
  Random random(seed);
  std::optional<ModelProto> model = Parse(bytes);
  if (!model) return {};
  for (size_t i = Below(4, random) + 1; i > 0; --i) MutateOnce(*model, random);
  return Serialize(*model);
}

std::vector<uint8_t> ChainOnnx(std::span<const uint8_t> first, std::span<const uint8_t> second,
                               uint32_t seed) {
  Random random(seed);
  std::optional<ModelProto> to = Parse(first);
  std::optional<ModelProto> from = Parse(second);
  if (!to || !from) return {};
  GraphProto& graph = *to->mutable_graph();
  GraphProto& behind = *from->mutable_graph();
  std::map<std::string, std::string> names;
  for (const ValueInfoProto& input : behind.input()) {
    if (const auto alike = Alike(graph, input)) names.emplace(input.name(), *alike);
  }
  for (const ValueInfoProto& input : behind.input()) {
    if (names.count(input.name()) != 0) continue;
    ValueInfoProto copy = input;
    copy.set_name(input.name() + "'");
    *graph.add_input() = copy;
  }
  Rename(behind, names);
  graph.mutable_node()->MergeFrom(behind.node());
  graph.mutable_initializer()->MergeFrom(behind.initializer());
  if (OneIn(2, random)) graph.clear_output();
  graph.mutable_output()->MergeFrom(behind.output());
  for (const auto& opset : from->opset_import()) {
    if (!opset.domain().empty()) *to->add_opset_import() = opset;
  }
  return Serialize(*to);
}

}  // namespace intaglio::fuzz
