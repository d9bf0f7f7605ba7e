// Depthwise filters of three columns in one group of kernel rows, two columns of the input after
// the other: both are interleaved in registers and meet all pixels that they lie under, whose
// accumulators stay there too. Two, as taps that do not fit into registers are then read once for
// both: a CPU that multiplies by two vectors in a cycle reads no more than two.
//
// Over a kernel vocabulary V and its taps T, as depthwise_tile.h names them, where V has also
//   Pin(I32&)                                          Keep, in the order of the program
//   ByteStore::StoreRow<kVectors>(char*, const I32*)   Store of one row
//   ByteStore::Words(I32, I32)                         two of its vectors, brought to int16
//   ByteStore::StoreWords(char*, words, words)         Store of a row of four that was brought so
// and T
//   InterleaveTwo<kVectors>(rows, flip, first, groups)   Interleave of vectors first and first + 1
// g++ would else load constants long before their use, and have accumulators make room for them.
#ifndef INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_SLIDE_H_
#define INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_SLIDE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "intaglio/kernels/depthwise/depthwise_args.h"
#include "intaglio/kernels/tile/finish_pairs.h"

namespace intaglio {

// A column of so many kernel rows, and the bytes to the next one. Addresses, as that may lie in
// another object.
template <int kRows = 4>
struct RowPlaces {
  uintptr_t rows[kRows];
  uintptr_t step[kRows];
};

// Columns, pairs of neighbouring ones, or panels of them, that lie equally far apart.
template <int kRows = 4>
struct ColumnSpan {
  RowPlaces<kRows> first;
  int count;
};

// Of a band's pairs: outside the image, across its side, inside, across the other side, outside.
inline constexpr int kMostSpans = 5;
static_assert(kMaxBands * kMostSpans * sizeof(ColumnSpan<6>) <= kColumnSpansBytes);

// Finds the columns, in pairs where kColumns is 2, from column `first` of a band on that follow
// each other so, from channel 0 on: for all panels.
template <int kColumns, int kRows>
INTAGLIO_INLINE ColumnSpan<kRows> FindSpan(const DepthwiseArgs& args, const DepthwiseRow* band,
                                           int first) {
  const int place = first - args.columns_before;  // among those inside
  const int inside = args.columns_inside;
  const auto address = [&](const DepthwiseRow& row, int at) {
    const bool is_inside = at >= 0 && at < inside;
    return reinterpret_cast<uintptr_t>(is_inside ? row.data + (args.first_column + at) * row.step
                                                 : args.outside);
  };
  ColumnSpan<kRows> span;
  for (int i = 0; i < kRows; ++i) {
    span.first.rows[i] = address(band[i], place);
    span.first.step[i] = address(band[i], place + 1) - span.first.rows[i];
  }
  const int beyond = args.columns + kColumns - 1 - args.columns_before;
  const int end = place >= inside ? beyond : place < 0 ? 0 : inside;
  span.count = std::max(1, (end - place) / kColumns);
  return span;
}

// Finds the columns under a run in all its bands, or the pairs of them, the last of which may be
// half beyond the run.
template <class T, int kColumns, int kRows = 4>
__attribute__((noinline)) void FindColumns(const DepthwiseArgs& args) {
  auto* to = static_cast<ColumnSpan<kRows>*>(args.scratch);
  const DepthwiseRow* rows = args.rows;
  for (int b = 0; b < args.bands; ++b, rows += kRows) {
    for (int c = 0; c < args.columns; c += kColumns * to++->count) {
      *to = FindSpan<kColumns, kRows>(args, rows, c);
    }
  }
}

// The rows of a column, in registers: named one by one, as g++ keeps an array in memory.
class FourRows {
 public:
  static constexpr int kCount = 4;

