// Depthwise convolution: each input channel has its own filters. Not a matrix product, but it
// shares the packing discipline, the output pipelines and the threads of one.
#ifndef INTAGLIO_GEMM_DEPTHWISE_H_
#define INTAGLIO_GEMM_DEPTHWISE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/stage_registers.h"
#include "intaglio/pack/im2col.h"
#include "intaglio/pack/matrix.h"
#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/standard.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio {

// Depthwise filters, packed. Immutable; copies share the storage. Made by default they are empty:
// no filters, refused by Depthwise.
class PackedDepthwise {
 public:
  // `filters` is the (kernel_height * kernel_width) x (channels * multiplier) matrix that TFLite's
  // [1, H, W, C * multiplier] filter tensor is: row-major, int8 or uint8. Output channel o reads
  // input channel o / multiplier.
  static Result<PackedDepthwise> Pack(const ConstMatrix& filters, int kernel_width, int multiplier,
                                      const std::string& kernel = {});

  int taps() const;      // kernel_height * kernel_width
  int channels() const;  // of the output
  int multiplier() const;
  size_t bytes() const;
  const char* kernel_name() const;

  struct Storage;
  const Storage* storage() const { return storage_.get(); }
  const std::shared_ptr<const Storage>& shared_storage() const { return storage_; }

 private:
  std::shared_ptr<const Storage> storage_;
};

// dst (NHWC: batch * out_height * out_width pixels of `filters.channels()` elements of the
// pipeline's output type, `dst_stride` elements apart, where it is 0 as many as the channels) =
// pipeline(input (*) filters). What lies between pixels is left alone. The pipeline's axis is
// kCols. In the view, first_channel is 0 and group_channels is channels.
Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const StandardPipeline& pipeline, ptrdiff_t dst_stride = 0);

// The same with a pipeline bound to the filters before (gemm/bound_pipeline.h).
Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const BoundPipeline& pipeline, ptrdiff_t dst_stride = 0);

// The same with any pipeline, over tiles of pixels.
Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const TilePipeline& pipeline, ptrdiff_t dst_stride = 0);

// Does the same with a Pipeline of stages, in the kernels' registers or over tiles, as Gemm does.
template <class... Stages>
Status Depthwise(Context& context, const Im2col& input, const PackedDepthwise& filters, void* dst,
                 const Pipeline<Stages...>& pipeline, ptrdiff_t dst_stride = 0) {
  if (const auto standard = pipeline.Standard()) {
    return Depthwise(context, input, filters, dst, *standard, dst_stride);
  }
  return Depthwise(context, input, filters, dst, AsTilePipeline(pipeline), dst_stride);
}

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_DEPTHWISE_H_
