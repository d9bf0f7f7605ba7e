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

  // value(tap, channel) is one vector of results. A vector may reach into the next pixel, which is
  // written later, but not beyond the line.
  template <class T, class W, class Value>
  static INTAGLIO_INLINE void ForVectors(const BlendLine<T, W>& line, const Value& value) {
    constexpr bool kSigned = std::is_signed_v<T>;
    constexpr int kLow = kSigned ? -128 : 0;
    T* out = line.out;
    const T* const end = out + line.pixels * line.channels;
    for (ptrdiff_t p = 0; p < line.pixels; ++p, out += line.channels) {
      const Tap<W>& tap = line.taps[p];
      for (ptrdiff_t c = 0; c < line.channels; c += V::kLanes) {
        const I32 x[] = {value(tap, c)};
        if (end - (out + c) >= V::kLanes) {
          V::template StoreBytes<1, kSigned>(out + c, x, 0, kLow, kLow + 255);
          continue;
        }
        T last[V::kLanes];
        V::template StoreBytes<1, kSigned>(last, x, 0, kLow, kLow + 255);
        std::memcpy(out + c, last, static_cast<size_t>(line.channels - c));
      }
    }
  }

  static void Fixed(const BlendLine<int8_t, int32_t>& line) {
    int32_t* const sums = line.scratch;
    for (ptrdiff_t i = 0; i < line.elements; ++i) {
      sums[i] = Scalar::Add(Scalar::Mul(line.upper[i], line.weight_upper),
                            Scalar::Mul(line.lower[i], line.weight_lower));
    }
    const I32 half = V::Set(1 << 19);
    ForVectors(line, [&](const Tap<int32_t>& tap, ptrdiff_t c) {
      const I32 sum = V::Add(V::Mul(V::Load(sums + tap.low + c), V::Set(tap.weight_low)),
                             V::Mul(V::Load(sums + tap.high + c), V::Set(tap.weight_high)));
      // Floor of sum + half, less 1 below zero, so that ties go away from it.
      const I32 sign = V::template ShiftRight<31>(sum);
      return V::template ShiftRight<20>(V::Add(V::Add(sum, sign), half));
    });
  }

  static void Real(const BlendLine<uint8_t, float>& line) {
    float* const upper = line.scratch;
    float* const lower = upper + line.elements + line.kSlack;
    for (ptrdiff_t i = 0; i < line.elements; ++i) {
      upper[i] = static_cast<float>(line.upper[i]) * line.weight_upper;
      lower[i] = static_cast<float>(line.lower[i]) * line.weight_lower;
    }
    ForVectors(line, [&](const Tap<float>& tap, ptrdiff_t c) {
      const F32 low = V::SetF(tap.weight_low);
      const F32 high = V::SetF(tap.weight_high);
      F32 sum = V::AddF(V::MulF(V::LoadF(upper + tap.low + c), low),
                        V::MulF(V::LoadF(lower + tap.low + c), low));
      sum = V::AddF(sum, V::MulF(V::LoadF(upper + tap.high + c), high));
      sum = V::AddF(sum, V::MulF(V::LoadF(lower + tap.high + c), high));
      return V::TruncateToInt(V::AddF(sum, V::SetF(0.5f)));
    });
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_BLEND_H_
