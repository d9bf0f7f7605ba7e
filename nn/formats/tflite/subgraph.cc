#include "intaglio/nn/formats/tflite/subgraph.h"

#include <string>
#include <utility>

#include "intaglio/nn/formats/take_constants.h"
#include "intaglio/nn/formats/tflite/operators.h"
#include "intaglio/nn/formats/tflite/tensors.h"

namespace intaglio::nn {
namespace {

Status ReadIds(const flatbuffers::Vector<int32_t>* from, const char* what, Budget& budget,
               const Graph& graph, std::vector<TensorId>& to) {
  INTAGLIO_RETURN_IF_ERROR(budget.Charge(Length(from), sizeof(TensorId)));
  for (uint32_t i = 0; i < Length(from); ++i) {
    const int32_t id = from->Get(i);
    if (id < 0 || std::cmp_greater_equal(id, graph.tensors.size())) {
      return InvalidArgument(std::string(what) + " " + std::to_string(i) +
                             " of the model is tensor #" + std::to_string(id) +
                             ", which does not exist (there are " +
                             std::to_string(graph.tensors.size()) + ")");
    }
    to.push_back(id);
  }
  return {};
}

Status CheckActivations(const Graph& graph, const Budget& budget) {
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.constant) continue;
    const Result<size_t> bytes = CountBytes(tensor.shape, tensor.type);
    if (!bytes.ok()) return bytes.status();
    const Status status = budget.CheckActivation(*bytes);
    if (status.ok()) continue;
    return {status.code(), "tensor '" + tensor.name + "', " + NameOf(tensor.type) + " " +
                               ToString(tensor.shape) + ", " + status.message()};
  }
  return {};
}

// The shape that the file says, with -1 for the dimensions to which it gives no number.
Shape DeclaredShape(const tflite::Tensor& from, const Shape& shape) {
  Shape declared = shape;
  const auto* const signature = from.shape_signature();
  if (Length(signature) != declared.size()) return declared;
  for (uint32_t i = 0; i < Length(signature); ++i) {
    if (signature->Get(i) < 0) declared[i] = -1;
  }
  return declared;
}

}  // namespace

Status GiveConstants(const std::vector<InputConstant>& constants, const tflite::SubGraph& subgraph,
                     Budget& budget, Graph& graph) {
  std::vector<std::string> names;
  for (const TensorId id : graph.inputs) {
    names.push_back(graph.tensors[static_cast<size_t>(id)].name);
  }
  INTAGLIO_RETURN_IF_ERROR(CheckNamesOfConstants(constants, names));
  std::vector<TensorId> left;
  for (const TensorId id : graph.inputs) {
    Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
    const InputConstant* const value = FindConstant(constants, tensor.name);
    if (value == nullptr) {
      left.push_back(id);
      continue;
    }
    INTAGLIO_RETURN_IF_ERROR(budget.ChargeConstant(value->bytes.size()));
    const tflite::Tensor& from = *subgraph.tensors()->Get(static_cast<uint32_t>(id));
    INTAGLIO_RETURN_IF_ERROR(BecomeConstant(*value, DeclaredShape(from, tensor.shape), tensor));
  }
  graph.inputs = std::move(left);
  return {};
}

Status ReadInputIds(const tflite::SubGraph& subgraph, Budget& budget, Graph& graph) {
  return ReadIds(subgraph.inputs(), "input", budget, graph, graph.inputs);
}

Status ReadTensorsAndIds(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget,
                         Graph& graph) {
  INTAGLIO_RETURN_IF_ERROR(ReadTensors(file, subgraph, budget, graph));
  INTAGLIO_RETURN_IF_ERROR(ReadInputIds(subgraph, budget, graph));
  return ReadIds(subgraph.outputs(), "output", budget, graph, graph.outputs);
}

Status ReadSubgraph(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget,
                    const SetInputs& set_inputs, Graph& graph) {
  INTAGLIO_RETURN_IF_ERROR(CheckOperators(file, subgraph, budget));
  INTAGLIO_RETURN_IF_ERROR(ReadTensorsAndIds(file, subgraph, budget, graph));
  INTAGLIO_RETURN_IF_ERROR(set_inputs(graph));
  INTAGLIO_RETURN_IF_ERROR(ReadOperators(file, subgraph, budget, graph));
  INTAGLIO_RETURN_IF_ERROR(CheckActivations(graph, budget));
  return Validate(graph);
}

}  // namespace intaglio::nn
