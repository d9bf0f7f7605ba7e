// Operators by the rules of .tflite files, which do not say that infinities are kept.
#ifndef INTAGLIO_NN_PASSES_FORGET_INFINITIES_H_
#define INTAGLIO_NN_PASSES_FORGET_INFINITIES_H_

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// The results stay the same as long as none of them is infinite.
void ForgetInfinities(Operator& op);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_FORGET_INFINITIES_H_
