// Lookups by AVX512-VBMI, which every CPU with AMX has: 64 bytes at once in tables that stay in
// registers.
#ifndef INTAGLIO_KERNELS_X86_LOOKUPS_AMX_H_
#define INTAGLIO_KERNELS_X86_LOOKUPS_AMX_H_

#include <algorithm>

#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/lookup_args.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/kernels/x86/panel_avx512.h"

namespace intaglio {

struct LookupsAmx {
  static constexpr ptrdiff_t kBlock = 64;
  static constexpr ptrdiff_t kHalf = kBlock / 2;

  struct Table {
    __m512i quarters[4];

    explicit INTAGLIO_INLINE Table(const uint8_t* bytes) {
      INTAGLIO_UNROLL
      for (int i = 0; i < 4; ++i) quarters[i] = _mm512_loadu_si512(bytes + i * kBlock);
    }
    // Where kShort, the upper half holds zeros.
    template <bool kShort = false>
    INTAGLIO_INLINE __m512i Find(__m512i places) const {
      const __mmask64 upper = _mm512_movepi8_mask(places);
      if constexpr (kShort) {
        return _mm512_maskz_permutex2var_epi8(~upper, quarters[0], places, quarters[1]);
      }
      const __m512i low = _mm512_permutex2var_epi8(quarters[0], places, quarters[1]);
      const __m512i high = _mm512_permutex2var_epi8(quarters[2], places, quarters[3]);
      return _mm512_mask_blend_epi8(upper, low, high);
    }
    INTAGLIO_INLINE bool is_short() const {
      return _mm512_test_epi8_mask(_mm512_or_si512(quarters[2], quarters[3]),
                                   _mm512_set1_epi8(-1)) == 0;
    }
  };

  // block(at, lanes) for blocks of a line, of which `lanes` says which bytes there are.
  template <class Block>
  static INTAGLIO_INLINE void ForBlocks(ptrdiff_t count, const Block& block) {
    ptrdiff_t at = 0;
    for (; count - at >= kBlock; at += kBlock) block(at, ~__mmask64{0});
    if (at < count) block(at, ~__mmask64{0} >> (kBlock - (count - at)));
  }

  static void Translate(const uint8_t* table, const uint8_t* in, uint8_t* out, ptrdiff_t count) {
    const Table found(table);
    ForBlocks(count, [&](ptrdiff_t at, __mmask64 lanes) {
      _mm512_mask_storeu_epi8(out + at, lanes, found.Find(_mm512_maskz_loadu_epi8(lanes, in + at)));
    });
  }

  static INTAGLIO_INLINE int32_t Largest(__m256i bytes) {
    const __m128i quarter =
        _mm_max_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    // The least of words is one instruction: of the complements of both bytes of each.
    const __m128i complement = _mm_xor_si128(quarter, _mm_set1_epi8(-1));
    const __m128i words = _mm_min_epu8(complement, _mm_srli_epi16(complement, 8));
    return 255 - _mm_extract_epi16(_mm_minpos_epu16(words), 0);
  }

  static INTAGLIO_INLINE __m512i Join(__m256i low, __m256i high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
  static INTAGLIO_INLINE __m256i Upper(__m512i a) { return _mm512_extracti64x4_epi64(a, 1); }
  static INTAGLIO_INLINE __m256i Set(int32_t byte) {
    return _mm256_set1_epi8(static_cast<char>(byte));
  }

  // The sums of a row's terms, or of those in either half of a vector.
  class Terms {
   public:
    explicit INTAGLIO_INLINE Terms(const TermTable& terms)
        : planes_{Table(terms.planes[0]), Table(terms.planes[1]), Table(terms.planes[2])} {}

    INTAGLIO_INLINE void Add(__m512i places, __mmask64 lanes, __m512i (&sums)[3]) const {
      INTAGLIO_UNROLL
      for (int p = 0; p < TermTable::kPlanes; ++p) {
        const __m512i bytes = _mm512_maskz_mov_epi8(lanes, planes_[p].Find(places));
        sums[p] = _mm512_add_epi64(sums[p], _mm512_sad_epu8(bytes, _mm512_setzero_si512()));
      }
    }
    static INTAGLIO_INLINE __m512i Whole(const __m512i (&sums)[3]) {
      return _mm512_add_epi64(
          sums[0], _mm512_add_epi64(_mm512_slli_epi64(sums[1], 8), _mm512_slli_epi64(sums[2], 16)));
    }

   private:
    Table planes_[TermTable::kPlanes];
  };

  static INTAGLIO_INLINE int64_t Total(__m256i sums) {
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return _mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1);
  }

