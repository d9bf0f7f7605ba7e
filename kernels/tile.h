// The loop of every micro-kernel, over a kernel vocabulary V that has, beside what finish.h names,
//   kMaxVectors, kMaxRows, kDepthStep, kRowBytes (of one depth group of a row)
//   LoadPanel(const int8_t*)      one vector of one depth group
//   LoadRow(const void*)          one depth group of a row, in every lane
//   Dot(acc, panel, row)          acc + the products of a group, summed; exact for all operands
//   Keep(acc)                     keeps g++ from spilling accumulators inside the loop
#ifndef INTAGLIO_KERNELS_TILE_H_
#define INTAGLIO_KERNELS_TILE_H_

#include "intaglio/kernels/finish.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio {

template <class V, int kVectors, int kRows>
void ComputeTile(const TileArgs& args) {
  using I32 = typename V::I32;
  constexpr int kVectorBytes = V::kLanes * V::kDepthStep;
  const PanelParams& params = *args.params;

  I32 acc[kRows][kVectors];
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) {
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) acc[r][j] = V::Load(params.offset + j * V::kLanes);
  }

  const char* row[kRows];
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    row[r] = static_cast<const char*>(args.rows) + r * args.row_stride;
  }
  const int8_t* panel = args.panel;
  for (ptrdiff_t at = 0; at < ptrdiff_t{args.groups} * V::kRowBytes; at += V::kRowBytes) {
    typename V::Operand weights[kVectors];
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) weights[j] = V::LoadPanel(panel + j * kVectorBytes);
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const typename V::Operand x = V::LoadRow(row[r] + at);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        acc[r][j] = V::Dot(acc[r][j], weights[j], x);
        V::Keep(acc[r][j]);
      }
    }
    panel += kVectors * kVectorBytes;
  }

  if (args.row_sums != nullptr) {
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const I32 sum = V::Set(args.row_sums[r]);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        const I32 zero_point = V::Load(params.negative_zero_point + j * V::kLanes);
        acc[r][j] = V::Add(acc[r][j], V::Mul(zero_point, sum));
      }
    }
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
