// The device's kernels run on the host, block by block: the kernels' own index arithmetic and
// epilogue, with what only the hardware does (matrix instructions, bulk copies) written here from
// its documentation.
#ifndef INTAGLIO_TEST_KERNELS_CUDA_EMULATOR_H_
#define INTAGLIO_TEST_KERNELS_CUDA_EMULATOR_H_

#include <cstdint>
#include <cstring>
#include <ostream>
#include <vector>

#include "intaglio/kernels/cuda/dp4a_tile.h"
#include "intaglio/kernels/cuda/finish_split.h"
#include "intaglio/kernels/cuda/gemv_tile.h"
#include "intaglio/kernels/cuda/image_lines.h"
#include "intaglio/kernels/cuda/kernel_table_cuda.h"
#include "intaglio/kernels/cuda/mma_tile.h"
#include "intaglio/kernels/cuda/wgmma_tile.h"

namespace intaglio::cuda {
inline void PrintTo(const KernelRow& row, std::ostream* out) { *out << row.name; }
}  // namespace intaglio::cuda

namespace intaglio::test {

using namespace cuda;  // NOLINT: only tests include this

// Memory at a multiple of 1024 bytes.
class SharedMemory {
 public:
  explicit SharedMemory(int bytes) : memory_(static_cast<size_t>(bytes) + 1024, 0x5a) {}
  char* data() {
    const auto at = reinterpret_cast<uintptr_t>(memory_.data());
    return memory_.data() + (1024 - at % 1024) % 1024;
  }

 private:
  std::vector<char> memory_;
};

// each(slice, tile) for every block of a kernel.
template <class Tile, class Each>
void ForBlocks(const DeviceProduct& p, const Each& each) {
  const TileGrid grid = p.Tiles(Tile::kRows, Tile::kChannels);
  for (int i = 0; i < grid.count() * p.batch * p.splits; ++i) {
    each(SliceOf(p, i / grid.count()), TileAt(grid, i % grid.count()));
  }
}

template <bool kSigned, bool kFromImage, class Finish>
void EmulateDp4a(const DeviceProduct& p, const Finish& finish) {
  ForBlocks<Dp4aTile>(p, [&](const Slice& slice, TileIndex tile) {
    SharedMemory shared(Dp4aTile::kSharedBytes);
    std::vector<Dp4aThread<kSigned, kFromImage>> threads;
    for (int t = 0; t < Dp4aTile::kThreads; ++t) threads.emplace_back(p, slice, tile, t);
    char* half = shared.data();
    for (int at = slice.depth.begin; at < slice.depth.end; at += Dp4aTile::kDepth) {
      for (auto& t : threads) t.Load(at);
      for (auto& t : threads) t.Store(half);
      for (auto& t : threads) t.Multiply(half);
      half = half == shared.data() ? half + Dp4aTile::kHalf : shared.data();
    }
    for (auto& t : threads) t.End(p, slice, finish);
  });
}

template <class Tile, bool kSigned, class Finish>
void EmulateGemv(const DeviceProduct& p, const Finish& finish) {
  ForBlocks<Tile>(p, [&](const Slice& slice, TileIndex tile) {
    int32_t sum[Tile::kRows][Tile::kChannels] = {};
    for (int t = 0; t < Tile::kThreads; ++t) {
      GemvThread<Tile, kSigned>(p, slice, tile, t, sum);
    }
    for (int r = 0; r < Tile::kRows; ++r) GemvEnd<Tile>(p, slice, finish, tile, r, sum[r]);
  });
}

// mma.m16n8k32 by a warp: PTX ISA, "Matrix Fragments for mma.m16n8k32" with 8-bit elements. In the
// formulas of the documentation, groupID = lane / 4 and threadID_in_group = lane % 4.
template <bool kSigned>
void EmulateMma(const uint32_t (*const a[32])[4], const uint32_t (*const b[32])[2],
                int32_t (*const c[32])[4]) {
  int left[16][32];
  int right[32][8];
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 16; ++i) {
      const int row = i / 4 % 2 == 0 ? lane / 4 : lane / 4 + 8;
      const int col = lane % 4 * 4 + i % 4 + (i >= 8 ? 16 : 0);
      const auto byte = static_cast<uint8_t>((*a[lane])[i / 4] >> (8 * (i % 4)));
      left[row][col] = kSigned ? static_cast<int8_t>(byte) : byte;
    }
    for (int i = 0; i < 8; ++i) {
      const int row = lane % 4 * 4 + i % 4 + (i >= 4 ? 16 : 0);
      right[row][lane / 4] = static_cast<int8_t>((*b[lane])[i / 4] >> (8 * (i % 4)));
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? lane / 4 : lane / 4 + 8;
      const int col = lane % 4 * 2 + i % 2;
      for (int k = 0; k < 32; ++k) (*c[lane])[i] += left[row][k] * right[k][col];
    }
  }
}

