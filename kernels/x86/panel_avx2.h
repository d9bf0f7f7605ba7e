// What the tiles (kernels/tile/tile.h) of AVX2 and AVX-VNNI share: panels of one or two vectors of
// eight channels, rows, and the stores of whole tiles.
#ifndef INTAGLIO_KERNELS_X86_PANEL_AVX2_H_
#define INTAGLIO_KERNELS_X86_PANEL_AVX2_H_

#include <cstdint>

#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/kernels/x86/finish_avx2.h"

namespace intaglio {

struct PanelAvx2 : FinishAvx2 {
  static constexpr int kMaxVectors = 2;
  static constexpr int kMaxRows = 6;  // 12 accumulators, 2 panel vectors, 1 row
  static constexpr int kRowBytes = 4;
  static constexpr bool kHasFma = true;

  static INTAGLIO_INLINE Operand LoadRow(const void* p) {
    return _mm256_castps_si256(_mm256_set1_ps(*static_cast<const AnyFloat*>(p)));
  }

  static INTAGLIO_INLINE void Keep(I32& acc) { asm("" : "+x"(acc)); }
  static INTAGLIO_INLINE void Pin(I32& acc) { asm volatile("" : "+x"(acc)); }
  // Add, where g++ 12 would add to a copy of the accumulator, and move the sum back.
  static INTAGLIO_INLINE I32 AddInPlace(I32 acc, I32 a) {
    asm("vpaddd %1, %0, %0" : "+x"(acc) : "x"(a));
    return acc;
  }

  // One saturating pack for two rows, whose lanes hold half of each.
  template <bool kMoves>
  class ByteStore {
   public:
    explicit INTAGLIO_INLINE ByteStore(const EpilogueParams& e)
        : zero_point_(_mm256_set1_epi16(static_cast<int16_t>(e.zero_point))),
          low_(_mm256_set1_epi8(static_cast<char>(e.clamp_min))),
          high_(_mm256_set1_epi8(static_cast<char>(e.clamp_max))),
          is_signed_(e.output == Type::kInt8),
          clamps_(Clamps(e)) {}

    template <int kVectors>
    INTAGLIO_INLINE void Store(char* p, char* q, const I32* a, const I32* b) const {
      // One vector to a row is packed with itself.
      constexpr int kLast = kVectors - 1;
      const __m256i words_a = Words(a[0], a[kLast]);
      const __m256i words_b = Words(b[0], b[kLast]);
      const __m256i bytes = Bytes(words_a, words_b);
      if constexpr (kVectors == 2) {
        StoreHalves(p, q, _mm256_castsi256_si128(bytes));
        StoreHalves(p + 8, q + 8, _mm256_extracti128_si256(bytes, 1));
      } else {
        StoreQuarters(p, q, _mm256_castsi256_si128(bytes));
        StoreQuarters(p + 4, q + 4, _mm256_extracti128_si256(bytes, 1));
      }
    }

    // One row.
    template <int kVectors>
    INTAGLIO_INLINE void StorePixel(char* p, const I32* a) const {
      const __m256i words = Words(a[0], a[kVectors - 1]);
      const __m256i high = _mm256_castsi128_si256(_mm256_extracti128_si256(words, 1));
      const __m128i bytes = _mm256_castsi256_si128(Bytes(words, high));
      if constexpr (kVectors == 2) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
      } else {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_shuffle_epi32(bytes, 0b1000));
      }
    }

   private:
    INTAGLIO_INLINE __m256i Bytes(__m256i a, __m256i b) const {
      __m256i bytes;
      if (is_signed_) {
        bytes = _mm256_packs_epi16(a, b);
        if (clamps_) bytes = _mm256_min_epi8(_mm256_max_epi8(bytes, low_), high_);
      } else {
        bytes = _mm256_packus_epi16(a, b);
        if (clamps_) bytes = _mm256_min_epu8(_mm256_max_epu8(bytes, low_), high_);
      }
      return bytes;
    }
    INTAGLIO_INLINE __m256i Words(I32 a, I32 b) const {
      const __m256i words = _mm256_packs_epi32(a, b);
      return kMoves ? _mm256_adds_epi16(words, zero_point_) : words;
    }
    __m256i zero_point_;
    __m256i low_;
    __m256i high_;
    bool is_signed_;
    bool clamps_;
  };

 private:
  static INTAGLIO_INLINE void StoreHalves(void* low, void* high, __m128i a) {
    _mm_storel_pi(static_cast<__m64*>(low), _mm_castsi128_ps(a));
    _mm_storeh_pi(static_cast<__m64*>(high), _mm_castsi128_ps(a));
  }
  static INTAGLIO_INLINE void StoreQuarters(void* first, void* third, __m128i a) {
    _mm_storeu_si32(first, a);
    _mm_storeu_si32(third, _mm_shuffle_epi32(a, 2));
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_PANEL_AVX2_H_
