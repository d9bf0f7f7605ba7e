// Products whose rows are a convolution's, read where they overlap (pack/image_lines.h).
#ifndef INTAGLIO_GEMM_RUN_WINDOW_ROWS_H_
#define INTAGLIO_GEMM_RUN_WINDOW_ROWS_H_

#include <cstddef>

#include "intaglio/gemm/plan/product.h"
#include "intaglio/gemm/run/tasks.h"

namespace intaglio {

// Whether rows are read so: where panels ask for it, or where it pays, tiles can, and kernel rows
// end with depth groups. `fetches_panels`: of the blocking.
bool ReadsWindows(const Product& product, bool fetches_panels);

// Bytes that a row adds to those before.
size_t WindowRowBytes(const Product& product);

// Bytes of scratch that `rows` rows take.
size_t WindowScratchBytes(const Product& product, int rows);

// Lays out the lines of args.row_count rows from `first` on. Tiles read them there; rows too few
// for one, and what is not finished by whole tiles, are gathered behind them.
void PrepareWindows(const Product& product, const Kernel& kernel, int first, const Scratch& scratch,
                    TileArgs& args);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_RUN_WINDOW_ROWS_H_
