// The depthwise loop of every kernel, over a kernel vocabulary V, as tile.h names it, and its taps
// T:
//   kStep             kernel rows in a group
//   Operand           a vector of groups
//   Interleave<kVectors>(const uint8_t* const (&rows)[kStep], uint8_t flip, Operand* groups)
//                     kVectors vectors of groups, one byte of each row and channel, in the order of
//                     a panel's lanes
//   LoadWeights(const int8_t*)     one vector of groups
//   Dot(acc, weights, input)       acc + the products of a group, summed; exact for all operands
#ifndef INTAGLIO_KERNELS_DEPTHWISE_TILE_H_
#define INTAGLIO_KERNELS_DEPTHWISE_TILE_H_

#include <algorithm>

#include "intaglio/kernels/depthwise_args.h"
#include "intaglio/kernels/finish.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio {

// Brings every column of the run into scratch, group by group.
template <class T, int kVectors>
INTAGLIO_INLINE void InterleaveColumns(const DepthwiseArgs& args) {
  auto* group = static_cast<typename T::Operand*>(args.scratch);
  const uint8_t* const* taps = args.taps;
  const ptrdiff_t channel = args.first_channel;
  const uint8_t flip = args.flip;
  const ptrdiff_t groups = ptrdiff_t{args.columns} * args.groups;
  for (ptrdiff_t g = 0; g < groups; ++g, taps += T::kStep, group += kVectors) {
    const uint8_t* rows[T::kStep];
    INTAGLIO_UNROLL
    for (int i = 0; i < T::kStep; ++i) rows[i] = taps[i] + channel;
    T::template Interleave<kVectors>(rows, flip, group);
  }
}

// kPixels pixels from `pixel` on.
template <class V, class T, int kVectors, int kPixels>
void ComputePixels(const DepthwiseArgs& args, int pixel) {
  using Operand = typename T::Operand;
  const PanelParams& params = *args.params;
  typename V::I32 acc[kPixels][kVectors];
  INTAGLIO_UNROLL
  for (int p = 0; p < kPixels; ++p) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) acc[p][j] = V::Load(params.offset + j * V::kLanes);
  }

  const ptrdiff_t column = ptrdiff_t{args.groups} * kVectors;
  const Operand* first =
      static_cast<const Operand*>(args.scratch) + pixel * args.pixel_step * column;
  const int8_t* weights = args.weights;
  for (int term = 0; term < args.terms; ++term) {
    const Operand* tap = first;
    for (int kx = 0; kx < args.kernel_width; ++kx, tap += args.tap_step * column) {
      const Operand* group[kPixels];
      INTAGLIO_UNROLL
      for (int p = 0; p < kPixels; ++p) group[p] = tap + p * args.pixel_step * column;
      for (ptrdiff_t g = 0; g < column; g += kVectors) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j, weights += V::kLanes * T::kStep) {
          const Operand w = T::LoadWeights(weights);
          INTAGLIO_UNROLL
          for (int p = 0; p < kPixels; ++p) {
            acc[p][j] = T::Dot(acc[p][j], w, group[p][g + j]);
            V::Keep(acc[p][j]);
          }
        }
      }
    }
  }
  ApplyScaling<V, kVectors, kPixels>(params, acc);
  StoreRows<V, kVectors, kPixels>(
      args.epilogue, acc, static_cast<char*>(args.dst) + pixel * args.dst_stride, args.dst_stride);
}

template <class V, class T, int kVectors = V::kMaxVectors>
void Depthwise(const DepthwiseArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return Depthwise<V, T, kVectors / 2>(args);
  }
  InterleaveColumns<T, kVectors>(args);
  constexpr int kPixels = V::kMaxRows;
  if (args.pixels < kPixels) {
    for (int p = 0; p < args.pixels; ++p) ComputePixels<V, T, kVectors, 1>(args, p);
    return;
  }
  // The last pixels are computed again rather than in a narrower tile.
  for (int p = 0; p < args.pixels; p += kPixels) {
    ComputePixels<V, T, kVectors, kPixels>(args, std::min(p, args.pixels - kPixels));
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_TILE_H_
