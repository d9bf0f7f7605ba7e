// Lines of images under bilinear interpolation, over a kernel vocabulary V.
#ifndef INTAGLIO_KERNELS_BLEND_H_
#define INTAGLIO_KERNELS_BLEND_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/kernels/line_args.h"

namespace intaglio {

template <class V>
struct Blend {
  using I32 = typename V::I32;
  using F32 = typename V::F32;

  // value(tap, channel) is one vector of results. A vector may reach into the next pixel, which is
  // written later, but not beyond the line.
  template <bool kSigned, class W, class Value>
  static INTAGLIO_INLINE void ForVectors(const BlendLine<W>& line, const Value& value) {
    constexpr int kLow = kSigned ? -128 : 0;
    auto* out = static_cast<uint8_t*>(line.out);
    const uint8_t* const end = out + line.pixels * line.channels;
    for (ptrdiff_t p = 0; p < line.pixels; ++p, out += line.channels) {
      const Tap<W>& tap = line.taps[p];
      for (ptrdiff_t c = 0; c < line.channels; c += V::kLanes) {
        const I32 x[] = {value(tap, c)};
        if (end - (out + c) >= V::kLanes) {
          V::template StoreBytes<1, kSigned>(out + c, x, 0, kLow, kLow + 255);
          continue;
        }
        uint8_t last[V::kLanes];
        V::template StoreBytes<1, kSigned>(last, x, 0, kLow, kLow + 255);
        std::memcpy(out + c, last, static_cast<size_t>(line.channels - c));
      }
    }
  }

  static void Fixed(const BlendLine<int32_t>& line) {
    const I32 half = V::Set(1 << 19);
    const auto sums = [&](ptrdiff_t at) {
      return V::Add(V::Load(line.upper + at), V::Load(line.lower + at));
    };
    ForVectors<true>(line, [&](const Tap<int32_t>& tap, ptrdiff_t c) {
      const I32 sum = V::Add(V::Mul(sums(tap.low + c), V::Set(tap.weight_low)),
                             V::Mul(sums(tap.high + c), V::Set(tap.weight_high)));
      // floor of sum + half, less 1 below zero, so that ties go away from it.
      const I32 sign = V::template ShiftRight<31>(sum);
      return V::template ShiftRight<20>(V::Add(V::Add(sum, sign), half));
    });
  }

  static void Real(const BlendLine<float>& line) {
    ForVectors<false>(line, [&](const Tap<float>& tap, ptrdiff_t c) {
      const F32 low = V::SetF(tap.weight_low);
      const F32 high = V::SetF(tap.weight_high);
      F32 sum = V::AddF(V::MulF(V::LoadF(line.upper + tap.low + c), low),
                        V::MulF(V::LoadF(line.lower + tap.low + c), low));
      sum = V::AddF(sum, V::MulF(V::LoadF(line.upper + tap.high + c), high));
      sum = V::AddF(sum, V::MulF(V::LoadF(line.lower + tap.high + c), high));
      return V::TruncateToInt(V::AddF(sum, V::SetF(0.5f)));
    });
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_BLEND_H_
