#include "intaglio/gemm/cuda/memory.h"

#include <algorithm>
#include <string>

#include "intaglio/gemm/cuda/error.cuh"

namespace intaglio::cuda {

Result<std::shared_ptr<void>> Allocate(size_t bytes) {
  void* memory = nullptr;
  INTAGLIO_RETURN_IF_CUDA_ERROR(cudaMalloc(&memory, std::max<size_t>(bytes, 1)),
                                "allocating " + std::to_string(bytes) + " bytes");
  return std::shared_ptr<void>(memory, [](void* p) { (void)cudaFree(p); });
}

Status Copy(const Stream& stream, void* to, const void* from, size_t bytes) {
  return ToStatus(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()), "copying");
}

Status Fill(const Stream& stream, void* to, int byte, size_t bytes) {
  return ToStatus(cudaMemsetAsync(to, byte, bytes, stream.get()), "filling");
}

Status Wait(const Stream& stream) {
  return ToStatus(cudaStreamSynchronize(stream.get()), "waiting for the stream");
}

}  // namespace intaglio::cuda
