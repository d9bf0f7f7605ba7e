// Lookups by AVX512-VBMI, which every CPU with AMX has: 64 bytes at once in tables that stay in
// registers.
#ifndef INTAGLIO_KERNELS_X86_LOOKUPS_AMX_H_
#define INTAGLIO_KERNELS_X86_LOOKUPS_AMX_H_

#include <algorithm>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/lookup_args.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

struct LookupsAmx {
  static constexpr ptrdiff_t kBlock = 64;

  struct Table {
    __m512i quarters[4];

    explicit INTAGLIO_INLINE Table(const uint8_t* bytes) {
      INTAGLIO_UNROLL
      for (int i = 0; i < 4; ++i) quarters[i] = _mm512_loadu_si512(bytes + i * kBlock);
    }
    INTAGLIO_INLINE __m512i operator[](__m512i places) const {
      const __m512i low = _mm512_permutex2var_epi8(quarters[0], places, quarters[1]);
      const __m512i high = _mm512_permutex2var_epi8(quarters[2], places, quarters[3]);
      return _mm512_mask_blend_epi8(_mm512_movepi8_mask(places), low, high);
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
      _mm512_mask_storeu_epi8(out + at, lanes, found[_mm512_maskz_loadu_epi8(lanes, in + at)]);
    });
  }

  static INTAGLIO_INLINE int32_t Largest(__m512i bytes) {
    const __m256i half =
        _mm256_max_epu8(_mm512_castsi512_si256(bytes), _mm512_extracti64x4_epi64(bytes, 1));
    const __m128i quarter =
        _mm_max_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    // The least of words is one instruction: of the complements of both bytes of each.
    const __m128i complement = _mm_xor_si128(quarter, _mm_set1_epi8(-1));
    const __m128i words = _mm_min_epu8(complement, _mm_srli_epi16(complement, 8));
    return 255 - _mm_extract_epi16(_mm_minpos_epu16(words), 0);
  }

  static void SumRows(const TermTable& terms, const ByteRows& rows, RowSum* sums) {
    const Table planes[TermTable::kPlanes] = {Table(terms.planes[0]), Table(terms.planes[1]),
                                              Table(terms.planes[2])};
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(rows.flip));
    const __m512i zero = _mm512_setzero_si512();
    const uint8_t* row = rows.bytes;
    for (ptrdiff_t r = 0; r < rows.rows; ++r, row += rows.depth) {
      // Bytes that are not there count as 0.
      const auto load = [&](ptrdiff_t at, __mmask64 lanes) {
        return _mm512_xor_si512(_mm512_mask_loadu_epi8(flip, lanes, row + at), flip);
      };
      __m512i best = zero;
      ForBlocks(rows.depth, [&](ptrdiff_t at, __mmask64 lanes) {
        best = _mm512_max_epu8(best, load(at, lanes));
      });
      const int32_t largest = Largest(best);
      const __m512i from = _mm512_set1_epi8(static_cast<char>(largest));
      __m512i sum[TermTable::kPlanes] = {zero, zero, zero};
      ForBlocks(rows.depth, [&](ptrdiff_t at, __mmask64 lanes) {
        const __m512i places = _mm512_sub_epi8(from, load(at, lanes));
        INTAGLIO_UNROLL
        for (int p = 0; p < TermTable::kPlanes; ++p) {
          const __m512i bytes = _mm512_maskz_mov_epi8(lanes, planes[p][places]);
          sum[p] = _mm512_add_epi64(sum[p], _mm512_sad_epu8(bytes, zero));
        }
      });
      const __m512i whole = _mm512_add_epi64(
          sum[0], _mm512_add_epi64(_mm512_slli_epi64(sum[1], 8), _mm512_slli_epi64(sum[2], 16)));
      sums[r] = {largest, _mm512_reduce_add_epi64(whole)};
    }
  }
};

inline constexpr LookupRoutines kLookupsAmx = {LookupsAmx::Translate, LookupsAmx::SumRows};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_LOOKUPS_AMX_H_
