// The kernels of Hopper: wgmma, bulk tensor copies, and blocks that stay. For sm_90a only.
#ifndef INTAGLIO_KERNELS_CUDA_WGMMA_CUH_
#define INTAGLIO_KERNELS_CUDA_WGMMA_CUH_

#include <algorithm>

#include "intaglio/kernels/cuda/async_copy.cuh"
#include "intaglio/kernels/cuda/finish_run.h"
#include "intaglio/kernels/cuda/hopper.cuh"
#include "intaglio/kernels/cuda/image_lines.h"
#include "intaglio/kernels/cuda/launch_kernel.cuh"
#include "intaglio/kernels/cuda/mma_tile.h"
#include "intaglio/kernels/cuda/tensor_map.cuh"
#include "intaglio/kernels/cuda/wgmma_tile.h"

namespace intaglio::cuda {

// The shared memory of a block, as addresses.
template <class Tile>
struct WgmmaShared {
  uint32_t base;

  __device__ __forceinline__ explicit WgmmaShared(const char* shared)
      : base((hopper::SharedAddress(shared) + 1023) & ~1023u) {}
  __device__ __forceinline__ uint32_t rows(int stage) const {
    return base + static_cast<uint32_t>(stage * Tile::kStageBytes);
  }
  __device__ __forceinline__ uint32_t channels(int stage) const {
    return rows(stage) + Tile::kRowBytes;
  }
  __device__ __forceinline__ uint32_t full(int stage) const {
    return base + static_cast<uint32_t>(Tile::kStages * Tile::kStageBytes + stage * 8);
  }
  __device__ __forceinline__ uint32_t empty(int stage) const {
    return full(stage) + Tile::kStages * 8;
  }
};

// each(slice index, slice, tile) for every tile of this block: every gridDim.x-th one.
template <class Tile, class Each>
__device__ __forceinline__ void ForTilesOfBlock(const DeviceProduct& p, const Each& each) {
  const TileGrid grid = p.Tiles(Tile::kRows, Tile::kChannels);
  const int tiles = grid.count();
  const int total = tiles * p.batch * p.splits;
  for (auto i = static_cast<int>(blockIdx.x); i < total; i += static_cast<int>(gridDim.x)) {
    each(i / tiles, SliceOf(p, i / tiles), TileAt(grid, i % tiles));
  }
}

// One thread.
template <class Tile>
__device__ __forceinline__ void Produce(const DeviceProduct& p, const CUtensorMap& row_map,
                                        const CUtensorMap& channel_map,
                                        const WgmmaShared<Tile>& shared) {
  hopper::PrefetchMap(row_map);
  hopper::PrefetchMap(channel_map);
  Ring<Tile> ring;
  ForTilesOfBlock<Tile>(p, [&](int index, const Slice& slice, TileIndex tile) {
    const int b = index / p.splits;
    const int row_batch = p.row_batch == 0 ? 0 : b;
    const int channel_batch = p.channel_batch == 0 ? 0 : b;
    for (int at = slice.depth.begin; at < slice.depth.end; at += Tile::kDepth, ring.Next()) {
      const int stage = ring.stage();
      hopper::Wait(shared.empty(stage), ring.empty_parity());
      hopper::ArriveAndExpect(shared.full(stage), Tile::kStageBytes);
      hopper::CopyBox(row_map, shared.rows(stage), shared.full(stage), at, tile.row * Tile::kRows,
                      row_batch);
      hopper::CopyBox(channel_map, shared.channels(stage), shared.full(stage), at,
                      tile.channel * Tile::kChannels, channel_batch);
    }
  });
}

// The whole warpgroup. A stage's rows are there when every thread's copies are: each waits for its
// own of kLag rounds before, and arrives for them. `memory` is where the stages begin.
template <class Tile>
__device__ __forceinline__ void ProduceFromImage(const DeviceProduct& p,
                                                 const CUtensorMap& channel_map,
                                                 const WgmmaShared<Tile>& shared, char* memory) {
  using Share = ProducerShare<Tile>;
  const auto thread = static_cast<int>(threadIdx.x);
  const auto arrive = [&](const Ring<Tile>& at) {
    hopper::FenceShared();
    hopper::Arrive(shared.full(at.stage()));
  };
  Ring<Tile> ring;
  Ring<Tile> copied;  // kLag rounds behind
  int on_the_way = 0;
  ForTilesOfBlock<Tile>(p, [&](int, const Slice& slice, TileIndex tile) {
    const ImageLines<Share::kCount> rows(p, tile.row * Tile::kRows + Share::Line(thread),
                                         Share::kStep);
    for (int at = slice.depth.begin; at < slice.depth.end; at += Tile::kDepth, ring.Next()) {
      const int stage = ring.stage();
      hopper::Wait(shared.empty(stage), ring.empty_parity());
      if (thread == 0) {
        hopper::ArriveAndExpect(shared.full(stage), Tile::kChannelBytes);
        hopper::CopyBox(channel_map, shared.channels(stage), shared.full(stage), at,
                        tile.channel * Tile::kChannels, 0);
      }
      Share::ForEach(thread, at, memory + stage * Tile::kStageBytes,
                     [&](int i, int depth, char* dst) { rows.CopyWhole(i, depth, dst); });
      CommitCopies();
      if (on_the_way < Tile::kLag) {
        ++on_the_way;
      } else {
        WaitForCopies<Tile::kLag>();
        arrive(copied);
        copied.Next();
      }
    }
  });
  WaitForCopies<0>();
  for (; on_the_way > 0; --on_the_way, copied.Next()) arrive(copied);
}

// One warpgroup: rows [64 half, 64 half + 64) of every tile. A stage is given back one round later,
// when the multiplications that read it are known to have ended.
template <class Tile, bool kSignedRows, class Finish>
__device__ __forceinline__ void Consume(const DeviceProduct& p, const Finish& finish,
                                        const WgmmaShared<Tile>& shared, int half) {
  constexpr int kGroups = Tile::kChannels / kChannelGroup;
  const bool arrives = threadIdx.x % 32 == 0;  // for its warp
  int32_t acc[kGroups][8][4] = {};
  Ring<Tile> ring;
  ForTilesOfBlock<Tile>(p, [&](int, const Slice& slice, TileIndex tile) {
    const int rounds = RoundsOf(slice.depth, Tile::kDepth);
    int read = 0;  // the stage of the round before
    for (int round = 0; round < rounds; ++round, ring.Next()) {
      const int stage = ring.stage();
      hopper::Wait(shared.full(stage), ring.full_parity());
      const uint64_t rows =
          DescribeShared(shared.rows(stage) + static_cast<uint32_t>(half * 64 * Tile::kDepth));
      const uint64_t channels = DescribeShared(shared.channels(stage));
      hopper::Pin(acc);
      hopper::WgmmaFence();
#pragma unroll
      for (int k = 0; k < Tile::kDepth / 32; ++k) {
        hopper::Wgmma<kSignedRows>(rows + static_cast<uint64_t>(2 * k),
                                   channels + static_cast<uint64_t>(2 * k), round + k, acc);
      }
      hopper::WgmmaCommit();
      hopper::Pin(acc);
      hopper::WgmmaWait<1>();
      if (round > 0 && arrives) hopper::Arrive(shared.empty(read));
      read = stage;
    }
    hopper::WgmmaWait<0>();
    hopper::Pin(acc);
    if (arrives) hopper::Arrive(shared.empty(read));
    const int thread = hopper::ThreadOfBlock();
    const int row = tile.row * Tile::kRows + 64 * half + thread / 32 % 4 * 16;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      FinishBlocks(p, slice, finish, thread % 32, row,
                   tile.channel * Tile::kChannels + g * kChannelGroup, 0, acc[g]);
    }
  });
}

