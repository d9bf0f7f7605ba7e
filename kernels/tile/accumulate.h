// The loop over depth of every micro-kernel: what a kernel vocabulary V (tile.h) makes of one
// tile's rows and a panel.
#ifndef INTAGLIO_KERNELS_TILE_ACCUMULATE_H_
#define INTAGLIO_KERNELS_TILE_ACCUMULATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/kernels/tile/tile_args.h"

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

// Reads a panel as operands that were made before,
template <class V, int kVectors>
struct AsOperands {
  const typename V::Operand* at;

  INTAGLIO_INLINE typename V::Operand Load(int j) const { return at[j]; }
  INTAGLIO_INLINE void Next() { at += kVectors; }
};

// or as packed, leaving the operands for others.
template <class V, int kVectors, class Packed>
struct MakingOperands {
  Packed packed;
  typename V::Operand* operands;

  INTAGLIO_INLINE typename V::Operand Load(int j) const { return operands[j] = packed.Load(j); }
  INTAGLIO_INLINE void Next() {
    packed.Next();
    operands += kVectors;
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

// acc += what they ask of kRows rows from `first` on.
template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void AddZeroPointTerms(const TileArgs& args, const auto& params, int first,
                                       typename V::I32 (&acc)[kRows][kVectors]) {
  using I32 = typename V::I32;
  if (args.row_terms != nullptr) {
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const I32 term = V::Set(args.row_terms[first + r]);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) acc[r][j] = V::Add(acc[r][j], term);
    }
  }
  if (args.row_sums != nullptr) {
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const I32 row_sum = V::Set(args.row_sums[first + r]);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        const I32 zero_point = V::Load(params.negative_zero_point + j * V::kLanes);
        acc[r][j] = V::Add(acc[r][j], V::Mul(zero_point, row_sum));
      }
    }
  }
}

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

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_ACCUMULATE_H_
