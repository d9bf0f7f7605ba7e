// Depthwise filters of three columns in one group of kernel rows, for panels of several
// neighbouring pixels (pack/depthwise_filters.h): what one tap meets is what the tap before met,
// moved by one pixel. So the input is interleaved once for all taps, and moved in registers. Over a
// kernel vocabulary V and its taps T, as depthwise_slide.h names them, where V has also
//   MoveLanes(count, a, b)   of a's and b's 128-bit lanes, one after the other, the four from
//                            `count` on
//   CopyPart(uint8_t* to, const uint8_t* from, int begin, int end, uint8_t fill)
//                            a panel's bytes: of them from[begin] .. from[end - 1], no other of
//                            which is read, and else `fill`
#ifndef INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_FOLDED_H_
#define INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_FOLDED_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "intaglio/kernels/depthwise/depthwise_slide.h"

namespace intaglio {

// Pixels of two lines, of panels whose pixels take kPixelBytes each. kSecond: as of SlidPixels.
template <class V, class T, int kPixelBytes, bool kSecond>
class FoldedPixels {
 public:
  using I32 = typename V::I32;
  using Operand = typename T::Operand;
  static constexpr int kVectors = 4;
  static constexpr int kLines = 2;

  explicit INTAGLIO_INLINE FoldedPixels(const DepthwiseArgs& args)
      : weights_(args.weights),
        line_bytes_(kSecond ? args.line_weights : kTermBytes<V, T, kVectors>),
        offset_(ParamsIn<V>(args)->offset),
        second_(kSecond ? args.second_vectors : 0) {
    if constexpr (kSecond) return;
    INTAGLIO_UNROLL
    for (int k = 0; k < 3; ++k) {
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        kept_[k][j] = LoadTaps<V, T, kVectors>(Line(0), k, j);
        V::Pin(kept_[k][j]);
      }
    }
  }

  // Takes a panel, the first of a band or after the one before.
  INTAGLIO_INLINE void Take(const FourRows& rows, uint8_t flip) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) x_[j] = next_[j];
    rows.Interleave<T>(flip, next_);
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) V::Pin(next_[j]);
  }

  // Vector j of the panel before the last one taken.
  INTAGLIO_INLINE void Meet(int j, I32 (&done)[kLines][kVectors]) const {
    asm volatile("" ::: "memory");
    I32 offset = V::Load(offset_ + j * V::kLanes);
    V::Pin(offset);
    Operand moved[3];
    INTAGLIO_UNROLL
    for (int k = 0; k < 3; ++k) {
      moved[k] = Moved(k, j);
      INTAGLIO_UNROLL
      for (int l = 0; l < kLines; ++l) {
        const auto taps =
            l == 0 && !kSecond ? kept_[k][j] : LoadTaps<V, T, kVectors>(Line(l), k, j);
        done[l][j] = T::Dot(k == 0 ? offset : done[l][j], taps, moved[k]);
        V::Pin(done[l][j]);
      }
    }
    if (!kSecond || (second_ >> j & 1) == 0) return;
    INTAGLIO_UNROLL
    for (int k = 0; k < 3; ++k) {
      INTAGLIO_UNROLL
      for (int l = 0; l < kLines; ++l) {
        const int8_t* const second = Line(l) + kTermBytes<V, T, kVectors>;
        done[l][j] = T::Dot(done[l][j], LoadTaps<V, T, kVectors>(second, k, j), moved[k]);
        V::Pin(done[l][j]);
      }
    }
  }

 private:
  INTAGLIO_INLINE const int8_t* Line(int l) const { return weights_ + l * line_bytes_; }
  // What kernel column k meets of vector j, which has bytes 4 j to 4 j + 3 of each 128-bit lane.
  INTAGLIO_INLINE Operand Moved(int k, int j) const {
    const int byte = 4 * j + k * kPixelBytes;
    return V::MoveLanes(byte / 16, x_[byte % 16 / 4], next_[byte % 16 / 4]);
  }

  const int8_t* weights_;
  ptrdiff_t line_bytes_;
  const int32_t* offset_;
  uint32_t second_;
  Operand kept_[3][kVectors];  // taps of the first line; not of kSecond, which has no room for them
  Operand x_[kVectors];
  Operand next_[kVectors];
};

// A panel's bytes of four rows, brought together where some lie outside the image.
struct EdgePanel {
  alignas(64) uint8_t rows[4][64];
};

