// Depthwise filters of 5 x 5 taps in groups of two kernel rows: what depthwise_pairs.h has for 3 x
// 3. Columns are met two by two. The kernel row that makes no pair in a column is one with that of
// the next column, so that a pixel takes thirteen products of pairs, not fifteen.
#ifndef INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_FIVES_H_
#define INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_FIVES_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/depthwise/depthwise_slide.h"

namespace intaglio {

// Vector j of the taps of line l, kernel column k and group g of kGroups: the sum of all terms,
// which lies within [-255, 255].
template <class V, class T, int kVectors, int kGroups = 2, int kWidth = 3>
INTAGLIO_INLINE typename T::Operand WidenTaps(const DepthwiseArgs& args, int l, int k, int g,
                                              int j) {
  constexpr ptrdiff_t kBytes = V::kLanes * T::kStep;
  const int8_t* at =
      args.weights + l * args.line_weights + ((kGroups * k + g) * kVectors + j) * kBytes;
  typename T::Operand taps = T::LoadWeights(at);
  for (int term = 1; term < args.terms; ++term) {
    at += kGroups * kWidth * kVectors * kBytes;
    taps = V::SaturatingAdd16(taps, T::LoadWeights(at));
  }
  return taps;
}

// The rows of a column, in registers, as FourRows; what is added to them is in memory.
class SixRows {
 public:
  static constexpr int kCount = 6;

  INTAGLIO_INLINE void Take(const RowPlaces<6>& places, ptrdiff_t first_channel) {
    const auto channel = static_cast<uintptr_t>(first_channel);
    a_ = places.rows[0] + channel;
    b_ = places.rows[1] + channel;
    c_ = places.rows[2] + channel;
    d_ = places.rows[3] + channel;
    e_ = places.rows[4] + channel;
    f_ = places.rows[5] + channel;
    step_ = places.step;
  }
  struct Bytes {
    const uint8_t* rows[6];
  };
  template <int kAhead>
  INTAGLIO_INLINE Bytes Column() const {
    const auto row = [](uintptr_t address) { return reinterpret_cast<const uint8_t*>(address); };
    return {row(a_ + kAhead * step_[0]), row(b_ + kAhead * step_[1]), row(c_ + kAhead * step_[2]),
            row(d_ + kAhead * step_[3]), row(e_ + kAhead * step_[4]), row(f_ + kAhead * step_[5])};
  }
  template <int kColumns>
  INTAGLIO_INLINE void Advance() {
    Advance(a_, kColumns * step_[0]);
    Advance(b_, kColumns * step_[1]);
    Advance(c_, kColumns * step_[2]);
    Advance(d_, kColumns * step_[3]);
    Advance(e_, kColumns * step_[4]);
    Advance(f_, kColumns * step_[5]);
  }

 private:
  static INTAGLIO_INLINE void Advance(uintptr_t& row, uintptr_t bytes) {
    row += bytes;
    asm volatile("" : "+r"(row));
  }

  uintptr_t a_ = 0, b_ = 0, c_ = 0, d_ = 0, e_ = 0, f_ = 0;
  const uintptr_t* step_ = nullptr;
};

// The first taps of two pairs as one pair. Either may be null, for a zero.
template <class V, class Operand>
INTAGLIO_INLINE Operand JoinTaps(const Operand* first, const Operand* second) {
  const Operand none = V::Set(0);
  return V::Or(first == nullptr ? none : V::And(*first, V::Set(0xffff)),
               second == nullptr ? none : V::template ShiftLeft<16>(*second));
}

// Two lines of neighbouring pixels. Rows 1 and 2, and 3 and 4, are pairs for both; row 0 meets the
// first line alone, row 5 the second.
template <class V, class T, int kVectors>
class DenseFives {
 public:
  using I32 = typename V::I32;
  using Operand = typename T::Operand;
  using Rows = SixRows;
  static constexpr int kLines = 2;
  static constexpr int kDone = 2;     // pixels of a line that are done at once
  static constexpr int kColumns = 2;  // that are taken at once
  static constexpr int kBefore = 2;   // times that columns are taken before the first pixel is done
  static constexpr int kLineTaps = 16;
  static constexpr int kTaps = 2 * kLineTaps;

