// Means of windows of bytes, computed in float32, for vectors of channels.
#ifndef INTAGLIO_KERNELS_FLOAT32_BYTE_WINDOWS_H_
#define INTAGLIO_KERNELS_FLOAT32_BYTE_WINDOWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "intaglio/kernels/float32/float_loops.h"
#include "intaglio/kernels/float32/vectors.h"
#include "intaglio/kernels/float32/windows.h"

namespace intaglio::float32 {

struct AverageBytesRun {
  const WindowOfBytes& w;
  uint8_t* out;

  template <int kBytes, int kWidth>
  [[gnu::always_inline]] void Run(ptrdiff_t first, ptrdiff_t n) const {
    using V = Vectors<kBytes>;
    // The sign bit of a uint8 is turned, which makes it an int8 that is 128 less.
    const int8_t sign_bit = w.is_signed ? 0 : -128;
    const typename V::Bytes sign = typename V::Bytes{} + sign_bit;
    const int32_t zero_point = w.is_signed ? w.zero_point : w.zero_point - 128;
    const float scale = w.scale;
    typename V::Reals sums[1][kWidth];
    Clear(sums);
    for (int row = 0; row < w.rows; ++row) {
      const uint8_t* x = w.x + row * w.x_row + first;
      for (int column = 0; column < w.columns; ++column, x += w.x_column) {
        INTAGLIO_UNROLL
        for (int v = 0; v < kWidth; ++v) {
          typename V::Bytes bytes;
          Load(x + v * V::kLanes, n - v * V::kLanes, bytes);
          const typename V::Words words =
              __builtin_convertvector(bytes ^ sign, typename V::Words) - zero_point;
          sums[0][v] += __builtin_convertvector(words, typename V::Reals) * scale;
        }
      }
    }
    Finish<kBytes, kWidth>(sums[0], n, out + first);
  }

 private:
  // The limits are integers, so clamping may come before rounding. NaN gives the lower one.
  template <int kBytes, int kWidth>
  [[gnu::always_inline]] void Finish(const typename Vectors<kBytes>::Reals (&sums)[kWidth],
                                     ptrdiff_t n, uint8_t* to) const {
    using V = Vectors<kBytes>;
    // Numbers below 2^22, added to this one, are rounded to integers, ties to even.
    constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23
    const Clamp<kBytes> finite(std::numeric_limits<float>::lowest(),
                               std::numeric_limits<float>::max());
    const typename V::Reals zero = {};
    const typename V::Reals low = zero + static_cast<float>(w.to.low);
    const typename V::Reals high = zero + static_cast<float>(w.to.high);
    const auto zero_point = static_cast<float>(w.to.zero_point);
    typename V::Words words[kWidth];
    INTAGLIO_UNROLL
    for (int v = 0; v < kWidth; ++v) {
      typename V::Reals y = sums[v] / w.divisor;
      finite.Apply(y);
      y = y / w.to.scale + zero_point;
      y = y > low ? y : low;
      y = y < high ? y : high;
      y = (y + kMagic) - kMagic;
      words[v] = __builtin_convertvector(y, typename V::Words);
    }
    // AVX-512 has an instruction that narrows one vector.
    if constexpr (kWidth == 4 && kBytes < 64) {
      StoreLowBytes<kBytes>(words, to);
    } else {
      for (int v = 0; v < kWidth; ++v) {
        Store(__builtin_convertvector(words[v], typename V::Bytes), to + v * V::kLanes,
              n - v * V::kLanes);
      }
    }
  }
};

template <int kBytes>
[[gnu::always_inline]] inline void AverageBytes(const WindowOfBytes& w, ptrdiff_t channels,
                                                uint8_t* out) {
  ForChannels<kBytes>(0, channels, AverageBytesRun{w, out});
}

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_BYTE_WINDOWS_H_