template <class Tile, bool kSigned, bool kFromImage, class Finish>
void EmulateMmaKernel(const DeviceProduct& p, const Finish& finish) {
  using Thread = MmaThread<Tile, kFromImage>;
  ForBlocks<Tile>(p, [&](const Slice& slice, TileIndex tile) {
    SharedMemory shared(Tile::kSharedBytes);
    std::vector<Thread> threads;
    for (int t = 0; t < Tile::kThreads; ++t) threads.emplace_back(p, slice, tile, t);
    int round = 0;
    for (int at = slice.depth.begin; at < slice.depth.end; at += Tile::kDepth, ++round) {
      char* stage = shared.data() + round % Tile::kStages * Tile::kStageBytes;
      for (auto& t : threads) t.Copy(at, stage);
      for (int k = 0; k < Tile::kDepth / 32; ++k) {
        for (auto& t : threads) t.LoadFragments(stage, k);
        for (int warp = 0; warp < Tile::kThreads / 32; ++warp) {
          Thread* lanes = threads.data() + warp * 32;
          for (int i = 0; i < Thread::kRowBlocks; ++i) {
            for (int j = 0; j < Thread::kColBlocks; ++j) {
              const uint32_t(*a[32])[4];
              const uint32_t(*b[32])[2];
              int32_t(*c[32])[4];
              for (int lane = 0; lane < 32; ++lane) {
                a[lane] = &lanes[lane].a[i];
                b[lane] = &lanes[lane].b[j];
                c[lane] = &lanes[lane].acc[i][j];
              }
              EmulateMma<kSigned>(a, b, c);
            }
          }
        }
      }
    }
    for (auto& t : threads) t.End(p, slice, finish);
  });
}

// Bytes exchanged within 1024 as the 128-byte swizzle has it: bits 4 to 6 of an address are
// exclusive-ored with bits 7 to 9.
inline uint32_t Swizzled(uint32_t address) { return address ^ (address >> 7 & 7) << 4; }

// A bulk tensor copy of one box.
inline void EmulateCopyBox(const TensorMapArgs& map, const int64_t (&at)[3], char* shared,
                           uint32_t dst) {
  for (uint32_t line = 0; line < map.box[1]; ++line) {
    for (uint32_t d = 0; d < map.box[0]; ++d, ++dst) {
      const uint64_t x = static_cast<uint64_t>(at[0]) + d;
      const uint64_t y = static_cast<uint64_t>(at[1]) + line;
      const auto z = static_cast<uint64_t>(at[2]);
      const bool inside = x < map.extent[0] && y < map.extent[1] && z < map.extent[2];
      shared[Swizzled(dst)] =
          inside ? static_cast<const char*>(map.data)[x + y * map.stride[0] + z * map.stride[1]]
                 : 0;
    }
  }
}

// One byte of an operand that a wgmma descriptor describes.
inline uint8_t DescribedByte(const char* shared, uint64_t descriptor, int line, int depth) {
  const auto start = static_cast<uint32_t>(descriptor & 0x3fff) << 4;
  const auto block = static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4;
  const uint32_t address = start + static_cast<uint32_t>(line / 8) * block +
                           static_cast<uint32_t>(line % 8 * 128 + depth);
  return static_cast<uint8_t>(shared[Swizzled(address)]);
}

// The rows of a stage as the threads of the producing warpgroup copy them.
template <class Tile>
void EmulateImageCopies(const DeviceProduct& p, TileIndex tile, int depth, char* stage) {
  using Share = ProducerShare<Tile>;
  for (int t = 0; t < 128; ++t) {
    const ImageLines<Share::kCount> rows(p, tile.row * Tile::kRows + Share::Line(t), Share::kStep);
    Share::ForEach(t, depth, stage, [&](int i, int at, char* dst) { rows.CopyWhole(i, at, dst); });
  }
}

