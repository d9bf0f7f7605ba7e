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
#include <utility>

#include "intaglio/kernels/depthwise_args.h"
#include "intaglio/kernels/finish.h"
#include "intaglio/kernels/finish_pairs.h"
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

// acc = offsets + products of kPixels pixels, the first of whose columns begins at `first`.
template <class V, class T, int kVectors, int kPixels>
INTAGLIO_INLINE void AccumulatePixels(const DepthwiseArgs& args, const typename T::Operand* first,
                                      typename V::I32 (&acc)[kPixels][kVectors]) {
  using Operand = typename T::Operand;
  INTAGLIO_UNROLL
  for (int p = 0; p < kPixels; ++p) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) acc[p][j] = V::Load(args.params->offset + j * V::kLanes);
  }
  const ptrdiff_t column = ptrdiff_t{args.groups} * kVectors;
  const Operand* pixel[kPixels];
  pixel[0] = first;
  INTAGLIO_UNROLL
  for (int p = 1; p < kPixels; ++p) pixel[p] = pixel[p - 1] + args.pixel_step * column;
  // Columns that are neighbours in scratch are one run of groups.
  const int runs = args.tap_step == 1 ? 1 : args.kernel_width;
  const ptrdiff_t run = args.tap_step == 1 ? args.kernel_width * column : column;
  const int8_t* weights = args.weights;
  for (int term = 0; term < args.terms; ++term) {
    for (int r = 0; r < runs; ++r) {
      const ptrdiff_t begin = r * args.tap_step * column;
      for (ptrdiff_t g = begin; g < begin + run; g += kVectors) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j, weights += V::kLanes * T::kStep) {
          const Operand w = T::LoadWeights(weights);
          INTAGLIO_UNROLL
          for (int p = 0; p < kPixels; ++p) {
            acc[p][j] = T::Dot(acc[p][j], w, pixel[p][g + j]);
            V::Keep(acc[p][j]);
          }
        }
      }
    }
  }
}

// kPixels pixels from `pixel` on, any scaling and output.
template <class V, class T, int kVectors, int kPixels>
void ComputePixels(const DepthwiseArgs& args, int pixel) {
  typename V::I32 acc[kPixels][kVectors];
  const auto* columns = static_cast<const typename T::Operand*>(args.scratch);
  AccumulatePixels<V, T>(
      args, columns + ptrdiff_t{pixel} * args.pixel_step * args.groups * kVectors, acc);
  char* dst = static_cast<char*>(args.dst) + pixel * args.dst_stride;
  if constexpr (kByMemory<V, kPixels>) {
    FinishByMemory<V>(*args.params, args.epilogue, acc, dst, args.dst_stride);
  } else {
    ApplyScaling<V, kVectors, kPixels>(*args.params, acc);
    StoreRows<V, kVectors, kPixels>(args.epilogue, acc, dst, args.dst_stride);
  }
}

// All pixels of the run by tiles of V::kMaxRows, scaled in one way to bytes; the last tile begins
// within the one before where pixels are left over.
template <class V, class T, class Form, size_t... kVector>
__attribute__((noinline)) void ComputePixelsToBytes(const DepthwiseArgs& args, Form form,
                                                    std::index_sequence<kVector...>) {
  constexpr int kVectors = sizeof...(kVector);
  constexpr int kPixels = V::kMaxRows;
  using Scaled = decltype(form(*args.params, 0));
  const typename V::ByteStore store(args.epilogue);
  const ptrdiff_t step = ptrdiff_t{args.pixel_step} * args.groups * kVectors;
  const ptrdiff_t dst_stride = args.dst_stride;
  const auto* columns = static_cast<const typename T::Operand*>(args.scratch);
  auto* dst = static_cast<char*>(args.dst);
  for (int left = args.pixels;;) {
    typename V::I32 acc[kPixels][kVectors];
    AccumulatePixels<V, T>(args, columns, acc);
    // Made anew for each tile: kept, they would take registers from the loop over taps.
    const Scaled scaled[] = {form(*args.params, static_cast<int>(kVector) * V::kLanes)...};
    FinishPairs(store, acc, scaled, dst, dst_stride);
    left -= kPixels;
    if (left <= 0) return;
    const int next = left < kPixels ? left : kPixels;
    columns += next * step;
    dst += next * dst_stride;
    left += kPixels - next;
  }
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
  if constexpr (kStoresPairs<V>) {
    const auto to_bytes = [&](auto form) {
      ComputePixelsToBytes<V, T>(args, form, std::make_index_sequence<kVectors>());
      return true;
    };
    if (SizeOf(args.epilogue.output) == 1 &&
        WithBoundedScaling<V, kVectors>(*args.params, to_bytes)) {
      return;
    }
  }
  // The last pixels are computed again rather than in a narrower tile.
  for (int p = 0; p < args.pixels; p += kPixels) {
    ComputePixels<V, T, kVectors, kPixels>(args, std::min(p, args.pixels - kPixels));
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_TILE_H_
