// The constant side of many products, packed once.
#ifndef INTAGLIO_GEMM_PREPACK_H_
#define INTAGLIO_GEMM_PREPACK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/pack/matrix.h"
#include "intaglio/pack/packed_matrix.h"

namespace intaglio {

struct PackOptions {
  // Zero points per channel, which replace the matrix's own: one per row of a left-hand matrix, one
  // per column of a right-hand one. Empty: the matrix's zero_point for all.
  std::vector<int32_t> channel_zero_points;
  // The name of a kernel (`intaglio cpu` lists them). Empty: the fastest that this CPU supports and
  // INTAGLIO_ISA allows. Values of safe pairs (pack/safe_pairs.h) may get a faster relative of it.
  std::string kernel;
  // The kernel's height, if the matrix holds the filters of a convolution whose windows overlap
  // (pack/image_lines.h). Its rows may then be padded, where that makes the convolution faster, and
  // the packed matrix serves convolutions of that height alone. 1: anything.
  int kernel_height = 1;
};

// Packs for the kernel that will serve the products.
Result<PackedMatrix> Prepack(Side side, const ConstMatrix& matrix, const PackOptions& options = {});

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PREPACK_H_