// The tiles of one block of the grid after the other, without the ring.
template <class Tile, bool kSigned, bool kFromImage, class Finish>
void EmulateWgmma(const DeviceProduct& p, const Finish& finish) {
  constexpr int kGroups = Tile::kChannels / kChannelGroup;
  const TensorMapArgs row_map = RowMap(p, Tile::kRows);
  const TensorMapArgs channel_map = ChannelMap(p, Tile::kChannels);
  const TileGrid grid = p.Tiles(Tile::kRows, Tile::kChannels);
  SharedMemory shared(Tile::kStageBytes);
  for (int work = 0; work < grid.count() * p.batch * p.splits; ++work) {
    const int index = work / grid.count();
    const Slice slice = SliceOf(p, index);
    const TileIndex tile = TileAt(grid, work % grid.count());
    std::vector<int32_t> sums(static_cast<size_t>(Tile::kRows * Tile::kChannels));
    const int rounds = RoundsOf(slice.depth, Tile::kDepth);
    for (int round = 0; round < rounds; ++round) {
      const int at = slice.depth.begin + round * Tile::kDepth;
      if constexpr (kFromImage) {
        EmulateImageCopies<Tile>(p, tile, at, shared.data());
      } else {
        EmulateCopyBox(row_map,
                       {at, tile.row * Tile::kRows, p.row_batch == 0 ? 0 : index / p.splits},
                       shared.data(), 0);
      }
      EmulateCopyBox(
          channel_map,
          {at, tile.channel * Tile::kChannels, p.channel_batch == 0 ? 0 : index / p.splits},
          shared.data(), Tile::kRowBytes);
      const uint64_t channels = DescribeShared(Tile::kRowBytes);
      for (int half = 0; half < 2; ++half) {
        const uint64_t rows = DescribeShared(static_cast<uint32_t>(half * 64 * Tile::kDepth));
        for (int k = 0; k < Tile::kDepth; ++k) {
          const auto step = static_cast<uint64_t>(2 * (k / 32));
          std::vector<int> column;
          for (int c = 0; c < Tile::kChannels; ++c) {
            column.push_back(
                static_cast<int8_t>(DescribedByte(shared.data(), channels + step, c, k % 32)));
          }
          for (int r = 0; r < 64; ++r) {
            const uint8_t byte = DescribedByte(shared.data(), rows + step, r, k % 32);
            const int x = kSigned ? static_cast<int8_t>(byte) : byte;
            int32_t* line = sums.data() + (half * 64 + r) * Tile::kChannels;
            for (int c = 0; c < Tile::kChannels; ++c) {
              line[c] += x * column[static_cast<size_t>(c)];
            }
          }
        }
      }
    }
    // PTX ISA, "Register fragments for wgmma.mma_async.m64nNk32", matrix D.
    for (int thread = 0; thread < 256; ++thread) {
      const int half = thread / 128;
      const int warp = thread / 32 % 4;
      const int lane = thread % 32;
      int32_t acc[kGroups][8][4];
      for (int i = 0; i < kGroups * 32; ++i) {
        const int row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
        const int col = 8 * (i / 4) + lane % 4 * 2 + i % 2;
        acc[i / 32][i / 4 % 8][i % 4] =
            sums[static_cast<size_t>((half * 64 + row) * Tile::kChannels + col)];
      }
      for (int g = 0; g < kGroups; ++g) {
        FinishBlocks(p, slice, finish, lane, tile.row * Tile::kRows + 64 * half + 16 * warp,
                     tile.channel * Tile::kChannels + g * kChannelGroup, 0, acc[g]);
      }
    }
  }
}

template <class Finish>
void EmulateFinish(const DeviceProduct& p, const Partials& partials, const Finish& finish) {
  const long long runs =
      static_cast<long long>(DivideUp(p.channel_count, kFinishRun)) * p.row_count;
  for (int b = 0; b < p.batch; ++b) {
    for (long long i = 0; i < runs; ++i) FinishPartials(p, partials, finish, b, i);
  }
}

// A product by the kernel of this name.
template <bool kSigned, bool kFromImage, class Finish>
void Emulate(KernelId id, const DeviceProduct& p, const Finish& finish) {
  switch (id) {
    case KernelId::kGemv1:
      return EmulateGemv<Gemv1, kSigned>(p, finish);
    case KernelId::kGemv4:
      return EmulateGemv<Gemv4, kSigned>(p, finish);
    case KernelId::kWgmma128x256:
      return EmulateWgmma<Wgmma128x256, kSigned, kFromImage>(p, finish);
    case KernelId::kWgmma128x128:
      return EmulateWgmma<Wgmma128x128, kSigned, kFromImage>(p, finish);
    case KernelId::kMma128x128:
      return EmulateMmaKernel<Mma128x128, kSigned, kFromImage>(p, finish);
    case KernelId::kMma64x64:
      return EmulateMmaKernel<Mma64x64, kSigned, kFromImage>(p, finish);
    case KernelId::kMma16x128:
      return EmulateMmaKernel<Mma16x128, kSigned, false>(p, finish);
    case KernelId::kDp4a64x64:
      return EmulateDp4a<kSigned, kFromImage>(p, finish);
  }
}
template <class Finish>
void Emulate(KernelId id, const DeviceProduct& p, const Finish& finish) {
  if (p.rows_are_image) {
    return p.rows_are_signed ? Emulate<true, true>(id, p, finish)
                             : Emulate<false, true>(id, p, finish);
  }
  return p.rows_are_signed ? Emulate<true, false>(id, p, finish)
                           : Emulate<false, false>(id, p, finish);
}

// Every kernel with the standard pipeline takes a minute to compile: in a file of its own.
extern template void Emulate(KernelId id, const DeviceProduct& p, const StandardFinish& finish);

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_KERNELS_CUDA_EMULATOR_H_
