// Constants may lie at any address in a file, and routines read them in place.
#ifndef INTAGLIO_NN_GRAPH_ALIGN_CONSTANTS_H_
#define INTAGLIO_NN_GRAPH_ALIGN_CONSTANTS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

class Ledger;

// The copies that were made so far, for graphs that have constants in common.
class AlignedCopies {
 public:
  // Lets the tensor have a copy of its elements. A copy is charged to the ledger, if there is one,
  // when it is made.
  Status Align(Tensor& tensor, Ledger* ledger);

 private:
  struct Copy {
    std::shared_ptr<const void> from;  // stays, so that nothing else can get its address
    std::shared_ptr<void> to;
  };
  std::map<std::pair<const void*, size_t>, Copy> copies_;
};

// Copies each constant whose address is not a multiple of its elements' size. Constants of one
// buffer are copied once.
Status AlignConstants(Graph& graph, Ledger* ledger, AlignedCopies& copies);
Status AlignConstants(Graph& graph, Ledger* ledger);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_ALIGN_CONSTANTS_H_
