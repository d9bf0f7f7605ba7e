// Blocks of tiles whose accumulators are the results: stored where they belong, over panels of one
// vector, whose channels stand in their own order.
//
// Nothing reads what was stored, so products never wait for stores that wait for L2.
#ifndef INTAGLIO_KERNELS_X86_WORD_BLOCKS_AMX_H_
#define INTAGLIO_KERNELS_X86_WORD_BLOCKS_AMX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "intaglio/kernels/x86/blocks_amx.h"

namespace intaglio {

// kRowTiles tiles of uint8 rows by kPanels panels at a time: as many products as the registers
// accumulate, at most.
// V, what the panels are of, is a type of one file: no other one gets this code.
template <int kRowTiles, int kPanels, class V>
class WordBlocks {
 public:
  // The tiles of rows [first, end), a multiple of kRowTiles and not none, by all panels of the
  // call, a multiple of kPanels. Their epilogue has nothing to do.
  __attribute__((noinline)) static void Run(const BlockArgs& args, const RowTiles& tiles, int first,
                                            int end) {
    const DepthSteps depth(args.groups);
    const ptrdiff_t row_step = ptrdiff_t{4} * depth.groups;
    const ptrdiff_t panel_step = ptrdiff_t{depth.groups} * kTileLineBytes;
    Tails tails;
    Place place = PlaceOf(args, tiles, first, 0);  // at first for nothing: it is written over
    for (int tile = first; tile < end; tile += kRowTiles) {
      const Rows rows = RowsOf(args, tiles, tile);
      if (depth.rest != 0) tails.Copy(rows, tiles.lines(), args.groups, depth.rest);
      for (int panel = 0; panel < args.panel_count; panel += kPanels) {
        const Channels channels = ChannelsOf(args, panel);
        const Place next = PlaceOf(args, tiles, tile, panel);
        LinesToCome coming(next, RowsBetween(tiles, tile), depth.count);
        AddProducts<true>(rows, channels, place);
        place = next;
        coming.Fetch();
        for (int step = 1; step < depth.count; ++step) {
          const Channels at = channels.At(step * panel_step);
          if (step == depth.count - 1 && depth.rest != 0) {
            constexpr ptrdiff_t kGroupBytes = kTileLineBytes;
            AddProducts<false>(tails.rows(), at.At(-(kStepGroups - depth.rest) * kGroupBytes), {});
          } else {
            AddProducts<false>(rows.At(step * row_step), at, {});
          }
          coming.Fetch();
        }
      }
    }
    Store(place, kEach);
  }

 private:
  using Params = ParamsOf<V>;
  static_assert(kRowTiles <= 2 && kRowTiles * kPanels <= kAccumulators);
  static constexpr auto kEach = std::make_index_sequence<kRowTiles * kPanels>();

  struct Rows {
    const char* tile[kRowTiles];
    ptrdiff_t stride;

    INTAGLIO_INLINE Rows At(ptrdiff_t bytes) const {
      Rows at = *this;
      for (int r = 0; r < kRowTiles; ++r) at.tile[r] += bytes;
      return at;
    }
  };
  static INTAGLIO_INLINE Rows RowsOf(const BlockArgs& args, const RowTiles& tiles, int tile) {
    Rows rows;
    rows.stride = args.row_stride;
    for (int r = 0; r < kRowTiles; ++r) {
      rows.tile[r] = static_cast<const char*>(args.rows) + tiles.First(tile + r) * rows.stride;
    }
    return rows;
  }

  // One step of the depth of each panel, and what each begins with.
  struct Channels {
    const int8_t* panel;
    ptrdiff_t panel_bytes;
    const Params* params;

    INTAGLIO_INLINE Channels At(ptrdiff_t bytes) const {
      return {panel + bytes, panel_bytes, params};
    }
  };
  static INTAGLIO_INLINE Channels ChannelsOf(const BlockArgs& args, int panel) {
    const ptrdiff_t bytes = ptrdiff_t{args.groups} * kTileLineBytes;
    return {args.panel + panel * bytes, bytes, static_cast<const Params*>(args.params) + panel};
  }

  // Where accumulators belong.
  struct Place {
    char* tile[kRowTiles];
    ptrdiff_t stride;
  };
  static INTAGLIO_INLINE Place PlaceOf(const BlockArgs& args, const RowTiles& tiles, int tile,
                                       int panel) {
    Place place;
    place.stride = args.dst_stride;
    char* const dst = static_cast<char*>(args.dst) + ptrdiff_t{panel} * kTileLineBytes;
    for (int r = 0; r < kRowTiles; ++r) {
      place.tile[r] = dst + tiles.First(tile + r) * place.stride;
    }
    return place;
  }
  static INTAGLIO_INLINE int RowsBetween(const RowTiles& tiles, int tile) {
    return tiles.First(tile + kRowTiles - 1) + tiles.lines() - tiles.First(tile);
  }

