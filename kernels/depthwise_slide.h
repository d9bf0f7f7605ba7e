// Depthwise filters of three columns in one group of kernel rows, one column of the input after the
// other: a column is interleaved in registers and meets all pixels that it lies under, whose
// accumulators stay there too. Over a kernel vocabulary V and its taps T, as depthwise_tile.h names
// them, where V has also
//   Pin(I32&)                                      Keep, in the order of the program
//   ByteStore::StoreRow<kVectors>(char*, const I32*)   Store of one row
// g++ would else load constants long before their use, and have accumulators make room for them.
#ifndef INTAGLIO_KERNELS_DEPTHWISE_SLIDE_H_
#define INTAGLIO_KERNELS_DEPTHWISE_SLIDE_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "intaglio/kernels/depthwise_args.h"
#include "intaglio/kernels/finish_pairs.h"

namespace intaglio {

// Where a column of one group of kernel rows lies, from channel 0 on: for all panels.
template <int kStep>
struct SlideColumn {
  const uint8_t* rows[kStep];
};

// Finds the columns under a run in all its bands, a multiple of kStride for each, and kStride more,
// of a pixel outside the image.
template <class T, int kStride>
__attribute__((noinline)) void FindColumns(const DepthwiseArgs& args) {
  constexpr int kStep = T::kStep;
  auto* to = static_cast<SlideColumn<kStep>*>(args.scratch);
  SlideColumn<kStep> outside;
  for (int i = 0; i < kStep; ++i) outside.rows[i] = args.outside;
  const int columns = (args.columns + kStride - 1) / kStride * kStride;
  const DepthwiseRow* rows = args.rows;
  for (int b = 0; b < args.bands; ++b, rows += kStep) {
    SlideColumn<kStep> column;
    ptrdiff_t step[kStep];
    for (int i = 0; i < kStep; ++i) {
      step[i] = rows[i].step;
      column.rows[i] = rows[i].data + args.first_column * step[i];
    }
    int c = 0;
    for (; c < args.columns_before; ++c) *to++ = outside;
    for (; c < args.columns_before + args.columns_inside; ++c) {
      *to++ = column;
      for (int i = 0; i < kStep; ++i) column.rows[i] += step[i];
    }
    for (; c < columns; ++c) *to++ = outside;
  }
  for (int c = 0; c < kStride; ++c) *to++ = outside;
}

// Interleaves one column of a panel's channels.
template <class T, int kVectors>
INTAGLIO_INLINE void TakeColumn(const SlideColumn<T::kStep>& column, ptrdiff_t first_channel,
                                uint8_t flip, typename T::Operand (&x)[kVectors]) {
  const uint8_t* rows[T::kStep];
  INTAGLIO_UNROLL
  for (int i = 0; i < T::kStep; ++i) rows[i] = column.rows[i] + first_channel;
  T::template Interleave<kVectors>(rows, flip, x);
}

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

// Scales vector j of all lines by Form, or of ByVector by its own form. bounded[j]: Bounded<V>'s.
template <class V, class Form, int kVectors, int kLines, class BoundedInMemory>
INTAGLIO_INLINE void ScaleDone(const PanelParams& p, int j, BoundedInMemory& bounded,
                               typename V::I32 (&done)[kLines][kVectors]) {
  if constexpr (std::is_same_v<Form, ByVector<V>>) {
    if (p.vector_form[j] == ScalingForm::kDoubleRoundingFitted) {
      ScaleDone<V, Fitted<V, false>>(p, j, bounded, done);
    } else if (p.vector_form[j] == ScalingForm::kDoubleRoundingStretched) {
      ScaleDone<V, Fitted<V, true>>(p, j, bounded, done);
    } else {
      ScaleDone<V, Bounded<V>>(p, j, bounded, done);
    }
  } else if constexpr (std::is_same_v<Form, Bounded<V>>) {
    ScaleVector(done, j, bounded[j].Load());
  } else {
    const auto scaled = Form()(p, j * V::kLanes);
    // One constant is loaded once for all lines, of more none stays in registers.
    if constexpr (sizeof(scaled) == sizeof(done[0][j])) asm volatile("" ::: "memory");
    ScaleVector(done, j, scaled);
  }
}

// kLines lines of pixels that lie kStride columns apart. kSecond: of a panel with a second term, as
// few vectors of uint8 weights have, whose channels leave int8.
template <class V, class T, class Form, int kVectors, int kStride, int kLines, bool kSecond,
          size_t... kVector>
__attribute__((noinline)) void SlideLines(const DepthwiseArgs& args,
                                          std::index_sequence<kVector...>) {
  using I32 = typename V::I32;
  if (!*args.has_columns) FindColumns<T, kStride>(args);
  *args.has_columns = true;
  auto* column = static_cast<const SlideColumn<T::kStep>*>(args.scratch);
  const PanelParams& params = *args.params;
  const typename V::ByteStore store(args.epilogue);
  InMemory<DoubleRoundingBounded<V>> bounded[] = {
      InMemory(Bounded<V>()(params, kVector * V::kLanes))...};
  constexpr bool kKeepsTaps = kLines * kVectors <= 4;  // in registers
  const int8_t* weights[kLines];
  typename T::Operand kept[kLines][3][kVectors];
  const auto add = [&](int l, int k, int j, I32 from, typename T::Operand x, I32& acc) {
    acc = T::Dot(from, kKeepsTaps ? kept[l][k][j] : LoadTaps<V, T, kVectors>(weights[l], k, j), x);
    V::Pin(acc);
  };
  const uint32_t second = kSecond ? args.second_vectors : 0;
  const auto add_second = [&](int l, int k, int j, typename T::Operand x, I32& acc) {
    const int8_t* const of_term = weights[l] + kTermBytes<V, T, kVectors>;
    acc = T::Dot(acc, LoadTaps<V, T, kVectors>(of_term, k, j), x);
    V::Pin(acc);
  };
  I32 done[kLines][kVectors];  // of a pixel whose columns were all met
  I32 now[kLines][kVectors];   // of the next, which lacks one
  I32 next[kLines][kVectors];  // and of the one after it, which lacks two
  INTAGLIO_UNROLL
  for (int l = 0; l < kLines; ++l) {
    weights[l] = args.weights + l * args.line_weights;
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      done[l][j] = now[l][j] = next[l][j] = V::Load(params.offset + j * V::kLanes);
      if constexpr (kKeepsTaps) {
        INTAGLIO_UNROLL
        for (int k = 0; k < 3; ++k) {
          kept[l][k][j] = LoadTaps<V, T, kVectors>(weights[l], k, j);
          V::Pin(kept[l][k][j]);
        }
      }
    }
  }
  const uint8_t flip = args.flip;
  const ptrdiff_t first_channel = args.first_channel;
  const ptrdiff_t dst_line = args.dst_line;
  const ptrdiff_t dst_stride = args.dst_stride;
  char* dst = static_cast<char*>(args.dst);
  char* band = dst;
  char* const end = band + args.bands * args.dst_band;
  const int steps = args.pixels + 2 / kStride;  // of a band, each a pixel's first columns
  int step = 0;
  int pending = 1;  // steps until `done` is a pixel
  for (;;) {
    typename T::Operand x[kVectors];
    TakeColumn<T>(*column++, first_channel, flip, x);
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) V::Pin(x[j]);
    if (--pending < 0) {
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) ScaleDone<V, Form>(params, j, bounded, done);
      if constexpr (kLines == 2) {
        store.template Store<kVectors>(dst, dst + dst_line, done[0], done[1]);
      } else {
        store.template StoreRow<kVectors>(dst, done[0]);
      }
      dst += dst_stride;
    }
    if (step == 0) {
      if (band == end) break;
      dst = band;
      band += args.dst_band;
      pending = 2 / kStride;
      step = steps;
    }
    --step;
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      asm volatile("" ::: "memory");
      I32 offset = V::Load(params.offset + j * V::kLanes);
      V::Pin(offset);
      INTAGLIO_UNROLL
      for (int l = 0; l < kLines; ++l) {
        add(l, 2, j, now[l][j], x[j], done[l][j]);
        if constexpr (kStride == 1) add(l, 1, j, next[l][j], x[j], now[l][j]);
        add(l, 0, j, offset, x[j], next[l][j]);
      }
      if (!kSecond || (second >> j & 1) == 0) continue;
      INTAGLIO_UNROLL
      for (int l = 0; l < kLines; ++l) {
        add_second(l, 2, j, x[j], done[l][j]);
        if constexpr (kStride == 1) add_second(l, 1, j, x[j], now[l][j]);
        add_second(l, 0, j, x[j], next[l][j]);
      }
    }
    if constexpr (kStride == 2) {
      TakeColumn<T>(*column++, first_channel, flip, x);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        add(0, 1, j, next[0][j], x[j], now[0][j]);
        if (kSecond && (second >> j & 1) != 0) add_second(0, 1, j, x[j], now[0][j]);
      }
    }
  }
}

