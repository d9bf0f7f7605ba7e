// Blocks of tiles: rows by all vectors of a panel, over the whole depth.
//
// Four of the eight tile registers accumulate, the others hold operands. Accumulators reach the
// epilogue through memory that stays in L1; it finishes them two rows at a time between the
// products of later blocks, so that neither waits for the other.
#ifndef INTAGLIO_KERNELS_X86_BLOCKS_AMX_H_
#define INTAGLIO_KERNELS_X86_BLOCKS_AMX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "intaglio/kernels/kernel.h"
#include "intaglio/kernels/x86/tiles_amx.h"

namespace intaglio {

constexpr int kAccumulators = 4;
constexpr int kStepGroups = kTileLines;  // of depth, that TDPBUSD multiplies at once

// Panels from this size on stream past L1, which keeps the rows: they would push each other out.
constexpr ptrdiff_t kStreamBytes = 32 << 10;

// The tiles of rows of a call. The last one, if it would be short, begins earlier and computes some
// rows once more.
class RowTiles {
 public:
  explicit RowTiles(int rows) : rows_(rows) {}

  INTAGLIO_INLINE int lines() const { return std::min(rows_, kTileLines); }
  INTAGLIO_INLINE int count() const { return (rows_ + kTileLines - 1) / kTileLines; }
  INTAGLIO_INLINE int First(int tile) const { return std::min(tile * kTileLines, rows_ - lines()); }

 private:
  int rows_;
};

// What each tile register is for.
constexpr int kFirstRows = kAccumulators;
constexpr int kFirstPanel = kFirstRows + 2;
constexpr int kTileRegisters = kFirstPanel + 2;

// For blocks of any form, of tiles of `lines` rows.
INTAGLIO_INLINE void ConfigureTiles(int lines, int groups) {
  groups = std::min(groups, kStepGroups);
  TileShapes shapes;
  for (int i = 0; i < kFirstRows; ++i) shapes.Set(i, lines, kTileLineBytes);
  for (int i = kFirstRows; i < kFirstPanel; ++i) shapes.Set(i, lines, 4 * groups);
  for (int i = kFirstPanel; i < kTileRegisters; ++i) shapes.Set(i, groups, kTileLineBytes);
  LoadShapes(shapes);
}

// `signed_rows` is no template argument: instances of all blocks for both would be 150 KB more, and
// a branch that is always foreseen is nothing beside the 16 cycles of a product.
struct BlockArgs : TileArgs {
  bool signed_rows;
};

// Blocks of kRowTiles tiles of rows by all kVectors of a panel, in passes of kPassVectors, whose
// products are all that the registers accumulate. finish(sums, row, dst) is the epilogue of two
// rows, whose accumulators hold offsets and products.
template <int kRowTiles, int kPassVectors, int kVectors, class Finish>
class Blocks {
 public:
  // The tiles of rows [first, end), a multiple of kRowTiles.
  __attribute__((noinline)) static void Run(const BlockArgs& args, RowTiles tiles, int first,
                                            int end, const Finish& finish_given) {
    const int steps = (args.groups + kStepGroups - 1) / kStepGroups;
    const int rest = steps == 1 ? 0 : args.groups % kStepGroups;  // groups of the last step, if few
    const int pairs = (kPassPairs + steps - 1) / steps;           // that each step finishes
    const bool streams = args.groups * kGroupBytes >= kStreamBytes;
    const Finish finish = finish_given;
    Memory memory;
    int done = first;
    int32_t* place = memory.Place(first, 0);  // at first for nothing: it is written over
    for (int tile = first; tile < end; tile += kRowTiles) {
      const Operands rows = RowsOf(args, tiles, tile);
      if (rest != 0) memory.CopyTails(rows, tiles.lines(), args.groups, rest);
      for (int pass = 0; pass < kPasses; ++pass) {
        const int vector = pass * kPassVectors;
        // The block before is in memory once the first pass of this one has begun: its rows are
        // finished from the next pass on.
        Pairs ready{};
        if (tile + pass * kPassTiles - done >= kLag) {
          ready = PairsOf(args, memory, done);
          done += kPassTiles;
        }
        const int8_t* panel = args.panel + vector * kTileLineBytes;
        BeginPass(rows, panel, args.params->offset + vector * kTileLanes, place);
        place = memory.Place(tile, vector);
        ready.Advance(finish, pairs);
        for (int step = 1; step < steps; ++step) {
          panel += kStepGroups * kGroupBytes;
          if (step == steps - 1 && rest != 0) {
            Multiply(memory.Tails(args.signed_rows), panel - (kStepGroups - rest) * kGroupBytes);
          } else if (streams) {
            Multiply<true>(rows.At(step), panel);
          } else {
            Multiply(rows.At(step), panel);
          }
          ready.Advance(finish, pairs);
        }
      }
    }
    Store(place, kEach);
    for (; done < end; ++done) FinishTile(args, tiles, memory, done, finish);
  }

