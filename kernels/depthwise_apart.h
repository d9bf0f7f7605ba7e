// Depthwise filters of three columns in one group of kernel rows, for pixels that share no column
// of the input: a pixel's three are interleaved in registers one after the other. So lie panels of
// several neighbouring pixels (pack/depthwise_filters.h).
#ifndef INTAGLIO_KERNELS_DEPTHWISE_APART_H_
#define INTAGLIO_KERNELS_DEPTHWISE_APART_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "intaglio/kernels/depthwise_slide.h"

namespace intaglio {

// Filters and output as Slide's; columns that all lie within the image.
INTAGLIO_INLINE bool AreApart(const DepthwiseArgs& args) {
  return args.pixel_step >= args.kernel_width && args.columns_inside == args.columns;
}

// One line of each band. Taps of one term stay in registers; the lines of a band are interleaved
// each for itself, as an instruction that reads a tap from memory reads as much as one that
// interleaves.
template <class V, class T, class Form, int kVectors, size_t... kVector>
__attribute__((noinline)) void LinesApart(const DepthwiseArgs& args, const int8_t* weights,
                                          char* line, std::index_sequence<kVector...>) {
  using I32 = typename V::I32;
  const PanelParams& params = *args.params;
  const typename V::ByteStore store(args.epilogue);
  InMemory<DoubleRoundingBounded<V>> bounded[] = {
      InMemory(Bounded<V>()(params, kVector * V::kLanes))...};
  constexpr bool kMayHaveSecond = std::is_same_v<Form, ByVector<V>>;
  const int8_t* const second = weights + kTermBytes<V, T, kVectors>;
  typename T::Operand kept[3][kVectors];
  INTAGLIO_UNROLL
  for (int k = 0; k < 3; ++k) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      kept[k][j] = LoadTaps<V, T, kVectors>(weights, k, j);
      V::Pin(kept[k][j]);
    }
  }
  const DepthwiseRow* from = args.rows;
  for (int b = 0; b < args.bands; ++b, from += T::kStep, line += args.dst_band) {
    const uint8_t* pixel[T::kStep];
    ptrdiff_t step[T::kStep];
    INTAGLIO_UNROLL
    for (int i = 0; i < T::kStep; ++i) {
      pixel[i] = from[i].data + args.first_column * from[i].step + args.first_channel;
      step[i] = from[i].step;
    }
    char* dst = line;
    for (int p = 0; p < args.pixels; ++p, dst += args.dst_stride) {
      I32 done[1][kVectors];
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) done[0][j] = V::Load(params.offset + j * V::kLanes);
      const uint8_t* rows[T::kStep];
      INTAGLIO_UNROLL
      for (int i = 0; i < T::kStep; ++i) rows[i] = pixel[i];
      INTAGLIO_UNROLL
      for (int k = 0; k < 3; ++k) {
        typename T::Operand x[kVectors];
        T::template Interleave<kVectors>(rows, args.flip, x);
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) {
          done[0][j] = T::Dot(done[0][j], kept[k][j], x[j]);
          V::Pin(done[0][j]);
          if (!kMayHaveSecond || (args.second_vectors >> j & 1) == 0) continue;
          done[0][j] = T::Dot(done[0][j], LoadTaps<V, T, kVectors>(second, k, j), x[j]);
          V::Pin(done[0][j]);
        }
        INTAGLIO_UNROLL
        for (int i = 0; i < T::kStep; ++i) rows[i] += step[i];
      }
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) ScaleDone<V, Form>(params, j, bounded, done);
      store.template StoreRow<kVectors>(dst, done[0]);
      INTAGLIO_UNROLL
      for (int i = 0; i < T::kStep; ++i) pixel[i] += args.pixel_step * step[i];
    }
  }
}

// Computes the run, if it is such.
template <class V, class T, int kVectors>
bool ComputeApart(const DepthwiseArgs& args) {
  if (!AreApart(args)) return false;
  return WithSlideScaling<V, kVectors>(args, [&](auto form) {
    const int8_t* weights = args.weights;
    char* line = static_cast<char*>(args.dst);
    for (int l = 0; l < args.lines; ++l, weights += args.line_weights, line += args.dst_line) {
      LinesApart<V, T, decltype(form), kVectors>(args, weights, line,
                                                 std::make_index_sequence<kVectors>());
    }
    return true;
  });
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_APART_H_
