// The kernel table of the device: what each kernel needs and how fast it is expected to be. Kernel
// choice, tests and benchmarks iterate it. A new kernel is its file, a row here, and a case in
// launch.cuh.
#ifndef INTAGLIO_KERNELS_CUDA_KERNEL_TABLE_CUDA_H_
#define INTAGLIO_KERNELS_CUDA_KERNEL_TABLE_CUDA_H_

#include <cstdint>
#include <string_view>

#include "intaglio/kernels/cuda/dp4a_tile.h"
#include "intaglio/kernels/cuda/gemv_tile.h"
#include "intaglio/kernels/cuda/mma_tile.h"
#include "intaglio/kernels/cuda/wgmma_tile.h"

namespace intaglio::cuda {

enum class KernelId : uint8_t {
  kGemv1,
  kGemv4,
  kWgmma128x256,
  kWgmma128x128,
  kMma128x128,
  kMma64x64,
  kMma16x128,
  kDp4a64x64,
};

struct KernelRow {
  KernelId id;
  const char* name;
  int capability;  // the least that it runs on: 10 * major + minor
  bool only;       // and no other, as code for sm_90a does
  int tile_rows;
  int tile_channels;
  int tile_depth;  // of one round of copies
  int stages;      // rounds whose copies have their place at one time
  int threads;
  int shared_bytes;  // of a block, dynamic
  int max_rows;      // of a product; 0: any number
  Images images;     // whose rows it reads where they lie
  int blocks;        // that a multiprocessor holds at once
  // Expected 8-bit multiply-accumulates per clock of a multiprocessor that is full.
  int rate;
};

using Gemv1 = GemvTile<1>;
using Gemv4 = GemvTile<4>;
using Wgmma128x256 = WgmmaTile<256>;
using Wgmma128x128 = WgmmaTile<128>;
using Mma128x128 = MmaTile<128, 128, 64, 64, 3>;
using Mma64x64 = MmaTile<64, 64, 32, 32, 4>;
using Mma16x128 = MmaTile<16, 128, 16, 32, 4>;

template <class Tile>
constexpr KernelRow MakeRow(KernelId id, const char* name, int capability, bool only, int max_rows,
                            int blocks, int rate) {
  return {id,
          name,
          capability,
          only,
          Tile::kRows,
          Tile::kChannels,
          Tile::kDepth,
          Tile::kStages,
          Tile::kThreads,
          Tile::kSharedBytes,
          max_rows,
          Tile::kImages,
          blocks,
          rate};
}

// The rates order the kernels of one device; they are no promise. A round figure for each unit:
// 4096 for wgmma, 2048 for mma.sync on sm_80, 256 for dp4a, less for tiles that reuse less.
inline constexpr KernelRow kKernelTable[] = {
    MakeRow<Gemv1>(KernelId::kGemv1, "gemv_1", 75, false, 1, 3, 100),
    MakeRow<Gemv4>(KernelId::kGemv4, "gemv_4", 75, false, 4, 3, 200),
    MakeRow<Wgmma128x256>(KernelId::kWgmma128x256, "wgmma_128x256", 90, true, 0, 1, 3400),
    MakeRow<Wgmma128x128>(KernelId::kWgmma128x128, "wgmma_128x128", 90, true, 0, 1, 2800),
    MakeRow<Mma128x128>(KernelId::kMma128x128, "mma_128x128", 80, false, 0, 2, 1700),
    MakeRow<Mma64x64>(KernelId::kMma64x64, "mma_64x64", 80, false, 0, 4, 1100),
    MakeRow<Mma16x128>(KernelId::kMma16x128, "mma_16x128", 80, false, 0, 4, 500),
    MakeRow<Dp4aTile>(KernelId::kDp4a64x64, "dp4a_64x64", 75, false, 0, 2, 180),
};

// Null where no kernel has this name.
constexpr const KernelRow* FindKernel(std::string_view name) {
  for (const KernelRow& row : kKernelTable) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_KERNEL_TABLE_CUDA_H_