  INTAGLIO_INLINE void Take(const RowPlaces<>& places, ptrdiff_t first_channel) {
    const auto channel = static_cast<uintptr_t>(first_channel);
    a_ = places.rows[0] + channel, a_step_ = places.step[0];
    b_ = places.rows[1] + channel, b_step_ = places.step[1];
    c_ = places.rows[2] + channel, c_step_ = places.step[2];
    d_ = places.rows[3] + channel, d_step_ = places.step[3];
  }
  // Interleaves a panel's channels of this column.
  template <class T, int kVectors>
  INTAGLIO_INLINE void Interleave(uint8_t flip, typename T::Operand (&x)[kVectors]) const {
    T::template Interleave<kVectors>(Column<0>().rows, flip, x);
  }
  // Those of this column and the next, all or of two vectors.
  template <class T, int kVectors>
  INTAGLIO_INLINE void Interleave(uint8_t flip, typename T::Operand (&x)[2][kVectors]) const {
    T::template Interleave<kVectors>(Column<0>().rows, flip, x[0]);
    T::template Interleave<kVectors>(Column<1>().rows, flip, x[1]);
  }
  template <class T, int kVectors>
  INTAGLIO_INLINE void InterleaveTwo(uint8_t flip, int first,
                                     typename T::Operand (&x)[2][kVectors]) const {
    T::template InterleaveTwo<kVectors>(Column<0>().rows, flip, first, x[0]);
    T::template InterleaveTwo<kVectors>(Column<1>().rows, flip, first, x[1]);
  }
  struct Bytes {
    const uint8_t* rows[4];
  };
  template <int kAhead>
  INTAGLIO_INLINE Bytes Column() const {
    const auto row = [](uintptr_t address) { return reinterpret_cast<const uint8_t*>(address); };
    return {row(a_ + kAhead * a_step_), row(b_ + kAhead * b_step_), row(c_ + kAhead * c_step_),
            row(d_ + kAhead * d_step_)};
  }
  template <int kColumns>
  INTAGLIO_INLINE void Advance() {
    Advance(a_, kColumns * a_step_);
    Advance(b_, kColumns * b_step_);
    Advance(c_, kColumns * c_step_);
    Advance(d_, kColumns * d_step_);
  }

 private:
  static INTAGLIO_INLINE void Advance(uintptr_t& row, uintptr_t bytes) {
    row += bytes;
    asm volatile("" : "+r"(row));  // g++ would add all four as a vector, in memory
  }

  uintptr_t a_ = 0, b_ = 0, c_ = 0, d_ = 0;
  uintptr_t a_step_ = 0, b_step_ = 0, c_step_ = 0, d_step_ = 0;
};

// Vector j of the taps of kernel column k.
template <class V, class T, int kVectors>
INTAGLIO_INLINE typename T::Operand LoadTaps(const int8_t* weights, int k, int j) {
  return T::LoadWeights(weights + (k * kVectors + j) * V::kLanes * T::kStep);
}

// From the taps of one term to those of the next.
template <class V, class T, int kVectors>
inline constexpr ptrdiff_t kTermBytes = ptrdiff_t{3 * kVectors * V::kLanes * T::kStep};

// Constants of scaling, made once for all pixels, and kept in memory.
template <class Scaled>
class InMemory {
 public:
  explicit INTAGLIO_INLINE InMemory(const Scaled& scaled) : scaled_(scaled) {}
  INTAGLIO_INLINE Scaled Load() {
    asm volatile("" : "+m"(scaled_));
    return scaled_;
  }

 private:
  Scaled scaled_;
};

// Scales vector j of all lines by Form, or of ByVector by its own form. bounded[j]:
// BoundedScaling<V>'s.
template <class V, class Form, int kVectors, int kLines, class BoundedInMemory>
INTAGLIO_INLINE void ScaleDone(const ParamsOf<V>& p, int j, BoundedInMemory& bounded,
                               typename V::I32 (&done)[kLines][kVectors]) {
  if constexpr (std::is_same_v<Form, ByVector<V>>) {
    if (p.vector_form[j] == ScalingForm::kDoubleRoundingFitted) {
      ScaleDone<V, FittedScaling<V, false>>(p, j, bounded, done);
    } else if (p.vector_form[j] == ScalingForm::kDoubleRoundingStretched) {
      ScaleDone<V, FittedScaling<V, true>>(p, j, bounded, done);
    } else {
      ScaleDone<V, BoundedScaling<V>>(p, j, bounded, done);
    }
  } else if constexpr (std::is_same_v<Form, BoundedScaling<V>>) {
    ScaleVector(done, j, bounded[j].Load());
  } else {
    const auto scaled = Form()(p, j * V::kLanes);
    // One constant is loaded once for all lines, of more none stays in registers.
    if constexpr (sizeof(scaled) == sizeof(done[0][j])) asm volatile("" ::: "memory");
    ScaleVector(done, j, scaled);
  }
}

// Accumulators of pixels that lie kStride columns apart, of kLines lines, whose columns are met two
// by two. kSecond: of panels that may have a second term, as few vectors of uint8 weights have,
// whose channels leave int8.
template <class V, class T, int kVectors, int kStride, int kLines, bool kSecond>
class SlidPixels {
 public:
  using I32 = typename V::I32;
  using Operand = typename T::Operand;
  static constexpr int kDone = 2 / kStride;  // pixels of a line that a pair of columns completes

