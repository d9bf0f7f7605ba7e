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

// Most operators have none. A graph may be null if nobody has validated the operator.
std::vector<NestedGraph> NestedGraphsOf(const Operator& op);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_NESTED_GRAPHS_H_
