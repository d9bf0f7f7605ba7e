// CUDA's errors as Status.
#ifndef INTAGLIO_GEMM_CUDA_ERROR_CUH_
#define INTAGLIO_GEMM_CUDA_ERROR_CUH_

#include <cuda_runtime_api.h>

#include <string>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::cuda {

// Success, or `what` failed with CUDA's message. Takes the error back from the runtime, so that no
// later call reports it again; one that broke the context stays.
inline Status ToStatus(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();
  std::string message =
      "cuda: " + what + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
  switch (error) {
    case cudaErrorMemoryAllocation:
      return OutOfMemory(std::move(message));
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidResourceHandle:
      return InvalidArgument(std::move(message));
    default:
      return Unsupported(std::move(message));
  }
}

}  // namespace intaglio::cuda

#define INTAGLIO_RETURN_IF_CUDA_ERROR(expression, what) \
  INTAGLIO_RETURN_IF_ERROR(::intaglio::cuda::ToStatus((expression), (what)))

#endif  // INTAGLIO_GEMM_CUDA_ERROR_CUH_
