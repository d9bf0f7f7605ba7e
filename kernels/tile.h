// The loop of every micro-kernel, over a kernel vocabulary V that has, beside what finish.h names,
//   kMaxVectors, kMaxRows, kDepthStep, kRowBytes (of one depth group of a row)
//   LoadPanel(const int8_t*)      one vector of one depth group
//   LoadRow(const void*)          one depth group of a row, in every lane
//   Dot(acc, panel, row)          acc + the products of a group, summed; exact for all operands
//   Keep(acc)                     keeps g++ from spilling accumulators inside the loop
// or, in place of these, AddDepth(args, rows, acc), a loop of its own over the whole depth of the
// tile of these rows, whose accumulators hold the offsets of args.params; and, where they pay,
//   kStoresPairs                  it has StoreBytePair, and kMaxRows is even
//   kWidens                       LoadPanel is more than a load: its results are kept for all rows
#ifndef INTAGLIO_KERNELS_TILE_H_
#define INTAGLIO_KERNELS_TILE_H_

#include <cstring>
#include <utility>

#include "intaglio/kernels/finish.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio {

// How products read a panel, vector j of one depth group after the other: as it was packed,
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

// as operands, which took the instructions to make them before,
template <class V, int kVectors>
struct AsOperands {
  const typename V::Operand* at;

  INTAGLIO_INLINE typename V::Operand Load(int j) const { return at[j]; }
  INTAGLIO_INLINE void Next() { at += kVectors; }
};

// or as packed, leaving the operands for others.
template <class V, int kVectors>
struct MakingOperands {
  AsPacked<V, kVectors> packed;
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

// Plain loops, here and below: what a lambda refers to through the reference to the accumulators,
// g++ 12 leaves in memory.

// acc += what the panel side's zero points ask of kRows rows from `first` on.
template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void AddZeroPointTerms(const TileArgs& args, int first,
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
        const I32 zero_point = V::Load(args.params->negative_zero_point + j * V::kLanes);
        acc[r][j] = V::Add(acc[r][j], V::Mul(zero_point, row_sum));
      }
    }
  }
}

// acc = offsets + products + zero-point terms of kRows rows from `first` on.
template <class V, bool kFetchAhead, int kVectors, int kRows, class Panel>
INTAGLIO_INLINE void Accumulate(const TileArgs& args, Panel panel, int first,
                                typename V::I32 (&acc)[kRows][kVectors]) {
  const PanelParams& params = *args.params;

  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) acc[r][j] = V::Load(params.offset + j * V::kLanes);
  }
  if constexpr (requires { V::AddDepth(args, args.rows, acc); }) {
    V::AddDepth(args, static_cast<const char*>(args.rows) + first * args.row_stride, acc);
  } else {
    const char* row[kRows];
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      row[r] = static_cast<const char*>(args.rows) + (first + r) * args.row_stride;
    }
    const ptrdiff_t end = ptrdiff_t{args.groups} * V::kRowBytes;
    ptrdiff_t at = 0;
    if constexpr (kRows * kVectors < 8) {
      // GEMV and other slim tiles: a second set of accumulators, so that a group's products do not
      // wait for those of the group before.
      typename V::I32 odd[kRows][kVectors];
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) odd[r][j] = V::Set(0);
      }
      for (; at + 2 * V::kRowBytes <= end; at += 2 * V::kRowBytes) {
        AddGroup<V, kFetchAhead>(panel, row, at, acc);
        AddGroup<V, kFetchAhead>(panel, row, at + V::kRowBytes, odd);
      }
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) acc[r][j] = V::Add(acc[r][j], odd[r][j]);
      }
    }
    for (; at < end; at += V::kRowBytes) AddGroup<V, kFetchAhead>(panel, row, at, acc);
  }
  AddZeroPointTerms<V>(args, first, acc);
}

// A tile of at most kRows rows, any scaling and output.
template <class V, int kVectors, int kRows>
void ComputeTile(const TileArgs& args, int first, int count) {
  if constexpr (kRows > 1) {
    if (count < kRows) return ComputeTile<V, kVectors, kRows - 1>(args, first, count);
  }
  typename V::I32 acc[kRows][kVectors];
  const AsPacked<V, kVectors> panel{args.panel};
  if (args.fetch_ahead && first == 0) {
    Accumulate<V, true>(args, panel, first, acc);
  } else {
    Accumulate<V, false>(args, panel, first, acc);
  }
  ApplyScaling<V, kVectors, kRows>(*args.params, acc);
  StoreRows<V, kVectors, kRows>(
      args.epilogue, acc, static_cast<char*>(args.dst) + first * args.dst_stride, args.dst_stride);
}

// The tiles of bytes from row `first` up to `last`. The switch over the scalings lies outside of
// all loops, and each of them is a function of its own: otherwise g++ 12 keeps accumulators in
// memory.
template <class V, class Panel, class Make, size_t... kVector>
__attribute__((noinline)) void ComputeByteTiles(const TileArgs& args, Panel panel, int first,
                                                int last, const Make& make,
                                                std::index_sequence<kVector...>) {
  constexpr int kVectors = sizeof...(kVector);
  const decltype(make(0)) scaled[] = {make(static_cast<int>(kVector) * V::kLanes)...};
  for (int r = first; r < last; r += V::kMaxRows) {
    typename V::I32 acc[V::kMaxRows][kVectors];
    Accumulate<V, false>(args, panel, r, acc);
    FinishBytes<V>(args.epilogue, acc, scaled, static_cast<char*>(args.dst) + r * args.dst_stride,
                   args.dst_stride);
  }
}

// The entry of a kernel: finds the instance for the panel's vectors and the number of rows.
template <class V, int kVectors = V::kMaxVectors>
void Tile(const TileArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return Tile<V, kVectors / 2>(args);
  }
  constexpr int kRows = V::kMaxRows;
  int first = 0;
  if constexpr (requires { V::kStoresPairs; }) {
    const bool bytes = args.epilogue.output == Type::kUInt8 || args.epilogue.output == Type::kInt8;
    const int last = bytes ? args.row_count / kRows * kRows : 0;
    const bool done = last > 0 && WithBoundedScaling<V>(*args.params, [&](const auto& make) {
                        constexpr auto kEach = std::make_index_sequence<kVectors>();
                        const AsPacked<V, kVectors> packed{args.panel};
                        if constexpr (requires { V::kWidens; }) {
                          auto* operands = static_cast<typename V::Operand*>(args.operands);
                          if (operands != nullptr && last > kRows) {
                            ComputeByteTiles<V>(args, MakingOperands<V, kVectors>{packed, operands},
                                                0, kRows, make, kEach);
                            ComputeByteTiles<V>(args, AsOperands<V, kVectors>{operands}, kRows,
                                                last, make, kEach);
                            return;
                          }
                        }
                        ComputeByteTiles<V>(args, packed, 0, last, make, kEach);
                      });
    if (done) first = last;
  }
  for (; first < args.row_count; first += kRows) {
    ComputeTile<V, kVectors, kRows>(args, first, args.row_count - first);
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_H_