  // The lines of a place, brought into L1 step by step before they are written: loads of operands
  // whose addresses agree with those of waiting stores in the low 12 bits wait, too.
  class LinesToCome {
   public:
    INTAGLIO_INLINE LinesToCome(const Place& place, int rows, int steps)
        : row_(place.tile[0]),
          stride_(place.stride),
          left_(rows),
          step_((rows + steps - 1) / steps) {}

    INTAGLIO_INLINE void Fetch() {
      const int count = std::min(step_, left_);
      left_ -= count;
      for (int i = 0; i < count; ++i, row_ += stride_) {
        INTAGLIO_UNROLL
        for (int v = 0; v < kPanels; ++v) _mm_prefetch(row_ + v * kTileLineBytes, _MM_HINT_T0);
      }
    }

   private:
    const char* row_;
    ptrdiff_t stride_;
    int left_;
    int step_;
  };

  // The last step of a depth that is no multiple of the step: its last groups, those that were
  // multiplied before as zeros.
  struct Tails {
    alignas(64) char lines[kRowTiles * kTileLines][kTileLineBytes];

    INTAGLIO_INLINE void Copy(const Rows& from, int count, int groups, int rest) {
      const __mmask64 kept = ~__mmask64{0} << (kStepGroups - rest) * 4;
      const ptrdiff_t at = ptrdiff_t{groups - kStepGroups} * 4;
      for (int r = 0; r < kRowTiles; ++r) {
        for (int line = 0; line < count; ++line) {
          _mm512_store_si512(lines[r * kTileLines + line],
                             _mm512_maskz_loadu_epi8(kept, from.tile[r] + line * from.stride + at));
        }
      }
    }
    INTAGLIO_INLINE Rows rows() const {
      Rows rows;
      rows.stride = kTileLineBytes;
      for (int r = 0; r < kRowTiles; ++r) rows.tile[r] = lines[r * kTileLines];
      return rows;
    }
  };

  // The first step of a block stores what the block before has left in an accumulator just before
  // it begins again with the offsets: the products of two blocks overlap.
  template <bool kFirst>
  static INTAGLIO_INLINE void AddProducts(const Rows& rows, const Channels& channels,
                                          const Place& before) {
    AddProducts<kFirst>(rows, channels, before, kEach);
  }
  template <bool kFirst, size_t... kAt>
  static INTAGLIO_INLINE void AddProducts(const Rows& rows, const Channels& channels,
                                          const Place& before, std::index_sequence<kAt...>) {
    (AddProduct<kFirst, kAt / kPanels, kAt % kPanels>(rows, channels, before), ...);
  }
  template <bool kFirst, int kRow, int kPanel>
  static INTAGLIO_INLINE void AddProduct(const Rows& rows, const Channels& channels,
                                         const Place& before) {
    constexpr int kSum = kRow * kPanels + kPanel;
    constexpr int kRowRegister = kFirstRows + kRow;
    // Panels take turns where there are more of them than registers.
    constexpr int kPanelRegister = kFirstPanel + kPanel % 2;
    if constexpr (kPanel == 0) LoadTile<kRowRegister>(rows.tile[kRow], rows.stride);
    if constexpr (kRow == 0) {
      LoadTileBy<kPanelRegister, kTileLineBytes, false>(channels.panel +
                                                        kPanel * channels.panel_bytes);
    }
    if constexpr (kFirst) {
      StoreOne<kRow, kPanel>(before);
      LoadTileOfOneLine<kSum>(channels.params[kPanel].offset);
    }
    DotTiles<kSum, kRowRegister, kPanelRegister, false>();
  }

  template <size_t... kAt>
  static INTAGLIO_INLINE void Store(const Place& place, std::index_sequence<kAt...>) {
    (StoreOne<kAt / kPanels, kAt % kPanels>(place), ...);
  }
  template <int kRow, int kPanel>
  static INTAGLIO_INLINE void StoreOne(const Place& place) {
    StoreTile<kRow * kPanels + kPanel>(place.tile[kRow] + kPanel * kTileLineBytes, place.stride);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_WORD_BLOCKS_AMX_H_
