// The kernels for few rows, for every device from sm_75 on.
#ifndef INTAGLIO_KERNELS_CUDA_GEMV_CUH_
#define INTAGLIO_KERNELS_CUDA_GEMV_CUH_

#include "intaglio/kernels/cuda/gemv_tile.h"
#include "intaglio/kernels/cuda/launch_kernel.cuh"

namespace intaglio::cuda {

template <class Tile, bool kSignedRows, class Finish>
__global__ void __launch_bounds__(Tile::kThreads)
    GemvKernel(const __grid_constant__ DeviceProduct p, const __grid_constant__ Finish finish) {
  constexpr int kSums = Tile::kRows * Tile::kChannels;
  constexpr int kWarps = Tile::kThreads / 32;
  __shared__ int32_t of_warp[kWarps][kSums];
  const TileGrid grid = p.Tiles(Tile::kRows, Tile::kChannels);
  const auto block = static_cast<int>(blockIdx.x);
  const auto thread = static_cast<int>(threadIdx.x);
  const Slice slice = SliceOf(p, block / grid.count());
  const TileIndex tile = TileAt(grid, block % grid.count());

  int32_t acc[Tile::kRows][Tile::kChannels] = {};
  GemvThread<Tile, kSignedRows>(p, slice, tile, thread, acc);
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    auto sum = static_cast<uint32_t>(acc[i / Tile::kChannels][i % Tile::kChannels]);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (thread % 32 == 0) of_warp[thread / 32][i] = static_cast<int32_t>(sum);
  }
  __syncthreads();
  if (thread >= Tile::kRows) return;
  int32_t sums[Tile::kChannels];
#pragma unroll
  for (int j = 0; j < Tile::kChannels; ++j) {
    uint32_t sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      sum += static_cast<uint32_t>(of_warp[w][thread * Tile::kChannels + j]);
    }
    sums[j] = static_cast<int32_t>(sum);
  }
  GemvEnd<Tile>(p, slice, finish, tile, thread, sums);
}

template <class Tile, class Finish>
cudaError_t LaunchGemv(const KernelRow& row, const DeviceProduct& p, const Finish& finish,
                       const LaunchOptions& options) {
  return ForRowsOf<Tile::kImages>(p, [&]<bool kSigned, bool>() {
    return LaunchGrid<Finish, GemvKernel<Tile, kSigned, Finish>>(row, p, finish, options);
  });
}

extern template cudaError_t LaunchGemv<Gemv1>(const KernelRow&, const DeviceProduct&,
                                              const StandardFinish&, const LaunchOptions&);
extern template cudaError_t LaunchGemv<Gemv4>(const KernelRow&, const DeviceProduct&,
                                              const StandardFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_GEMV_CUH_