  // A line has two pairs of each kernel column, then what meets pairs of columns, by pixels in the
  // order in which they are done.
  static void Widen(const DepthwiseArgs& args, Operand (&taps)[kTaps][kVectors]) {
    for (int j = 0; j < kVectors; ++j) {
      Operand single[2][5];
      for (int k = 0; k < 5; ++k) {
        const auto of = [&](int l, int g) {
          return WidenTaps<V, T, kVectors, 3, 5>(args, l, k, g, j);
        };
        taps[2 * k][j] = of(1, 1);
        taps[2 * k + 1][j] = of(1, 2);
        taps[kLineTaps + 2 * k][j] = single[0][k] = of(0, 0);
        taps[kLineTaps + 2 * k + 1][j] = of(0, 1);
        single[1][k] = of(0, 2);
      }
      for (int l = 0; l < 2; ++l) {
        for (int i = 0; i < 6; ++i) {
          const Operand* const first = i < 5 ? &single[l][4 - i] : nullptr;
          const Operand* const second = i > 0 ? &single[l][5 - i] : nullptr;
          taps[l * kLineTaps + 10 + i][j] = JoinTaps<V>(first, second);
        }
      }
    }
  }

  explicit INTAGLIO_INLINE DenseFives(const Operand (*taps)[kVectors], const int32_t* offset)
      : taps_(taps), offset_(offset) {}

  INTAGLIO_INLINE void Clear() {
    INTAGLIO_UNROLL
    for (int l = 0; l < 2; ++l) {
      INTAGLIO_UNROLL
      for (int i = 0; i < 4; ++i) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) sums_[l][i][j] = V::Set(0);
      }
    }
  }

  INTAGLIO_INLINE void Take(const SixRows& rows, uint8_t flip) {
    const auto a = rows.Column<0>();
    const auto b = rows.Column<1>();
    joined_[0] = T::template Join<kVectors>(a.rows[1], a.rows[2], flip);
    joined_[1] = T::template Join<kVectors>(a.rows[3], a.rows[4], flip);
    joined_[2] = T::template Join<kVectors>(b.rows[1], b.rows[2], flip);
    joined_[3] = T::template Join<kVectors>(b.rows[3], b.rows[4], flip);
    joined_[4] = T::template Join<kVectors>(a.rows[0], b.rows[0], flip);
    joined_[5] = T::template Join<kVectors>(a.rows[5], b.rows[5], flip);
  }

  // Vector j of the columns. done[2 * l + i]: pixel i of line l that they complete.
  template <bool kCompletes>
  INTAGLIO_INLINE void Meet(int j, I32 (&done)[4][kVectors]) {
    asm volatile("" ::: "memory");
    const auto pairs = [&](int i) { return T::template Pairs<kVectors>(joined_[i], j); };
    const Operand a[2] = {pairs(0), pairs(1)};
    const Operand b[2] = {pairs(2), pairs(3)};
    INTAGLIO_UNROLL
    for (int l = 0; l < 2; ++l) {
      const Operand both = pairs(4 + l);
      const Operand(*const taps)[kVectors] = taps_ + l * kLineTaps;
      I32(&sums)[4][kVectors] = sums_[l];
      const I32 offset = V::Load(offset_ + j * V::kLanes);
      I32 first = sums[0][j];
      I32 second = sums[1][j];
      if constexpr (kCompletes) {
        Column(taps, 4, j, a, b, first, second);
        done[2 * l][j] = Dot(first, taps[10][j], both);
      }
      first = second;
      second = sums[2][j];
      Column(taps, 3, j, a, b, first, second);
      if constexpr (kCompletes) done[2 * l + 1][j] = Dot(first, taps[11][j], both);
      first = second;
      second = sums[3][j];
      Column(taps, 2, j, a, b, first, second);
      sums[0][j] = Dot(first, taps[12][j], both);
      first = second;
      second = offset;
      Column(taps, 1, j, a, b, first, second);
      sums[1][j] = Dot(first, taps[13][j], both);
      first = second;
      second = offset;
      Column(taps, 0, j, a, b, first, second);
      sums[2][j] = Dot(first, taps[14][j], both);
      sums[3][j] = Dot(second, taps[15][j], both);
    }
  }

 private:
  static INTAGLIO_INLINE I32 Dot(I32 sum, Operand taps, Operand x) {
    sum = V::Add(sum, V::DotPairs(x, taps));
    V::Pin(sum);
    return sum;
  }
  // The taps of kernel column k, which lie over column a for one pixel and over b for the next.
  static INTAGLIO_INLINE void Column(const Operand (*taps)[kVectors], int k, int j,
                                     const Operand (&a)[2], const Operand (&b)[2], I32& first,
                                     I32& second) {
    INTAGLIO_UNROLL
    for (int i = 0; i < 2; ++i) {
      Operand both = taps[2 * k + i][j];
      V::Pin(both);  // g++ would read them twice
      first = Dot(first, both, a[i]);
      second = Dot(second, both, b[i]);
    }
  }

  const Operand (*taps_)[kVectors];
  const int32_t* offset_;
  Operand joined_[6];
  I32 sums_[2][4][kVectors];  // of pixels that lack one column, two, three and four
};

