// One line of a depthwise convolution's result.
#ifndef INTAGLIO_GEMM_DEPTHWISE_LINE_H_
#define INTAGLIO_GEMM_DEPTHWISE_LINE_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/gemm/depthwise_product.h"
#include "intaglio/kernels/depthwise_args.h"

namespace intaglio {

// What every line of a product reads.
struct DepthwiseJob {
  const DepthwiseProduct& product;
  EpilogueParams epilogue;
  const PanelParams* params;  // per extent
  const uint8_t* outside;     // one pixel of zero points
  int run;                    // pixels of a line that a kernel is given at once

  const Im2col& input() const { return product.input; }
  const Kernel& kernel() const { return *product.packed.kernel; }
  const DepthwiseFilters& filters() const { return product.packed.filters; }
  int Columns(int pixels) const { return static_cast<int>(ColumnsUnder(input(), pixels)); }
  size_t ColumnBytes(int vectors) const {
    return DepthwiseColumnBytes(vectors, kernel().panel.lanes, filters().groups());
  }
};

// A thread's scratch, carved from one piece of memory.
struct DepthwiseScratch {
  const uint8_t** taps;         // [column of a line][padded kernel row]
  const uint8_t** copied_taps;  // [column of a run][padded kernel row]
  uint8_t* copies;              // of them, kMaxPanelWidth each, where no panel can be read in place
  std::byte* columns;           // interleaved
  std::byte* out;               // a run's panels of results

  // Cuts `memory` into a job's scratch, and returns how many bytes that takes. Either may be null.
  static size_t Carve(std::byte* memory, const DepthwiseJob& job, DepthwiseScratch* scratch);
};

// As many pixels as the budget of a run has columns for, but enough for a kernel's tile.
int PixelsOfRun(const DepthwiseJob& job);

// Computes line `out_y` of one image of the batch.
void RunDepthwiseLine(const DepthwiseJob& job, int batch, int out_y,
                      const DepthwiseScratch& scratch);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_DEPTHWISE_LINE_H_
