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
#include <memory>
#include <utility>

#include "intaglio/kernels/kernel.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/kernels/x86/tiles_amx.h"

namespace intaglio {

constexpr int kAccumulators = 4;
constexpr int kWholePanel = 4;           // vectors, of all panels but the last ones
constexpr int kStepGroups = kTileLines;  // of depth, that TDPBUSD multiplies at once

// What is read past L1, so that it does not push out the other operand, which is read again soon.
enum class Streams : uint8_t { kNothing, kPanels, kRows };

// The tiles of rows of a call, all of as many lines: a product takes as many cycles as they are,
// but at least eight. Several tiles are of pairs of lines; the last one begins within the one
// before where they are more than the rows.
class RowTiles {
 public:
  explicit RowTiles(int rows)
      : rows_(rows),
        count_((rows + kTileLines - 1) / kTileLines),
        lines_(count_ == 1 ? rows : ((rows + count_ - 1) / count_ + 1) / 2 * 2) {}

  INTAGLIO_INLINE int lines() const { return lines_; }
  INTAGLIO_INLINE int count() const { return count_; }
  INTAGLIO_INLINE int First(int tile) const { return std::min(tile * lines_, rows_ - lines_); }

 private:
  int rows_;
  int count_;
  int lines_;
};

// What each tile register is for.
constexpr int kFirstRows = kAccumulators;
constexpr int kFirstPanel = kFirstRows + 2;
constexpr int kTileRegisters = kFirstPanel + 2;

// The steps of depth: of equal size where that takes no more of them, else the last one has `rest`
// groups.
struct DepthSteps {
  int count;
  int groups = kStepGroups;
  int rest;