template <class Tile, bool kSignedRows, bool kFromImage, class Finish>
__device__ __forceinline__ void WgmmaBlock(const DeviceProduct& p, const Finish& finish,
                                           const CUtensorMap& row_map,
                                           const CUtensorMap& channel_map, char* memory) {
  constexpr int kConsumerWarps = 8;
  constexpr int kProducers = kFromImage ? 128 + 1 : 1;  // the channels' copy arrives as one more
  // Registers of a thread of each kind: 168 for three warpgroups.
  constexpr int kOfProducer = kFromImage ? 72 : 40;
  constexpr int kOfConsumer = (3 * 168 - kOfProducer) / 2;
  const WgmmaShared<Tile> shared(memory);
  if (threadIdx.x == 0) {
    for (int i = 0; i < Tile::kStages; ++i) {
      hopper::InitBarrier(shared.full(i), kProducers);
      hopper::InitBarrier(shared.empty(i), kConsumerWarps);
    }
    hopper::FenceBarriers();
  }
  __syncthreads();
  // The same in all lanes, which the compiler would not see of threadIdx.
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0);
  if (warpgroup == 0) {
    hopper::LowerRegisters<kOfProducer>();
    if constexpr (kFromImage) {
      ProduceFromImage(p, channel_map, shared,
                       memory + (shared.base - hopper::SharedAddress(memory)));
    } else if (threadIdx.x == 0) {
      Produce(p, row_map, channel_map, shared);
    }
  } else {
    hopper::RaiseRegisters<kOfConsumer>();
    Consume<Tile, kSignedRows>(p, finish, shared, warpgroup - 1);
  }
}

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
template <class Tile, bool kSignedRows, bool kFromImage, class Finish>
__global__ void __launch_bounds__(kNoThreads)
    WgmmaKernel(const __grid_constant__ DeviceProduct, const __grid_constant__ Finish,
                const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap) {}
