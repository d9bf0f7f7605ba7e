// Lines of images under bilinear interpolation, over a kernel vocabulary V.
#ifndef INTAGLIO_KERNELS_BLEND_H_
#define INTAGLIO_KERNELS_BLEND_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/line_args.h"

namespace intaglio {

template <class V>
struct Blend {
  using I32 = typename V::I32;
  using F32 = typename V::F32;

  template <class T>
  static constexpr bool kStoresTogether = requires(T* out, const I32* x) {
    V::StoreSaturated(out, x);
  };

  // Channels of which the lines are blended at a time, so that L1 holds what becomes of them.
  static constexpr ptrdiff_t kMostChannels = 64;

  // The lines are blended by columns(from, count, to) for `count` adjacent elements from `from` on;
  // value(tap, channel) is then one vector of results, of channels that follow each other `stride`
  // elements after those of the column before.
  template <class T, class W, class Columns, class Value>
  static INTAGLIO_INLINE void Run(const BlendLine<T, W>& line, const Columns& columns,
                                  const Value& value) {
    if (line.channels <= kMostChannels) {
      columns(0, line.columns * line.channels, 0);
      return ForVectors(line, 0, line.channels, value);
    }
    for (ptrdiff_t c = 0; c < line.channels; c += kMostChannels) {
      // The last ones are computed again rather than in fewer.
      const ptrdiff_t first = std::min(c, line.channels - kMostChannels);
      for (ptrdiff_t x = 0; x < line.columns; ++x) {
        columns(x * line.channels + first, kMostChannels, x * kMostChannels);
      }
      ForVectors(line, first, kMostChannels, value);
    }
  }

  // Of `count` channels, which lie so far apart in what was blended. A vector may reach into the
  // next pixel, which is written later, but not beyond the line.
  template <class T, class W, class Value>
  static INTAGLIO_INLINE void ForVectors(const BlendLine<T, W>& line, ptrdiff_t first,
                                         ptrdiff_t count, const Value& value) {
    T* out = line.out + first;
    const T* const end = line.out + line.pixels * line.channels;
    for (ptrdiff_t p = 0; p < line.pixels; ++p, out += line.channels) {
      const Tap<W>& tap = line.taps[p];
      const ptrdiff_t low = tap.low * count;
      const ptrdiff_t high = tap.high * count;
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
        if (end - (out + c) >= V::kLanes) {
          StoreVector(x, out + c);
          continue;
        }
        T last[V::kLanes];
        StoreVector(x, last);
        std::memcpy(out + c, last, static_cast<size_t>(count - c));
      }
    }
  }

  template <class T>
  static INTAGLIO_INLINE void StoreVector(const I32 (&x)[1], T* out) {
    constexpr bool kSigned = std::is_signed_v<T>;
    constexpr int kLow = kSigned ? -128 : 0;
    V::template StoreBytes<1, kSigned>(out, x, 0, kLow, kLow + 255);
  }

  // low weight_low + high weight_high = high + (low - high) weight_low, where weights add up to 1:
  // one product.
  static void Fixed(const BlendLine<int8_t, int32_t>& line) {
    const int32_t weight = line.weight_upper;
    const auto columns = [&](ptrdiff_t from, ptrdiff_t count, ptrdiff_t to) {
      const int8_t* const upper = line.upper + from;
      const int8_t* const lower = line.lower + from;
      int32_t* const blends = line.scratch + to;
      for (ptrdiff_t i = 0; i < count; ++i) {
        blends[i] = Scalar::Add(lower[i] * (1 << 10), Scalar::Mul(upper[i] - lower[i], weight));
      }
    };
    const I32 half = V::Set(1 << 19);
    const int32_t* const blends = line.scratch;
    Run(line, columns, [=](const Tap<int32_t>& tap, ptrdiff_t low, ptrdiff_t high) {
      const I32 b = V::Load(blends + high);
      const I32 product = V::Mul(V::Sub(V::Load(blends + low), b), V::Set(tap.weight_low));
      const I32 sum = V::Add(V::template ShiftLeft<10>(b), product);
      // Floor of sum + half, less 1 below zero, so that ties go away from it.
      const I32 sign = V::template ShiftRight<31>(sum);
      return V::template ShiftRight<20>(V::Add(V::Add(sum, half), sign));
    });
  }

  static void Real(const BlendLine<uint8_t, float>& line) {
    const float weight_upper = line.weight_upper;
    const float weight_lower = line.weight_lower;
    float* const upper = line.scratch;
    float* const lower =
        upper + line.columns * std::min(line.channels, kMostChannels) + line.kSlack;
    const auto columns = [&](ptrdiff_t from, ptrdiff_t count, ptrdiff_t to) {
      for (ptrdiff_t i = 0; i < count; ++i) {
        upper[to + i] = static_cast<float>(line.upper[from + i]) * weight_upper;
        lower[to + i] = static_cast<float>(line.lower[from + i]) * weight_lower;
      }
    };
    const F32 half = V::SetF(0.5f);
    Run(line, columns, [=](const Tap<float>& tap, ptrdiff_t low, ptrdiff_t high) {
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

#endif  // INTAGLIO_KERNELS_BLEND_H_
