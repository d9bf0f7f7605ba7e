// Depthwise filters of 3 x 3 and 5 x 5 taps in groups of two kernel rows, for a CPU with sixteen
// registers: like depthwise_slide.h's, columns of the input are interleaved in registers and meet
// all pixels that they lie under, whose accumulators stay there too. Taps are widened once for a
// run, all terms to one, and the products read them from memory.
//
// Over a kernel vocabulary V and its taps T, as depthwise_tile.h names them, where V has also
//   Pin(I32&)                                            Keep, in the order of the program
//   ByteStore::StorePixel<kVectors>(char*, const I32*)   Store of finish_pairs.h, of one row
// and T
//   Join<kVectors>(const uint8_t* a, const uint8_t* b, flip)   a panel's bytes of two rows, which
//   Pairs<kVectors>(joined, j)                                 brings to vector j of their group
#ifndef INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_PAIRS_H_
#define INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_PAIRS_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "intaglio/kernels/depthwise/depthwise_fives.h"
#include "intaglio/kernels/depthwise/depthwise_slide.h"

namespace intaglio {

// Two lines of neighbouring pixels, whose columns are met one by one.
template <class V, class T, int kVectors>
class DensePixels {
 public:
  using I32 = typename V::I32;
  using Operand = typename T::Operand;
  using Rows = FourRows;
  static constexpr int kLines = 2;
  static constexpr int kDone = 1;     // pixels of a line that are done at once
  static constexpr int kColumns = 1;  // that are taken at once
  static constexpr int kBefore = 2;   // times that columns are taken before the first pixel is done
  static constexpr int kTaps = 12;    // operands of a vector

  static void Widen(const DepthwiseArgs& args, Operand (&taps)[kTaps][kVectors]) {
    for (int i = 0; i < kTaps; ++i) {
      for (int j = 0; j < kVectors; ++j) {
        taps[i][j] = WidenTaps<V, T, kVectors>(args, i / 2 % 2, i / 4, i % 2, j);
      }
    }
  }

  explicit INTAGLIO_INLINE DensePixels(const Operand (*taps)[kVectors], const int32_t* offset)
      : taps_(taps), offset_(offset) {}

  // No pixels are in the sums yet.
  INTAGLIO_INLINE void Clear() {
    INTAGLIO_UNROLL
    for (int l = 0; l < 2; ++l) {
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) now_[l][j] = next_[l][j] = V::Set(0);
    }
  }

  INTAGLIO_INLINE void Take(const FourRows& rows, uint8_t flip) {
    const auto column = rows.Column<0>();
    joined_[0] = T::template Join<kVectors>(column.rows[0], column.rows[1], flip);
    joined_[1] = T::template Join<kVectors>(column.rows[2], column.rows[3], flip);
  }

  // Vector j of the column. done[l]: the pixel of line l that it completes, if kCompletes.
  template <bool kCompletes>
  INTAGLIO_INLINE void Meet(int j, I32 (&done)[2][kVectors]) {
    asm volatile("" ::: "memory");
    const Operand x[2] = {T::template Pairs<kVectors>(joined_[0], j),
                          T::template Pairs<kVectors>(joined_[1], j)};
    INTAGLIO_UNROLL
    for (int l = 0; l < 2; ++l) {
      if (kCompletes) done[l][j] = Dot(now_[l][j], 8 + 2 * l, j, x);
      now_[l][j] = Dot(next_[l][j], 4 + 2 * l, j, x);
      next_[l][j] = Dot(V::Load(offset_ + j * V::kLanes), 2 * l, j, x);
    }
  }

 private:
  // sum + the products of a column, of taps i and i + 1.
  INTAGLIO_INLINE I32 Dot(I32 sum, int i, int j, const Operand (&x)[2]) const {
    sum = V::Add(sum, V::DotPairs(x[0], taps_[i][j]));
    V::Pin(sum);
    sum = V::Add(sum, V::DotPairs(x[1], taps_[i + 1][j]));
    V::Pin(sum);
    return sum;
  }

