// Tiles that do not go straight from the kernel to dst.
#ifndef INTAGLIO_GEMM_RUN_WRITE_TILE_H_
#define INTAGLIO_GEMM_RUN_WRITE_TILE_H_

#include "intaglio/gemm/plan/product.h"
#include "intaglio/gemm/run/tasks.h"
#include "intaglio/kernels/kernel.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

// Computes one panel by way of the scratch tile, for the rows of `args` from `row` on, the first of
// which is `first`: brings what the kernel finished to dst, or its accumulators by way of the
// product's own pipeline.
void RunByScratch(const Product& product, const Kernel& kernel, const PanelRange& panel, int first,
                  int row, const Scratch& scratch, const TileArgs& args);

// How many of a task's `count` rows a last panel of fewer channels than its width may write to dst
// all the same: what it writes too much lies in the next row, and is written after it, by the panel
// itself or by those before it, which take their turn later.
int RowsOfEdge(const Product& product, const Kernel& kernel, int count);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_RUN_WRITE_TILE_H_