 private:
  static constexpr int kPasses = kVectors / kPassVectors;
  static constexpr int kPassTiles = kRowTiles / kPasses;  // that are finished in a pass
  static constexpr int kPassPairs = kPassTiles * kTileLines / 2;
  // How far they are behind those that are multiplied.
  static constexpr int kLag = 2 * kRowTiles - (kPasses == 1 ? 0 : kPassTiles);
  static constexpr int kWidth = kVectors * kTileLanes;
  static constexpr ptrdiff_t kGroupBytes = kVectors * kTileLineBytes;
  static constexpr auto kEach = std::make_index_sequence<kRowTiles * kPassVectors>();

  // Two of each kind, which take turns where a block has more.
  static constexpr int RowRegister(int r) { return kFirstRows + r % 2; }
  static constexpr int PanelRegister(int v) { return kFirstPanel + v % 2; }

  // One depth step of the rows of each tile.
  struct Operands {
    const char* row[kRowTiles];
    ptrdiff_t stride;
    bool are_signed;

    INTAGLIO_INLINE Operands At(int step) const {
      Operands at = *this;
      for (int r = 0; r < kRowTiles; ++r) at.row[r] += step * kTileLineBytes;
      return at;
    }
  };
  static INTAGLIO_INLINE Operands RowsOf(const BlockArgs& args, const RowTiles& tiles, int tile) {
    Operands rows;
    rows.stride = args.row_stride;
    rows.are_signed = args.signed_rows;
    for (int r = 0; r < kRowTiles; ++r) {
      rows.row[r] = static_cast<const char*>(args.rows) + tiles.First(tile + r) * rows.stride;
    }
    return rows;
  }

  struct Memory {
    // Of two blocks, one of which is finished while the other is multiplied.
    alignas(64) int32_t places[2][kRowTiles * kTileLines * kWidth];
    alignas(64) char tails[kRowTiles * kTileLines][kTileLineBytes];

    // Where the accumulators of a tile of rows are stored, from a vector on.
    INTAGLIO_INLINE int32_t* Place(int tile, int vector) {
      return places[tile / kRowTiles % 2] + tile % kRowTiles * kTileLines * kWidth +
             vector * kTileLanes;
    }

    // A depth that is no multiple of the step ends with a step of its last groups, in which those
    // that were multiplied before are zero: nothing beyond rows and panel is read.
    INTAGLIO_INLINE void CopyTails(const Operands& rows, int lines, int groups, int rest) {
      const __mmask64 kept = ~__mmask64{0} << (kStepGroups - rest) * 4;
      const ptrdiff_t at = ptrdiff_t{groups - kStepGroups} * 4;
      for (int r = 0; r < kRowTiles; ++r) {
        for (int line = 0; line < lines; ++line) {
          _mm512_store_si512(tails[r * kTileLines + line],
                             _mm512_maskz_loadu_epi8(kept, rows.row[r] + line * rows.stride + at));
        }
      }
    }
    INTAGLIO_INLINE Operands Tails(bool are_signed) const {
      Operands rows;
      rows.stride = kTileLineBytes;
      rows.are_signed = are_signed;
      for (int r = 0; r < kRowTiles; ++r) rows.row[r] = tails[r * kTileLines];
      return rows;
    }
  };