  const Operand (*taps_)[kVectors];
  const int32_t* offset_;
  Operand joined_[2];
  I32 now_[2][kVectors];   // of a pixel that lacks one column
  I32 next_[2][kVectors];  // of the one after it, which lacks two
};

// One line of pixels that lie two columns apart, which are met two by two. What the third kernel
// row meets in both columns makes a pair.
template <class V, class T, int kVectors>
class SparsePixels {
 public:
  using I32 = typename V::I32;
  using Operand = typename T::Operand;
  using Rows = FourRows;
  static constexpr int kLines = 1;
  static constexpr int kDone = 1;
  static constexpr int kColumns = 2;
  static constexpr int kBefore = 1;
  static constexpr int kTaps = 5;

  static void Widen(const DepthwiseArgs& args, Operand (&taps)[kTaps][kVectors]) {
    for (int j = 0; j < kVectors; ++j) {
      Operand third[3];
      for (int k = 0; k < 3; ++k) {
        taps[k][j] = WidenTaps<V, T, kVectors>(args, 0, k, 0, j);
        third[k] = WidenTaps<V, T, kVectors>(args, 0, k, 1, j);
      }
      const Operand low = V::And(third[0], V::Set(0xffff));
      taps[3][j] = V::Or(low, V::template ShiftLeft<16>(third[1]));
      taps[4][j] = third[2];
    }
  }

  explicit INTAGLIO_INLINE SparsePixels(const Operand (*taps)[kVectors], const int32_t* offset)
      : taps_(taps), offset_(offset) {}

  INTAGLIO_INLINE void Clear() {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) now_[j] = V::Set(0);
  }

  INTAGLIO_INLINE void Take(const FourRows& rows, uint8_t flip) {
    const auto a = rows.Column<0>();
    const auto b = rows.Column<1>();
    joined_[0] = T::template Join<kVectors>(a.rows[0], a.rows[1], flip);
    joined_[1] = T::template Join<kVectors>(b.rows[0], b.rows[1], flip);
    joined_[2] = T::template Join<kVectors>(a.rows[2], b.rows[2], flip);
  }

  // Vector j of the columns. done[0]: the pixel that they complete, if kCompletes.
  template <bool kCompletes>
  INTAGLIO_INLINE void Meet(int j, I32 (&done)[1][kVectors]) {
    asm volatile("" ::: "memory");
    const Operand a = T::template Pairs<kVectors>(joined_[0], j);
    const Operand b = T::template Pairs<kVectors>(joined_[1], j);
    const Operand third = T::template Pairs<kVectors>(joined_[2], j);
    if (kCompletes) done[0][j] = Dot(Dot(now_[j], 2, j, a), 4, j, third);
    I32 sum = V::Load(offset_ + j * V::kLanes);
    sum = Dot(Dot(sum, 0, j, a), 1, j, b);
    now_[j] = Dot(sum, 3, j, third);
  }

 private:
  INTAGLIO_INLINE I32 Dot(I32 sum, int i, int j, Operand x) const {
    sum = V::Add(sum, V::DotPairs(x, taps_[i][j]));
    V::Pin(sum);
    return sum;
  }

  const Operand (*taps_)[kVectors];
  const int32_t* offset_;
  Operand joined_[3];
  I32 now_[kVectors];  // of a pixel that lacks one column
};

// Writes the pixels of each line, `next` bytes apart; the first line and pixel last, as they may
// lie where the second ones do.
template <int kLines, int kDone, int kVectors, class Store, class I32>
INTAGLIO_INLINE void StorePixels(const Store& store, char* dst, ptrdiff_t dst_line, ptrdiff_t next,
                                 const I32 (&done)[kLines * kDone][kVectors]) {
  INTAGLIO_UNROLL
  for (int i = kLines * kDone - 1; i >= 0; --i) {
    char* const to = dst + i / kDone * dst_line + i % kDone * next;
    store.template StorePixel<kVectors>(to, done[i]);
  }
}

