#include "intaglio/nn/formats/tflite/resources.h"

#include <algorithm>
#include <utility>

#include "intaglio/nn/formats/tflite/operators.h"
#include "intaglio/nn/formats/tflite/tensors.h"

namespace intaglio::nn {
namespace {

using Code = tflite::BuiltinOperator;

Result<std::string> NameOfVariable(const tflite::VarHandleOptions* options, Budget& budget) {
  if (options == nullptr) return InvalidArgument("its options are missing or another operator's");
  std::string container;
  std::string name;
  INTAGLIO_RETURN_IF_ERROR(ReadName(options->container(), budget, container));
  INTAGLIO_RETURN_IF_ERROR(ReadName(options->shared_name(), budget, name));
  return (container.empty() ? "" : container + "/") + name;
}

Tensor VariableLike(const Tensor& value, const std::string& name) {
  Tensor variable;
  variable.name = name;
  variable.type = value.type;
  variable.shape = value.shape;
  variable.quantization = value.quantization;
  variable.variable = true;
  return variable;
}

// Element i of the inputs or outputs of an operator as a tensor, or null.
const Tensor* TensorAt(const flatbuffers::Vector<int32_t>* ids, uint32_t i, const Graph& graph) {
  if (i >= Length(ids)) return nullptr;
  const int32_t id = ids->Get(i);
  if (id < 0 || std::cmp_greater_equal(id, graph.tensors.size())) return nullptr;
  return &graph.tensors[static_cast<size_t>(id)];
}

}  // namespace

Status Resources::MakeHandle(TensorId handle, const tflite::VarHandleOptions* options) {
  Result<std::string> name = NameOfVariable(options, budget_);
  if (!name.ok()) return name.status();
  names_[handle] = std::move(*name);
  return {};
}

Result<TensorId> Resources::Find(TensorId handle) const {
  const auto name = names_.find(handle);
  if (name == names_.end()) {
    return InvalidArgument("tensor #" + std::to_string(handle) +
                           " is not the handle of a variable");
  }
  const auto variable = variables_.find(name->second);
  if (variable != variables_.end()) return variable->second;
  return InvalidArgument("nothing has been assigned to the variable '" + name->second + "'");
}

Result<TensorId> Resources::FindOrMake(TensorId handle, TensorId value) {
  const auto name = names_.find(handle);
  if (name == names_.end() || variables_.contains(name->second)) return Find(handle);
  const Tensor& like = graph_.tensors[static_cast<size_t>(value)];
  INTAGLIO_RETURN_IF_ERROR(budget_.Charge(name->second.size() + sizeof(Tensor), 1));
  INTAGLIO_RETURN_IF_ERROR(
      budget_.Charge(like.quantization.scales.size(), sizeof(float) + sizeof(int32_t)));
  graph_.tensors.push_back(VariableLike(like, name->second));
  return variables_[name->second] = static_cast<TensorId>(graph_.tensors.size()) - 1;
}

Status Resources::Initialize(int32_t subgraph) {
  const size_t count = Length(file_.model->subgraphs());
  if (subgraph < 1 || std::cmp_greater_equal(subgraph, count)) {
    return InvalidArgument("calls subgraph #" + std::to_string(subgraph) + " (there are " +
                           std::to_string(count) + ", the first is the model)");
  }
  const Status status = Initialize(*file_.model->subgraphs()->Get(static_cast<uint32_t>(subgraph)));
  if (status.ok()) return {};
  return {status.code(), "subgraph #" + std::to_string(subgraph) + ": " + status.message()};
}

Status Resources::Initialize(const tflite::SubGraph& subgraph) {
  Graph values;
  INTAGLIO_RETURN_IF_ERROR(ReadTensors(file_, subgraph, budget_, values));
  std::map<const Tensor*, std::string> handles;
  for (uint32_t i = 0; i < Length(subgraph.operators()); ++i) {
    const tflite::Operator& op = *subgraph.operators()->Get(i);
    const Result<Code> code = CodeAt(file_, op);
    if (!code.ok()) return code.status();
    const Tensor* const made = TensorAt(op.outputs(), 0, values);
    if (*code == Code::VAR_HANDLE && made != nullptr) {
      INTAGLIO_RETURN_IF_ERROR(budget_.Charge(1, sizeof(Layer)));
      Result<std::string> name =
          NameOfVariable(op.builtin_options_as<tflite::VarHandleOptions>(), budget_);
      if (!name.ok()) return name.status();
      handles[made] = std::move(*name);
      continue;
    }
    const auto handle = handles.find(TensorAt(op.inputs(), 0, values));
    const Tensor* const value = TensorAt(op.inputs(), 1, values);
    if (*code != Code::ASSIGN_VARIABLE || handle == handles.end() || value == nullptr ||
        !value->constant) {
      return Unsupported("operator #" + std::to_string(i) +
                         " is not the assignment of a constant to a variable");
    }
    INTAGLIO_RETURN_IF_ERROR(SetInitial(handle->second, *value));
  }
  return {};
}

Status Resources::SetInitial(const std::string& name, const Tensor& value) {
  if (variables_.contains(name)) {
    return Unsupported("the variable '" + name + "' is assigned to before");
  }
  INTAGLIO_RETURN_IF_ERROR(budget_.Charge(name.size() + sizeof(Tensor), 1));
  Tensor& variable = graph_.tensors.emplace_back(VariableLike(value, name));
  variable.data = value.data;
  variable.data_bytes = value.data_bytes;
  variable.owner = value.owner;
  variables_[name] = static_cast<TensorId>(graph_.tensors.size()) - 1;
  return {};
}

Status Resources::CheckHandles(const tflite::SubGraph& subgraph) const {
  const auto check = [&](const std::vector<TensorId>& ids, const std::string& user) -> Status {
    for (const TensorId id : ids) {
      if (id < 0 || std::cmp_greater_equal(id, Length(subgraph.tensors()))) continue;
      const tflite::Tensor& tensor = *subgraph.tensors()->Get(static_cast<uint32_t>(id));
      if (tensor.type() != tflite::TensorType::RESOURCE) continue;
      return Unsupported(user + ": tensor #" + std::to_string(id) + " '" +
                         graph_.tensors[static_cast<size_t>(id)].name + "' is a resource");
    }
    return {};
  };
  INTAGLIO_RETURN_IF_ERROR(check(graph_.inputs, "the inputs of the model"));
  INTAGLIO_RETURN_IF_ERROR(check(graph_.outputs, "the outputs of the model"));
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(check(graph_.layers[i].inputs, LabelOf(graph_, i)));
    INTAGLIO_RETURN_IF_ERROR(check(graph_.layers[i].outputs, LabelOf(graph_, i)));
  }
  return {};
}

}  // namespace intaglio::nn
