// Lines of images under bilinear interpolation, over a kernel vocabulary V.
#ifndef INTAGLIO_KERNELS_TILE_BLEND_H_
#define INTAGLIO_KERNELS_TILE_BLEND_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/elementwise/line_args.h"

namespace intaglio {

template <class V>
struct Blend {
  using I32 = typename V::I32;
  using F32 = typename V::F32;

  template <class T>
  static constexpr bool kStoresTogether = requires(T* out, const I32* x) {
    V::StoreSaturated(out, x);
  };
  template <class T>
  static constexpr bool kStoresAlone = requires(T* out, I32 x) {
    V::StoreSaturated(out, x);
  };

  // Numbers that are widened at a time. g++ makes one instruction of a long vector's, and for short
  // ones vectorizes a loop over more of them that it has not unrolled.
  static constexpr bool kLong = V::kLanes >= 8;
  static constexpr int kGroup = kLong ? V::kLanes : BlendLine<int8_t, int32_t>::kGroup;

  // The lines are blended by column(upper, lower, to) for a group of neighbouring channels;
  // value(tap, low, high) is then one vector of results. Of so many channels at a time that L1
  // holds what becomes of them.
  template <class T, class W, class Column, class Value>
  static INTAGLIO_INLINE void Run(const BlendLine<T, W> line, const Column& column,
                                  const Value& value) {
    const ptrdiff_t stride = line.Stride(line.channels);
    const ptrdiff_t count = std::min(line.channels, stride);
    for (ptrdiff_t c = 0; c < line.channels; c += stride) {
      // The last ones are computed again rather than in fewer.
      const ptrdiff_t first = std::min(c, line.channels - count);
      BlendColumns(line, first, stride, column);
      ForVectors(line, first, count, stride, value);
    }
  }

  // All columns, from channel `first` on. A group may reach into the next pixel, but not beyond the
  // line.
  template <class T, class W, class Column>
  static INTAGLIO_INLINE void BlendColumns(const BlendLine<T, W>& line, ptrdiff_t first,
                                           ptrdiff_t stride, const Column& column) {
    const ptrdiff_t total = line.columns * line.channels;
    for (ptrdiff_t x = 0; x < line.columns; ++x) {
      const ptrdiff_t start = x * line.channels + first;
      ptrdiff_t i = 0;
      for (; i < stride && total - start - i >= kGroup; i += kGroup) {
        column(line.upper + start + i, line.lower + start + i, x * stride + i);
      }
      for (; i < stride; i += kGroup) {
        const ptrdiff_t from = std::min(start + i, total);
        T last[2][kGroup] = {};
        std::copy_n(line.upper + from, total - from, last[0]);
        std::copy_n(line.lower + from, total - from, last[1]);
        column(last[0], last[1], x * stride + i);
      }
    }
  }

  template <class T>
  static INTAGLIO_INLINE void Widen(const T* p, int32_t (&numbers)[kGroup]) {
    if constexpr (kLong) {
      for (int i = 0; i < kGroup; ++i) numbers[i] = p[i];
    } else {
#pragma GCC unroll 1
      for (int i = 0; i < kGroup; ++i) numbers[i] = p[i];
    }
  }

  // Of `count` channels. What was blended of a column lies `stride` behind that of the one before.
  // A vector may reach into the next pixel, which is written later, but not beyond the line.
  // A function of its own, as there is much code to it.
  template <class T, class W, class Value>
  static __attribute__((noinline)) void ForVectors(const BlendLine<T, W> line, ptrdiff_t first,
                                                   ptrdiff_t count, ptrdiff_t stride,
                                                   const Value value) {
    T* out = line.out + first;
    const T* const end = line.out + line.pixels * line.channels;
    for (ptrdiff_t p = 0; p < line.pixels; ++p, out += line.channels) {
      const Tap<W>& tap = line.taps[p];
      const ptrdiff_t low = tap.low * stride;
      const ptrdiff_t high = tap.high * stride;
      ptrdiff_t c = 0;
      if constexpr (kStoresTogether<T>) {
        constexpr int kVectors = V::kStoredTogether;
        for (; c + kVectors * V::kLanes <= count; c += kVectors * V::kLanes) {
          I32 x[kVectors];
          INTAGLIO_UNROLL
          for (int j = 0; j < kVectors; ++j) {
            x[j] = value(tap, low + c + j * V::kLanes, high + c + j * V::kLanes);
          }
          V::StoreSaturated(out + c, x);
        }
      }
      for (; c < count; c += V::kLanes) {
        const I32 x[] = {value(tap, low + c, high + c)};
        const ptrdiff_t left = end - (out + c);
        if (left >= V::kLanes) {
          StoreVector(x, out + c);
          continue;
        }
        T last[V::kLanes];
        StoreVector(x, last);
        for (int j = 0; j < V::kLanes && j < left; ++j) out[c + j] = last[j];
      }
    }
  }

