// Tiles that do not go straight from the kernel to dst.
#ifndef INTAGLIO_GEMM_WRITE_TILE_H_
#define INTAGLIO_GEMM_WRITE_TILE_H_

#include <cstddef>

#include "intaglio/gemm/product.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

// Brings `rows` rows of one panel, from `row` on, from a tile to their place in dst: elements that
// the kernel finished, or accumulators by way of the product's own pipeline. `tile_stride` is the
// bytes from row to row.
void WriteTile(const Product& product, const std::byte* tile, size_t tile_stride, int row, int rows,
               const PanelExtent& extent);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_WRITE_TILE_H_
