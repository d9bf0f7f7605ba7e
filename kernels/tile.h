// The loop of every micro-kernel, over a kernel vocabulary V that has, beside what finish.h names,
//   kMaxVectors, kMaxRows, kDepthStep, kRowBytes (of one depth group of a row)
//   LoadPanel(const int8_t*)      one vector of one depth group
//   LoadRow(const void*)          one depth group of a row, in every lane
//   Dot(acc, panel, row)          acc + the products of a group, summed; exact for all operands
//   Keep(acc)                     keeps g++ from spilling accumulators inside the loop
// or, in their place, AddDepth(args, acc), a loop of its own.
#ifndef INTAGLIO_KERNELS_TILE_H_
#define INTAGLIO_KERNELS_TILE_H_

#include "intaglio/kernels/finish.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio {

// each(row, vector) for every accumulator of a tile.
template <int kVectors, int kRows, class Each>
INTAGLIO_INLINE void ForTile(const Each& each) {
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) each(r, j);
  }
}

// Asks for the kBytes of panels that are read 2 KiB later: hardware does not see the stream soon
// enough where it comes from beyond L2.
template <int kBytes>
INTAGLIO_INLINE void FetchAhead(const int8_t* panel) {
  INTAGLIO_UNROLL
  for (int i = 0; i < kBytes; i += 64) __builtin_prefetch(panel + 2048 + i);
}

// Adds the products of one depth group, `at` bytes into the rows.
template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void AddGroup(const int8_t* panel, const char* const (&row)[kRows], ptrdiff_t at,
                              typename V::I32 (&acc)[kRows][kVectors]) {
  typename V::Operand weights[kVectors];
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) {
    weights[j] = V::LoadPanel(panel + j * V::kLanes * V::kDepthStep);
  }
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

// acc += the products of the whole depth.
template <class V, bool kFetchAhead, int kVectors, int kRows>
INTAGLIO_INLINE void AddDepth(const TileArgs& args, typename V::I32 (&acc)[kRows][kVectors]) {
  constexpr int kGroupBytes = kVectors * V::kLanes * V::kDepthStep;
  const char* row[kRows];
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    row[r] = static_cast<const char*>(args.rows) + r * args.row_stride;
  }
  const int8_t* panel = args.panel;
  const ptrdiff_t end = ptrdiff_t{args.groups} * V::kRowBytes;
  ptrdiff_t at = 0;
  if constexpr (kRows * kVectors < 8) {
    // GEMV and other slim tiles: a second set of accumulators, so that a group's products do not
    // wait for those of the group before.
    typename V::I32 odd[kRows][kVectors];
    ForTile<kVectors, kRows>([&](int r, int j) { odd[r][j] = V::Set(0); });
    for (; at + 2 * V::kRowBytes <= end; at += 2 * V::kRowBytes, panel += 2 * kGroupBytes) {
      if constexpr (kFetchAhead) FetchAhead<2 * kGroupBytes>(panel);
      AddGroup<V>(panel, row, at, acc);
      AddGroup<V>(panel + kGroupBytes, row, at + V::kRowBytes, odd);
    }
    ForTile<kVectors, kRows>([&](int r, int j) { acc[r][j] = V::Add(acc[r][j], odd[r][j]); });
  }
  for (; at < end; at += V::kRowBytes, panel += kGroupBytes) {
    if constexpr (kFetchAhead) FetchAhead<kGroupBytes>(panel);
    AddGroup<V>(panel, row, at, acc);
  }
}

template <class V, int kVectors, int kRows>
void ComputeTile(const TileArgs& args) {
  using I32 = typename V::I32;
  const PanelParams& params = *args.params;

  I32 acc[kRows][kVectors];
  ForTile<kVectors, kRows>(
      [&](int r, int j) { acc[r][j] = V::Load(params.offset + j * V::kLanes); });
  if (args.row_terms != nullptr) {
    ForTile<kVectors, kRows>(
        [&](int r, int j) { acc[r][j] = V::Add(acc[r][j], V::Set(args.row_terms[r])); });
  }

  if constexpr (requires { V::AddDepth(args, acc); }) {
    V::AddDepth(args, acc);
  } else if (args.fetch_ahead) {
    AddDepth<V, true>(args, acc);
  } else {
    AddDepth<V, false>(args, acc);
  }

  if (args.row_sums != nullptr) {
    ForTile<kVectors, kRows>([&](int r, int j) {
      const I32 zero_point = V::Load(params.negative_zero_point + j * V::kLanes);
      acc[r][j] = V::Add(acc[r][j], V::Mul(zero_point, V::Set(args.row_sums[r])));
    });
  }
  ApplyScaling<V, kVectors, kRows>(params, acc);
  StoreRows<V, kVectors, kRows>(args.epilogue, acc, args.dst, args.dst_stride);
}

template <class V, int kVectors, int kRows>
void ChooseRows(const TileArgs& args) {
  if constexpr (kRows > 1) {
    if (args.row_count < kRows) return ChooseRows<V, kVectors, kRows - 1>(args);
  }
  ComputeTile<V, kVectors, kRows>(args);
}

// The entry of a kernel: finds the instance for the panel's vectors and the number of rows.
template <class V, int kVectors = V::kMaxVectors>
void Tile(const TileArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return Tile<V, kVectors / 2>(args);
  }
  ChooseRows<V, kVectors, V::kMaxRows>(args);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_H_
