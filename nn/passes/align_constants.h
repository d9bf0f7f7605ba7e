// Constants lie in files at any address. Routines read them in place.
#ifndef INTAGLIO_NN_PASSES_ALIGN_CONSTANTS_H_
#define INTAGLIO_NN_PASSES_ALIGN_CONSTANTS_H_

#include "intaglio/nn/graph.h"

namespace intaglio::nn {

// Copies the constants that do not lie at a multiple of their elements' size.
void AlignConstants(Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_ALIGN_CONSTANTS_H_
