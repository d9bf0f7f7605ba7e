// The largest and the mean of windows of bytes, over the compiler's own vectors, which every
// instruction set has: a kernel vocabulary V says only how wide they are to be.
#ifndef INTAGLIO_KERNELS_WINDOWS_H_
#define INTAGLIO_KERNELS_WINDOWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "intaglio/kernels/line_args.h"

namespace intaglio {

// V makes the functions those of one kernel, compiled with its flags.
template <class V>
struct Windows {
  static constexpr int kLeast = 16;  // bytes of the shortest block
  static constexpr int kBlock = std::max(kLeast, 4 * V::kLanes);

  template <class T, int kCount>
  struct Of {
    typedef T Vector __attribute__((vector_size(kCount * sizeof(T))));
  };

  // Calls block.template Run<kBytes>(load, out) for every block of a line of windows: load(t) is
  // where the bytes of tap t can be read. The last bytes are computed again rather than in a
  // narrower block; a line narrower than every block goes by way of memory.
  template <class Block>
  static INTAGLIO_INLINE void ForBlocks(const void* const* in, void* out, ptrdiff_t count,
                                        const Block& block) {
    auto* const to = static_cast<uint8_t*>(out);
    if (count >= kBlock) return RunBlocks<kBlock>(in, to, count, block);
    if (count >= kLeast) return RunBlocks<kLeast>(in, to, count, block);
    if (count == 0) return;
    alignas(kLeast) uint8_t tap[kLeast] = {};
    alignas(kLeast) uint8_t result[kLeast];
    block.template Run<kLeast>(
        [&](int t) {
          std::memcpy(tap, in[t], static_cast<size_t>(count));
          return static_cast<const uint8_t*>(tap);
        },
        result);
    std::memcpy(to, result, static_cast<size_t>(count));
  }

  template <int kBytes, class Block>
  static INTAGLIO_INLINE void RunBlocks(const void* const* in, uint8_t* out, ptrdiff_t count,
                                        const Block& block) {
    for (ptrdiff_t at = 0; at < count; at += kBytes) {
      const ptrdiff_t from = std::min(at, count - kBytes);
      block.template Run<kBytes>([&](int t) { return static_cast<const uint8_t*>(in[t]) + from; },
                                 out + from);
    }
  }

  // T is the type of the numbers.
  template <class T>
  struct Largest {
    template <int kBytes, class Load>
    INTAGLIO_INLINE void Run(const Load& load, uint8_t* out) const {
      using Vector = typename Of<T, kBytes>::Vector;
      Vector best;
      std::memcpy(&best, load(0), sizeof best);
      for (int t = 1; t < taps; ++t) {
        Vector tap;
        std::memcpy(&tap, load(t), sizeof tap);
        best = tap > best ? tap : best;
      }
      const Vector low = static_cast<T>(output.clamp_min) - Vector{};
      const Vector high = static_cast<T>(output.clamp_max) - Vector{};
      best = best < low ? low : best;
      best = best > high ? high : best;
      std::memcpy(out, &best, sizeof best);
    }

    int taps;
    LineOutput output;
  };

  // floor((sum + floor(taps / 2)) / taps) is the mean to nearest, upwards where it is a tie. Ties
  // below zero, which only an even number of taps has, go down when the sum is 1 less.
  //
  // Numbers are moved to [0, 255]. Then sums fit 16 bits, those of even and of odd bytes in vectors
  // of their own; and the quotient is that of (x + 1/2) / taps for an integer x below 2^16, which
  // float32 holds: it is below 2^8 and at least 2^-9 away from any integer, further than the
  // roundings to float32 reach.
  template <class T>
  struct Average {
    static constexpr bool kSigned = std::is_signed_v<T>;
    static constexpr int kMove = kSigned ? 128 : 0;

    template <int kBytes, class Load>
    INTAGLIO_INLINE void Run(const Load& load, uint8_t* out) const {
      using Sums = typename Of<uint16_t, kBytes / 2>::Vector;
      const auto half = static_cast<uint16_t>(taps / 2);
      Sums even = half - Sums{};
      Sums odd = even;
      for (int t = 0; t < taps; ++t) {
        Sums pairs;
        std::memcpy(&pairs, load(t), sizeof pairs);
        if constexpr (kSigned) pairs ^= 0x8080;
        even += pairs & 0xff;
        odd += pairs >> 8;
      }
      if (kSigned && taps % 2 == 0) {
        const auto zero = static_cast<uint16_t>(kMove * taps + half);
        even += even < zero;  // a comparison's true is -1
        odd += odd < zero;
      }
      Store<kBytes>(even, odd, out);
    }

    template <int kBytes, class Sums>
    INTAGLIO_INLINE void Store(const Sums& even, const Sums& odd, uint8_t* out) const {
      using Bytes = typename Of<uint8_t, kBytes>::Vector;
      typename Of<int32_t, kBytes / 4>::Vector evens, odds;
      std::memcpy(&evens, &even, sizeof evens);
      std::memcpy(&odds, &odd, sizeof odds);
      Divide<kBytes / 4>(evens);
      Divide<kBytes / 4>(odds);
      evens |= odds << 8;
      Bytes means;
      std::memcpy(&means, &evens, sizeof means);
      const Bytes low = static_cast<uint8_t>(output.clamp_min + kMove) - Bytes{};
      const Bytes high = static_cast<uint8_t>(output.clamp_max + kMove) - Bytes{};
      means = means < low ? low : means;
      means = means > high ? high : means;
      if constexpr (kSigned) means ^= 0x80;
      std::memcpy(out, &means, sizeof means);
    }

    // Both 16-bit halves of every element.
    template <int kCount>
    INTAGLIO_INLINE void Divide(typename Of<int32_t, kCount>::Vector& sums) const {
      using Words = typename Of<int32_t, kCount>::Vector;
      using Reals = typename Of<float, kCount>::Vector;
      const float inverse = 1.0f / static_cast<float>(taps);
      const Words halves[] = {sums & 0xffff, sums >> 16 & 0xffff};
      const Reals low = (__builtin_convertvector(halves[0], Reals) + 0.5f) * inverse;
      const Reals high = (__builtin_convertvector(halves[1], Reals) + 0.5f) * inverse;
      sums = __builtin_convertvector(low, Words) | __builtin_convertvector(high, Words) << 16;
    }

    int taps;
    LineOutput output;
  };

  // A reduction R of windows, for the type of the output's numbers.
  template <template <class> class R>
  static void Reduce(const void* const* in, int taps, const LineOutput& output, void* out,
                     ptrdiff_t count) {
    if (output.is_signed) return ForBlocks(in, out, count, R<int8_t>{taps, output});
    ForBlocks(in, out, count, R<uint8_t>{taps, output});
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_WINDOWS_H_
