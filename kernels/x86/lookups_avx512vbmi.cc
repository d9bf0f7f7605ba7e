// Lookups by AVX512-VBMI: 64 bytes at once in tables that stay in registers.
#include <algorithm>
#include <bit>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/elementwise/lookup_args.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/kernels/x86/registers_avx512.h"

namespace intaglio {
namespace {

struct LookupsAvx512Vbmi {
  static constexpr ptrdiff_t kBlock = 64;
  static constexpr ptrdiff_t kHalf = kBlock / 2;
  static constexpr int kShort = 2 * kBlock;  // of a table

  // One lookup is enough where the upper half holds nothing but the number before it.
  struct Table {
    __m512i quarters[4];
    bool is_short;

    Table() = default;
    explicit INTAGLIO_INLINE Table(const uint8_t* bytes) {
      INTAGLIO_UNROLL
      for (int i = 0; i < 4; ++i) quarters[i] = _mm512_loadu_si512(bytes + i * kBlock);
      const __m512i last = _mm512_set1_epi8(static_cast<char>(bytes[kShort - 1]));
      is_short = (_mm512_cmpneq_epi8_mask(quarters[2], last) |
                  _mm512_cmpneq_epi8_mask(quarters[3], last)) == 0;
    }
    INTAGLIO_INLINE __m512i Find(__m512i places) const {
      if (is_short) places = _mm512_min_epu8(places, _mm512_set1_epi8(kShort - 1));
      const __m512i low = _mm512_permutex2var_epi8(quarters[0], places, quarters[1]);
      if (is_short) return low;
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
      _mm512_mask_storeu_epi8(out + at, lanes, found.Find(_mm512_maskz_loadu_epi8(lanes, in + at)));
    });
  }

  static INTAGLIO_INLINE __m512i SwapHalves(__m512i a) { return _mm512_shuffle_i64x2(a, a, 0x4e); }
  static INTAGLIO_INLINE __m512i SwapQuarters(__m512i a) {
    return _mm512_shuffle_i64x2(a, a, 0xb1);
  }

  // Each of a few vectors takes a step before any takes the next one: a CPU looks ahead of no more
  // than some of such chains.
  template <size_t kCount, class Step>
  static INTAGLIO_INLINE void ForEach(__m512i (&a)[kCount], const Step& step) {
    INTAGLIO_UNROLL
    for (size_t i = 0; i < kCount; ++i) a[i] = step(a[i]);
  }

  // The largest byte of either half, in all of that half.
  template <size_t kCount>
  static INTAGLIO_INLINE void Largest(__m512i (&a)[kCount]) {
    ForEach(a, [](__m512i x) { return _mm512_max_epu8(x, SwapQuarters(x)); });
    ForEach(a,
            [](__m512i x) { return _mm512_max_epu8(x, _mm512_shuffle_epi32(x, _MM_PERM_BADC)); });
    ForEach(a,
            [](__m512i x) { return _mm512_max_epu8(x, _mm512_shuffle_epi32(x, _MM_PERM_CDAB)); });
    ForEach(a, [](__m512i x) { return _mm512_max_epu8(x, _mm512_rol_epi32(x, 16)); });
    ForEach(a, [](__m512i x) { return _mm512_max_epu8(x, _mm512_rol_epi32(x, 8)); });
  }
  // The sum of the numbers of 64 bits of either half, in all of that half.
  template <size_t kCount>
  static INTAGLIO_INLINE void Totals(__m512i (&a)[kCount]) {
    ForEach(a, [](__m512i x) { return _mm512_add_epi64(x, SwapQuarters(x)); });
    ForEach(a,
            [](__m512i x) { return _mm512_add_epi64(x, _mm512_shuffle_epi32(x, _MM_PERM_BADC)); });
  }
  static INTAGLIO_INLINE RowSum Stored(__m256i largest, __m256i total) {
    return {_mm_cvtsi128_si32(_mm256_castsi256_si128(largest)) & 0xff,
            _mm_cvtsi128_si64(_mm256_castsi256_si128(total))};
  }

