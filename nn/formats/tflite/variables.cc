#include "intaglio/nn/formats/tflite/variables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {
namespace {

const Tensor& At(const Graph& graph, TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

bool IsRead(const Layer& layer) { return layer.op.Is<ReadVariable>(); }
bool IsAssigned(const Layer& layer, size_t input) {
  return layer.op.Is<AssignVariable>() && input == 1;
}

// Returns the variables in the order of their use.
std::vector<ResourceVariable> FindUsed(const Graph& graph) {
  std::vector<bool> seen(graph.tensors.size());
  std::vector<ResourceVariable> used;
  for (const Layer& layer : graph.layers) {
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      if (!IsRead(layer) && !IsAssigned(layer, i)) continue;
      const TensorId id = layer.inputs[i];
      if (seen[static_cast<size_t>(id)]) continue;
      seen[static_cast<size_t>(id)] = true;
      const bool has_data = At(graph, id).data != nullptr;
      used.push_back({id, At(graph, id).name, has_data || IsRead(layer)});
    }
  }
  return used;
}

void MakeNamesDiffer(std::vector<ResourceVariable>& resources) {
  std::set<std::string> taken;
  for (ResourceVariable& resource : resources) {
    const std::string name = resource.name;
    for (int i = 1; !taken.insert(resource.name).second; ++i) {
      resource.name = name + "_" + std::to_string(i);
    }
  }
}

// Checks the variables that other layers use as they are: none may be a resource, and none may
// start with elements of its own.
Status CheckOthers(const Graph& graph, const std::vector<bool>& is_resource) {
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    for (size_t k = 0; k < layer.inputs.size(); ++k) {
      const TensorId id = layer.inputs[k];
      if (id == kNoTensor || !At(graph, id).variable || IsRead(layer) || IsAssigned(layer, k)) {
        continue;
      }
      const std::string name = "the variable '" + At(graph, id).name + "'";
      if (is_resource[static_cast<size_t>(id)]) {
        return LayerView(graph, i).Unsupported("uses " + name +
                                               " as it is, and READ_VARIABLE or ASSIGN_VARIABLE "
                                               "use it too; .tflite files know no such variable");
      }
      if (At(graph, id).data == nullptr) continue;
      return LayerView(graph, i).Unsupported(
          name +
          " starts with elements of its own, which .tflite files keep for READ_VARIABLE only");
    }
  }
  return {};
}

Status CheckOutputs(const Graph& graph, const std::vector<bool>& is_resource) {
  for (const TensorId id : graph.outputs) {
    if (!is_resource[static_cast<size_t>(id)]) continue;
    return Unsupported("the variable '" + At(graph, id).name +
                       "' is an output of the model; READ_VARIABLE must read it first");
  }
  return {};
}

// The first value of a variable without data.
std::shared_ptr<const void> MakeZeros(const Tensor& variable, size_t bytes) {
  const bool has_zero_point = variable.type == Type::kInt8 && variable.quantization.quantized();
  const int zero = has_zero_point ? variable.quantization.zero_points[0] : 0;
  return std::make_shared<const std::vector<uint8_t>>(bytes, static_cast<uint8_t>(zero));
}

Tensor FirstValueOf(const Tensor& variable, const std::string& name) {
  Tensor value = variable;
  value.name = name;
  value.variable = false;
  value.constant = true;
  if (value.data != nullptr) return value;
  value.data_bytes = *CountBytes(value.shape, value.type);
  const auto zeros = MakeZeros(variable, value.data_bytes);
  value.data = static_cast<const std::vector<uint8_t>*>(zeros.get())->data();
  value.owner = zeros;
  return value;
}

}  // namespace

Result<std::vector<ResourceVariable>> FindResources(const Graph& graph) {
  std::vector<ResourceVariable> resources = FindUsed(graph);
  std::vector<bool> is_resource(graph.tensors.size());
  for (const ResourceVariable& r : resources) is_resource[static_cast<size_t>(r.variable)] = true;
  INTAGLIO_RETURN_IF_ERROR(CheckOthers(graph, is_resource));
  INTAGLIO_RETURN_IF_ERROR(CheckOutputs(graph, is_resource));
  const auto others =
      std::stable_partition(resources.begin(), resources.end(),
                            [](const ResourceVariable& r) { return r.has_first_value; });
  std::sort(resources.begin(), others, [](const ResourceVariable& a, const ResourceVariable& b) {
    return a.variable < b.variable;
  });
  MakeNamesDiffer(resources);
  return resources;
}

Graph MakeFirstValues(const Graph& graph, const std::vector<ResourceVariable>& resources) {
  Graph made;
  for (const ResourceVariable& resource : resources) {
    if (!resource.has_first_value) continue;
    const auto value = static_cast<TensorId>(made.tensors.size());
    made.tensors.push_back(FirstValueOf(At(graph, resource.variable), resource.name));
    Tensor variable = At(graph, resource.variable);
    variable.name = resource.name;
    variable.data = nullptr;
    variable.data_bytes = 0;
    variable.owner = nullptr;
    made.tensors.push_back(std::move(variable));
    made.layers.push_back({AssignVariable{}, {value, value + 1}, {}, {}});
  }
  return made;
}

}  // namespace intaglio::nn
