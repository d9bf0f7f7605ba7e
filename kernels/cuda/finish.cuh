// The kernel behind a product whose accumulators are in memory.
#ifndef INTAGLIO_KERNELS_CUDA_FINISH_CUH_
#define INTAGLIO_KERNELS_CUDA_FINISH_CUH_

#include <cuda_runtime.h>

#include <algorithm>

#include "intaglio/kernels/cuda/finish_split.h"
#include "intaglio/kernels/cuda/start.cuh"

namespace intaglio::cuda {

template <class Finish>
__global__ void __launch_bounds__(256)
    FinishKernel(const __grid_constant__ DeviceProduct p, const __grid_constant__ Partials partials,
                 const __grid_constant__ Finish finish) {
  const long long runs =
      static_cast<long long>(DivideUp(p.channel_count, kFinishRun)) * p.row_count;
  const long long step = static_cast<long long>(gridDim.x) * 256;
  for (long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x; i < runs * p.batch;
       i += step) {
    FinishPartials(p, partials, finish, static_cast<int>(i / runs), i % runs);
  }
}

template <class Finish>
cudaError_t LaunchFinish(const DeviceProduct& p, const Partials& partials, const Finish& finish,
                         cudaStream_t stream) {
  const long long runs =
      static_cast<long long>(DivideUp(p.channel_count, kFinishRun)) * p.row_count * p.batch;
  const auto blocks = static_cast<unsigned>(std::min((runs + 255) / 256, 1LL << 20));
  return Start(FinishKernel<Finish>, blocks, 256, 0, stream, p, partials, finish);
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_FINISH_CUH_