  explicit INTAGLIO_INLINE DepthSteps(int all) : count((all + kStepGroups - 1) / kStepGroups) {
    if (all % count == 0) groups = all / count;
    rest = all % groups;
  }
};

// For blocks of any form, of tiles of `lines` rows.
INTAGLIO_INLINE void ConfigureTiles(int lines, int all_groups) {
  const int groups = DepthSteps(all_groups).groups;
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
  Streams streams = Streams::kNothing;
  int panels_left = 1;  // of the kernel's call, from the first of these on
};

// Finishes the lines of a tile, of which there are at least two, in code that forms of blocks
// share.
template <int kVectors, class Epilogue>
__attribute__((noinline)) void FinishTile(const Epilogue& epilogue, int panel, const int32_t* sums,
                                          int lines, int row, char* dst, ptrdiff_t dst_stride) {
  const auto finish = epilogue(panel);
  for (int line = 0; line < lines; line += 2) {
    // Of an odd number the last pair begins in the one before.
    const int from = std::min(line, lines - 2);
    finish(sums + from * kVectors * kTileLanes, row + from, dst + from * dst_stride);
  }
}

// Blocks of kRowTiles tiles of rows by all kVectors of a panel, in passes of kPassVectors, whose
// products are all that the registers accumulate. With finish = epilogue(panel), finish(sums, row,
// dst) is the epilogue of two rows, whose accumulators hold offsets and products.
// Epilogue::Params are the panels' parameters.
template <int kRowTiles, int kPassVectors, int kVectors, class Epilogue>
class Blocks {
 public:
  // The tiles of rows [first, end), a multiple of kRowTiles, by each panel in turn. Tiles of an odd
  // number of lines, and blocks of one pass for several tiles, take one panel only.
  __attribute__((noinline)) static void Run(const BlockArgs& args, RowTiles tiles, int first,
                                            int end, const Epilogue& epilogue) {
    const DepthSteps depth(args.groups);
    const int steps = depth.count;
    const int rest = depth.rest;
    const ptrdiff_t step_bytes = depth.groups * 4;                           // of a row
    const int pairs = (kPassTiles * tiles.lines() / 2 + steps - 1) / steps;  // that a step finishes
    Memory memory(tiles.lines());
    auto finish = epilogue(0);
    NextPanels next_panels(args, (end - first) / kRowTiles);
    Block coming(first);
    PassTiles waiting(coming);
    Place place = memory.PlaceOf(coming, 0, 0);  // at first for nothing: it is written over
    // Products wait for the addresses of their operands: those of a block are made before the
    // products of the one before.
    Sources coming_from = SourcesOf(args, tiles, coming);
    for (int lead = 0; coming.tile < end;) {
      const Block block = coming;
      const Sources from = coming_from;
      if (block.panel == 0 && rest != 0) memory.CopyTails(from.rows, args.groups, rest);
      coming.Next(args.panel_count);
      coming_from = SourcesOf(args, tiles, coming);
      for (int pass = 0; pass < kPasses; ++pass) {
        const int vector = pass * kPassVectors;
        if (args.panel_count > 1) std::construct_at(&finish, epilogue(waiting.block.panel));
        // The block before is in memory once the first pass of this one has begun: its rows are
        // finished from the next pass on.
        Pairs ready{};
        if (lead <= kPasses) {
          ++lead;
        } else {
          ready = PairsOf(args, tiles, memory, waiting);
          waiting.Next(args.panel_count);
        }
        const int8_t* panel = from.panel + vector * kTileLineBytes;
        for (int step = 0; step < steps; ++step, panel += step_bytes * (kGroupBytes / 4)) {
          if (step == 0) {
            BeginPass(from.rows, panel, from.offset + vector * kTileLanes, place);
            place = memory.PlaceOf(block, 0, vector);
          } else if (step == steps - 1 && rest != 0) {
            Multiply(memory.Tails(args.signed_rows), panel - (kStepGroups - rest) * kGroupBytes);
          } else if (args.streams == Streams::kPanels) {
            Multiply<Streams::kPanels>(from.rows.At(step * step_bytes), panel);
          } else if (kRowTiles == 1 && args.streams == Streams::kRows) {
            Multiply<Streams::kRows>(from.rows.At(step * step_bytes), panel);
          } else {
            Multiply(from.rows.At(step * step_bytes), panel);
          }
          if (kRowTiles == 1 && args.fetch_rows) {
            FetchRows(coming_from.rows.At(step * step_bytes), tiles.lines());
          }
          if constexpr (kVectors == kWholePanel) next_panels.Fetch();
          ready.Advance(finish, pairs);
        }
      }
    }
    Store(place, kEach);
    for (; waiting.block.tile < end; waiting.Next(args.panel_count)) {
      const int panel = waiting.block.panel;
      for (int i = waiting.first; i < waiting.first + kPassTiles; ++i) {
        const int row = tiles.First(waiting.block.tile + i);
        FinishTile<kVectors>(epilogue, panel, memory.PlaceOf(waiting.block, i, 0).sums,
                             tiles.lines(), row, DstOf(args, panel, row), args.dst_stride);
      }
    }
  }

 private:
  static constexpr int kPasses = kVectors / kPassVectors;
  static constexpr int kPassTiles = kRowTiles / kPasses;  // that are finished in a pass
  static constexpr int kWidth = kVectors * kTileLanes;
  static constexpr ptrdiff_t kGroupBytes = kVectors * kTileLineBytes;
  static constexpr auto kEach = std::make_index_sequence<kRowTiles * kPassVectors>();

  // Two of each kind, which take turns where a block has more.
  static constexpr int RowRegister(int r) { return kFirstRows + r % 2; }
  static constexpr int PanelRegister(int v) { return kFirstPanel + v % 2; }

  // In the order of computing. Their accumulators take turns in two places.
  struct Block {
    int tile;
    int panel = 0;
    int turn = 0;

    explicit Block(int first_tile) : tile(first_tile) {}
    INTAGLIO_INLINE void Next(int panels) {
      turn ^= 1;
      if (++panel < panels) return;
      panel = 0;
      tile += kRowTiles;
    }
  };

  // The tiles of a block that are finished in one pass.
  struct PassTiles {
    Block block;
    int first = 0;  // of the block's