  static INTAGLIO_INLINE RowSum SumRow(const Terms& terms, const uint8_t* row, ptrdiff_t depth,
                                       __m512i flip) {
    // Bytes that are not there count as 0.
    const auto load = [&](ptrdiff_t at, __mmask64 lanes) {
      return _mm512_xor_si512(_mm512_mask_loadu_epi8(flip, lanes, row + at), flip);
    };
    __m512i best = _mm512_setzero_si512();
    ForBlocks(depth, [&](ptrdiff_t at, __mmask64 lanes) {
      best = _mm512_max_epu8(best, load(at, lanes));
    });
    const int32_t largest = Largest(_mm256_max_epu8(_mm512_castsi512_si256(best), Upper(best)));
    const __m512i from = _mm512_set1_epi8(static_cast<char>(largest));
    __m512i sums[TermTable::kPlanes] = {};
    ForBlocks(depth, [&](ptrdiff_t at, __mmask64 lanes) {
      terms.Add(_mm512_sub_epi8(from, load(at, lanes)), lanes, sums);
    });
    return {largest, _mm512_reduce_add_epi64(Terms::Whole(sums))};
  }

  // Two rows of at most half a vector.
  static INTAGLIO_INLINE void SumTwoRows(const Terms& terms, const uint8_t* row, ptrdiff_t depth,
                                         __m256i flip, RowSum* sums) {
    const __mmask32 lanes = ~__mmask32{0} >> (kHalf - depth);
    const __m256i a = _mm256_xor_si256(_mm256_mask_loadu_epi8(flip, lanes, row), flip);
    const __m256i b = _mm256_xor_si256(_mm256_mask_loadu_epi8(flip, lanes, row + depth), flip);
    const int32_t largest_a = Largest(a);
    const int32_t largest_b = Largest(b);
    const __m512i places =
        Join(_mm256_sub_epi8(Set(largest_a), a), _mm256_sub_epi8(Set(largest_b), b));
    __m512i parts[TermTable::kPlanes] = {};
    terms.Add(places, lanes | __mmask64{lanes} << kHalf, parts);
    const __m512i whole = Terms::Whole(parts);
    sums[0] = {largest_a, Total(_mm512_castsi512_si256(whole))};
    sums[1] = {largest_b, Total(Upper(whole))};
  }

  static void SumRows(const TermTable& table, const ByteRows& rows, RowSum* sums) {
    const Terms terms(table);
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(rows.flip));
    const uint8_t* row = rows.bytes;
    ptrdiff_t r = 0;
    if (rows.depth <= kHalf) {
      for (; r + 2 <= rows.rows; r += 2, row += 2 * rows.depth) {
        SumTwoRows(terms, row, rows.depth, _mm512_castsi512_si256(flip), sums + r);
      }
    }
    for (; r < rows.rows; ++r, row += rows.depth) {
      sums[r] = SumRow(terms, row, rows.depth, flip);
    }
  }

  // The multiplier of a row, or of two, in a half of a vector each. The second rounding of a number
  // that is not negative is an addition.
  struct Scaling {
    explicit INTAGLIO_INLINE Scaling(const QuantizedMultiplier& scale) : Scaling(scale, scale) {}
    INTAGLIO_INLINE Scaling(const QuantizedMultiplier& a, const QuantizedMultiplier& b)
        : mantissa(Halves(a.mantissa, b.mantissa)),
          half(Halves(HalfOf(a), HalfOf(b))),
          shift(Halves(a.right_shift(), b.right_shift())) {}
    INTAGLIO_INLINE __m512i operator()(__m512i x) const {
      return V::ShiftRightLogical(V::Add(RoundingDoublingHighMul<V>(x, mantissa), half), shift);
    }
    static INTAGLIO_INLINE __m512i Halves(int32_t a, int32_t b) {
      return Join(_mm256_set1_epi32(a), _mm256_set1_epi32(b));
    }
    static INTAGLIO_INLINE int32_t HalfOf(const QuantizedMultiplier& scale) {
      return static_cast<int32_t>((1u << scale.right_shift()) >> 1);
    }
    __m512i mantissa;
    __m512i half;
    __m512i shift;
  };