  static INTAGLIO_INLINE __m512i Join(__m256i low, __m256i high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
  static INTAGLIO_INLINE __m256i Upper(__m512i a) { return _mm512_extracti64x4_epi64(a, 1); }
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

  static INTAGLIO_INLINE int32_t LargestOf(const uint8_t* row, ptrdiff_t depth, __m512i flip) {
    // Bytes that are not there count as 0.
    __m512i best = _mm512_setzero_si512();
    ForBlocks(depth, [&](ptrdiff_t at, __mmask64 lanes) {
      const __m512i bytes = _mm512_mask_loadu_epi8(flip, lanes, row + at);
      best = _mm512_max_epu8(best, _mm512_xor_si512(bytes, flip));
    });
    __m512i all[] = {_mm512_max_epu8(best, SwapHalves(best))};
    Largest(all);
    return _mm512_cvtsi512_si32(all[0]) & 0xff;
  }
  static INTAGLIO_INLINE int64_t SumOf(const Terms& terms, const uint8_t* row, ptrdiff_t depth,
                                       __m512i from) {
    __m512i sums[TermTable::kPlanes] = {};
    ForBlocks(depth, [&](ptrdiff_t at, __mmask64 lanes) {
      terms.Add(_mm512_sub_epi8(from, _mm512_maskz_loadu_epi8(lanes, row + at)), lanes, sums);
    });
    return _mm512_reduce_add_epi64(Terms::Whole(sums));
  }

  // kPairs times two rows of at most half a vector.
  template <size_t kPairs>
  static INTAGLIO_INLINE void SumPairs(const Terms& terms, const uint8_t* row, ptrdiff_t depth,
                                       __m512i flip, RowSum* sums) {
    const __mmask32 lanes = ~__mmask32{0} >> (kHalf - depth);
    const __m256i none = _mm512_castsi512_si256(flip);
    __m512i bytes[kPairs];
    __m512i largest[kPairs];
    INTAGLIO_UNROLL
    for (size_t i = 0; i < kPairs; ++i, row += 2 * depth) {
      bytes[i] = _mm512_xor_si512(Join(_mm256_mask_loadu_epi8(none, lanes, row),
                                       _mm256_mask_loadu_epi8(none, lanes, row + depth)),
                                  flip);
      largest[i] = bytes[i];
    }
    Largest(largest);
    __m512i totals[kPairs];
    INTAGLIO_UNROLL
    for (size_t i = 0; i < kPairs; ++i) {
      __m512i parts[TermTable::kPlanes] = {};
      terms.Add(_mm512_sub_epi8(largest[i], bytes[i]), lanes | __mmask64{lanes} << kHalf, parts);
      totals[i] = Terms::Whole(parts);
    }
    Totals(totals);
    INTAGLIO_UNROLL
    for (size_t i = 0; i < kPairs; ++i, sums += 2) {
      sums[0] = Stored(_mm512_castsi512_si256(largest[i]), _mm512_castsi512_si256(totals[i]));
      sums[1] = Stored(Upper(largest[i]), Upper(totals[i]));
    }
  }

  static void SumRows(const TermTable& table, const ByteRows& rows, RowSum* sums) {
    const Terms terms(table);
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(rows.flip));
    const uint8_t* row = rows.bytes;
    ptrdiff_t r = 0;
    if (rows.depth <= kHalf) {
      constexpr int kPairs = 4;
      for (; r + 2 * kPairs <= rows.rows; r += 2 * kPairs, row += 2 * kPairs * rows.depth) {
        SumPairs<kPairs>(terms, row, rows.depth, flip, sums + r);
      }
      for (; r + 2 <= rows.rows; r += 2, row += 2 * rows.depth) {
        SumPairs<1>(terms, row, rows.depth, flip, sums + r);
      }
    }
    // Apart, so that no row's sum waits for its largest byte.
    for (ptrdiff_t i = r; i < rows.rows; ++i) {
      sums[i].largest = LargestOf(rows.bytes + i * rows.depth, rows.depth, flip);
    }
    for (; r < rows.rows; ++r, row += rows.depth) {
      const __m512i from = _mm512_set1_epi8(static_cast<char>(sums[r].largest - rows.flip));
      sums[r].sum = SumOf(terms, row, rows.depth, from);
    }
  }

