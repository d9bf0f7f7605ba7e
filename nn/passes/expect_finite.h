// Operators by the rules of .tflite files, which do not say that infinities or NaN are kept.
#ifndef INTAGLIO_NN_PASSES_EXPECT_FINITE_H_
#define INTAGLIO_NN_PASSES_EXPECT_FINITE_H_

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// The results stay the same as long as all numbers are finite.
void ExpectFinite(Operator& op);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_EXPECT_FINITE_H_
