// The cheapest arithmetic that gives the bytes of a sum.
#ifndef INTAGLIO_NN_OPS_SUPPORT_FIT_SUM_H_
#define INTAGLIO_NN_OPS_SUPPORT_FIT_SUM_H_

#include "intaglio/fixedpoint/sum_of_bytes.h"
#include "intaglio/gemm/byte_elementwise.h"

namespace intaglio::nn {

// `sum` with a linear function (WithLinear) whose results are those of its definition for all 2^16
// pairs of operands; without one where there is none.
SumOfBytes FitSum(const LineRoutines& lines, const SumOfBytes& sum, const LineOutput& output);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_FIT_SUM_H_