// One line of pixels that lie two columns apart.
template <class V, class T, int kVectors>
class SparseFives {
 public:
  using I32 = typename V::I32;
  using Operand = typename T::Operand;
  using Rows = SixRows;
  static constexpr int kLines = 1;
  static constexpr int kDone = 1;
  static constexpr int kColumns = 2;
  static constexpr int kBefore = 2;
  static constexpr int kTaps = 13;

  static void Widen(const DepthwiseArgs& args, Operand (&taps)[kTaps][kVectors]) {
    for (int j = 0; j < kVectors; ++j) {
      Operand fifth[5];
      for (int k = 0; k < 5; ++k) {
        const auto of = [&](int g) { return WidenTaps<V, T, kVectors, 3, 5>(args, 0, k, g, j); };
        taps[2 * k][j] = of(0);
        taps[2 * k + 1][j] = of(1);
        fifth[k] = of(2);
      }
      taps[10][j] = JoinTaps<V, Operand>(&fifth[0], &fifth[1]);
      taps[11][j] = JoinTaps<V, Operand>(&fifth[2], &fifth[3]);
      taps[12][j] = JoinTaps<V, Operand>(&fifth[4], nullptr);
    }
  }

  explicit INTAGLIO_INLINE SparseFives(const Operand (*taps)[kVectors], const int32_t* offset)
      : taps_(taps), offset_(offset) {}

  INTAGLIO_INLINE void Clear() {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) now_[j] = next_[j] = V::Set(0);
  }

  INTAGLIO_INLINE void Take(const SixRows& rows, uint8_t flip) {
    const auto a = rows.Column<0>();
    const auto b = rows.Column<1>();
    joined_[0] = T::template Join<kVectors>(a.rows[0], a.rows[1], flip);
    joined_[1] = T::template Join<kVectors>(a.rows[2], a.rows[3], flip);
    joined_[2] = T::template Join<kVectors>(b.rows[0], b.rows[1], flip);
    joined_[3] = T::template Join<kVectors>(b.rows[2], b.rows[3], flip);
    joined_[4] = T::template Join<kVectors>(a.rows[4], b.rows[4], flip);
  }

  template <bool kCompletes>
  INTAGLIO_INLINE void Meet(int j, I32 (&done)[1][kVectors]) {
    asm volatile("" ::: "memory");
    const auto pairs = [&](int i) { return T::template Pairs<kVectors>(joined_[i], j); };
    const Operand a[2] = {pairs(0), pairs(1)};
    const Operand b[2] = {pairs(2), pairs(3)};
    const Operand fifth = pairs(4);
    if constexpr (kCompletes) done[0][j] = Dot(Column(now_[j], 4, j, a), 12, j, fifth);
    now_[j] = Dot(Column(Column(next_[j], 2, j, a), 3, j, b), 11, j, fifth);
    const I32 offset = V::Load(offset_ + j * V::kLanes);
    next_[j] = Dot(Column(Column(offset, 0, j, a), 1, j, b), 10, j, fifth);
  }

 private:
  INTAGLIO_INLINE I32 Dot(I32 sum, int i, int j, Operand x) const {
    sum = V::Add(sum, V::DotPairs(x, taps_[i][j]));
    V::Pin(sum);
    return sum;
  }
  INTAGLIO_INLINE I32 Column(I32 sum, int k, int j, const Operand (&x)[2]) const {
    return Dot(Dot(sum, 2 * k, j, x[0]), 2 * k + 1, j, x[1]);
  }

  const Operand (*taps_)[kVectors];
  const int32_t* offset_;
  Operand joined_[5];
  I32 now_[kVectors];   // of a pixel that lacks one column
  I32 next_[kVectors];  // of the one after it, which lacks three
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_FIVES_H_