  // The multiplier of a row, or of two, in a half of a vector each. Of a number x that is not
  // negative both roundings are one: (x * 2 mantissa + (1 << 31) + (1 << (31 + shift), where there
  // is a shift)) >> (32 + shift).
  struct Scaling {
    explicit INTAGLIO_INLINE Scaling(__m512i multipliers) {
      const __m512i one = _mm512_set1_epi64(int64_t{1} << 31);
      const __m512i exponents = _mm512_srli_epi64(multipliers, 32);
      factor = _mm512_add_epi32(multipliers, multipliers);
      odd_shift = _mm512_sub_epi32(_mm512_setzero_si512(), exponents);
      even_shift = _mm512_add_epi64(odd_shift, _mm512_set1_epi64(32));
      halves = _mm512_or_si512(_mm512_sllv_epi64(one, odd_shift), one);
    }
    template <size_t kCount>
    INTAGLIO_INLINE void Apply(__m512i (&x)[kCount]) const {
      __m512i odd[kCount];
      INTAGLIO_UNROLL
      for (size_t i = 0; i < kCount; ++i) odd[i] = _mm512_srli_epi64(x[i], 32);
      const auto product = [&](__m512i a) { return _mm512_mul_epu32(a, factor); };
      const auto sum = [&](__m512i a) { return _mm512_add_epi64(a, halves); };
      ForEach(x, product);
      ForEach(odd, product);
      ForEach(x, sum);
      ForEach(odd, sum);
      INTAGLIO_UNROLL
      for (size_t i = 0; i < kCount; ++i) {
        x[i] = _mm512_mask_blend_epi32(0xaaaa, _mm512_srlv_epi64(x[i], even_shift),
                                       _mm512_srlv_epi64(odd[i], odd_shift));
      }
    }
    __m512i factor;
    __m512i halves;
    __m512i even_shift;
    __m512i odd_shift;
  };
  static INTAGLIO_INLINE long long Bits(const QuantizedMultiplier& scale) {
    return std::bit_cast<long long>(scale);
  }

  // Four vectors of results as bytes, lane by lane.
  static INTAGLIO_INLINE __m512i Narrowed(const __m512i (&x)[4], __m512i flip) {
    const __m512i low = _mm512_packs_epi32(x[0], x[1]);
    return _mm512_xor_si512(_mm512_packus_epi16(low, _mm512_packs_epi32(x[2], x[3])), flip);
  }
  static INTAGLIO_INLINE __m512i Set(int32_t byte) {
    return _mm512_set1_epi8(static_cast<char>(byte));
  }

  // The results of a vector of places.
  static INTAGLIO_INLINE __m512i ScaleBlock(const Table (&planes)[ExpTable::kPlanes],
                                            const Scaling& scaled, __m512i places, __m512i flip) {
    __m512i bytes[ExpTable::kPlanes];
    INTAGLIO_UNROLL
    for (int p = 0; p < ExpTable::kPlanes; ++p) bytes[p] = planes[p].Find(places);
    const __m512i low = _mm512_unpacklo_epi8(bytes[0], bytes[1]);
    const __m512i high = _mm512_unpacklo_epi8(bytes[2], bytes[3]);
    const __m512i low2 = _mm512_unpackhi_epi8(bytes[0], bytes[1]);
    const __m512i high2 = _mm512_unpackhi_epi8(bytes[2], bytes[3]);
    __m512i x[] = {_mm512_unpacklo_epi16(low, high), _mm512_unpackhi_epi16(low, high),
                   _mm512_unpacklo_epi16(low2, high2), _mm512_unpackhi_epi16(low2, high2)};
    scaled.Apply(x);
    return Narrowed(x, flip);
  }