// Whether a vocabulary has the registers for it: of thirty-two, six accumulators for each vector.
template <class V, class T>
inline constexpr bool kSlides = T::kStep == 4 && V::kLanes == 16 && kStoresPairs<V>;

// use(form, whether there is a second term) if a panel is scaled in one of the ways of which there
// are instances. With a second term that is double rounding alone, which uint8 weights come with.
template <class V, int kVectors, class Use>
INTAGLIO_INLINE bool WithSlideScaling(const DepthwiseArgs& args, const Use& use) {
  const PanelParams& p = *args.params;
  if (args.second_vectors != 0) {
    const bool is_double = p.form == ScalingForm::kDoubleRoundingFitted ||
                           p.form == ScalingForm::kDoubleRoundingBounded ||
                           p.form == ScalingForm::kDoubleRoundingStretched ||
                           p.form == ScalingForm::kByVector;
    return is_double && IsBounded(p, kVectors) && use(ByVector<V>(), std::true_type());
  }
  switch (p.form) {
    case ScalingForm::kFloatHalfEvenBounded:
      return use(HalfEvenBounded<V>(), std::false_type());
    case ScalingForm::kDoubleRoundingFitted:
      return use(Fitted<V, false>(), std::false_type());
    case ScalingForm::kDoubleRoundingBounded:
    case ScalingForm::kDoubleRoundingStretched:
    case ScalingForm::kByVector:
      return IsBounded(p, kVectors) && use(ByVector<V>(), std::false_type());
    default:
      return false;
  }
}

// Whether filters and output are such.
INTAGLIO_INLINE bool AreSlid(const DepthwiseArgs& args) {
  return args.terms <= 2 && args.groups == 1 && args.kernel_width == 3 && args.tap_step == 1 &&
         SizeOf(args.epilogue.output) == 1;
}

// Computes the run, if they are and its pixels share columns.
template <class V, class T, int kVectors>
bool Slide(const DepthwiseArgs& args) {
  if (args.pixel_step > 2 || args.lines > 2 / args.pixel_step) return false;
  const auto vectors = std::make_index_sequence<kVectors>();
  return WithSlideScaling<V, kVectors>(args, [&](auto form, auto has_second) {
    using Form = decltype(form);
    constexpr bool kSecond = decltype(has_second)::value;
    if (args.lines == 2) {
      SlideLines<V, T, Form, kVectors, 1, 2, kSecond>(args, vectors);
    } else if (args.pixel_step == 2) {
      SlideLines<V, T, Form, kVectors, 2, 1, kSecond>(args, vectors);
    } else if constexpr (kSecond) {
      return false;  // a last line, for which no code is spent
    } else {
      SlideLines<V, T, Form, kVectors, 1, 1, kSecond>(args, vectors);
    }
    return true;
  });
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_SLIDE_H_
