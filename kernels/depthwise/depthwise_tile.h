// The depthwise loop of every kernel, over a kernel vocabulary V, as tile.h names it, and its taps
// T:
//   kStep             kernel rows in a group
//   Operand           a vector of groups
//   Interleave<kVectors>(const uint8_t* const (&rows)[kStep], uint8_t flip, Operand* groups)
//                     kVectors vectors of groups, one byte of each row and channel, in the order of
//                     a panel's lanes
//   LoadWeights(const int8_t*)     one vector of groups
//   Dot(acc, weights, input)       acc + the products of a group, summed; exact for all operands
#ifndef INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_
#define INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_

#include <algorithm>
#include <utility>

#include "intaglio/kernels/depthwise/depthwise_args.h"
#include "intaglio/kernels/depthwise/depthwise_folded.h"
#include "intaglio/kernels/depthwise/depthwise_pairs.h"
#include "intaglio/kernels/depthwise/depthwise_slide.h"
#include "intaglio/kernels/kernel.h"
#include "intaglio/kernels/tile/finish.h"
#include "intaglio/kernels/tile/finish_pairs.h"

namespace intaglio {

// Brings `count` columns of one group of rows into scratch, `column` operands apart.
template <class T, int kVectors>
INTAGLIO_INLINE typename T::Operand* InterleaveRows(const DepthwiseRow (&from)[T::kStep], int count,
                                                    uint8_t flip, ptrdiff_t column,
                                                    typename T::Operand* to) {
  const uint8_t* rows[T::kStep];
  INTAGLIO_UNROLL
  for (int i = 0; i < T::kStep; ++i) rows[i] = from[i].data;
  for (; count > 0; --count, to += column) {
    T::template Interleave<kVectors>(rows, flip, to);
    INTAGLIO_UNROLL
    for (int i = 0; i < T::kStep; ++i) rows[i] += from[i].step;
  }
  return to;
}

// Brings every column of the run into scratch, group by group.
template <class T, int kVectors>
INTAGLIO_INLINE void InterleaveColumns(const DepthwiseArgs& args) {
  const ptrdiff_t column = ptrdiff_t{args.groups} * kVectors;
  const int after = args.columns - args.columns_before - args.columns_inside;
  DepthwiseRow outside[T::kStep];
  DepthwiseRow rows[T::kStep];
  INTAGLIO_UNROLL
  for (int i = 0; i < T::kStep; ++i) outside[i] = {args.outside + args.first_channel, 0};
  for (int g = 0; g < args.groups; ++g) {
    INTAGLIO_UNROLL
    for (int i = 0; i < T::kStep; ++i) {
      rows[i] = args.rows[g * T::kStep + i];
      rows[i].data += args.first_channel + args.first_column * rows[i].step;
    }
    auto* to = static_cast<typename T::Operand*>(args.scratch) + g * kVectors;
    to = InterleaveRows<T, kVectors>(outside, args.columns_before, args.flip, column, to);
    to = InterleaveRows<T, kVectors>(rows, args.columns_inside, args.flip, column, to);
    InterleaveRows<T, kVectors>(outside, after, args.flip, column, to);
  }
}

// How the taps of neighbouring pixels lie in scratch, in operands: `runs` runs of columns that are
// neighbours there, `tap` apart within a term's.
struct TapWalk {
  TapWalk(const DepthwiseArgs& args, int vectors) {
    const ptrdiff_t column = ptrdiff_t{args.groups} * vectors;
    const bool dense = args.tap_step == 1;
    const int runs_of_term = dense ? 1 : args.kernel_width;
    pixel = args.pixel_step * column;
    run = dense ? args.kernel_width * column : column;
    runs = args.terms * runs_of_term;
    tap = args.tap_step * column;
    term = runs_of_term * tap;
  }

