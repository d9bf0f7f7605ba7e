// The instructions of AMX on tile registers that are template arguments: <immintrin.h> takes
// literals.
#ifndef INTAGLIO_KERNELS_X86_TILES_AMX_H_
#define INTAGLIO_KERNELS_X86_TILES_AMX_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/kernels/x86/tile_shapes.h"

namespace intaglio {

// <immintrin.h> of g++ 12 tells the compiler of the first 8 bytes only.
INTAGLIO_INLINE void LoadShapes(const TileShapes& shapes) {
  asm volatile("ldtilecfg %0" : : "m"(shapes));
}
INTAGLIO_INLINE void ReleaseShapes() { _tile_release(); }

// Lines that lie `stride` bytes apart. What streams is read through L1 without taking up room
// there.
template <int kTile, bool kStreams = false>
INTAGLIO_INLINE void LoadTile(const void* p, ptrdiff_t stride) {
  if constexpr (kStreams) {
    asm volatile("tileloaddt1 (%1,%2,1), %%tmm%c0" : : "i"(kTile), "r"(p), "r"(stride) : "memory");
  } else {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(kTile), "r"(p), "r"(stride) : "memory");
  }
}

template <int kTile>
INTAGLIO_INLINE void StoreTile(void* p, ptrdiff_t stride) {
  asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(kTile), "r"(p), "r"(stride) : "memory");
}

// The same of a stride that is known. g++ would keep it in a vector or mask register, and the way
// back from there waits for vector instructions.
#define INTAGLIO_TILE_BY_STRIDE(instruction)      \
  asm volatile("mov %2, %%eax\n\t" instruction    \
               :                                  \
               : "i"(kTile), "r"(p), "i"(kStride) \
               : "rax", "memory")
template <int kTile, int kStride, bool kStreams>
INTAGLIO_INLINE void LoadTileBy(const void* p) {
  if constexpr (kStreams) {
    INTAGLIO_TILE_BY_STRIDE("tileloaddt1 (%1,%%rax,1), %%tmm%c0");
  } else {
    INTAGLIO_TILE_BY_STRIDE("tileloadd (%1,%%rax,1), %%tmm%c0");
  }
}
template <int kTile, int kStride>
INTAGLIO_INLINE void StoreTileBy(void* p) {
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
