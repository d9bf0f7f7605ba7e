// The shapes of filters that Winograd's algorithm convolves by, and how.
#ifndef INTAGLIO_GEMM_PLAN_WINOGRAD_FORMS_H_
#define INTAGLIO_GEMM_PLAN_WINOGRAD_FORMS_H_

#include "intaglio/kernels/winograd/winograd_args.h"

namespace intaglio {

// The form for filters of this shape, or null.
const WinogradForm* WinogradFormOf(int kernel_height, int kernel_width);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_WINOGRAD_FORMS_H_
