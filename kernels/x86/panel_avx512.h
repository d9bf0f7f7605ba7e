// The kernel vocabulary that the AVX-512 kernels share: panels of one, two or four vectors of
// sixteen channels.
#ifndef INTAGLIO_KERNELS_X86_PANEL_AVX512_H_
#define INTAGLIO_KERNELS_X86_PANEL_AVX512_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/kernels/x86/registers_avx512.h"

namespace intaglio {

struct PanelAvx512 : Avx512 {
  static constexpr int kMaxVectors = 4;
  static constexpr int kMaxRows = 6;  // 24 accumulators, 4 panel vectors, 1 row
  static constexpr bool kHasFma = true;
  static constexpr bool kStoresInOrder = true;
  static constexpr int kRowBytes = 4;
  using Operand = __m512i;

  static INTAGLIO_INLINE Operand LoadRow(const void* p) {
    return _mm512_broadcastd_epi32(_mm_loadu_si32(p));
  }

  static INTAGLIO_INLINE void Keep(I32& acc) { asm("" : "+v"(acc)); }
  static INTAGLIO_INLINE void Pin(I32& acc) { asm volatile("" : "+v"(acc)); }
  static INTAGLIO_INLINE I32 FloatBits(F32 a) { return _mm512_castps_si512(a); }

