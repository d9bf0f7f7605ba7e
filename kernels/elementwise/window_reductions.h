// What windows of bytes are reduced to, over the compiler's own vectors, which every instruction
// set has.
//
// A reduction R has for blocks of kBytes bytes a type State<kBytes> and
//   Tap<kBytes>(pointer)              that of the tap there
//   Join<kBytes>(state, other)        of the taps of both
//   Finish<kBytes>(state, out)
#ifndef INTAGLIO_KERNELS_ELEMENTWISE_WINDOW_REDUCTIONS_H_
#define INTAGLIO_KERNELS_ELEMENTWISE_WINDOW_REDUCTIONS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "intaglio/kernels/elementwise/line_args.h"
#include "intaglio/kernels/elementwise/word_divider.h"

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

  template <class Bytes>
  static INTAGLIO_INLINE Bytes Limited(Bytes x, int lowest, int highest) {
    using T = std::remove_reference_t<decltype(x[0])>;
    const Bytes low = static_cast<T>(lowest) - Bytes{};
    const Bytes high = static_cast<T>(highest) - Bytes{};
    x = x < low ? low : x;
    return x > high ? high : x;
  }

  // A loop by which g++ knows instructions that multiply and shift, unless it has unrolled it.
  template <class Word, class Words, class Function>
  static INTAGLIO_INLINE void ForWords(Words& vector, const Function& function) {
    Word words[sizeof vector / sizeof(Word)];
    std::memcpy(words, &vector, sizeof words);
#pragma GCC unroll 1
    for (Word& word : words) word = function(word);
    std::memcpy(&vector, words, sizeof words);
  }

  // g++ 12 for 32-bit Arm makes wrong code of loops that multiply and shift, and of a shift that
  // depends on whether there is something to shift by.
#if defined(__arm__)
  static constexpr bool kIsWary = true;
#else
  static constexpr bool kIsWary = false;
#endif
  template <class T>
  static INTAGLIO_INLINE T Kept(T product) {
    if constexpr (kIsWary) asm("" : "+r"(product));
    return product;
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
      if (clamps) best = Limited(best, output.clamp_min, output.clamp_max);
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
  struct Mean {
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
      ForWords<uint16_t>(sums, [this](uint16_t word) {
        return static_cast<uint16_t>(Kept(uint32_t{word} * divider.factor) >> 16);
      });
      if (kIsWary || divider.shift > 0) sums >>= divider.shift;
    }

    template <int kBytes>
    INTAGLIO_INLINE void Store(const typename Of<uint16_t, kBytes / 2>::Vector& pairs,
                               uint8_t* out) const {
      using Bytes = typename Of<uint8_t, kBytes>::Vector;
      Bytes means;
      std::memcpy(&means, &pairs, sizeof means);
      if (clamps) {
        means = Limited(means, static_cast<uint8_t>(output.clamp_min + output.flip()),
                        static_cast<uint8_t>(output.clamp_max + output.flip()));
      }
      means ^= output.flip();
      std::memcpy(out, &means, sizeof means);
    }

    explicit Mean(const WindowRun& run, const LineOutput& o)
        : taps(run.rows * run.columns), divider(taps), output(o), clamps(Clamps(o)) {}
    int taps;
    WordDivider divider;
    LineOutput output;
    bool clamps;
  };

  // The mean of nine taps by one product that rounds: 3641 / 2^15 of their sum is above a ninth by
  // less than 1/100, and a ninth is 1/18 from a half at least. T is the type of the numbers.
  template <class T>
  struct MeanOfNine {
    static constexpr int kFlip = std::is_signed_v<T> ? 0x80 : 0;

    // Sums of the even bytes, moved to [0, 255], and of the odd ones as they are.
    template <int kBytes>
    struct State {
      using Words = typename Of<int16_t, kBytes / 2>::Vector;
      Words even;
      Words odd;
    };

    template <int kBytes>
    INTAGLIO_INLINE State<kBytes> Tap(const uint8_t* in) const {
      using Pair = std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>;
      using Words = typename State<kBytes>::Words;
      typename Of<Pair, kBytes / 2>::Vector pairs;
      std::memcpy(&pairs, in, sizeof pairs);
      return {std::bit_cast<Words>((pairs ^ kFlip) & 0xff), std::bit_cast<Words>(pairs >> 8)};
    }
    template <int kBytes>
    INTAGLIO_INLINE State<kBytes> Join(const State<kBytes>& a, const State<kBytes>& b) const {
      return {a.even + b.even, a.odd + b.odd};
    }
    template <int kBytes>
    INTAGLIO_INLINE void Finish(State<kBytes> sums, uint8_t* out) const {
      Scale<kBytes / 2>(sums.even);
      Scale<kBytes / 2>(sums.odd);
      using Bytes = typename Of<T, kBytes>::Vector;
      auto means = std::bit_cast<Bytes>((sums.even ^ kFlip) | (sums.odd << 8));
      if (clamps) means = Limited(means, output.clamp_min, output.clamp_max);
      std::memcpy(out, &means, sizeof means);
    }

    template <int kCount>
    INTAGLIO_INLINE void Scale(typename Of<int16_t, kCount>::Vector& sums) const {
      ForWords<int16_t>(sums, [this](int16_t word) {
        return static_cast<int16_t>(((Kept(word * factor) >> 14) + 1) >> 1);
      });
    }

    explicit MeanOfNine(const WindowRun&, const LineOutput& o) : output(o), clamps(Clamps(o)) {
      asm("" : "+r"(factor));  // a constant that g++ knows is multiplied in 32 bits
    }
    int16_t factor = 3641;
    LineOutput output;
    bool clamps;
  };
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ELEMENTWISE_WINDOW_REDUCTIONS_H_