// All bands of a run.
template <class V, class T, class Form, int kVectors, class Pixels, size_t... kVector>
__attribute__((noinline)) void SlidePairLines(const DepthwiseArgs& args,
                                              std::index_sequence<kVector...>) {
  using Operand = typename T::Operand;
  using Rows = typename Pixels::Rows;
  constexpr int kLines = Pixels::kLines;
  constexpr int kDone = Pixels::kDone;
  if (!*args.has_columns) FindColumns<T, Pixels::kColumns, Rows::kCount>(args);
  *args.has_columns = true;
  const auto* span = static_cast<const ColumnSpan<Rows::kCount>*>(args.scratch);
  Operand widened[Pixels::kTaps][kVectors];
  Pixels::Widen(args, widened);
  const Operand(*taps)[kVectors] = widened;
  asm volatile("" : "+r"(taps) : : "memory");  // g++ would keep them on its own stack
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  const ByteStoreOf<V, Form> store(args.epilogue);
  InMemory<DoubleRoundingBounded<V>> bounded[] = {
      InMemory(BoundedScaling<V>()(params, kVector * V::kLanes))...};
  Pixels pixels(taps, params.offset);
  Rows rows;
  const uint8_t flip = args.flip;
  // A band of one line has no pixels of a second line. Those go where the first is then written.
  const ptrdiff_t dst_line = args.lines == kLines ? args.dst_line : 0;
  const ptrdiff_t dst_stride = args.dst_stride;
  const int count = args.pixels;
  char* band = static_cast<char*>(args.dst);
  for (int b = 0; b < args.bands; band += DstStep(args, ++b)) {
    char* dst = band;
    int columns = 0;  // left of a span
    pixels.Clear();
    for (int p = -kDone * Pixels::kBefore; p < count; p += kDone) {
      if (__builtin_expect(columns == 0, 0)) {
        rows.Take(span->first, args.first_channel);
        columns = span++->count;
      }
      --columns;
      pixels.Take(rows, flip);
      rows.template Advance<Pixels::kColumns>();
      typename V::I32 done[kLines * kDone][kVectors];
      if (__builtin_expect(p < 0, 0)) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) pixels.template Meet<false>(j, done);
        continue;
      }
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        pixels.template Meet<true>(j, done);
        ScaleDone<V, Form>(params, j, bounded, done);
      }
      // A second pixel that is none goes where the first is then written.
      const ptrdiff_t next = kDone == 2 && p + 1 == count ? 0 : dst_stride;
      StorePixels<kLines, kDone>(store, dst, dst_line, next, done);
      dst += kDone * dst_stride;
    }
  }
}

// Whether a vocabulary has what this asks of it.
template <class V, class T>
inline constexpr bool kSlidesPairs = requires(const uint8_t* p) {
  T::template Join<1>(p, p, uint8_t{});
};

// Computes the run, if its filters are such and its pixels share columns.
template <class V, class T, int kVectors>
bool SlidePairs(const DepthwiseArgs& args) {
  if (!SlidesColumns(T::kStep, args.groups, args.kernel_width, args.tap_step, args.pixel_step,
                     args.lines, args.packed_lines) ||
      !AreSlid(*args.params, kVectors, 1, args.epilogue.output)) {
    return false;
  }
  // Two pairs of columns come before the first pixel, so that short lines take longer.
  constexpr int kLeastOfFives = 8;
  if (args.kernel_width == 5 && args.pixels < kLeastOfFives) return false;
  const auto vectors = std::make_index_sequence<kVectors>();
  WithSlideScaling<V>(args, 1, [&](auto form) {
    if (args.kernel_width == 5 && args.pixel_step == 2) {
      SlidePairLines<V, T, decltype(form), kVectors, SparseFives<V, T, kVectors>>(args, vectors);
    } else if (args.kernel_width == 5) {
      SlidePairLines<V, T, decltype(form), kVectors, DenseFives<V, T, kVectors>>(args, vectors);
    } else if (args.pixel_step == 2) {
      SlidePairLines<V, T, decltype(form), kVectors, SparsePixels<V, T, kVectors>>(args, vectors);
    } else {
      SlidePairLines<V, T, decltype(form), kVectors, DensePixels<V, T, kVectors>>(args, vectors);
    }
  });
  return true;
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_PAIRS_H_
