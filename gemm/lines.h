// Element-wise arithmetic on runs of bytes, by the kernel of a name.
#ifndef INTAGLIO_GEMM_LINES_H_
#define INTAGLIO_GEMM_LINES_H_

#include <string_view>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/kernels/line_args.h"

namespace intaglio {

// The routines of the kernel of this name, the best one for an empty name, or else those of the next
// kernel that has any.
Result<const LineRoutines*> LinesOf(std::string_view kernel);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_LINES_H_
