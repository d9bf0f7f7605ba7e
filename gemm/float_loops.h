// Loops over float32 by the kernel of a name.
#ifndef INTAGLIO_GEMM_FLOAT_LOOPS_H_
#define INTAGLIO_GEMM_FLOAT_LOOPS_H_

#include <string_view>

#include "intaglio/kernels/float32/float_loops.h"

namespace intaglio {

// The loops for the instruction set of the kernel of this name, which this CPU must have. An empty
// name stands for what every CPU has.
// Their sums are unfused if the CPUs of this kernel have no fused multiply-add.
const FloatLoops& FloatLoopsOf(std::string_view kernel, FloatSums sums = FloatSums::kUnfused);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_FLOAT_LOOPS_H_
