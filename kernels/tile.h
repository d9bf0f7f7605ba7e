// The loop of every micro-kernel, over a kernel vocabulary V that has, beside what finish.h names,
//   kMaxVectors, kMaxRows, kDepthStep, kRowBytes (of one depth group of a row)
//   LoadPanel(const int8_t*)      one vector of one depth group
//   LoadRow(const void*)          one depth group of a row, in every lane
//   Dot(acc, panel, row)          acc + the products of a group, summed; exact for all operands
//   Keep(acc)                     keeps g++ from spilling accumulators inside the loop
// or, in place of these, AddDepth(args, rows, acc), a loop of its own over the whole depth of the
// tile of these rows, whose accumulators hold the offsets of args.params; and, where they pay,
//   ByteStore                     of finish_pairs.h; kMaxRows is six (row_cut.h)
//   kTakesWindows                 rows may be given by TileArgs::windows
//   kWidens                       LoadPanel is more than a load: its results are kept for all rows
//   kSharesTails                  tiles of fewer rows are finished in code that they share
#ifndef INTAGLIO_KERNELS_TILE_H_
#define INTAGLIO_KERNELS_TILE_H_

#include <atomic>
#include <type_traits>
#include <utility>

#include "intaglio/kernels/finish.h"
#include "intaglio/kernels/finish_pairs.h"
#include "intaglio/kernels/kernel.h"
#include "intaglio/kernels/row_cut.h"
#include "intaglio/kernels/widened_panel.h"
#include "intaglio/kernels/zero_point_terms.h"

namespace intaglio {

// How products read a panel, vector j of one depth group after the other.
template <class V, int kVectors>
struct AsPacked {
  static constexpr ptrdiff_t kVectorBytes = V::kLanes * V::kDepthStep;
  const int8_t* at;

  INTAGLIO_INLINE typename V::Operand Load(int j) const {
    return V::LoadPanel(at + j * kVectorBytes);
  }
  INTAGLIO_INLINE void Next() { at += kVectors * kVectorBytes; }

  // Asks for what is read 2 KiB later: hardware does not see the stream soon enough where it comes
  // from beyond L2.
  INTAGLIO_INLINE void FetchAhead() const {
    INTAGLIO_UNROLL
    for (ptrdiff_t i = 0; i < kVectors * kVectorBytes; i += 64) __builtin_prefetch(at + 2048 + i);
  }
};

// Adds the products of one depth group, `at` bytes into the rows.
template <class V, bool kFetchAhead, class Panel, int kVectors, int kRows>
INTAGLIO_INLINE void AddGroup(Panel& panel, const char* const (&row)[kRows], ptrdiff_t at,
                              typename V::I32 (&acc)[kRows][kVectors]) {
  if constexpr (kFetchAhead) panel.FetchAhead();
  typename V::Operand weights[kVectors];
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) weights[j] = panel.Load(j);
  panel.Next();
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const typename V::Operand x = V::LoadRow(row[r] + at);
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      acc[r][j] = V::Dot(acc[r][j], weights[j], x);
      V::Keep(acc[r][j]);
    }
  }
}

// Adds the products of the depth groups from `at` up to `end` bytes into the rows. Slim tiles, as
// of GEMV, take turns with a second set of accumulators, so that a group's products do not wait for
// those of the group before.
//
// The loop tests at its end whatever is around it: with a jump back to a test at its beginning it
// takes more than twice as long (Zen 4).
template <class V, bool kFetchAhead, class Panel, int kVectors, int kRows, int kOdd>
INTAGLIO_INLINE void AddGroups(Panel& panel, const char* const (&row)[kRows], ptrdiff_t at,
                               ptrdiff_t end, typename V::I32 (&acc)[kRows][kVectors],
                               typename V::I32 (&odd)[kOdd][kVectors]) {
  if constexpr (kOdd == kRows) {
    for (; at + 2 * V::kRowBytes <= end; at += 2 * V::kRowBytes) {
      AddGroup<V, kFetchAhead>(panel, row, at, acc);
      // Hardware follows a stream from beyond L2 that is read in order (Zen 4: a fifth faster).
      std::atomic_signal_fence(std::memory_order_acq_rel);
      AddGroup<V, kFetchAhead>(panel, row, at + V::kRowBytes, odd);
      std::atomic_signal_fence(std::memory_order_acq_rel);
    }
    for (; at < end; at += V::kRowBytes) AddGroup<V, kFetchAhead>(panel, row, at, acc);
  } else {
    do {
      AddGroup<V, kFetchAhead>(panel, row, at, acc);
      at += V::kRowBytes;
    } while (at < end);
  }
}

