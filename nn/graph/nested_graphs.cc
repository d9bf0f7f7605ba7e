#include "intaglio/nn/graph/nested_graphs.h"

namespace intaglio::nn {

std::vector<NestedGraph> NestedGraphsOf(const Operator& op) {
  const auto list = op.row().nested_graphs;
  return list == nullptr ? std::vector<NestedGraph>() : list(op);
}

}  // namespace intaglio::nn
