// The tables of wide.h for CPUs that are newer than the oldest one that we serve.
#ifndef INTAGLIO_NN_OPS_SUPPORT_WIDE_TABLES_H_
#define INTAGLIO_NN_OPS_SUPPORT_WIDE_TABLES_H_

#include "intaglio/nn/ops/support/wide.h"

namespace intaglio::nn::wide {

extern const WideRoutines kAvx2;
extern const WideRoutines kAvx2Fused;
extern const WideRoutines kAvx512;
extern const WideRoutines kAvx512Fused;

}  // namespace intaglio::nn::wide

#endif  // INTAGLIO_NN_OPS_SUPPORT_WIDE_TABLES_H_
