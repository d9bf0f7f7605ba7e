// The instructions of AMX on tile registers that are template arguments: <immintrin.h> takes
// literals.
#ifndef INTAGLIO_KERNELS_X86_TILES_AMX_H_
#define INTAGLIO_KERNELS_X86_TILES_AMX_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

// The largest tile. Not inline: a reference to such a constant would be a weak symbol.
constexpr int kTileLines = 16;
constexpr int kTileLineBytes = 64;
constexpr int kTileLanes = 16;  // of int32, in a line

// What LDTILECFG reads: the shape of each register. Loading it zeroes all of them.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_line = 0;
  uint8_t reserved[14] = {};
  uint16_t line_bytes[16] = {};
  uint8_t lines[16] = {};

  INTAGLIO_INLINE void Set(int tile, int line_count, int bytes) {
    lines[tile] = static_cast<uint8_t>(line_count);
    line_bytes[tile] = static_cast<uint16_t>(bytes);
  }
};

// <immintrin.h> of g++ 12 tells the compiler of the first 8 bytes only.
INTAGLIO_INLINE void LoadShapes(const TileShapes& shapes) {
  asm volatile("ldtilecfg %0" : : "m"(shapes));
}

// Lines that lie `stride` bytes apart: a constant, or what is kept in memory. It is no operand in a
// register, since g++ keeps what lasts for long in mask and vector registers, and the way back from
// there waits for vector instructions. What streams is read through L1 without taking up room
// there.
#define INTAGLIO_TILE_BY_STRIDE(instruction)      \
  asm volatile("mov %2, %%rax\n\t" instruction    \
               :                                  \
               : "i"(kTile), "r"(p), "im"(stride) \
               : "rax", "memory")
template <int kTile, bool kStreams = false>
INTAGLIO_INLINE void LoadTile(const void* p, const ptrdiff_t& stride) {
  if constexpr (kStreams) {
    INTAGLIO_TILE_BY_STRIDE("tileloaddt1 (%1,%%rax,1), %%tmm%c0");
  } else {
    INTAGLIO_TILE_BY_STRIDE("tileloadd (%1,%%rax,1), %%tmm%c0");
  }
}
template <int kTile>
INTAGLIO_INLINE void StoreTile(void* p, const ptrdiff_t& stride) {
  INTAGLIO_TILE_BY_STRIDE("tilestored %%tmm%c0, (%1,%%rax,1)");
}
#undef INTAGLIO_TILE_BY_STRIDE

// All lines from the same place.
template <int kTile>
INTAGLIO_INLINE void LoadTileOfOneLine(const void* p) {
  asm volatile("tileloadd (%1), %%tmm%c0" : : "i"(kTile), "r"(p) : "memory");
}

// Adds the products of rows, uint8 or int8, and int8 channels, groups of four depths at a time.
template <int kSum, int kRows, int kChannels, bool kSignedRows>
INTAGLIO_INLINE void DotTiles() {
  if constexpr (kSignedRows) {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kRows), "i"(kChannels));
  } else {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kRows), "i"(kChannels));
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_TILES_AMX_H_
