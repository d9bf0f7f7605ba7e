// What the library has compiled: every kernel with the standard pipeline, for callers without nvcc.
#ifndef INTAGLIO_KERNELS_CUDA_STANDARD_CUH_
#define INTAGLIO_KERNELS_CUDA_STANDARD_CUH_

#include <cuda_runtime_api.h>

#include "intaglio/kernels/cuda/finish_run.h"
#include "intaglio/kernels/cuda/finish_split.h"
#include "intaglio/kernels/cuda/kernel_table_cuda.h"

namespace intaglio::cuda {

// What a launch is for: to run, or only to learn whether the kernel is there.
struct LaunchOptions {
  cudaStream_t stream = nullptr;
  bool only_ask = false;
  int blocks = 0;  // of a persistent kernel
};

cudaError_t LaunchStandard(const KernelRow& row, const DeviceProduct& p,
                           const StandardFinish& finish, const LaunchOptions& options);
cudaError_t FinishStandard(const DeviceProduct& p, const Partials& partials,
                           const StandardFinish& finish, cudaStream_t stream);
cudaError_t FinishPlain(const DeviceProduct& p, const Partials& partials, const PlainFinish& finish,
                        cudaStream_t stream);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_STANDARD_CUH_
