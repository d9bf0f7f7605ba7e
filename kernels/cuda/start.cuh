// The launch of a kernel.
#ifndef INTAGLIO_KERNELS_CUDA_START_CUH_
#define INTAGLIO_KERNELS_CUDA_START_CUH_

#include <cuda_runtime.h>

#include <type_traits>

namespace intaglio::cuda {

// Starts `kernel` in `stream` and returns the error of this launch. What cudaGetLastError returns
// after <<<>>> may be of a call of the user's, long before.
template <class... Parameters>
cudaError_t Start(void (*kernel)(Parameters...), dim3 blocks, int threads, int shared_bytes,
                  cudaStream_t stream, const std::type_identity_t<Parameters>&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_START_CUH_