  // The results of a vector of places, as bytes.
  template <bool kSigned, bool kShort>
  static INTAGLIO_INLINE __m512i ScaleBlock(const Table (&planes)[ExpTable::kPlanes],
                                            const Scaling& scaled, const LineOutput& output,
                                            __m512i places) {
    __m512i bytes[ExpTable::kPlanes];
    INTAGLIO_UNROLL
    for (int p = 0; p < ExpTable::kPlanes; ++p) bytes[p] = planes[p].template Find<kShort>(places);
    const __m512i low = _mm512_unpacklo_epi8(bytes[0], bytes[1]);
    const __m512i high = _mm512_unpacklo_epi8(bytes[2], bytes[3]);
    const __m512i low2 = _mm512_unpackhi_epi8(bytes[0], bytes[1]);
    const __m512i high2 = _mm512_unpackhi_epi8(bytes[2], bytes[3]);
    const __m512i x[] = {
        scaled(_mm512_unpacklo_epi16(low, high)), scaled(_mm512_unpackhi_epi16(low, high)),
        scaled(_mm512_unpacklo_epi16(low2, high2)), scaled(_mm512_unpackhi_epi16(low2, high2))};
    alignas(64) uint8_t results[kBlock];
    V::StoreBytes<4, kSigned>(results, x, output.zero_point, output.clamp_min, output.clamp_max);
    return _mm512_load_si512(results);
  }

  template <bool kSigned, bool kShort>
  static INTAGLIO_INLINE void ScaleRows(const Table (&planes)[ExpTable::kPlanes],
                                        const ByteRows& rows, const RowScale* scales,
                                        const LineOutput& output, uint8_t* out) {
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(rows.flip));
    const ptrdiff_t depth = rows.depth;
    const uint8_t* row = rows.bytes;
    ptrdiff_t r = 0;
    if (depth <= kHalf) {
      const __mmask32 lanes = ~__mmask32{0} >> (kHalf - depth);
      for (; r + 2 <= rows.rows; r += 2, row += 2 * depth, out += 2 * depth) {
        const __m512i bytes =
            Join(_mm256_maskz_loadu_epi8(lanes, row), _mm256_maskz_loadu_epi8(lanes, row + depth));
        const __m512i from = Join(Set(scales[r].largest), Set(scales[r + 1].largest));
        const __m512i results = ScaleBlock<kSigned, kShort>(
            planes, Scaling(scales[r].scale, scales[r + 1].scale), output,
            _mm512_sub_epi8(from, _mm512_xor_si512(bytes, flip)));
        _mm256_mask_storeu_epi8(out, lanes, _mm512_castsi512_si256(results));
        _mm256_mask_storeu_epi8(out + depth, lanes, Upper(results));
      }
    }
    for (; r < rows.rows; ++r, row += depth, out += depth) {
      const Scaling scaled(scales[r].scale);
      const __m512i from = _mm512_set1_epi8(static_cast<char>(scales[r].largest));
      ForBlocks(depth, [&](ptrdiff_t at, __mmask64 lanes) {
        const __m512i bytes = _mm512_maskz_loadu_epi8(lanes, row + at);
        const __m512i results = ScaleBlock<kSigned, kShort>(
            planes, scaled, output, _mm512_sub_epi8(from, _mm512_xor_si512(bytes, flip)));
        _mm512_mask_storeu_epi8(out + at, lanes, results);
      });
    }
  }

  template <bool kSigned>
  static INTAGLIO_INLINE void ScaleSigned(const ExpTable& exps, const ByteRows& rows,
                                          const RowScale* scales, const LineOutput& output,
                                          uint8_t* out) {
    const Table planes[ExpTable::kPlanes] = {Table(exps.planes[0]), Table(exps.planes[1]),
                                             Table(exps.planes[2]), Table(exps.planes[3])};
    const bool is_short = planes[0].is_short() && planes[1].is_short() && planes[2].is_short() &&
                          planes[3].is_short();
    if (is_short) return ScaleRows<kSigned, true>(planes, rows, scales, output, out);
    ScaleRows<kSigned, false>(planes, rows, scales, output, out);
  }

  static void Scale(const ExpTable& exps, const ByteRows& rows, const RowScale* scales,
                    const LineOutput& output, uint8_t* out) {
    if (output.is_signed) return ScaleSigned<true>(exps, rows, scales, output, out);
    ScaleSigned<false>(exps, rows, scales, output, out);
  }

 private:
  using V = PanelAvx512;
};

inline constexpr LookupRoutines kLookupsAmx = {LookupsAmx::Translate, LookupsAmx::SumRows,
                                               LookupsAmx::Scale};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_LOOKUPS_AMX_H_
