// The instructions of kernels/x86/tiles_amx.h as a program: a file that includes this first gets
// these.
//
// What the CPU would refuse, products of shapes that do not fit or of registers that have none,
// ends the test.
#ifndef INTAGLIO_TEST_KERNELS_EMULATED_TILES_H_
#define INTAGLIO_TEST_KERNELS_EMULATED_TILES_H_

#if defined(__x86_64__)

#define INTAGLIO_KERNELS_X86_TILES_AMX_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/kernels/x86/tile_shapes.h"

namespace intaglio {
namespace {

struct TileRegisters {
  TileShapes shapes{.palette = 0};
  alignas(64) uint8_t bytes[8][kTileLines][kTileLineBytes];
};
thread_local TileRegisters tile_registers;

void RequireOfTiles(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "emulated tiles: %s\n", what);
  std::abort();
}

int LinesOf(int tile) {
  RequireOfTiles(tile_registers.shapes.palette == 1, "no shapes are loaded");
  RequireOfTiles(tile_registers.shapes.lines[tile] > 0, "a register without lines");
  return tile_registers.shapes.lines[tile];
}
size_t LineBytesOf(int tile) { return tile_registers.shapes.line_bytes[tile]; }

void LoadShapes(const TileShapes& shapes) {
  for (int i = 0; i < 8; ++i) {
    RequireOfTiles(shapes.lines[i] <= kTileLines && shapes.line_bytes[i] <= kTileLineBytes,
                   "a register's shape is too large");
  }
  tile_registers.shapes = shapes;
  std::memset(tile_registers.bytes, 0, sizeof(tile_registers.bytes));
}
void ReleaseShapes() { tile_registers.shapes.palette = 0; }

void LoadLines(int tile, const void* p, ptrdiff_t stride) {
  const int lines = LinesOf(tile);
  std::memset(tile_registers.bytes[tile], 0, sizeof(tile_registers.bytes[tile]));
  for (int i = 0; i < lines; ++i) {
    std::memcpy(tile_registers.bytes[tile][i], static_cast<const char*>(p) + i * stride,
                LineBytesOf(tile));
  }
}
template <int kTile, bool kStreams = false>
void LoadTile(const void* p, ptrdiff_t stride) {
  LoadLines(kTile, p, stride);
}
template <int kTile, int kStride, bool kStreams>
void LoadTileBy(const void* p) {
  LoadLines(kTile, p, kStride);
}
template <int kTile>
void LoadTileOfOneLine(const void* p) {
  LoadLines(kTile, p, 0);
}
template <int kTile>
void StoreTile(void* p, ptrdiff_t stride) {
  for (int i = 0; i < LinesOf(kTile); ++i) {
    std::memcpy(static_cast<char*>(p) + i * stride, tile_registers.bytes[kTile][i],
                LineBytesOf(kTile));
  }
}
template <int kTile, int kStride>
void StoreTileBy(void* p) {
  StoreTile<kTile>(p, kStride);
}

// Adds the products of one line by VPDPBUSD, which takes signed rows moved by 128.
template <bool kSignedRows>
__m512i DotLine(const uint8_t* row, const uint8_t (*channels)[kTileLineBytes], int groups,
                __m512i sum) {
  const __m512i moved = _mm512_set1_epi8(kSignedRows ? -128 : 0);
  for (int g = 0; g < groups; ++g) {
    int32_t four;
    std::memcpy(&four, row + 4 * g, 4);
    const __m512i channel = _mm512_loadu_si512(channels[g]);
    sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(_mm512_set1_epi32(four), moved), channel);
    sum = _mm512_sub_epi32(sum, _mm512_dpbusd_epi32(_mm512_setzero_si512(), moved, channel));
  }
  return sum;
}

template <int kSum, int kRows, int kChannels, bool kSignedRows>
void DotTiles() {
  const int lines = LinesOf(kSum);
  const int groups = LinesOf(kChannels);
  RequireOfTiles(lines == LinesOf(kRows) && LineBytesOf(kRows) == 4 * static_cast<size_t>(groups) &&
                     LineBytesOf(kSum) == LineBytesOf(kChannels),
                 "a product of shapes that do not fit");
  uint8_t(*bytes)[kTileLines][kTileLineBytes] = tile_registers.bytes;
  for (int i = 0; i < lines; ++i) {
    const __m512i sum = _mm512_loadu_si512(bytes[kSum][i]);
    _mm512_storeu_si512(bytes[kSum][i],
                        DotLine<kSignedRows>(bytes[kRows][i], bytes[kChannels], groups, sum));
  }
}

}  // namespace
}  // namespace intaglio

#endif  // defined(__x86_64__)

#endif  // INTAGLIO_TEST_KERNELS_EMULATED_TILES_H_
