// The contract of the depthwise half of a kernel.
//
// The taps of a filter are multiplied in groups of `step` kernel rows of one kernel column, as the
// dot instructions of the GEMM multiply groups of depth: the input of a group is a vector whose
// lanes hold `step` bytes, one of each of the rows. A column of the input serves the filters of all
// pixels that it lies under, so that its bytes are interleaved once.
#ifndef INTAGLIO_KERNELS_DEPTHWISE_ARGS_H_
#define INTAGLIO_KERNELS_DEPTHWISE_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/epilogue.h"

namespace intaglio {

// A run of `pixels` neighbouring pixels of one output line, over one panel of channels:
// acc[p][c] = sum over ky, kx of input[ky][p * pixel_step + kx * tap_step][c] * weights[ky][kx][c].
struct DepthwiseArgs {
  const int8_t* weights;  // as pack/depthwise_filters.h says
  int terms;
  int vectors;  // of the panel
  // [column][groups * step]: for each kernel row a pixel of the input, of which a whole panel's
  // channels can be read; beyond the last row, where weights are zero, any such pixel.
  const uint8_t* const* taps;
  ptrdiff_t first_channel;  // added to each of them
  int columns;              // (pixels - 1) * pixel_step + (kernel_width - 1) * tap_step + 1
  int groups;               // of kernel rows
  int kernel_width;
  int pixel_step;  // columns
  int tap_step;
  int pixels;
  uint8_t flip;  // 0x80 where the input's top bits are to be flipped
  const PanelParams* params;
  EpilogueParams epilogue;
  void* dst;
  ptrdiff_t dst_stride;  // bytes between pixels
  void* scratch;         // columns * DepthwiseColumnBytes, aligned to 64
};

// Interleaved columns: a vector of at most kMaxPanelWidth 32-bit lanes for each group of rows.
constexpr size_t DepthwiseColumnBytes(int vectors, int lanes, int groups) {
  return static_cast<size_t>(vectors * lanes) * sizeof(int32_t) * static_cast<size_t>(groups);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_ARGS_H_
