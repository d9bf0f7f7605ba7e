// Inside the .tflite writer: which variables the format keeps as resources. Variables that
// READ_VARIABLE and ASSIGN_VARIABLE use have handles and names. All others are tensors that are
// marked as variable.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_VARIABLES_H_
#define INTAGLIO_NN_FORMATS_TFLITE_VARIABLES_H_

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

struct ResourceVariable {
  TensorId variable = kNoTensor;
  std::string name;  // unique
  // Whether it needs a first value: a layer reads it before any assignment, or it has elements of
  // its own.
  bool has_first_value = false;
};

// Variables with a first value come first, the others follow in the order of their use. A graph
// that is read back has the same order. Refuses a variable that the format can keep in neither way.
Result<std::vector<ResourceVariable>> FindResources(const Graph& graph);

// Makes a graph that assigns first values. It has no layers if no variable has one.
Graph MakeFirstValues(const Graph& graph, const std::vector<ResourceVariable>& resources);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_VARIABLES_H_
