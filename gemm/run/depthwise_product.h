// One depthwise convolution, in plain numbers and pointers.
#ifndef INTAGLIO_GEMM_RUN_DEPTHWISE_PRODUCT_H_
#define INTAGLIO_GEMM_RUN_DEPTHWISE_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/depthwise.h"
#include "intaglio/kernels/kernel.h"
#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/pack/depthwise_filters.h"
#include "intaglio/pack/im2col.h"
#include "intaglio/pack/rows.h"
#include "intaglio/pipeline/standard.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio {

struct PackedDepthwise::Storage {
  const Kernel* kernel;
  DepthwiseFilters filters;
  // The same in copies for neighbouring pixels, where there are so few channels; or else empty.
  DepthwiseFilters folded = {};
};

struct DepthwiseProduct {
  const Im2col& input;
  const PackedDepthwise::Storage& packed;
  void* dst;
  ptrdiff_t dst_stride;              // elements from one pixel to the next
  const StandardPipeline* standard;  // or null, and `tile` is run
  TilePipeline tile;
  // Per panel of the filters, then of the folded ones; null where the pipeline was not bound
  // before.
  const PanelForm* params;
};

// What kernels read taps as: the top bits of the other 8-bit type are flipped on the way.
inline int32_t TapMove(const Kernel& kernel, Type type) {
  return RowMove(TakesSignedTaps(kernel) ? RowFormat::kSigned8 : RowFormat::kUnsigned8, type);
}

// Input columns under `pixels` neighbouring pixels.
inline int64_t ColumnsUnder(const Im2col& v, int pixels) {
  return int64_t{pixels - 1} * v.stride_width + int64_t{v.kernel_width - 1} * v.dilation_width + 1;
}

// Refuses what does not fit, and sums that could leave int32.
Status CheckDepthwise(const DepthwiseProduct& product);

// Computes the result. The only error is a lack of memory, found before dst is touched.
Status ExecuteDepthwise(Context& context, const DepthwiseProduct& product);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_RUN_DEPTHWISE_PRODUCT_H_