  ptrdiff_t pixel;  // from pixel to pixel
  ptrdiff_t run;
  int runs;  // of all terms
  ptrdiff_t tap;
  ptrdiff_t term;
};

template <class V, int kVectors, int kPixels>
INTAGLIO_INLINE void LoadOffsets(const ParamsOf<V>& params,
                                 typename V::I32 (&acc)[kPixels][kVectors]) {
  INTAGLIO_UNROLL
  for (int p = 0; p < kPixels; ++p) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) acc[p][j] = V::Load(params.offset + j * V::kLanes);
  }
}

// acc += products of one line's weights and kPixels pixels, the first of whose columns begins at
// `first`.
template <class V, class T, int kVectors, int kPixels>
INTAGLIO_INLINE void WalkTaps(const TapWalk& walk, const int8_t* weights,
                              const typename T::Operand* first,
                              typename V::I32 (&acc)[kPixels][kVectors]) {
  using Operand = typename T::Operand;
  const Operand* pixel[kPixels];
  pixel[0] = first;
  INTAGLIO_UNROLL
  for (int p = 1; p < kPixels; ++p) pixel[p] = pixel[p - 1] + walk.pixel;
  ptrdiff_t begin = 0;
  for (int r = 0; r < walk.runs; ++r) {
    for (ptrdiff_t g = begin; g < begin + walk.run; g += kVectors) {
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
    begin += walk.tap;
    if (begin == walk.term) begin = 0;
  }
}

// Neighbouring pixels that are computed at once: where whole tiles are finished in registers, few
// enough that g++ keeps all of them there, and that their code, one for each form, stays small.
template <class V, int kVectors>
inline constexpr int kTilePixels =
    !kStoresPairs<V> ? V::kMaxRows : (kVectors < 2 && V::kMaxVectors == 4 ? 8 : 4);

// What is the same for all tiles of a run.
template <class V, class Form, int kVectors>
struct TileJob {
  explicit TileJob(const DepthwiseArgs& args)
      : walk(args, kVectors),
        params(*ParamsIn<V>(args)),
        store(args.epilogue),
        dst_stride(args.dst_stride) {}

  TapWalk walk;
  const ParamsOf<V>& params;
  ByteStoreOf<V, Form> store;
  ptrdiff_t dst_stride;
};

// A tile of one line, scaled in one way to bytes. A function of its own: within the loops over
// tiles and lines g++ keeps accumulators in memory, and parameters in registers that they need.
template <class V, class T, class Form, int kVectors, size_t... kVector>
__attribute__((noinline)) void TileToBytes(const TileJob<V, Form, kVectors>& job,
                                           const int8_t* weights,
                                           const typename T::Operand* columns, char* dst,
                                           std::index_sequence<kVector...>) {
  typename V::I32 acc[kTilePixels<V, kVectors>][kVectors];
  LoadOffsets<V>(job.params, acc);
  WalkTaps<V, T>(job.walk, weights, columns, acc);
  const auto scaled = [&](size_t j) { return Form()(job.params, static_cast<int>(j) * V::kLanes); };
  const decltype(scaled(0)) all[] = {scaled(kVector)...};
  FinishPairs(job.store, acc, all, dst, job.dst_stride);
}

// kPixels pixels of one line, any scaling and output.
template <class V, class T, int kVectors, int kPixels>
__attribute__((noinline)) void TileToAny(const DepthwiseArgs& args, const TapWalk& walk,
                                         const int8_t* weights, const typename T::Operand* columns,
                                         char* dst) {
  typename V::I32 acc[kPixels][kVectors];
  LoadOffsets<V>(*ParamsIn<V>(args), acc);
  WalkTaps<V, T>(walk, weights, columns, acc);
  if constexpr (kByMemory<V, kPixels>) {
    FinishByMemory<V>(*ParamsIn<V>(args), args.epilogue, acc, dst, args.dst_stride);
  } else {
    ApplyScaling<V, kVectors, kPixels>(*ParamsIn<V>(args), acc);
    StoreRows<V, kVectors, kPixels>(args.epilogue, acc, dst, args.dst_stride);
  }
}

// tile(weights, columns, dst) for tiles of kPixels pixels of all lines; the last of a line begins
// within the one before where pixels are left over, rather than be narrower.
template <class T, int kPixels, class Tile>
INTAGLIO_INLINE void ForTiles(const DepthwiseArgs& args, const TapWalk& walk, const Tile& tile) {
  for (int p = 0; p < args.pixels; p += kPixels) {
    const int pixel = std::min(p, args.pixels - kPixels);
    const auto* columns =
        static_cast<const typename T::Operand*>(args.scratch) + pixel * walk.pixel;
    const int8_t* weights = args.weights;
    char* dst = static_cast<char*>(args.dst) + pixel * args.dst_stride;
    for (int l = 0; l < args.lines; ++l, weights += args.line_weights, dst += args.dst_line) {
      tile(weights, columns, dst);
    }
  }
}

template <class V, class T, int kVectors, class Form>
void DepthwiseToBytes(const DepthwiseArgs& args) {
  const TileJob<V, Form, kVectors> job(args);
  ForTiles<T, kTilePixels<V, kVectors>>(
      args, job.walk, [&](const int8_t* weights, const auto* columns, char* dst) {
        TileToBytes<V, T, Form>(job, weights, columns, dst, std::make_index_sequence<kVectors>());
      });
}

template <class V, class T, int kVectors, int kPixels>
void DepthwiseToAny(const DepthwiseArgs& args) {
  const TapWalk walk(args, kVectors);
  ForTiles<T, kPixels>(args, walk, [&](const int8_t* weights, const auto* columns, char* dst) {
    TileToAny<V, T, kVectors, kPixels>(args, walk, weights, columns, dst);
  });
}

// WithBoundedScaling of fewer instances: stretched fits, which are rare, are taken for those of
// vectors that differ.
template <class V, int kVectors, class Use>
INTAGLIO_INLINE bool WithTileScaling(const PanelForm& p, const Use& use) {
  if (p.form == ScalingForm::kDoubleRoundingStretched) return use(ByVector<V>());
  return WithBoundedScaling<V, kVectors>(p, use);
}

template <class V, class T, int kVectors>
__attribute__((noinline)) void DepthwiseBand(const DepthwiseArgs& args) {
  InterleaveColumns<T, kVectors>(args);
  constexpr int kPixels = kTilePixels<V, kVectors>;
  if constexpr (kStoresPairs<V>) {
    const auto to_bytes = [&](auto form) {
      DepthwiseToBytes<V, T, kVectors, decltype(form)>(args);
      return true;
    };
    if (args.pixels >= kPixels && SizeOf(args.epilogue.output) == 1 &&
        WithTileScaling<V, kVectors>(*args.params, to_bytes)) {
      return;
    }
  }
  if (args.pixels < kPixels) return DepthwiseToAny<V, T, kVectors, 1>(args);
  DepthwiseToAny<V, T, kVectors, kPixels>(args);
}

template <class V, class T, int kVectors = V::kMaxVectors>
void Depthwise(const DepthwiseArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return Depthwise<V, T, kVectors / 2>(args);
  }
  if constexpr (kSlides<V, T>) {
    if (args.pixel_bytes == 0 && Slide<V, T, kVectors>(args)) return;
  }
  if constexpr (kSlidesPairs<V, T>) {
    if (SlidePairs<V, T, kVectors>(args)) return;
  }
  *args.has_columns = false;
  if constexpr (kSlides<V, T> && kVectors == 4) {
    if (args.pixel_bytes != 0) return SlideFolded<V, T>(args);
  }
  DepthwiseArgs band = args;
  for (int b = 0; b < args.bands;) {
    DepthwiseBand<V, T, kVectors>(band);
    band.rows += args.groups * T::kStep;
    band.dst = static_cast<char*>(band.dst) + DstStep(args, ++b);
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_