#else
template <class Tile, bool kSignedRows, bool kFromImage, class Finish>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    WgmmaKernel(const __grid_constant__ DeviceProduct p, const __grid_constant__ Finish finish,
                const __grid_constant__ CUtensorMap row_map,
                const __grid_constant__ CUtensorMap channel_map) {
#if defined(__CUDA_ARCH__)
  extern __shared__ __align__(1024) char shared[];
  WgmmaBlock<Tile, kSignedRows, kFromImage>(p, finish, row_map, channel_map, shared);
#endif
}
#endif

template <class Tile, bool kSignedRows, bool kFromImage, class Finish>
cudaError_t LaunchPersistent(const KernelRow& row, const DeviceProduct& p, const Finish& finish,
                             const LaunchOptions& options) {
  constexpr auto kKernel = WgmmaKernel<Tile, kSignedRows, kFromImage, Finish>;
  static std::atomic<uint64_t> asked{0};
  const cudaError_t ready = MakeReady(reinterpret_cast<const void*>(kKernel), row, asked);
  if (ready != cudaSuccess || options.only_ask) return ready;
  CUtensorMap row_map{};
  CUtensorMap channel_map;
  if constexpr (!kFromImage) {
    const cudaError_t e = MakeTensorMap(RowMap(p, Tile::kRows), &row_map);
    if (e != cudaSuccess) return e;
  }
  if (const cudaError_t e = MakeTensorMap(ChannelMap(p, Tile::kChannels), &channel_map);
      e != cudaSuccess) {
    return e;
  }
  const unsigned blocks = std::min(BlocksOf(p, row), static_cast<unsigned>(options.blocks));
  return Start(kKernel, blocks, row.threads, row.shared_bytes, options.stream, p, finish, row_map,
               channel_map);
}

template <class Tile, class Finish>
cudaError_t LaunchWgmma(const KernelRow& row, const DeviceProduct& p, const Finish& finish,
                        const LaunchOptions& options) {
  return ForRowsOf<Tile::kImages>(p, [&]<bool kSigned, bool kFromImage>() {
    return LaunchPersistent<Tile, kSigned, kFromImage>(row, p, finish, options);
  });
}

extern template cudaError_t LaunchWgmma<Wgmma128x256>(const KernelRow&, const DeviceProduct&,
                                                      const StandardFinish&, const LaunchOptions&);
extern template cudaError_t LaunchWgmma<Wgmma128x128>(const KernelRow&, const DeviceProduct&,
                                                      const StandardFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_WGMMA_CUH_
