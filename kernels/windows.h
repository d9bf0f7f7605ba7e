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
#include "intaglio/kernels/word_divider.h"

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
  // of their own. There are at least two taps.
  template <class T>
  struct Average {
    static constexpr bool kSigned = std::is_signed_v<T>;
    static constexpr int kMove = kSigned ? 128 : 0;

    template <int kBytes, class Load>
    INTAGLIO_INLINE void Run(const Load& load, uint8_t* out) const {
      using Sums = typename Of<uint16_t, kBytes / 2>::Vector;
      const WordDivider divider(taps);
      const auto start = static_cast<uint16_t>(taps / 2 + divider.addend);
      Sums even = start - Sums{};
      Sums odd = even;
      for (int t = 0; t < taps; ++t) {
        Sums pairs;
        std::memcpy(&pairs, load(t), sizeof pairs);
        if constexpr (kSigned) pairs ^= 0x8080;
        even += pairs & 0xff;
        odd += pairs >> 8;
      }
      if (kSigned && taps % 2 == 0) {
        const auto zero = static_cast<uint16_t>(kMove * taps + start);
        even += even < zero;  // a comparison's true is -1
        odd += odd < zero;
      }
      Divide<kBytes / 2>(divider, even);
      Divide<kBytes / 2>(divider, odd);
      Store<kBytes>(even | odd << 8, out);
    }

    template <int kCount>
    static INTAGLIO_INLINE void Divide(const WordDivider& divider,
                                       typename Of<uint16_t, kCount>::Vector& sums) {
      // g++ knows the upper half of a product by this loop.
      uint16_t words[kCount];
      std::memcpy(words, &sums, sizeof words);
      for (uint16_t& word : words) {
        word = static_cast<uint16_t>(uint32_t{word} * divider.factor >> 16);
      }
      std::memcpy(&sums, words, sizeof words);
      sums >>= divider.shift;
    }

    template <int kBytes>
    INTAGLIO_INLINE void Store(const typename Of<uint16_t, kBytes / 2>::Vector& pairs,
                               uint8_t* out) const {
      using Bytes = typename Of<uint8_t, kBytes>::Vector;
      Bytes means;
      std::memcpy(&means, &pairs, sizeof means);
      const Bytes low = static_cast<uint8_t>(output.clamp_min + kMove) - Bytes{};
      const Bytes high = static_cast<uint8_t>(output.clamp_max + kMove) - Bytes{};
      means = means < low ? low : means;
      means = means > high ? high : means;
      if constexpr (kSigned) means ^= 0x80;
      std::memcpy(out, &means, sizeof means);
    }

    int taps;
    LineOutput output;
  };

  static void Means(const void* const* in, int taps, const LineOutput& output, void* out,
                    ptrdiff_t count) {
    if (taps == 1) return Reduce<Largest>(in, taps, output, out, count);  // the tap itself
    Reduce<Average>(in, taps, output, out, count);
  }

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