// Whether a vocabulary has a loop of its own.
template <class V>
inline constexpr bool kAddsDepth = requires(const TileArgs& args, typename V::I32 (&acc)[1][1]) {
  V::AddDepth(args, args.rows, acc);
};

template <class V>
inline constexpr bool kTakesWindows = requires {
  requires V::kTakesWindows;
};

// Where a tile's rows begin.
template <bool kWindows>
class TileRows {
 public:
  explicit INTAGLIO_INLINE TileRows(const TileArgs& args, int row)
      : at_(static_cast<const char*>(args.rows)),
        stride_(args.row_stride),
        begin_(args.windows.begin),
        first_(0) {
    Advance(row);
  }
  INTAGLIO_INLINE void Advance(int count) {
    at_ += count * stride_;
    if (kWindows && begin_ != nullptr) begin_ += count;
    first_ += count;
  }
  template <int kRows>
  INTAGLIO_INLINE void Find(const char* (&row)[kRows]) const {
    if (kWindows && begin_ != nullptr) {
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) row[r] = at_ + begin_[r];
      return;
    }
    row[0] = at_;
    INTAGLIO_UNROLL
    for (int r = 1; r < kRows; ++r) row[r] = r == 1 ? at_ + stride_ : row[r - 2] + 2 * stride_;
  }

  const char* at() const { return at_; }  // of plain rows
  int first() const { return first_; }    // of the call's rows

 private:
  const char* at_;
  ptrdiff_t stride_;  // 0 of windows
  const int32_t* begin_;
  int first_;
};

// Plain loops, here and below: what a lambda refers to through the reference to the accumulators,
// g++ 12 leaves in memory.

// acc = offsets + zero-point terms + products of kRows rows.
template <class V, bool kFetchAhead, int kVectors, int kRows, class Panel, bool kWindows>
INTAGLIO_INLINE void Accumulate(const TileArgs& args, const ParamsOf<V>& params, Panel panel,
                                const TileRows<kWindows>& rows,
                                typename V::I32 (&acc)[kRows][kVectors]) {
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) acc[r][j] = V::Load(params.offset + j * V::kLanes);
  }
  if constexpr (kAddsDepth<V>) {
    V::AddDepth(args, rows.at(), acc);
    AddZeroPointTerms<V>(args, params, rows.first(), acc);
  } else {
    // Terms first: behind the loop they would take the registers that finish the tile.
    AddZeroPointTerms<V>(args, params, rows.first(), acc);
    const char* row[kRows];
    rows.Find(row);
    constexpr bool kSlim = kRows * kVectors < 8;
    typename V::I32 odd[kSlim ? kRows : kRows + 1][kVectors];
    if constexpr (kSlim) {
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) odd[r][j] = V::Set(0);
      }
    }
    const ptrdiff_t bytes = ptrdiff_t{args.groups} * V::kRowBytes;
    ptrdiff_t at = 0;
    for (int line = 1; bytes != 0; ++line, at += args.windows.line_step) {
      AddGroups<V, kFetchAhead>(panel, row, at, at + bytes, acc, odd);
      if (!kWindows || line >= args.windows.lines) break;
    }
    if constexpr (kSlim) {
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) acc[r][j] = V::Add(acc[r][j], odd[r][j]);
      }
    }
  }
}

// Whether a vocabulary stores single rows of bytes, of either sign, by one instance.
template <class V>
inline constexpr bool kStoresRows = requires {
  &V::template ByteStore<true>::template StoreRow<V::kMaxVectors>;
};

// A single row, as of GEMV, scaled in one way to bytes: the panels of the call from `first` on that
// are. Returns the first of the others. A function of its own, as ComputeTiles is: by way of memory
// the next panel's reads would wait, up to a seventh of the time.
template <class V, bool kFetchAhead, int kVectors, class Form>
__attribute__((noinline)) int ComputeRow(const TileArgs& args, int first) {
  constexpr ptrdiff_t kGroupBytes = kVectors * V::kLanes * V::kDepthStep;
  const ptrdiff_t panel_bytes = args.groups * kGroupBytes;
  const ParamsOf<V>* const all = ParamsIn<V>(args);
  const ScalingForm form = all[first].form;
  const ByteStoreOf<V, Form> store(args.epilogue);
  const TileRows<false> row(args, 0);
  do {
    const ParamsOf<V>& params = all[first];
    typename V::I32 acc[1][kVectors];
    Accumulate<V, kFetchAhead>(args, params,
                               AsPacked<V, kVectors>{args.panel + first * panel_bytes}, row, acc);
    ScaleRows<V>(Form(), params, acc, 0);
    store.template StoreRow<kVectors>(
        static_cast<char*>(args.dst) + ptrdiff_t{first} * kVectors * V::kLanes, acc[0]);
    ++first;
  } while (first < args.panel_count && all[first].form == form);
  return first;
}

