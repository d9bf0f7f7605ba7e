// The kernels of mma.sync with asynchronous copies, for devices from sm_80 on.
#ifndef INTAGLIO_KERNELS_CUDA_MMA_CUH_
#define INTAGLIO_KERNELS_CUDA_MMA_CUH_

#include "intaglio/kernels/cuda/async_copy.cuh"
#include "intaglio/kernels/cuda/launch_kernel.cuh"
#include "intaglio/kernels/cuda/mma_tile.h"

namespace intaglio::cuda {

// c += a b on fragments; a signed or not, b signed.
template <bool kSignedRows>
__device__ __forceinline__ void Mma(const uint32_t (&a)[4], const uint32_t (&b)[2],
                                    int32_t (&c)[4]) {
  if constexpr (kSignedRows) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

// A round: waits for its stage, starts the copies of kStages - 1 rounds later to the stage that was
// read in the round before, and multiplies. A group of copies is committed every round, be it
// empty, so that the number of pending ones stands for rounds.
template <class Tile, bool kSignedRows, bool kFromImage, class Finish>
__device__ __forceinline__ void MmaBlock(const DeviceProduct& p, const Finish& finish,
                                         char* shared) {
  const TileGrid grid = p.Tiles(Tile::kRows, Tile::kChannels);
  const auto block = static_cast<int>(blockIdx.x);
  const Slice slice = SliceOf(p, block / grid.count());
  using Thread = MmaThread<Tile, kFromImage>;
  Thread thread(p, slice, TileAt(grid, block % grid.count()), static_cast<int>(threadIdx.x));
  const int rounds = DivideUp(slice.depth.end - slice.depth.begin, Tile::kDepth);

  const auto copy = [&](int round) {
    if (round < rounds) {
      thread.Copy(slice.depth.begin + round * Tile::kDepth,
                  shared + round % Tile::kStages * Tile::kStageBytes);
    }
    CommitCopies();
  };
#pragma unroll
  for (int round = 0; round < Tile::kStages - 1; ++round) copy(round);
  for (int round = 0; round < rounds; ++round) {
    WaitForCopies<Tile::kStages - 2>();
    __syncthreads();
    copy(round + Tile::kStages - 1);
    const char* stage = shared + round % Tile::kStages * Tile::kStageBytes;
#pragma unroll
    for (int k = 0; k < Tile::kDepth / 32; ++k) {
      thread.LoadFragments(stage, k);
#pragma unroll
      for (int i = 0; i < Thread::kRowBlocks; ++i) {
#pragma unroll
        for (int j = 0; j < Thread::kColBlocks; ++j) {
          Mma<kSignedRows>(thread.a[i], thread.b[j], thread.acc[i][j]);
        }
      }
    }
  }
  thread.End(p, slice, finish);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <class Tile, bool kSignedRows, bool kFromImage, class Finish>
__global__ void __launch_bounds__(kNoThreads)
    MmaKernel(const __grid_constant__ DeviceProduct, const __grid_constant__ Finish) {}
#else
template <class Tile, bool kSignedRows, bool kFromImage, class Finish>
__global__ void __launch_bounds__(Tile::kThreads)
    MmaKernel(const __grid_constant__ DeviceProduct p, const __grid_constant__ Finish finish) {
  extern __shared__ __align__(1024) char shared[];
  MmaBlock<Tile, kSignedRows, kFromImage>(p, finish, shared);
}
#endif

template <class Tile, class Finish>
cudaError_t LaunchMma(const KernelRow& row, const DeviceProduct& p, const Finish& finish,
                      const LaunchOptions& options) {
  return ForRowsOf<Tile::kImages>(p, [&]<bool kSigned, bool kFromImage>() {
    return LaunchGrid<Finish, MmaKernel<Tile, kSigned, kFromImage, Finish>>(row, p, finish,
                                                                            options);
  });
}

extern template cudaError_t LaunchMma<Mma128x128>(const KernelRow&, const DeviceProduct&,
                                                  const StandardFinish&, const LaunchOptions&);
extern template cudaError_t LaunchMma<Mma64x64>(const KernelRow&, const DeviceProduct&,
                                                const StandardFinish&, const LaunchOptions&);
extern template cudaError_t LaunchMma<Mma16x128>(const KernelRow&, const DeviceProduct&,
                                                 const StandardFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_MMA_CUH_