  explicit INTAGLIO_INLINE SlidPixels(const DepthwiseArgs& args)
      : weights_(args.weights),
        line_bytes_(kSecond ? args.line_weights : kTermBytes<V, T, kVectors>),
        offset_(ParamsIn<V>(args)->offset),
        second_(kSecond ? args.second_vectors : 0) {
    if constexpr (!kKeepsTaps) return;
    INTAGLIO_UNROLL
    for (int l = 0; l < kLines; ++l) {
      INTAGLIO_UNROLL
      for (int k = 0; k < 3; ++k) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) {
          kept_[l][k][j] = LoadTaps<V, T, kVectors>(Line(l), k, j);
          V::Pin(kept_[l][k][j]);
        }
      }
    }
  }

  // Meets a band's first pair.
  INTAGLIO_INLINE void Begin(const Operand (&x)[2][kVectors]) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const I32 offset = LoadOffset(j);
      INTAGLIO_UNROLL
      for (int l = 0; l < kLines; ++l) {
        BeginPixels(l, j, Taps(l, 1, j), offset, x);
        if (HasSecond(j)) AddSecond(l, j, x);
      }
    }
  }

  // Vector j of any other. done[l * kDone + i]: pixel i of line l that it completes. between()
  // comes after the first line.
  template <class Between>
  INTAGLIO_INLINE void Meet(int j, const Operand (&x)[2][kVectors],
                            I32 (&done)[kLines * kDone][kVectors], const Between& between) {
    const I32 offset = LoadOffset(j);
    INTAGLIO_UNROLL
    for (int l = 0; l < kLines; ++l) {
      I32& first = done[l * kDone][j];
      I32& last = done[l * kDone + kDone - 1][j];
      const Operand last_taps = Taps(l, 2, j);
      first = Dot(now_[l][j], last_taps, x[0][j]);
      const Operand taps = Taps(l, 1, j);
      if constexpr (kDone == 2) {
        last = Dot(next_[l][j], taps, x[0][j]);
        last = Dot(last, last_taps, x[1][j]);
      }
      BeginPixels(l, j, taps, offset, x);
      if (HasSecond(j)) {
        AddSecond(l, 2, j, x[0][j], first);
        if constexpr (kDone == 2) {
          AddSecond(l, 1, j, x[0][j], last);
          AddSecond(l, 2, j, x[1][j], last);
        }
        AddSecond(l, j, x);
      }
      if (l == 0) between();
    }
  }

 private:
  static constexpr bool kKeepsTaps = kLines * kVectors <= (kStride == 2 ? 4 : 2);  // in registers

  INTAGLIO_INLINE const int8_t* Line(int l) const { return weights_ + l * line_bytes_; }
  INTAGLIO_INLINE I32 LoadOffset(int j) const {
    asm volatile("" ::: "memory");
    I32 offset = V::Load(offset_ + j * V::kLanes);
    V::Pin(offset);
    return offset;
  }
  INTAGLIO_INLINE Operand Taps(int l, int k, int j) const {
    if constexpr (kKeepsTaps) return kept_[l][k][j];
    Operand taps = LoadTaps<V, T, kVectors>(Line(l), k, j);
    V::Pin(taps);  // for both columns: g++ would read them twice
    return taps;
  }
  // sum + the products of a column.
  static INTAGLIO_INLINE I32 Dot(I32 sum, Operand taps, Operand column) {
    sum = T::Dot(sum, taps, column);
    V::Pin(sum);
    return sum;
  }
  // Pixels that begin in these columns. middle: taps of kernel column 1.
  INTAGLIO_INLINE void BeginPixels(int l, int j, Operand middle, I32 offset,
                                   const Operand (&x)[2][kVectors]) {
    const Operand first = Taps(l, 0, j);
    now_[l][j] = Dot(offset, first, x[0][j]);
    now_[l][j] = Dot(now_[l][j], middle, x[1][j]);
    if constexpr (kStride == 1) next_[l][j] = Dot(offset, first, x[1][j]);
  }

  INTAGLIO_INLINE bool HasSecond(int j) const { return kSecond && (second_ >> j & 1) != 0; }
  INTAGLIO_INLINE void AddSecond(int l, int k, int j, Operand column, I32& sum) const {
    const int8_t* const second = Line(l) + kTermBytes<V, T, kVectors>;
    sum = Dot(sum, LoadTaps<V, T, kVectors>(second, k, j), column);
  }
  // To the pixels that begin in these columns.
  INTAGLIO_INLINE void AddSecond(int l, int j, const Operand (&x)[2][kVectors]) {
    AddSecond(l, 0, j, x[0][j], now_[l][j]);
    AddSecond(l, 1, j, x[1][j], now_[l][j]);
    if constexpr (kStride == 1) AddSecond(l, 0, j, x[1][j], next_[l][j]);
  }

  const int8_t* weights_;
  ptrdiff_t line_bytes_;
  const int32_t* offset_;
  uint32_t second_;
  Operand kept_[kLines][3][kVectors];
  I32 now_[kLines][kVectors];   // of a pixel that lacks one column
  I32 next_[kLines][kVectors];  // of the one after it, which lacks two
};

