// What windows of bytes are reduced to, over the compiler's own vectors, which every instruction
// set has.
//
// A reduction R has for blocks of kBytes bytes a type State<kBytes> and
//   Tap<kBytes>(pointer)              that of the tap there
//   Join<kBytes>(state, other)        of the taps of both
//   Finish<kBytes>(state, out)
#ifndef INTAGLIO_KERNELS_WINDOW_REDUCTIONS_H_
#define INTAGLIO_KERNELS_WINDOW_REDUCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/kernels/line_args.h"
#include "intaglio/kernels/word_divider.h"

namespace intaglio {

// V makes the functions those of one kernel, compiled with its flags.
template <class V>
struct WindowReductions {
  template <class T, int kCount>
  struct Of {
    typedef T Vector __attribute__((vector_size(kCount * sizeof(T))));
  };

  static bool Clamps(const LineOutput& output) {
    const int lowest = output.is_signed ? -128 : 0;
    return output.clamp_min > lowest || output.clamp_max < lowest + 255;
  }

  // T is the type of the numbers.
  template <class T>
  struct Largest {
    template <int kBytes>
    using State = typename Of<T, kBytes>::Vector;

    template <int kBytes>
    INTAGLIO_INLINE State<kBytes> Tap(const uint8_t* in) const {
      State<kBytes> tap;
      std::memcpy(&tap, in, sizeof tap);
      return tap;
    }
    template <int kBytes>
    INTAGLIO_INLINE State<kBytes> Join(const State<kBytes>& a, const State<kBytes>& b) const {
      return a > b ? a : b;
    }
    template <int kBytes>
    INTAGLIO_INLINE void Finish(State<kBytes> best, uint8_t* out) const {
      if (clamps) {
        const State<kBytes> low = static_cast<T>(output.clamp_min) - State<kBytes>{};
        const State<kBytes> high = static_cast<T>(output.clamp_max) - State<kBytes>{};
        best = best < low ? low : best;
        best = best > high ? high : best;
      }
      std::memcpy(out, &best, sizeof best);
    }

    explicit Largest(const WindowRun&, const LineOutput& o) : output(o), clamps(Clamps(o)) {}
    LineOutput output;
    bool clamps;
  };

  // floor((sum + floor(taps / 2)) / taps) is the mean to nearest, upwards where it is a tie. Ties
  // below zero, which only an even number of taps has, go down when the sum is 1 less.
  //
  // Numbers are moved to [0, 255]. Then sums of even and of odd bytes fit 16 bits each. There are
  // at least two taps.
  struct Average {
    // Sums modulo 2^16 of pairs of bytes, the odd ones in the upper half, and of the odd bytes.
    template <int kBytes>
    struct State {
      using Words = typename Of<uint16_t, kBytes / 2>::Vector;
      Words pairs;
      Words odd;
    };

    template <int kBytes>
    INTAGLIO_INLINE State<kBytes> Tap(const uint8_t* in) const {
      State<kBytes> tap;
      std::memcpy(&tap.pairs, in, sizeof tap.pairs);
      tap.pairs ^= static_cast<uint16_t>(output.flip() * 0x101);
      tap.odd = tap.pairs >> 8;
      return tap;
    }
    template <int kBytes>
    INTAGLIO_INLINE State<kBytes> Join(const State<kBytes>& a, const State<kBytes>& b) const {
      return {a.pairs + b.pairs, a.odd + b.odd};
    }
    template <int kBytes>
    INTAGLIO_INLINE void Finish(State<kBytes> sums, uint8_t* out) const {
      auto& even = sums.pairs;
      even -= sums.odd << 8;
      const auto start = static_cast<uint16_t>(taps / 2 + divider.addend);
      even += start;
      sums.odd += start;
      if (output.is_signed && taps % 2 == 0) {
        const auto zero = static_cast<uint16_t>(output.flip() * taps + start);
        even += even < zero;  // a comparison's true is -1
        sums.odd += sums.odd < zero;
      }
      Divide<kBytes / 2>(even);
      Divide<kBytes / 2>(sums.odd);
      Store<kBytes>(even | sums.odd << 8, out);
    }

    template <int kCount>
    INTAGLIO_INLINE void Divide(typename Of<uint16_t, kCount>::Vector& sums) const {
      // g++ knows the upper half of a product by this loop, unless it has unrolled it.
      uint16_t words[kCount];
      std::memcpy(words, &sums, sizeof words);
#pragma GCC unroll 1
      for (uint16_t& word : words) {
        word = static_cast<uint16_t>(uint32_t{word} * divider.factor >> 16);
      }
      std::memcpy(&sums, words, sizeof words);
      if (divider.shift > 0) sums >>= divider.shift;
    }

    template <int kBytes>
    INTAGLIO_INLINE void Store(const typename Of<uint16_t, kBytes / 2>::Vector& pairs,
                               uint8_t* out) const {
      using Bytes = typename Of<uint8_t, kBytes>::Vector;
      Bytes means;
      std::memcpy(&means, &pairs, sizeof means);
      if (clamps) {
        const Bytes low = static_cast<uint8_t>(output.clamp_min + output.flip()) - Bytes{};
        const Bytes high = static_cast<uint8_t>(output.clamp_max + output.flip()) - Bytes{};
        means = means < low ? low : means;
        means = means > high ? high : means;
      }
      means ^= output.flip();
      std::memcpy(out, &means, sizeof means);
    }

    explicit Average(const WindowRun& run, const LineOutput& o)
        : taps(run.rows * run.columns), divider(taps), output(o), clamps(Clamps(o)) {}
    int taps;
    WordDivider divider;
    LineOutput output;
    bool clamps;
  };
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_WINDOW_REDUCTIONS_H_
