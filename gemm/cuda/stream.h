// A CUDA stream of the caller's, with the device's facts and a workspace.
#ifndef INTAGLIO_GEMM_CUDA_STREAM_H_
#define INTAGLIO_GEMM_CUDA_STREAM_H_

#include <cstddef>
#include <memory>
#include <string>

#include "intaglio/fixedpoint/status.h"

struct CUstream_st;  // what a cudaStream_t points to

namespace intaglio::cuda {

struct DeviceInfo {
  int device = 0;
  int capability = 0;  // 10 * major + minor
  int multiprocessors = 0;
  std::string name = {};  // "NVIDIA H200"
};

// Movable, not to be used by several threads at once; its device must be the current one wherever
// it is used.
class Stream {
 public:
  // On the current device. Null is the default stream. Errors: no device, one older than compute
  // capability 7.5, or a driver that does not fit: kUnsupported, with CUDA's message.
  static Result<Stream> Wrap(CUstream_st* stream);

  // Makes the workspace at least this large. Where it must grow, waits for the stream first: call
  // it before the first product (WorkspaceBytes in gemm.h says how much one takes).
  Status Reserve(size_t bytes);
  // The caller's memory in its place, which must be at a multiple of 256 bytes.
  Status UseWorkspace(void* memory, size_t bytes);

  // This stream with the caller's memory, at a multiple of 16 bytes, as its workspace; waits for
  // nothing. For callers that plan all memory themselves.
  Stream WithWorkspace(void* memory, size_t bytes) const;

  // Products use only this kernel of kernels/cuda/kernel_table_cuda.h, in this many splits over
  // depth; an empty name or 0 leaves the choice. For tests and benchmarks.
  Status Force(const std::string& kernel, int splits);

  CUstream_st* get() const { return stream_; }
  const DeviceInfo& device() const { return device_; }
  void* workspace() const { return workspace_; }
  size_t workspace_bytes() const { return workspace_bytes_; }
  const std::string& forced_kernel() const { return forced_kernel_; }
  int forced_splits() const { return forced_splits_; }

 private:
  Stream() = default;

  CUstream_st* stream_ = nullptr;
  DeviceInfo device_;
  std::shared_ptr<void> owned_;
  void* workspace_ = nullptr;
  size_t workspace_bytes_ = 0;
  std::string forced_kernel_;
  int forced_splits_ = 0;
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_GEMM_CUDA_STREAM_H_
