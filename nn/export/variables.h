// Inside the .tflite writer: which variables the format keeps as resources. Those that
// READ_VARIABLE and ASSIGN_VARIABLE use stand behind handles and have names; all others are tensors
// that are marked.
#ifndef INTAGLIO_NN_EXPORT_VARIABLES_H_
#define INTAGLIO_NN_EXPORT_VARIABLES_H_

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph.h"

namespace intaglio::nn {

struct ResourceVariable {
  TensorId variable = kNoTensor;
  std::string name;  // no other one has it
  // Before anything is assigned to it, a layer reads it, or it has elements of its own.
  bool has_first_value = false;
};

// Those with a first value come first, the others in the order of their use: a graph that is read
// back has the same order. Refuses a variable that the format can keep in neither way.
Result<std::vector<ResourceVariable>> FindResources(const Graph& graph);

// A graph that assigns first values; without layers where no variable has one.
Graph MakeFirstValues(const Graph& graph, const std::vector<ResourceVariable>& resources);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_EXPORT_VARIABLES_H_
