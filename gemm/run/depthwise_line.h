// Lines of a depthwise convolution's result.
#ifndef INTAGLIO_GEMM_RUN_DEPTHWISE_LINE_H_
#define INTAGLIO_GEMM_RUN_DEPTHWISE_LINE_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/gemm/run/depthwise_product.h"
#include "intaglio/kernels/depthwise/depthwise_args.h"

namespace intaglio {

// What every line of a product reads.
struct DepthwiseJob {
  const DepthwiseProduct& product;
  EpilogueParams epilogue;
  const PanelForm* params;  // per panel
  const uint8_t* outside;   // one pixel of zero points
  int run;                  // panels' pixels of a line that a kernel is given at once
  int lines;                // of a band
  const DepthwiseFilters& filters;
  bool slides = false;      // Slides
  size_t params_bytes = 0;  // of one of params

  const Im2col& input() const { return product.input; }
  const Kernel& kernel() const { return *product.packed.kernel; }
  // A panel of filters in copies holds as many pixels, and is one pixel of the kernel's.
  bool folded() const { return filters.copies > 1; }
  int PixelStep() const { return input().stride_width * filters.copies; }
  int Pixels(int pixels) const { return (pixels - 1) / filters.copies + 1; }
  int Columns(int pixels) const {
    return (pixels - 1) * PixelStep() + static_cast<int>(ColumnsUnder(input(), 1));
  }
  size_t ColumnBytes(int vectors) const {
    return DepthwiseColumnBytes(vectors, kernel().panel.lanes, filters.groups());
  }
};

// A thread's scratch, carved from one piece of memory.
struct DepthwiseScratch {
  DepthwiseRow* rows;         // [band][padded kernel row] under the lines at hand
  DepthwiseRow* copied_rows;  // of one band's copies
  uint8_t* copies;     // of lines under a run, column by column, where no panel is read in place
  std::byte* columns;  // interleaved
  std::byte* out;      // a run's panels of results, line by line

  // Cuts `memory` into a job's scratch, and returns how many bytes that takes. Either may be null.
  static size_t Carve(std::byte* memory, const DepthwiseJob& job, DepthwiseScratch* scratch);
};

// Whether columns are met in registers, where the panel's scaling allows it.
bool Slides(const DepthwiseJob& job);

// As many pixels as the budget of a run has columns for, but enough for a kernel's tile; all where
// no column is interleaved in memory.
int PixelsOfRun(const DepthwiseJob& job);

// How many neighbouring lines are computed at once: as many as the filters have, where lines lie as
// close as the rows of the filter, and where every thread gets some.
int LinesAtOnce(const DepthwiseProduct& product, int threads);

// Computes lines first .. end - 1 of one image of the batch, in no more than kMaxBands bands.
void RunDepthwiseLines(const DepthwiseJob& job, int batch, int first, int end,
                       const DepthwiseScratch& scratch);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_RUN_DEPTHWISE_LINE_H_
