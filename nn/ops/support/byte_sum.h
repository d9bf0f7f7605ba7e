// ADD and SUB of 8-bit tensors as numbers, whoever computes them.
#ifndef INTAGLIO_NN_OPS_SUPPORT_BYTE_SUM_H_
#define INTAGLIO_NN_OPS_SUPPORT_BYTE_SUM_H_

#include "intaglio/fixedpoint/sum_of_bytes.h"
#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/ops/support/activation.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

struct ByteSum {
  SumOfBytes sum;  // by its definition
  LineOutput output;
};

// The sum of a layer whose inputs and output have one 8-bit type. `sign` is 1 for ADD, and -1 for
// SUB. Errors name the layer.
Result<ByteSum> ByteSumOf(const LayerView& layer, Activation activation, int sign);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_BYTE_SUM_H_