    explicit PassTiles(const Block& first_block) : block(first_block) {}
    INTAGLIO_INLINE void Next(int panels) {
      first += kPassTiles;
      if (first < kRowTiles) return;
      first = 0;
      block.Next(panels);
    }
  };

  // One depth step of the rows of each tile.
  struct Operands {
    const char* row[kRowTiles];
    ptrdiff_t stride;
    bool are_signed;

    INTAGLIO_INLINE Operands At(ptrdiff_t bytes) const {
      Operands at = *this;
      for (int r = 0; r < kRowTiles; ++r) at.row[r] += bytes;
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

  // Brings the lines of a tile that comes later into L2.
  static INTAGLIO_INLINE void FetchRows(const Operands& rows, int lines) {
    const char* line = rows.row[0];
    for (; lines > 0; --lines, line += rows.stride) _mm_prefetch(line, _MM_HINT_T1);
  }

  // Brings panels into L2 line after line, each while the one before is multiplied for the first
  // time: from beyond L2 lines that lie apart, as those of a tile do, arrive at half the rate.
  // Narrower panels have none behind them.
  class NextPanels {
   public:
    INTAGLIO_INLINE NextPanels(const BlockArgs& args, int blocks)
        : line_(args.panel + args.groups * kGroupBytes), end_(line_) {
      if (!args.fetch_ahead) return;
      const bool in_turn = args.panel_count > 1;
      end_ += std::min(in_turn ? args.panel_count : 1, args.panels_left - 1) * args.groups *
              kGroupBytes;
      const int passes = kPasses * (in_turn ? 1 : blocks);
      const int lines = (kStepGroups * kVectors + passes - 1) / passes;
      step_ = std::max<ptrdiff_t>(lines, kStepGroups) * kTileLineBytes;
    }

    INTAGLIO_INLINE void Fetch() {
      if (__builtin_expect(line_ == end_, 1)) return;
      const int8_t* const end = line_ + std::min(step_, end_ - line_);
      for (; line_ < end; line_ += kTileLineBytes) _mm_prefetch(line_, _MM_HINT_T1);
    }

   private:
    const int8_t* line_;
    const int8_t* end_;
    ptrdiff_t step_ = 0;  // bytes, of a step of depth
  };

  // What a block is the product of.
  struct Sources {
    Operands rows;
    const int8_t* panel;
    const int32_t* offset;
  };
  static INTAGLIO_INLINE Sources SourcesOf(const BlockArgs& args, const RowTiles& tiles,
                                           const Block& block) {
    return {RowsOf(args, tiles, block.tile), args.panel + block.panel * args.groups * kGroupBytes,
            static_cast<const typename Epilogue::Params*>(args.params)[block.panel].offset};
  }

  // Where accumulators are stored, and how far from one tile of rows to the next.
  struct Place {
    int32_t* sums;
    int tile_size;
  };

  struct Memory {
    int lines;  // of a tile
    // Of two blocks, one of which is finished while the other is multiplied.
    alignas(64) int32_t places[2][kRowTiles * kTileLines * kWidth];
    alignas(64) char tails[kRowTiles * kTileLines][kTileLineBytes];

    explicit INTAGLIO_INLINE Memory(int tile_lines) : lines(tile_lines) {}

    // Where the accumulators of one of a block's tiles of rows are stored, from a vector on.
    INTAGLIO_INLINE Place PlaceOf(const Block& block, int tile, int vector) {
      // Those that are finished in one pass lie one behind the other.
      const int tile_size = (kPassTiles == 1 ? kTileLines : lines) * kWidth;
      return {places[block.turn] + tile * tile_size + vector * kTileLanes, tile_size};
    }

    // A depth that is no multiple of the step ends with a step of its last groups, in which those
    // that were multiplied before are zero: nothing beyond rows and panel is read.
    INTAGLIO_INLINE void CopyTails(const Operands& rows, int groups, int rest) {
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
                                        const int32_t* offset, const Place& place) {
    AddProducts<true, Streams::kNothing>(rows, panel, offset, place);
  }
  template <Streams kStreams = Streams::kNothing>
  static INTAGLIO_INLINE void Multiply(const Operands& rows, const int8_t* panel) {
    AddProducts<false, kStreams>(rows, panel, nullptr, {});
  }

  template <bool kFirst, Streams kStreams>
  static INTAGLIO_INLINE void AddProducts(const Operands& rows, const int8_t* panel,
                                          const int32_t* offset, const Place& place) {
    if (rows.are_signed) {
      AddProducts<true, kFirst, kStreams>(rows, panel, offset, place, kEach);
    } else {
      AddProducts<false, kFirst, kStreams>(rows, panel, offset, place, kEach);
    }
  }

  template <bool kSigned, bool kFirst, Streams kStreams, size_t... kAt>
  static INTAGLIO_INLINE void AddProducts(const Operands& rows, const int8_t* panel,
                                          const int32_t* offset, const Place& place,
                                          std::index_sequence<kAt...>) {
    (AddProduct<kSigned, kFirst, kStreams, kAt / kPassVectors, kAt % kPassVectors>(rows, panel,
                                                                                   offset, place),
     ...);
  }
  template <bool kSigned, bool kFirst, Streams kStreams, int kRow, int kVector>
  static INTAGLIO_INLINE void AddProduct(const Operands& rows, const int8_t* panel,
                                         const int32_t* offset, const Place& place) {
    constexpr int kAcc = kRow * kPassVectors + kVector;
    if constexpr (kVector == 0) {
      LoadTile<RowRegister(kRow), kStreams == Streams::kRows>(rows.row[kRow], rows.stride);
    }
    if constexpr (kRow == 0) {
      LoadTileBy<PanelRegister(kVector), kGroupBytes, kStreams == Streams::kPanels>(
          panel + kVector * kTileLineBytes);
    }
    if constexpr (kFirst) {
      StoreOne<kRow, kVector>(place);
      LoadTileOfOneLine<kAcc>(offset + kVector * kTileLanes);
    }
    DotTiles<kAcc, RowRegister(kRow), PanelRegister(kVector), kSigned>();
  }

  template <size_t... kAt>
  static INTAGLIO_INLINE void Store(const Place& place, std::index_sequence<kAt...>) {
    (StoreOne<kAt / kPassVectors, kAt % kPassVectors>(place), ...);
  }
  template <int kRow, int kVector>
  static INTAGLIO_INLINE void StoreOne(const Place& place) {
    StoreTileBy<kRow * kPassVectors + kVector, kWidth * sizeof(int32_t)>(
        place.sums + kRow * place.tile_size + kVector * kTileLanes);
  }

  // Pairs of rows that are ready to be finished.
  struct Pairs {
    const int32_t* sums;
    char* dst;
    ptrdiff_t dst_step;
    int row;
    int left;

    template <class Finish>
    INTAGLIO_INLINE void Advance(const Finish& finish, int pairs) {
      pairs = std::min(pairs, left);
      left -= pairs;
      for (; pairs > 0; --pairs, sums += 2 * kWidth, dst += dst_step, row += 2) {
        finish(sums, row, dst);
      }
    }
  };
  static INTAGLIO_INLINE Pairs PairsOf(const TileArgs& args, const RowTiles& tiles, Memory& memory,
                                       const PassTiles& waiting) {
    const int row = tiles.First(waiting.block.tile + waiting.first);
    return {memory.PlaceOf(waiting.block, waiting.first, 0).sums,
            DstOf(args, waiting.block.panel, row), 2 * args.dst_stride, row,
            kPassTiles * tiles.lines() / 2};
  }
  static INTAGLIO_INLINE char* DstOf(const TileArgs& args, int panel, int row) {
    return static_cast<char*>(args.dst) + row * args.dst_stride +
           panel * kWidth * static_cast<ptrdiff_t>(SizeOf(args.epilogue.output));
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_BLOCKS_AMX_H_
