// The DP4A kernel, for every device from sm_75 on.
#ifndef INTAGLIO_KERNELS_CUDA_DP4A_CUH_
#define INTAGLIO_KERNELS_CUDA_DP4A_CUH_

#include "intaglio/kernels/cuda/dp4a_tile.h"
#include "intaglio/kernels/cuda/launch_kernel.cuh"

namespace intaglio::cuda {

template <bool kSignedRows, bool kFromImage, class Finish>
__global__ void __launch_bounds__(Dp4aTile::kThreads)
    Dp4aKernel(const __grid_constant__ DeviceProduct p, const __grid_constant__ Finish finish) {
  extern __shared__ __align__(1024) char shared[];
  const TileGrid grid = p.Tiles(Dp4aTile::kRows, Dp4aTile::kChannels);
  const auto block = static_cast<int>(blockIdx.x);
  const Slice slice = SliceOf(p, block / grid.count());
  Dp4aThread<kSignedRows, kFromImage> thread(p, slice, TileAt(grid, block % grid.count()),
                                             static_cast<int>(threadIdx.x));
  if (slice.depth.begin < slice.depth.end) {
    thread.Load(slice.depth.begin);
    thread.Store(shared);
    __syncthreads();
    int half = 0;
    for (int at = slice.depth.begin; at < slice.depth.end; at += Dp4aTile::kDepth, half ^= 1) {
      const bool more = at + Dp4aTile::kDepth < slice.depth.end;
      if (more) thread.Load(at + Dp4aTile::kDepth);
      thread.Multiply(shared + half * Dp4aTile::kHalf);
      if (more) thread.Store(shared + (half ^ 1) * Dp4aTile::kHalf);
      __syncthreads();
    }
  }
  thread.End(p, slice, finish);
}

template <class Finish>
cudaError_t LaunchDp4a(const KernelRow& row, const DeviceProduct& p, const Finish& finish,
                       const LaunchOptions& options) {
  return ForRowsOf<Dp4aTile::kImages>(p, [&]<bool kSigned, bool kFromImage>() {
    return LaunchGrid<Finish, Dp4aKernel<kSigned, kFromImage, Finish>>(row, p, finish, options);
  });
}

extern template cudaError_t LaunchDp4a(const KernelRow&, const DeviceProduct&,
                                       const StandardFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_DP4A_CUH_
