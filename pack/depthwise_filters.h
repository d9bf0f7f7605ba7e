// Depthwise filters, packed into panels of output channels.
//
// Taps are stored in groups of `step` kernel rows of one kernel column
// (kernels/depthwise/depthwise_args.h):
//
//   panel:  | line 0: term 0: column 0: group 0: vector 0 [lane 0: rows 0 .. step-1] ... | ...
//
// with lanes in the order of pack/panels.h and zeros beyond the last row. Where zeros are left
// over, the filter of line l, which begins l rows lower, computes the output line l further down
// from the same rows of the input. What is stored is the weight less its zero point, which needs no
// correction by sums of the input but may leave int8: the terms of a panel are its first addends
// within int8, where that is not all of them the rest's, and so on.
//
// Filters of few channels can also be packed in several copies side by side: one panel then
// multiplies as many neighbouring pixels, whose channels are neighbours in the input, too.
#ifndef INTAGLIO_PACK_DEPTHWISE_FILTERS_H_
#define INTAGLIO_PACK_DEPTHWISE_FILTERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/matrix.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

struct DepthwiseFilters {
  struct Weights {
    size_t offset;                // of a panel's bytes
    int terms;                    // 1 .. 3
    uint32_t second_vectors = 0;  // bit j: vector j is not all zeros in the second term
  };

  int kernel_height = 0;
  int kernel_width = 0;
  int multiplier = 1;
  int step = 1;
  int copies = 1;  // of all channels; several fill one panel
  // Panels of depth kernel_height * kernel_width: sums and magnitudes of the weights less their
  // zero points, no bytes.
  Panels panels;
  std::vector<Weights> weights;  // of each panel
  AlignedBuffer data;

  int groups() const { return (kernel_height + step - 1) / step; }
  int padded_height() const { return groups() * step; }
  int lines() const { return padded_height() - kernel_height + 1; }
  size_t bytes() const;
  // The panel of line 0; line l follows after l * LineBytes(panel).
  const int8_t* Panel(size_t panel) const {
    return static_cast<const int8_t*>(data.data()) + weights[panel].offset;
  }
  size_t LineBytes(size_t panel) const;
};

// Packs the (kernel_height * kernel_width) x (channels * multiplier) matrix `filters`, int8 or
// uint8, for kernels of `lanes` x `vectors` panels that take `step` rows at once, at most 4.
// `copies` is 1, or `copies` times the number of channels is lanes * vectors. Throws
// std::bad_alloc.
Result<DepthwiseFilters> PackDepthwiseFilters(const ConstMatrix& filters, int kernel_width,
                                              int multiplier, int lanes, int vectors, int step,
                                              int copies = 1);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_DEPTHWISE_FILTERS_H_