// kCount vectors of two columns from vector `first` on.
template <class V, int kCount, int kVectors>
INTAGLIO_INLINE void PinColumns(typename V::Operand (&x)[2][kVectors], int first) {
  INTAGLIO_UNROLL
  for (int c = 0; c < 2; ++c) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kCount; ++j) V::Pin(x[c][first + j]);
  }
}

// Brings vectors j - 1 and j of all rows to words, in the place of vector j / 2: early, as they
// take half the registers.
template <class V, int kRows, int kVectors, class Store>
INTAGLIO_INLINE void MakeWords(const Store& store, int j,
                               typename V::I32 (&done)[kRows][kVectors]) {
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    done[r][j / 2] = store.Words(done[r][j - 1], done[r][j]);
    V::Pin(done[r][j / 2]);
  }
}

// Writes the pixels of kLines lines that a pair of columns completes: two of each, or the first
// alone; or one.
template <int kLines, int kRows, int kVectors, class Store, class I32>
INTAGLIO_INLINE void StoreDone(const Store& store, char* dst, ptrdiff_t dst_line, ptrdiff_t stride,
                               bool both, const I32 (&done)[kRows][kVectors]) {
  constexpr int kDone = kRows / kLines;
  INTAGLIO_UNROLL
  for (int l = kLines - 1; l >= 0; --l) {
    const I32(&first)[kVectors] = done[l * kDone];
    const I32(&second)[kVectors] = done[l * kDone + kDone - 1];
    char* const to = dst + l * dst_line;
    // A second pixel that is none goes where the first is then written.
    char* const next = to + (both ? stride : 0);
    if constexpr (kDone == 2 && kVectors == 4) {
      store.StoreWords(next, second[0], second[1]);
      store.StoreWords(to, first[0], first[1]);
    } else if constexpr (kDone == 2) {
      store.template Store<kVectors>(next, to, second, first);
    } else if constexpr (kVectors == 4) {
      store.StoreWords(to, first[0], first[1]);
    } else {
      store.template StoreRow<kVectors>(to, first);
    }
  }
}

