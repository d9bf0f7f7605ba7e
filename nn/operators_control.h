// The operators that run graphs of their own. See operators.h. Such a graph has no variables and
// sees nothing of the graph around it but what the layer's inputs give it.
#ifndef INTAGLIO_NN_OPERATORS_CONTROL_H_
#define INTAGLIO_NN_OPERATORS_CONTROL_H_

#include <memory>

namespace intaglio::nn {

struct Graph;

// Inputs: the state, one or more tensors. As long as `condition` of the state, one bool, is true,
// the state becomes `body` of it. Outputs: the state. Its shapes and types never change, so the
// inputs of both graphs, the body's outputs and the layer's outputs are like the layer's inputs.
struct While {
  std::shared_ptr<const Graph> condition;
  std::shared_ptr<const Graph> body;
};

// Inputs: one bool, and those of both branches, any number. Outputs: those of the branch that the
// bool chooses. Both branches make the same shapes and types.
struct If {
  std::shared_ptr<const Graph> then_branch;
  std::shared_ptr<const Graph> else_branch;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPERATORS_CONTROL_H_
