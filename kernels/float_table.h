// The table of the loops over float32: a row for each instruction set and each way of adding
// products, the fastest first. Tests iterate it. It is a table of its own, so that a program that
// multiplies integers only is linked without the loops.
#ifndef INTAGLIO_KERNELS_FLOAT_TABLE_H_
#define INTAGLIO_KERNELS_FLOAT_TABLE_H_

#include <cstdint>
#include <span>

#include "intaglio/kernels/float32/float_loops.h"

namespace intaglio {

std::span<const FloatLoops* const> FloatTable();

// The first row that needs none but these CpuFeature bits and adds as `sums` says. If no row that
// the features allow is fused, the first of the others.
const FloatLoops& FloatLoopsFor(uint32_t features, FloatSums sums);

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_FLOAT_TABLE_H_
