// The graphs inside of an operator.
#ifndef INTAGLIO_NN_GRAPH_NESTED_GRAPHS_H_
#define INTAGLIO_NN_GRAPH_NESTED_GRAPHS_H_

#include <vector>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

struct NestedGraph {
  const char* name;  // for messages: "the body"
  const Graph* graph;
};

// None for most operators. A graph may be null where the operator has not been validated.
std::vector<NestedGraph> NestedGraphsOf(const Operator& op);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_NESTED_GRAPHS_H_
