// What the parts of the verification on a GPU share. It is a plain program, so that it also runs on
// machines that have no GoogleTest: bench/gpu_check builds it alone.
#ifndef INTAGLIO_TEST_CUDA_VERIFY_H_
#define INTAGLIO_TEST_CUDA_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "intaglio/gemm/cuda/stream.h"
#include "intaglio/kernels/cuda/kernel_table_cuda.h"

namespace intaglio::test {

// Counts of one part.
struct Tally {
  int cases = 0;
  int failures = 0;
  std::string first = "";  // what the first failure was

  void Count(const std::string& failure) {
    ++cases;
    if (!failure.empty() && failures++ == 0) first = failure;
  }
};

// Device memory between guards, all of it 0xa5 at first. Ends the program where CUDA fails: there
// is nothing left to verify then.
class DeviceMemory {
 public:
  explicit DeviceMemory(size_t bytes, size_t shift = 0);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // At a multiple of 256 bytes, plus the shift.
  char* data() const { return memory_ + kGuard + shift_; }
  void Upload(const void* host, size_t bytes);
  // Waits for the device. An empty text, or what went wrong: an error, or a guard overwritten.
  std::string Download(void* host, size_t bytes) const;

 private:
  static constexpr size_t kGuard = 256;
  char* memory_ = nullptr;
  size_t bytes_;
  size_t shift_;
};

// Products with the standard pipeline by one kernel of the table.
Tally VerifyKernel(cuda::Stream& stream, const std::string& kernel, int cases);
// Convolutions by one kernel, or, for null, by the kernels as they are chosen.
Tally VerifyConvolutions(cuda::Stream& stream, const cuda::KernelRow* row, int cases);
// Depthwise convolutions, pools, sums and the like.
Tally VerifyJobs(const cuda::Stream& stream, int cases);
// Whole networks on the device and on the CPU; nothing where nn is not built.
Tally VerifyNetworks(const cuda::Stream& stream);
// Matrices of more than 2^31 bytes by one kernel; nothing where the device has no memory for them.
Tally VerifyLarge(cuda::Stream& stream, const std::string& kernel);
// What must be refused, and captured in a graph.
Tally VerifyContracts(cuda::Stream& stream);
// Every stage, over accumulators in memory; and a pipeline of the caller's own in every kernel.
Tally VerifyStages(cuda::Stream& stream, int cases);
Tally VerifyFused(cuda::Stream& stream, const cuda::KernelRow& row, int cases);

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_CUDA_VERIFY_H_