  // Pairs of rows of at most half a vector; returns how many rows.
  static INTAGLIO_INLINE ptrdiff_t ScalePairs(const ExpTable& exps, const ByteRows& rows,
                                              const RowScale* scales, uint8_t* out) {
    const Table planes[ExpTable::kPlanes] = {Table(exps.planes[0]), Table(exps.planes[1]),
                                             Table(exps.planes[2]), Table(exps.planes[3])};
    const __m512i flip = Set(rows.flip);
    const ptrdiff_t depth = rows.depth;
    const ptrdiff_t pairs = rows.rows / 2;
    const __mmask32 lanes = ~__mmask32{0} >> (kHalf - depth);
    const auto pair = [&](ptrdiff_t i) {
      const uint8_t* const row = rows.bytes + 2 * i * depth;
      return Join(_mm256_maskz_loadu_epi8(lanes, row), _mm256_maskz_loadu_epi8(lanes, row + depth));
    };
    __m512i next = pairs > 0 ? pair(0) : flip;
    for (ptrdiff_t i = 0; i < pairs; ++i, out += 2 * depth) {
      const RowScale& a = scales[2 * i];
      const RowScale& b = scales[2 * i + 1];
      const __m512i bytes = next;
      // Before the results are stored: a load right behind a store of some lanes, as where the rows
      // are the results', waits for it.
      next = pair(std::min(i + 1, pairs - 1));
      const __m512i from = Join(_mm256_set1_epi8(static_cast<char>(a.largest)),
                                _mm256_set1_epi8(static_cast<char>(b.largest)));
      const Scaling scaled(
          Join(_mm256_set1_epi64x(Bits(a.scale)), _mm256_set1_epi64x(Bits(b.scale))));
      const __m512i results =
          ScaleBlock(planes, scaled, _mm512_sub_epi8(from, _mm512_xor_si512(bytes, flip)), flip);
      _mm256_mask_storeu_epi8(out, lanes, _mm512_castsi512_si256(results));
      _mm256_mask_storeu_epi8(out + depth, lanes, Upper(results));
    }
    return 2 * pairs;
  }

  // The results of all places.
  static INTAGLIO_INLINE void FindResults(const ExpTable& exps, const Scaling& scaled, __m512i flip,
                                          Table& results) {
    const int32_t* from = exps.words;
    for (int q = 0; q < (results.is_short ? 2 : 4); ++q, from += kBlock) {
      __m512i x[4];
      INTAGLIO_UNROLL
      for (int j = 0; j < 4; ++j) x[j] = _mm512_loadu_si512(from + 16 * j);
      scaled.Apply(x);
      results.quarters[q] = Avx512::InOrder(Narrowed(x, flip));
    }
  }

  static INTAGLIO_INLINE void ScaleRow(const Table& results, const uint8_t* row, __m512i from,
                                       ptrdiff_t depth, uint8_t* out) {
    ForBlocks(depth, [&](ptrdiff_t at, __mmask64 lanes) {
      const __m512i places = _mm512_sub_epi8(from, _mm512_maskz_loadu_epi8(lanes, row + at));
      _mm512_mask_storeu_epi8(out + at, lanes, results.Find(places));
    });
  }

  static void Scale(const ExpTable& exps, const ByteRows& rows, const RowScale* scales,
                    uint8_t* out) {
    const ptrdiff_t depth = rows.depth;
    ptrdiff_t r = depth > kHalf ? 0 : ScalePairs(exps, rows, scales, out);
    const __m512i flip = Set(rows.flip);
    int32_t upper = 0;
    for (int i = kShort - 1; i < 256; ++i) upper |= exps.words[i];
    Table results;
    results.is_short = upper == 0;
    for (; r < rows.rows; ++r) {
      FindResults(exps, Scaling(_mm512_set1_epi64(Bits(scales[r].scale))), flip, results);
      const __m512i from = _mm512_set1_epi8(static_cast<char>(scales[r].largest - rows.flip));
      ScaleRow(results, rows.bytes + r * depth, from, depth, out + r * depth);
    }
  }
};

}  // namespace

extern const LookupRoutines kLookupsAvx512Vbmi = {
    LookupsAvx512Vbmi::Translate, LookupsAvx512Vbmi::SumRows, LookupsAvx512Vbmi::Scale};

}  // namespace intaglio
