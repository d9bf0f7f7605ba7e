// Element-wise arithmetic on runs of bytes, and tables, by the kernel of a name.
#ifndef INTAGLIO_GEMM_BYTE_ELEMENTWISE_H_
#define INTAGLIO_GEMM_BYTE_ELEMENTWISE_H_

#include <string_view>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/kernels/elementwise/line_args.h"
#include "intaglio/kernels/elementwise/lookup_args.h"

namespace intaglio {

// The routines of the kernel of this name; of the best one for an empty name.
Result<const LineRoutines*> LinesOf(std::string_view kernel);
Result<const LookupRoutines*> LookupsOf(std::string_view kernel);

// `product` with a fit for all its numbers if there is one, which takes some microseconds to find.
ProductOfBytes WithFit(ProductOfBytes product, const LineOutput& output);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_BYTE_ELEMENTWISE_H_
