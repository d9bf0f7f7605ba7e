// Tile registers of AMX: how large they are, and how their shapes are told.
#ifndef INTAGLIO_KERNELS_X86_TILE_SHAPES_H_
#define INTAGLIO_KERNELS_X86_TILE_SHAPES_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"

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

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_TILE_SHAPES_H_