template <class V, int kVectors, class Form>
int ComputeRow(const TileArgs& args, int first) {
  if (args.fetch_ahead) return ComputeRow<V, true, kVectors, Form>(args, first);
  return ComputeRow<V, false, kVectors, Form>(args, first);
}

// The same in the way of panel `first`, if it is one of those that FULLY_CONNECTED is met with;
// else that is the first of the others.
template <class V, int kVectors>
int ComputeRow(const TileArgs& args, int first) {
  if (SizeOf(args.epilogue.output) != 1) return first;
  switch (ParamsIn<V>(args)[first].form) {
    case ScalingForm::kSingleRoundingBounded:
      return ComputeRow<V, kVectors, SingleBounded<V>>(args, first);
    case ScalingForm::kFloatHalfEvenBounded:
      return ComputeRow<V, kVectors, HalfEvenBounded<V>>(args, first);
    default:
      return first;
  }
}

// A tile of at most kRows rows, any scaling and output.
template <class V, int kVectors, int kRows>
void ComputeTile(const TileArgs& args, int first, int count) {
  if constexpr (kRows > 1) {
    if (count < kRows) return ComputeTile<V, kVectors, kRows - 1>(args, first, count);
  }
  typename V::I32 acc[kRows][kVectors];
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  const AsPacked<V, kVectors> panel{args.panel};
  const TileRows<false> rows(args, first);
  // Panels of fewer vectors are the edges of matrices, which count for single rows alone.
  constexpr bool kFetches = !kAddsDepth<V> && (kVectors == V::kMaxVectors || kRows == 1);
  if (kFetches && args.fetch_ahead && first == 0) {
    Accumulate<V, kFetches>(args, params, panel, rows, acc);
  } else {
    Accumulate<V, false>(args, params, panel, rows, acc);
  }
  if constexpr (kByMemory<V, kRows>) {
    if constexpr (kRows == 1 && kVectors == V::kMaxVectors && !kStoresRows<V>) {
      // FULLY_CONNECTED of one row, of which the way by memory would be a tenth.
      if (params.form == ScalingForm::kSingleRoundingBounded &&
          args.epilogue.output == Type::kInt8) {
        ScaleRows<V>(SingleBounded<V>(), params, acc, 0);
        V::template StoreBytes<kVectors, true>(
            static_cast<char*>(args.dst) + first * args.dst_stride, acc[0],
            args.epilogue.zero_point, args.epilogue.clamp_min, args.epilogue.clamp_max);
        return;
      }
    }
    FinishByMemory<V>(params, args.epilogue, acc,
                      static_cast<char*>(args.dst) + first * args.dst_stride, args.dst_stride);
  } else {
    char* dst = static_cast<char*>(args.dst) + first * args.dst_stride;
    if constexpr (kTakesMultiplyAdd<V>) {
      if (params.form == ScalingForm::kMultiplyAdd) {
        return StoreMultiplyAdd<V>(params, args.epilogue, acc, dst, args.dst_stride);
      }
    }
    ApplyScaling<V, kVectors, kRows>(params, acc);
    StoreRows<V, kVectors, kRows>(args.epilogue, acc, dst, args.dst_stride);
  }
}

// A single row by all panels of the call (Kernel::takes_panels_of_row).
template <class V, int kVectors>
void ComputePanels(const TileArgs& args) {
  int done = ComputeRow<V, kVectors>(args, 0);
  while (done < args.panel_count) {
    TileArgs panel = args;
    SkipPanels<ParamsOf<V>>(panel, done, V::kLanes, V::kDepthStep);
    ComputeTile<V, kVectors, 1>(panel, 0, 1);
    done = done + 1 < args.panel_count ? ComputeRow<V, kVectors>(args, done + 1) : done + 1;
  }
}