  static INTAGLIO_INLINE void StoreRuns(int32_t* p, ptrdiff_t step, I32 a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_castsi512_si128(a));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + step), _mm512_extracti32x4_epi32(a, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 2 * step), _mm512_extracti32x4_epi32(a, 2));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 3 * step), _mm512_extracti32x4_epi32(a, 3));
  }

  // The same runs of all vectors side by side. Two vectors give halves of 16 numbers.
  template <int kVectors>
  static INTAGLIO_INLINE void StoreInt32(int32_t* p, const I32* a) {
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);     // runs 0 and 1
    const __m512i high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);  // 2 and 3
    if constexpr (kVectors == 1) {
      _mm512_storeu_si512(p, a[0]);
    } else if constexpr (kVectors == 2) {
      _mm512_storeu_si512(p, _mm512_permutex2var_epi64(a[0], low, a[1]));
      _mm512_storeu_si512(p + 16, _mm512_permutex2var_epi64(a[0], high, a[1]));
    } else {
      StoreHalves(p, _mm512_permutex2var_epi64(a[0], low, a[1]),
                  _mm512_permutex2var_epi64(a[2], Turned(low), a[3]));
      StoreHalves(p + 32, _mm512_permutex2var_epi64(a[0], high, a[1]),
                  _mm512_permutex2var_epi64(a[2], Turned(high), a[3]));
    }
  }

  template <int kVectors>
  static INTAGLIO_INLINE void StoreInt16(int16_t* p, const I32* a) {
    if constexpr (kVectors == 1) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtsepi32_epi16(a[0]));
    } else {
      // Each pair of vectors gives four runs of eight int16, that is, of four int32.
      for (int j = 0; j < kVectors; j += 2) {
        StoreRuns(reinterpret_cast<int32_t*>(p + 4 * j), 2 * kVectors,
                  _mm512_packs_epi32(a[j], a[j + 1]));
      }
    }
  }

  // The saturating pack to int16 may come before the zero point is added: a value that it changes
  // is clamped to the same byte either way.
  template <int kVectors, bool kSigned>
  static INTAGLIO_INLINE void StoreBytes(void* p, const I32* a, int32_t zero_point, int32_t min,
                                         int32_t max) {
    const __m512i zp = _mm512_set1_epi16(static_cast<int16_t>(zero_point));
    const auto low = _mm_set1_epi8(static_cast<char>(min));
    const auto high = _mm_set1_epi8(static_cast<char>(max));
    if constexpr (kVectors == 4) {
      __m512i ab = _mm512_packs_epi32(a[0], a[1]);
      __m512i cd = _mm512_packs_epi32(a[2], a[3]);
      if (zero_point != 0) {
        ab = _mm512_adds_epi16(ab, zp);
        cd = _mm512_adds_epi16(cd, zp);
      }
      __m512i bytes = kSigned ? _mm512_packs_epi16(ab, cd) : _mm512_packus_epi16(ab, cd);
      if (max - min < 255) {  // else packing clamps
        const __m512i lows = _mm512_broadcast_i32x4(low);
        const __m512i highs = _mm512_broadcast_i32x4(high);
        bytes = kSigned ? _mm512_min_epi8(_mm512_max_epi8(bytes, lows), highs)
                        : _mm512_min_epu8(_mm512_max_epu8(bytes, lows), highs);
      }
      _mm512_storeu_si512(p, bytes);
    } else if constexpr (kVectors == 2) {
      const __m512i ab = _mm512_adds_epi16(_mm512_packs_epi32(a[0], a[1]), zp);
      const __m256i lows = _mm256_broadcastsi128_si256(low);
      const __m256i highs = _mm256_broadcastsi128_si256(high);
      const __m256i bytes =
          kSigned ? _mm256_min_epi8(_mm256_max_epi8(_mm512_cvtsepi16_epi8(ab), lows), highs)
                  : _mm256_min_epu8(_mm256_max_epu8(Unsigned(ab), lows), highs);
      _mm256_storeu_si256(static_cast<__m256i*>(p), bytes);
    } else {
      const __m256i sum =
          _mm256_adds_epi16(_mm512_cvtsepi32_epi16(a[0]), _mm512_castsi512_si256(zp));
      const __m128i even = _mm256_castsi256_si128(sum);
      const __m128i odd = _mm256_extracti128_si256(sum, 1);
      const __m128i bytes =
          kSigned ? _mm_min_epi8(_mm_max_epi8(_mm_packs_epi16(even, odd), low), high)
                  : _mm_min_epu8(_mm_max_epu8(_mm_packus_epi16(even, odd), low), high);
      _mm_storeu_si128(static_cast<__m128i*>(p), bytes);
    }
  }

  template <bool kMoves>
  class ByteStore {
   public:
    explicit INTAGLIO_INLINE ByteStore(const EpilogueParams& e)
        : zero_point_(_mm512_set1_epi16(static_cast<int16_t>(e.zero_point))),
          low_(_mm512_set1_epi8(static_cast<char>(e.clamp_min))),
          high_(_mm512_set1_epi8(static_cast<char>(e.clamp_max))),
          is_signed_(e.output == Type::kInt8),
          clamps_(Clamps(e)) {}

    template <int kVectors>
    INTAGLIO_INLINE void Store(char* p, char* q, const I32* a, const I32* b) const {
      if constexpr (kVectors == 4) {
        _mm512_storeu_si512(p, Bytes(Words(a[0], a[1]), Words(a[2], a[3])));
        _mm512_storeu_si512(q, Bytes(Words(b[0], b[1]), Words(b[2], b[3])));
      } else if constexpr (kVectors == 2) {
        // Both rows in one pack, whose lanes hold a quarter of each.
        const __m512i bytes = Bytes(Words(a[0], a[1]), Words(b[0], b[1]));
        StoreTwo(p, q, _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), bytes));
      } else {
        const __m512i words = Words(a[0], b[0]);
        const __m512i rows = _mm512_permutexvar_epi32(
            _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 0, 0, 0, 0, 0, 0, 0, 0),
            Bytes(words, words));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_castsi512_si128(rows));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(q), _mm512_extracti32x4_epi32(rows, 1));
      }
    }

    template <int kVectors>
    INTAGLIO_INLINE void StoreRow(char* p, const I32* a) const {
      if constexpr (kVectors == 4) {
        _mm512_storeu_si512(p, Bytes(Words(a[0], a[1]), Words(a[2], a[3])));
      } else if constexpr (kVectors == 1) {
        const __m512i words = Words(a[0], a[0]);
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
        const __m512i bytes = _mm512_permutexvar_epi32(order, Bytes(words, words));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_castsi512_si128(bytes));
      } else {
        const __m512i words = Words(a[0], a[1]);
        const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 0, 2, 4, 6);
        const __m512i bytes = _mm512_permutexvar_epi64(order, Bytes(words, words));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_castsi512_si256(bytes));
      }
    }

    INTAGLIO_INLINE __m512i Words(I32 a, I32 b) const {
      const __m512i words = _mm512_packs_epi32(a, b);
      return kMoves ? _mm512_adds_epi16(words, zero_point_) : words;
    }
    INTAGLIO_INLINE void StoreWords(char* p, __m512i a, __m512i b) const {
      _mm512_storeu_si512(p, Bytes(a, b));
    }

   private:
    INTAGLIO_INLINE __m512i Bytes(__m512i a, __m512i b) const {
      __m512i bytes;
      if (is_signed_) {
        bytes = _mm512_packs_epi16(a, b);
        if (clamps_) bytes = _mm512_min_epi8(_mm512_max_epi8(bytes, low_), high_);
      } else {
        bytes = _mm512_packus_epi16(a, b);
        if (clamps_) bytes = _mm512_min_epu8(_mm512_max_epu8(bytes, low_), high_);
      }
      return bytes;
    }
    __m512i zero_point_;
    __m512i low_;
    __m512i high_;
    bool is_signed_;
    bool clamps_;
  };

  template <int kVectors>
  static INTAGLIO_INLINE Operand LoadSpread(const uint8_t* p) {
    if constexpr (kVectors == 4) {
      return _mm512_loadu_si512(p);
    } else if constexpr (kVectors == 2) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3),
                                      _mm512_castsi256_si512(bytes));
    } else {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      return _mm512_permutexvar_epi32(
          _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3),
          _mm512_castsi128_si512(bytes));
    }
  }
  // The bytes of a panel of one vector, of four rows: one of each in every lane.
  static INTAGLIO_INLINE Operand LoadQuads(const uint8_t* const (&rows)[4]) {
    const auto load = [&](int i) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i]));
    };
    const auto two = [&](int i) {
      return _mm512_castsi256_si512(
          _mm256_inserti128_si256(_mm256_castsi128_si256(load(i)), load(i + 1), 1));
    };
    // Four channels of each row to 128 bits, and of those one byte of each row to a lane.
    const __m512i channels =
        _mm512_setr_epi32(0, 4, 16, 20, 1, 5, 17, 21, 2, 6, 18, 22, 3, 7, 19, 23);
    const __m512i x = _mm512_permutex2var_epi32(two(0), channels, two(2));
    const __m128i bytes = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(bytes));
  }
  static INTAGLIO_INLINE Operand Broadcast8(uint8_t byte) {
    return _mm512_set1_epi8(static_cast<char>(byte));
  }
  static INTAGLIO_INLINE Operand MoveLanes(int count, Operand a, Operand b) {
    switch (count) {
      case 0:
        return a;
      case 1:
        return _mm512_alignr_epi32(b, a, 4);
      case 2:
        return _mm512_alignr_epi32(b, a, 8);
      case 3:
        return _mm512_alignr_epi32(b, a, 12);
      default:
        return b;
    }
  }
  static INTAGLIO_INLINE void CopyPart(uint8_t* to, const uint8_t* from, int begin, int end,
                                       uint8_t fill) {
    const auto below = [](int n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; };
    const __mmask64 part = below(end) & ~below(begin);
    _mm512_storeu_si512(to, _mm512_mask_loadu_epi8(Broadcast8(fill), part, from));
  }
  static INTAGLIO_INLINE Operand DotBytes(Operand a, Operand b) {
    return _mm512_maddubs_epi16(a, b);
  }
  template <bool kSigned>
  static INTAGLIO_INLINE Operand PackBytes(Operand a, Operand b) {
    return kSigned ? _mm512_packs_epi16(a, b) : _mm512_packus_epi16(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackLow8(Operand a, Operand b) {
    return _mm512_unpacklo_epi8(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackHigh8(Operand a, Operand b) {
    return _mm512_unpackhi_epi8(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackLow16(Operand a, Operand b) {
    return _mm512_unpacklo_epi16(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackHigh16(Operand a, Operand b) {
    return _mm512_unpackhi_epi16(a, b);
  }

 private:
  static INTAGLIO_INLINE __m512i Turned(__m512i a) { return _mm512_shuffle_i64x2(a, a, 0x4E); }
  // 16 numbers of the lower half of `a` and the upper one of `b`, then those of the other halves: a
  // blend takes any port.
  static INTAGLIO_INLINE void StoreHalves(int32_t* p, __m512i a, __m512i b) {
    _mm512_storeu_si512(p, _mm512_mask_blend_epi64(0xF0, a, b));
    _mm512_storeu_si512(p + 16, _mm512_shuffle_i64x2(a, b, 0x4E));
  }
  static INTAGLIO_INLINE void StoreTwo(void* p, void* q, __m512i halves) {
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_castsi512_si256(halves));
    _mm256_storeu_si256(static_cast<__m256i*>(q), _mm512_extracti64x4_epi64(halves, 1));
  }
  static INTAGLIO_INLINE __m256i Unsigned(__m512i words) {
    return _mm512_cvtusepi16_epi8(_mm512_max_epi16(words, _mm512_setzero_si512()));
  }
};

// Panels of bytes that are widened, two depths a lane.
struct PairsAvx512 : PanelAvx512 {
  static constexpr int kDepthStep = 2;

  static INTAGLIO_INLINE Operand LoadPanel(const int8_t* p) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static INTAGLIO_INLINE Operand Distance(Operand panel, Operand zero) {
    return _mm512_abs_epi16(_mm512_sub_epi16(panel, zero));
  }
};

// Panels of bytes, four depths a lane.
struct BytesAvx512 : PanelAvx512 {
  static constexpr bool kTakesWindows = true;
  static constexpr int kDepthStep = 4;

  static INTAGLIO_INLINE Operand LoadPanel(const int8_t* p) { return _mm512_loadu_si512(p); }
  static INTAGLIO_INLINE Operand Distance(Operand panel, Operand zero) {
    const Operand top = _mm512_set1_epi8(-128);
    const Operand a = _mm512_xor_si512(panel, top);
    const Operand b = _mm512_xor_si512(zero, top);
    return _mm512_or_si512(_mm512_subs_epu8(a, b), _mm512_subs_epu8(b, a));
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_PANEL_AVX512_H_
