// From a kernel's row to its launch, for any finish.
#ifndef INTAGLIO_KERNELS_CUDA_LAUNCH_CUH_
#define INTAGLIO_KERNELS_CUDA_LAUNCH_CUH_

#include "intaglio/kernels/cuda/dp4a.cuh"
#include "intaglio/kernels/cuda/finish.cuh"
#include "intaglio/kernels/cuda/gemv.cuh"
#include "intaglio/kernels/cuda/launch_kernel.cuh"
#include "intaglio/kernels/cuda/mma.cuh"
#include "intaglio/kernels/cuda/wgmma.cuh"

namespace intaglio::cuda {

template <class Finish>
cudaError_t LaunchKernel(const KernelRow& row, const DeviceProduct& p, const Finish& finish,
                         const LaunchOptions& options) {
  switch (row.id) {
    case KernelId::kGemv1:
      return LaunchGemv<Gemv1>(row, p, finish, options);
    case KernelId::kGemv4:
      return LaunchGemv<Gemv4>(row, p, finish, options);
    case KernelId::kWgmma128x256:
      return LaunchWgmma<Wgmma128x256>(row, p, finish, options);
    case KernelId::kWgmma128x128:
      return LaunchWgmma<Wgmma128x128>(row, p, finish, options);
    case KernelId::kMma128x128:
      return LaunchMma<Mma128x128>(row, p, finish, options);
    case KernelId::kMma64x64:
      return LaunchMma<Mma64x64>(row, p, finish, options);
    case KernelId::kMma16x128:
      return LaunchMma<Mma16x128>(row, p, finish, options);
    case KernelId::kDp4a64x64:
      return LaunchDp4a(row, p, finish, options);
  }
  return cudaErrorInvalidValue;
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_LAUNCH_CUH_