  template <class T>
  static INTAGLIO_INLINE void StoreVector(const I32 (&x)[1], T* out) {
    if constexpr (kStoresAlone<T>) {
      V::StoreSaturated(out, x[0]);
    } else {
      constexpr bool kSigned = std::is_signed_v<T>;
      constexpr int kLow = kSigned ? -128 : 0;
      V::template StoreBytes<1, kSigned>(out, x, 0, kLow, kLow + 255);
    }
  }

  // low weight_low + high weight_high = high + (low - high) weight_low, where weights add up to 1:
  // one product.
  static void Fixed(const BlendLine<int8_t, int32_t>& line) {
    int32_t* const blends = line.scratch;
    const I32 weight = V::Set(line.weight_upper);
    const auto column = [=](const int8_t* upper, const int8_t* lower, ptrdiff_t to) {
      int32_t a[kGroup];
      int32_t b[kGroup];
      Widen(upper, a);
      Widen(lower, b);
      for (int i = 0; i < kGroup; i += V::kLanes) {
        const I32 base = V::Load(b + i);
        const I32 product = V::Mul(V::Sub(V::Load(a + i), base), weight);
        V::Store(blends + to + i, V::Add(V::template ShiftLeft<10>(base), product));
      }
    };
    const I32 half = V::Set(1 << 19);
    Run(line, column, [=](const Tap<int32_t>& tap, ptrdiff_t low, ptrdiff_t high) {
      const I32 b = V::Load(blends + high);
      const I32 product = V::Mul(V::Sub(V::Load(blends + low), b), V::Set(tap.weight_low));
      const I32 sum = V::Add(V::template ShiftLeft<10>(b), product);
      // Floor of sum + half, less 1 below zero, so that ties go away from it.
      const I32 sign = V::template ShiftRight<31>(sum);
      return V::template ShiftRight<20>(V::Add(V::Add(sum, half), sign));
    });
  }

  static void Real(const BlendLine<uint8_t, float>& line) {
    float* const upper = line.scratch;
    float* const lower = upper + line.ScratchSize(line.columns, line.channels) / 2;
    const F32 weight_upper = V::SetF(line.weight_upper);
    const F32 weight_lower = V::SetF(line.weight_lower);
    const auto column = [=](const uint8_t* above, const uint8_t* below, ptrdiff_t to) {
      int32_t a[kGroup];
      int32_t b[kGroup];
      Widen(above, a);
      Widen(below, b);
      for (int i = 0; i < kGroup; i += V::kLanes) {
        V::StoreF(upper + to + i, V::MulF(V::ToFloat(V::Load(a + i)), weight_upper));
        V::StoreF(lower + to + i, V::MulF(V::ToFloat(V::Load(b + i)), weight_lower));
      }
    };
    const F32 half = V::SetF(0.5f);
    Run(line, column, [=](const Tap<float>& tap, ptrdiff_t low, ptrdiff_t high) {
      const F32 weight_low = V::SetF(tap.weight_low);
      const F32 weight_high = V::SetF(tap.weight_high);
      F32 sum = V::AddF(V::MulF(V::LoadF(upper + low), weight_low),
                        V::MulF(V::LoadF(lower + low), weight_low));
      sum = V::AddF(sum, V::MulF(V::LoadF(upper + high), weight_high));
      sum = V::AddF(sum, V::MulF(V::LoadF(lower + high), weight_high));
      return V::TruncateToInt(V::AddF(sum, half));
    });
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_BLEND_H_
