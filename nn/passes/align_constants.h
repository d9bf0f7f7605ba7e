// Constants lie in files at any address. Routines read them in place.
#ifndef INTAGLIO_NN_PASSES_ALIGN_CONSTANTS_H_
#define INTAGLIO_NN_PASSES_ALIGN_CONSTANTS_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph.h"
#include "intaglio/nn/limits.h"

namespace intaglio::nn {

// Copies the constants that do not lie at a multiple of their elements' size, those of one buffer
// once. The copies are charged to the ledger, if there is one.
Status AlignConstants(Graph& graph, Ledger* ledger);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_ALIGN_CONSTANTS_H_
