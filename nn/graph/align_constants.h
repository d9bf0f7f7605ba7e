// Constants may lie at any address in a file, and routines read them in place.
#ifndef INTAGLIO_NN_GRAPH_ALIGN_CONSTANTS_H_
#define INTAGLIO_NN_GRAPH_ALIGN_CONSTANTS_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

class Ledger;

// Copies each constant whose address is not a multiple of its elements' size. Constants of one
// buffer are copied once. The copies are charged to the ledger, if there is one.
Status AlignConstants(Graph& graph, Ledger* ledger);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_ALIGN_CONSTANTS_H_