// The rows from `first` up to `last` by tiles of kRows, scaled and stored in one way; the last tile
// begins within the one before where rows are left over. The choice of the way lies outside of all
// loops, and each is a function of its own: otherwise g++ 12 keeps accumulators in memory.
//
// A full scheduler admits the next tile's instructions late, and then its first products wait for
// their addresses: pointers take one addition from tile to tile.
template <class V, class Store, int kRows, class Panel, class Form, size_t... kVector>
__attribute__((noinline)) void ComputeTiles(const TileArgs& args, Panel panel, int first, int last,
                                            Form form, std::index_sequence<kVector...>) {
  constexpr int kVectors = sizeof...(kVector);
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  using Scaled = decltype(form(params, 0));
  const Scaled scaled[] = {form(params, static_cast<int>(kVector) * V::kLanes)...};
  const Store store(args.epilogue);
  const ptrdiff_t dst_stride = args.dst_stride;
  const int start = first + kRows <= last ? first : last - kRows;
  auto* dst = static_cast<char*>(args.dst) + start * dst_stride;
  TileRows<kTakesWindows<V>> rows(args, start);
  for (int left = last - start;;) {
    typename V::I32 acc[kRows][kVectors];
    Accumulate<V, false>(args, params, panel, rows, acc);
    FinishPairs(store, acc, scaled, dst, dst_stride);
    left -= kRows;
    if (left <= 0) return;
    if (__builtin_expect(left >= kRows, 1)) {
      rows.Advance(kRows);
      dst += kRows * dst_stride;
    } else {
      rows.Advance(left);
      dst += left * dst_stride;
      left = kRows;
    }
  }
}

// The same for both sizes of tiles, with the panel's operands kept where that pays.
template <class V, class Store, int kVectors, class Form>
INTAGLIO_INLINE bool RunTiles(const TileArgs& args, int first, RowCut cut, Form form) {
  static_assert(V::kMaxRows == 6);
  const auto run = [&](auto panel, int from, int to) {
    ComputeTiles<V, Store, 6>(args, panel, from, to, form, std::make_index_sequence<kVectors>());
  };
  const AsPacked<V, kVectors> packed{args.panel};
  const int fours = first + cut.six;
  if (cut.six > 0 && !RunWidened<V, kVectors>(args, packed, first, fours, run)) {
    run(packed, first, fours);
  }
  if constexpr (kVectors == V::kMaxVectors && !std::is_same_v<Store, WordStore<V>>) {
    if (cut.four > 0) {
      ComputeTiles<V, Store, 4>(args, packed, fours, fours + cut.four, form,
                                std::make_index_sequence<kVectors>());
    }
  }
  return true;
}

// Computes these tiles if they are finished in a way that is worth code of its own.
template <class V, int kVectors>
bool ComputeWholeTiles(const TileArgs& args, int first, RowCut cut) {
  if (SizeOf(args.epilogue.output) == 1) {
    return WithBoundedScaling<V, kVectors>(*args.params, [&](auto bounded) {
      return RunTiles<V, ByteStoreOf<V, decltype(bounded)>, kVectors>(args, first, cut, bounded);
    });
  }
  if constexpr (kVectors > 1) {
    if (!StoresPlainWords(args.epilogue)) return false;
    const ScalingForm form = args.params->form;
    if (form == ScalingForm::kNone) {
      return RunTiles<V, WordStore<V>, kVectors>(args, first, cut, Unscaled<V>());
    }
    if constexpr (kVectors == V::kMaxVectors) {
      if (form == ScalingForm::kToFloat) {
        return RunTiles<V, WordStore<V>, kVectors>(args, first, cut, ToReal<V>());
      }
    }
  }
  return false;
}

// The entry of a kernel: finds the instance for the panel's vectors and the number of rows.
template <class V, int kVectors = V::kMaxVectors>
void Tile(const TileArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return Tile<V, kVectors / 2>(args);
  }
  constexpr int kRows = V::kMaxRows;
  if constexpr (kVectors == V::kMaxVectors && kStoresRows<V>) {
    if (args.row_count == 1) return ComputePanels<V, kVectors>(args);
  }
  int first = 0;
  if constexpr (kStoresPairs<V>) {
    const bool windows = kTakesWindows<V> && args.windows.begin != nullptr;
    if (args.fetch_ahead && !windows) {
      ComputeTile<V, kVectors, kRows>(args, 0, args.row_count);
      first = kRows;
    }
    const int count = args.row_count - first;
    const bool fours = kVectors == V::kMaxVectors && SizeOf(args.epilogue.output) == 1;
    const RowCut cut = windows ? CutWindows(count, fours)
                       : fours ? CutRows(count, args.groups)
                               : CutBySixes(count, args.groups);
    const int rows = cut.six + cut.four;
    if (rows > 0 && ComputeWholeTiles<V, kVectors>(args, first, cut)) first += rows;
  }
  for (; first < args.row_count; first += kRows) {
    ComputeTile<V, kVectors, kRows>(args, first, args.row_count - first);
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_H_
