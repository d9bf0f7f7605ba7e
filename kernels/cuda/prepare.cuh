// The small kernels around a product: packing, sums, and the parameters of the epilogue. All are
// asynchronous in `stream` and return the runtime's error of the launch.
#ifndef INTAGLIO_KERNELS_CUDA_PREPARE_CUH_
#define INTAGLIO_KERNELS_CUDA_PREPARE_CUH_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/cuda/params.h"
#include "intaglio/kernels/cuda/product.h"

namespace intaglio::cuda {

// Bytes (line, depth) at src[line * line_stride + depth * depth_stride], a batch of them, to lines
// contiguous along depth, dst_stride bytes apart. What is beyond `lines` or `depth` becomes 0.
struct PackJob {
  const void* src;
  ptrdiff_t line_stride;
  ptrdiff_t depth_stride;
  int lines;
  int depth;
  int batch;
  ptrdiff_t src_batch;
  void* dst;
  ptrdiff_t dst_stride;  // a multiple of 16
  ptrdiff_t dst_batch;
  int dst_lines;  // lines written, at least `lines`
  bool reorder;   // channels: in the order of layout.h
  bool flip;      // uint8 to int8: subtracts 128
};
cudaError_t Pack(const PackJob& job, cudaStream_t stream);

// sums[line] = the sum over depth. Lines as kernels read them: at multiples of 16 bytes. With
// `reordered` lines, the sums are by channel.
struct SumJob {
  const void* data;
  ptrdiff_t stride;
  ptrdiff_t data_batch;
  int lines;
  int depth;
  int batch;
  bool is_signed;
  bool reordered;
  int32_t* sums;  // `lines` per product
};
cudaError_t Sum(const SumJob& job, cudaStream_t stream);
// The same of the rows of a product's image.
cudaError_t SumWindows(const DeviceProduct& p, int32_t* sums, cudaStream_t stream);

// *magnitude = max(*magnitude, the largest sum over depth of |value - zero point| of any channel).
// zero_points may be null.
cudaError_t Magnitude(const int8_t* lines, ptrdiff_t stride, int channels, int depth,
                      const int32_t* zero_points, unsigned long long* magnitude,
                      cudaStream_t stream);

cudaError_t MakeParams(const ParamsJob& job, cudaStream_t stream);

// *facts += what the arrays of a job hold.
cudaError_t Inspect(const ParamsJob& job, PipelineFacts* facts, cudaStream_t stream);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_PREPARE_CUH_
