// How kernels are started. Functions here return the runtime's error; the caller makes a Status.
#ifndef INTAGLIO_KERNELS_CUDA_LAUNCH_KERNEL_CUH_
#define INTAGLIO_KERNELS_CUDA_LAUNCH_KERNEL_CUH_

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>

#include "intaglio/kernels/cuda/kernel_table_cuda.h"
#include "intaglio/kernels/cuda/product.h"
#include "intaglio/kernels/cuda/standard.cuh"
#include "intaglio/kernels/cuda/start.cuh"

namespace intaglio::cuda {

// A kernel that needs more than the device code it is compiled for has is compiled to nothing, for
// blocks of kNoThreads: that is how the host sees that it is not there.
inline constexpr int kNoThreads = 32;

// Makes sure that `kernel` has code for the current device and may have its shared memory. Asks the
// runtime once per device and kernel: `asked` is the kernel's own.
inline cudaError_t MakeReady(const void* kernel, const KernelRow& row,
                             std::atomic<uint64_t>& asked) {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  const uint64_t bit = device < 64 ? uint64_t{1} << device : 0;
  if ((asked.load(std::memory_order_acquire) & bit) != 0) return cudaSuccess;
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel); error != cudaSuccess) {
    return error;
  }
  if (attributes.maxThreadsPerBlock < row.threads) return cudaErrorNoKernelImageForDevice;
  if (row.shared_bytes > 48 * 1024) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, row.shared_bytes);
    if (error != cudaSuccess) return error;
  }
  asked.fetch_or(bit, std::memory_order_acq_rel);
  return cudaSuccess;
}

// One block per tile and slice.
inline unsigned BlocksOf(const DeviceProduct& p, const KernelRow& row) {
  return static_cast<unsigned>(p.Tiles(row.tile_rows, row.tile_channels).count()) *
         static_cast<unsigned>(p.batch * p.splits);
}

template <class Finish>
using KernelOf = void (*)(DeviceProduct, Finish);

template <class Finish, KernelOf<Finish> kKernel>
cudaError_t LaunchGrid(const KernelRow& row, const DeviceProduct& p, const Finish& finish,
                       const LaunchOptions& options) {
  static std::atomic<uint64_t> asked{0};
  const cudaError_t ready = MakeReady(reinterpret_cast<const void*>(kKernel), row, asked);
  if (ready != cudaSuccess || options.only_ask) return ready;
  return Start(kKernel, BlocksOf(p, row), row.threads, row.shared_bytes, options.stream, p, finish);
}

// Launches of a kernel template over the kind of a product's rows: launch.operator()<signed,
// image>().
template <Images kImages, class Launch>
cudaError_t ForRowsOf(const DeviceProduct& p, const Launch& launch) {
  if constexpr (kImages != Images::kNone) {
    if (p.rows_are_image) {
      return p.rows_are_signed ? launch.template operator()<true, true>()
                               : launch.template operator()<false, true>();
    }
  }
  return p.rows_are_signed ? launch.template operator()<true, false>()
                           : launch.template operator()<false, false>();
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_LAUNCH_KERNEL_CUH_