// All bands of a run, of pixels that lie kStride columns apart.
template <class V, class T, class Form, int kVectors, int kStride, size_t... kVector>
__attribute__((noinline)) void SlideLines(const DepthwiseArgs& args,
                                          std::index_sequence<kVector...>) {
  constexpr int kLines = 2 / kStride;
  // Where accumulators leave few registers, columns are interleaved two vectors at a time, for
  // which rows are read twice: shuffles then lie between the products, which need other ports.
  constexpr bool kByTwos = kVectors == 4 && kStride == 1;
  constexpr bool kSecond = std::is_same_v<Form, ByVector<V>>;
  // A vector is scaled among the products of the next one, whose results it does not wait for: by
  // one constant, as more would take registers.
  constexpr bool kScalesLate = std::is_same_v<Form, HalfEvenBounded<V>>;
  using Pixels = SlidPixels<V, T, kVectors, kStride, kLines, kSecond>;
  constexpr int kDone = Pixels::kDone;
  if (!*args.has_columns) FindColumns<T, 2>(args);
  *args.has_columns = true;
  const auto* span = static_cast<const ColumnSpan<>*>(args.scratch);
  const ParamsOf<V>& params = *ParamsIn<V>(args);
  const ByteStoreOf<V, Form> store(args.epilogue);
  InMemory<DoubleRoundingBounded<V>> bounded[] = {
      InMemory(BoundedScaling<V>()(params, kVector * V::kLanes))...};
  Pixels pixels(args);
  FourRows rows;
  const uint8_t flip = args.flip;
  // A band of one line has no pixels of a second line. Those go where the first is then written.
  const ptrdiff_t dst_line = args.lines == kLines ? args.dst_line : 0;
  const ptrdiff_t dst_stride = args.dst_stride;
  const int count = args.pixels;
  const auto scale = [&](int j, auto& done) __attribute__((always_inline)) {
    ScaleDone<V, Form>(params, j, bounded, done);
    if (kVectors == 4 && j % 2 == 1) MakeWords<V>(store, j, done);
  };
  char* band = static_cast<char*>(args.dst);
  for (int b = 0; b < args.bands; band += DstStep(args, ++b)) {
    char* dst = band;
    int pairs = 0;  // left of a span
    for (int left = count + kDone; left > 0; left -= kDone) {
      if (__builtin_expect(pairs == 0, 0)) {
        rows.Take(span->first, args.first_channel);
        pairs = span++->count;
      }
      --pairs;
      typename T::Operand x[2][kVectors];
      const bool begins = left > count;
      if (!kByTwos || __builtin_expect(begins, 0)) {
        rows.Interleave<T>(flip, x);
        rows.Advance<2>();
        PinColumns<V, kVectors>(x, 0);
      }
      if (__builtin_expect(begins, 0)) {
        pixels.Begin(x);
        continue;
      }
      typename V::I32 done[kLines * kDone][kVectors];
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        if (kByTwos && j % 2 == 0) {
          rows.InterleaveTwo<T>(flip, j, x);
          PinColumns<V, 2>(x, j);
        }
        pixels.Meet(
            j, x, done, [&]() __attribute__((always_inline)) {
              if (kScalesLate && j > 0) scale(j - 1, done);
            });
        if (!kScalesLate) scale(j, done);
      }
      if (kScalesLate) scale(kVectors - 1, done);
      if (kByTwos) rows.Advance<2>();
      StoreDone<kLines>(store, dst, dst_line, dst_stride, left > 1, done);
      dst += kDone * dst_stride;
    }
  }
}

// Whether a vocabulary has the registers for it: of thirty-two, six accumulators for each vector.
template <class V, class T>
inline constexpr bool kSlides = T::kStep == 4 && V::kLanes == 16 && kStoresPairs<V>;

// use(form) for a panel of taps in so many terms for which AreSlid holds.
template <class V, class Use>
INTAGLIO_INLINE void WithSlideScaling(const DepthwiseArgs& args, int terms, const Use& use) {
  const ScalingForm form = args.params->form;
  if (form == ScalingForm::kFloatHalfEvenBounded) {
    use(HalfEvenBounded<V>());
  } else if (form == ScalingForm::kDoubleRoundingFitted && terms == 1) {
    use(FittedScaling<V, false>());
  } else {
    use(ByVector<V>());
  }
}

// Computes the run, if its filters are such and its pixels share columns.
template <class V, class T, int kVectors>
bool Slide(const DepthwiseArgs& args) {
  if (!SlidesColumns(T::kStep, args.groups, args.kernel_width, args.tap_step, args.pixel_step,
                     args.lines, args.packed_lines) ||
      !AreSlid(*args.params, kVectors, args.terms, args.epilogue.output)) {
    return false;
  }
  const auto vectors = std::make_index_sequence<kVectors>();
  WithSlideScaling<V>(args, args.terms, [&](auto form) {
    if (args.pixel_step == 2) {
      SlideLines<V, T, decltype(form), kVectors, 2>(args, vectors);
    } else {
      SlideLines<V, T, decltype(form), kVectors, 1>(args, vectors);
    }
  });
  return true;
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_DEPTHWISE_SLIDE_H_
