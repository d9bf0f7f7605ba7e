// The contract of a micro-kernel: what Kernel::tile computes, and of what.
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
#ifndef INTAGLIO_KERNELS_TILE_TILE_ARGS_H_
#define INTAGLIO_KERNELS_TILE_TILE_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/tile/epilogue.h"

namespace intaglio {

// How rows lie that overlap, as a convolution's do in the lines of its image (pack/image_lines.h):
// each is `lines` runs of TileArgs::groups depth groups.
struct WindowRows {
  const int32_t* begin = nullptr;  // per row: bytes from TileArgs::rows; null for plain rows
  int lines = 1;
  ptrdiff_t line_step = 0;  // bytes from one run of a row to the next
};

struct TileArgs {
  const int8_t* panel;
  int vectors;  // of the panel
  // Panels of as many vectors that lie one behind the other, as their params do; their results lie
  // side by side. More than one where the kernel takes_panels, or takes_panels_of_row and there is
  // one row.
  int panel_count = 1;
  bool panel_has_lowest;     // it may hold -128
  const void* rows;          // in the kernel's row format
  ptrdiff_t row_stride;      // bytes
  WindowRows windows = {};   // in place of row_stride, where the kernel takes_windows: of at least
                             // max_rows rows, finished to bytes by a form that IsBounded
  int row_count;             // at least 1
  int groups;                // of depth; of windows, of one line
  bool fetch_ahead = false;  // the panel, and what lies behind it, is read from beyond L2
  bool fetch_rows = false;   // so are the rows
  // What the panel side's zero points ask of each row, where there are any: its sum, which
  // negative_zero_point multiplies, or where that is one for all channels their product.
  const int32_t* row_sums = nullptr;
  const int32_t* row_terms = nullptr;
  // KernelFacts::own_terms of these rows, for kernels that have such terms. May be null.
  const int32_t* own_terms = nullptr;
  const PanelForm* params;  // of the panels' width (ParamsIn), one behind the other
  EpilogueParams epilogue;
  void* dst;
  ptrdiff_t dst_stride;  // bytes between rows
  // Memory of twice the panel's bytes, 64-byte aligned, for kernels that widen their operands to
  // keep the panel's in from tile to tile. May be null.
  void* operands = nullptr;
};

// Leaves out the first `count` panels of a call, of these parameters, which have so many lanes and
// depths in a group.
template <class Params>
void SkipPanels(TileArgs& args, int count, int lanes, int depth_step) {
  const ptrdiff_t channels = ptrdiff_t{count} * args.vectors * lanes;
  args.params = static_cast<const Params*>(args.params) + count;
  args.panel += channels * args.groups * depth_step;
  args.dst = static_cast<char*>(args.dst) +
             channels * static_cast<ptrdiff_t>(SizeOf(args.epilogue.output));
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_TILE_ARGS_H_
