// The operators that run graphs of their own, and those that read and write variables. A nested
// graph has no variables and sees nothing of the graph around it but what the layer's inputs give
// it.
#ifndef INTAGLIO_NN_OPS_CONTROL_OPERATORS_H_
#define INTAGLIO_NN_OPS_CONTROL_OPERATORS_H_

#include <memory>

#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn {

// Inputs: the state, one or more tensors. As long as `condition` of the state, one bool, is true,
// the state becomes `body` of it. Outputs: the state. Its shapes and types never change, so the
// inputs of both graphs, the body's outputs and the layer's outputs are like the layer's inputs.
struct While {
  static const OperatorRow kRow;
  std::shared_ptr<const Graph> condition;
  std::shared_ptr<const Graph> body;
};

// Inputs: one bool, and those of both branches, any number. Outputs: those of the branch that the
// bool chooses. Both branches make the same shapes and types.
struct If {
  static const OperatorRow kRow;
  std::shared_ptr<const Graph> then_branch;
  std::shared_ptr<const Graph> else_branch;
};

// The elements of a variable, its only input, as they are when the layer runs.
struct ReadVariable {
  static const OperatorRow kRow;
};

// Inputs: elements; the variable that takes them, of the same type and shape. No outputs.
struct AssignVariable {
  static const OperatorRow kRow;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_CONTROL_OPERATORS_H_
