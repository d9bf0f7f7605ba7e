// The contract of a micro-kernel, and its row in the kernel table.
//
//                 one panel (width = lanes * vectors channels, all depth)
//                +--------------------------------------------+
//                | group 0 | group 1 | ...                    |   read in order, once per tile
//                +--------------------------------------------+
//   row 0        +--------------------------------------------+      dst: row 0  [width elements]
//   ...          |  row_count rows, contiguous along depth    |  ->       ...
//   row r-1      +--------------------------------------------+           row r-1
//
// A kernel computes row_count x width accumulators over the whole depth and finishes them by the
// epilogue, tile by tile. It always writes whole panel widths: the caller owns edges, and gives a
// scratch dst where there are fewer channels. It knows nothing of threads, cache blocks or
// matrices.
#ifndef INTAGLIO_KERNELS_KERNEL_H_
#define INTAGLIO_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/epilogue.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/rows.h"

namespace intaglio {

struct TileArgs {
  const int8_t* panel;
  int vectors;              // of the panel
  const void* rows;         // in the kernel's row format
  ptrdiff_t row_stride;     // bytes
  int row_count;            // at least 1
  int groups;               // of depth
  const int32_t* row_sums;  // of each row; null where no channel has a zero point
  const PanelParams* params;
  EpilogueParams epilogue;
  void* dst;
  ptrdiff_t dst_stride;  // bytes between rows
  // Memory of twice the panel's bytes, 64-byte aligned, for kernels that widen their operands to
  // keep the panel's in from tile to tile. May be null.
  void* operands = nullptr;
};

struct DepthwiseArgs;  // kernels/depthwise_args.h

// CPU features that a kernel may ask for, as bits.
enum CpuFeature : uint32_t {
  kSse41 = 1u << 0,
  kAvx2 = 1u << 1,
  kAvxVnni = 1u << 2,
  kAvx512Bw = 1u << 3,  // with F, DQ and VL
  kAvx512Vnni = 1u << 4,
};

struct Kernel {
  const char* name;   // also what INTAGLIO_ISA accepts
  uint32_t needs;     // CpuFeature bits
  PanelFormat panel;  // of the widest panels
  RowFormat row_format;
  int max_rows;  // of one tile: more rows are taken tile by tile
  void (*tile)(const TileArgs&);
  void (*depthwise)(const DepthwiseArgs&);
  // A faster kernel for constant operands of safe pairs (pack/safe_pairs.h); it has no row of its
  // own in the table. Null where there is none.
  const Kernel* for_safe_pairs = nullptr;
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_KERNEL_H_
