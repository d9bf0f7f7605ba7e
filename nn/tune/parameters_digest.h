// The parameters of operators as a number.
#ifndef INTAGLIO_NN_TUNE_PARAMETERS_DIGEST_H_
#define INTAGLIO_NN_TUNE_PARAMETERS_DIGEST_H_

#include "intaglio/nn/graph/operator.h"
#include "intaglio/nn/tune/hash.h"

namespace intaglio::nn::tune {

// Adds strides, padding, axes and the like. Operators of users add nothing, nor do those of the
// library that run graphs of their own: their times depend on more than can be said here.
void AddParameters(const Operator& op, Hash& hash);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_PARAMETERS_DIGEST_H_