  // The first step of a pass stores what the pass before has left in an accumulator, and begins
  // again with the offsets, just before its product: the products of two passes overlap.
  static INTAGLIO_INLINE void BeginPass(const Operands& rows, const int8_t* panel,
                                        const int32_t* offset, int32_t* place) {
    AddProducts<true, false>(rows, panel, offset, place, kEach);
  }
  template <bool kStreams = false>
  static INTAGLIO_INLINE void Multiply(const Operands& rows, const int8_t* panel) {
    AddProducts<false, kStreams>(rows, panel, nullptr, nullptr, kEach);
  }

  template <bool kFirst, bool kStreams, size_t... kAt>
  static INTAGLIO_INLINE void AddProducts(const Operands& rows, const int8_t* panel,
                                          const int32_t* offset, int32_t* place,
                                          std::index_sequence<kAt...>) {
    (AddProduct<kFirst, kStreams, kAt / kPassVectors, kAt % kPassVectors>(rows, panel, offset,
                                                                          place),
     ...);
  }
  template <bool kFirst, bool kStreams, int kRow, int kVector>
  static INTAGLIO_INLINE void AddProduct(const Operands& rows, const int8_t* panel,
                                         const int32_t* offset, int32_t* place) {
    constexpr int kAcc = kRow * kPassVectors + kVector;
    if constexpr (kVector == 0) LoadTile<RowRegister(kRow)>(rows.row[kRow], rows.stride);
    if constexpr (kRow == 0) {
      LoadTile<PanelRegister(kVector), kStreams>(panel + kVector * kTileLineBytes, kGroupBytes);
    }
    if constexpr (kFirst) {
      StoreOne<kRow, kVector>(place);
      LoadTileOfOneLine<kAcc>(offset + kVector * kTileLanes);
    }
    DotTiles<kAcc, RowRegister(kRow), PanelRegister(kVector)>(rows.are_signed);
  }

  template <size_t... kAt>
  static INTAGLIO_INLINE void Store(int32_t* place, std::index_sequence<kAt...>) {
    (StoreOne<kAt / kPassVectors, kAt % kPassVectors>(place), ...);
  }
  template <int kRow, int kVector>
  static INTAGLIO_INLINE void StoreOne(int32_t* place) {
    StoreTile<kRow * kPassVectors + kVector>(
        place + kRow * kTileLines * kWidth + kVector * kTileLanes, kWidth * sizeof(int32_t));
  }

  // Pairs of rows, all of whole tiles, that are ready to be finished.
  struct Pairs {
    const int32_t* sums;
    char* dst;
    ptrdiff_t dst_step;
    int row;
    int left;

    INTAGLIO_INLINE void Advance(const Finish& finish, int pairs) {
      pairs = std::min(pairs, left);
      left -= pairs;
      for (; pairs > 0; --pairs, sums += 2 * kWidth, dst += dst_step, row += 2) {
        finish(sums, row, dst);
      }
    }
  };
  static INTAGLIO_INLINE Pairs PairsOf(const TileArgs& args, Memory& memory, int tile) {
    const int row = tile * kTileLines;
    return {memory.Place(tile, 0), static_cast<char*>(args.dst) + row * args.dst_stride,
            2 * args.dst_stride, row, kPassPairs};
  }

  static INTAGLIO_INLINE void FinishTile(const TileArgs& args, const RowTiles& tiles,
                                         Memory& memory, int tile, const Finish& finish) {
    const int lines = tiles.lines();
    for (int line = 0; line < lines; line += 2) {
      // Of few rows the last pair may begin in the one before.
      const int from = std::min(line, lines - 2);
      const int row = tiles.First(tile) + from;
      finish(memory.Place(tile, 0) + from * kWidth, row,
             static_cast<char*>(args.dst) + row * args.dst_stride);
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_BLOCKS_AMX_H_
