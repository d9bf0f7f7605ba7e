#include "intaglio/gemm/cuda/stream.h"

#include <cstdint>

#include "intaglio/gemm/cuda/error.cuh"
#include "intaglio/gemm/cuda/memory.h"
#include "intaglio/kernels/cuda/kernel_table_cuda.h"

namespace intaglio::cuda {
namespace {

constexpr int kOldest = 75;

}  // namespace

Result<Stream> Stream::Wrap(CUstream_st* stream) {
  int device = 0;
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  INTAGLIO_RETURN_IF_CUDA_ERROR(cudaGetDevice(&device), "looking for a device");
  for (const auto& [value, attribute] :
       {std::pair{&major, cudaDevAttrComputeCapabilityMajor},
        std::pair{&minor, cudaDevAttrComputeCapabilityMinor},
        std::pair{&multiprocessors, cudaDevAttrMultiProcessorCount}}) {
    INTAGLIO_RETURN_IF_CUDA_ERROR(cudaDeviceGetAttribute(value, attribute, device),
                                  "asking device " + std::to_string(device));
  }
  const int capability = 10 * major + minor;
  if (capability < kOldest) {
    return Unsupported("cuda: device " + std::to_string(device) + " has compute capability " +
                       std::to_string(major) + "." + std::to_string(minor) + "; 7.5 is the least");
  }
  cudaDeviceProp properties = {};
  INTAGLIO_RETURN_IF_CUDA_ERROR(cudaGetDeviceProperties(&properties, device),
                                "asking device " + std::to_string(device));
  Stream s;
  s.stream_ = stream;
  s.device_ = {device, capability, multiprocessors, properties.name};
  return s;
}

Status Stream::Reserve(size_t bytes) {
  if (bytes <= workspace_bytes_) return {};
  // What is enqueued may still use the smaller one.
  INTAGLIO_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_), "waiting for the stream");
  owned_.reset();
  workspace_ = nullptr;
  workspace_bytes_ = 0;
  auto memory = Allocate(bytes);
  if (!memory.ok()) return memory.status();
  owned_ = *memory;
  workspace_ = owned_.get();
  workspace_bytes_ = bytes;
  return {};
}

Status Stream::UseWorkspace(void* memory, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(memory) % 256 != 0) {
    return InvalidArgument("the workspace is not at a multiple of 256 bytes");
  }
  INTAGLIO_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_), "waiting for the stream");
  owned_.reset();
  workspace_ = memory;
  workspace_bytes_ = bytes;
  return {};
}

Stream Stream::WithWorkspace(void* memory, size_t bytes) const {
  Stream s = *this;
  s.owned_.reset();
  s.workspace_ = memory;
  s.workspace_bytes_ = bytes;
  return s;
}

Status Stream::Force(const std::string& kernel, int splits) {
  if (!kernel.empty() && FindKernel(kernel) == nullptr) {
    return InvalidArgument("no kernel is named '" + kernel + "'");
  }
  if (splits < 0) return InvalidArgument(std::to_string(splits) + " splits");
  forced_kernel_ = kernel;
  forced_splits_ = splits;
  return {};
}

}  // namespace intaglio::cuda