// Finds the panels of columns from panel `first` of a band on that lie within the image; or brings
// together the one that does not.
template <class V, int kPixelBytes>
__attribute__((noinline)) ColumnSpan<> FindPanels(const DepthwiseArgs& args,
                                                  const DepthwiseRow* band, int first,
                                                  EdgePanel& edge) {
  constexpr int kPixels = 64 / kPixelBytes;                 // of a panel
  const int place = first * kPixels - args.columns_before;  // among columns inside
  const int inside = args.columns_inside - place;           // from there on
  ColumnSpan<> span;
  span.count = place < 0 ? 1 : std::max(1, inside / kPixels);
  const bool is_whole = place >= 0 && inside >= kPixels;
  const int begin = std::clamp(-place, 0, kPixels) * kPixelBytes;
  const int end = std::clamp(inside, 0, kPixels) * kPixelBytes;
  for (int i = 0; i < 4; ++i) {
    const DepthwiseRow& row = band[i];
    const auto column = reinterpret_cast<uintptr_t>(row.data) +
                        static_cast<uintptr_t>((args.first_column + place) * row.step);
    span.first.rows[i] = column;
    span.first.step[i] = static_cast<uintptr_t>(kPixels * row.step);
    if (is_whole) continue;
    V::CopyPart(edge.rows[i], reinterpret_cast<const uint8_t*>(column), begin, end, *args.outside);
    span.first.rows[i] = reinterpret_cast<uintptr_t>(edge.rows[i]);
  }
  return span;
}

// Two lines of each band, or one as in SlideLines.
template <class V, class T, class Form, int kPixelBytes, size_t... kVector>
__attribute__((noinline)) void FoldedLines(const DepthwiseArgs& args,
                                           std::index_sequence<kVector...>) {
  using Pixels = FoldedPixels<V, T, kPixelBytes, std::is_same_v<Form, ByVector<V>>>;
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  const ByteStoreOf<V, Form> store(args.epilogue);
  InMemory<DoubleRoundingBounded<V>> bounded[] = {
      InMemory(BoundedScaling<V>()(params, kVector * V::kLanes))...};
  Pixels pixels(args);
  FourRows rows;
  EdgePanel edge;
  const uint8_t flip = args.flip;
  const ptrdiff_t dst_line = args.lines == Pixels::kLines ? args.dst_line : 0;
  const ptrdiff_t dst_stride = args.dst_stride;
  const int count = args.pixels;
  char* band = static_cast<char*>(args.dst);
  for (int b = 0; b < args.bands; band += DstStep(args, ++b)) {
    char* dst = band;
    int panels = 0;  // left of a span
    for (int p = 0; p <= count; ++p) {
      if (__builtin_expect(panels == 0, 0)) {
        const ColumnSpan<> span = FindPanels<V, kPixelBytes>(args, args.rows + 4 * b, p, edge);
        rows.Take(span.first, 0);
        panels = span.count;
      }
      --panels;
      pixels.Take(rows, flip);
      rows.Advance<1>();
      if (__builtin_expect(p == 0, 0)) continue;
      typename V::I32 done[Pixels::kLines][Pixels::kVectors];
      INTAGLIO_UNROLL
      for (int j = 0; j < Pixels::kVectors; ++j) {
        pixels.Meet(j, done);
        ScaleDone<V, Form>(params, j, bounded, done);
        if (j % 2 == 1) MakeWords<V>(store, j, done);
      }
      store.StoreWords(dst + dst_line, done[1][0], done[1][1]);
      store.StoreWords(dst, done[0][0], done[0][1]);
      dst += dst_stride;
    }
  }
}

// Computes a run of panels of several pixels.
template <class V, class T>
void SlideFolded(const DepthwiseArgs& args) {
  const auto vectors = std::make_index_sequence<4>();
  WithSlideScaling<V>(args, args.terms, [&](auto form) {
    if (args.pixel_bytes == 8) {
      FoldedLines<V, T, decltype(form), 8>(args, vectors);
    } else if (args.pixel_bytes == 16) {
      FoldedLines<V, T, decltype(form), 16>(args, vectors);
    } else if constexpr (!std::is_same_v<decltype(form), ByVector<V>>) {
      FoldedLines<V, T, decltype(form), 32>(args, vectors);
    }
  });
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_FOLDED_H_
