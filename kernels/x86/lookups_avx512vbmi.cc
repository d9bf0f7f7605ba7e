// Lookups by AVX512-VBMI: 64 bytes at once in tables that stay in registers.
#include <bit>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/lookup_args.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/kernels/x86/order_avx512.h"

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

  // The largest byte of either half, in all of that half.
  static INTAGLIO_INLINE __m512i Largest(__m512i a) {
    a = _mm512_max_epu8(a, SwapQuarters(a));
    a = _mm512_max_epu8(a, _mm512_shuffle_epi32(a, _MM_PERM_BADC));
    a = _mm512_max_epu8(a, _mm512_shuffle_epi32(a, _MM_PERM_CDAB));
    a = _mm512_max_epu8(a, _mm512_rol_epi32(a, 16));
    return _mm512_max_epu8(a, _mm512_rol_epi32(a, 8));
  }
  // The sum of the numbers of 64 bits of either half, in all of that half.
  static INTAGLIO_INLINE __m512i Totals(__m512i a) {
    a = _mm512_add_epi64(a, SwapQuarters(a));
    return _mm512_add_epi64(a, _mm512_shuffle_epi32(a, _MM_PERM_BADC));
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
    best = Largest(_mm512_max_epu8(best, SwapHalves(best)));
    return _mm512_cvtsi512_si32(best) & 0xff;
  }
  static INTAGLIO_INLINE int64_t SumOf(const Terms& terms, const uint8_t* row, ptrdiff_t depth,
                                       __m512i from) {
    __m512i sums[TermTable::kPlanes] = {};
    ForBlocks(depth, [&](ptrdiff_t at, __mmask64 lanes) {
      terms.Add(_mm512_sub_epi8(from, _mm512_maskz_loadu_epi8(lanes, row + at)), lanes, sums);
    });
    return _mm512_reduce_add_epi64(Terms::Whole(sums));
  }

  // Two rows of at most half a vector.
  static INTAGLIO_INLINE void SumTwoRows(const Terms& terms, const uint8_t* row, ptrdiff_t depth,
                                         __m512i flip, RowSum* sums) {
    const __mmask32 lanes = ~__mmask32{0} >> (kHalf - depth);
    const __m256i none = _mm512_castsi512_si256(flip);
    const __m512i bytes = _mm512_xor_si512(Join(_mm256_mask_loadu_epi8(none, lanes, row),
                                                _mm256_mask_loadu_epi8(none, lanes, row + depth)),
                                           flip);
    const __m512i largest = Largest(bytes);
    __m512i parts[TermTable::kPlanes] = {};
    terms.Add(_mm512_sub_epi8(largest, bytes), lanes | __mmask64{lanes} << kHalf, parts);
    const __m512i totals = Totals(Terms::Whole(parts));
    sums[0] = Stored(_mm512_castsi512_si256(largest), _mm512_castsi512_si256(totals));
    sums[1] = Stored(Upper(largest), Upper(totals));
  }

  static void SumRows(const TermTable& table, const ByteRows& rows, RowSum* sums) {
    const Terms terms(table);
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(rows.flip));
    const uint8_t* row = rows.bytes;
    ptrdiff_t r = 0;
    if (rows.depth <= kHalf) {
      for (; r + 2 <= rows.rows; r += 2, row += 2 * rows.depth) {
        SumTwoRows(terms, row, rows.depth, flip, sums + r);
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
    // Of the even lanes of `even`, and of the numbers in the even lanes of `odd`, in odd lanes.
    INTAGLIO_INLINE __m512i operator()(__m512i even, __m512i odd) const {
      const __m512i a = _mm512_add_epi64(_mm512_mul_epu32(even, factor), halves);
      const __m512i b = _mm512_add_epi64(_mm512_mul_epu32(odd, factor), halves);
      return _mm512_mask_blend_epi32(0xaaaa, _mm512_srlv_epi64(a, even_shift),
                                     _mm512_srlv_epi64(b, odd_shift));
    }
    INTAGLIO_INLINE __m512i operator()(__m512i x) const {
      return (*this)(x, _mm512_srli_epi64(x, 32));
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
  static INTAGLIO_INLINE __m512i Narrowed(__m512i a, __m512i b, __m512i c, __m512i d,
                                          __m512i flip) {
    const __m512i ab = _mm512_packs_epi32(a, b);
    return _mm512_xor_si512(_mm512_packus_epi16(ab, _mm512_packs_epi32(c, d)), flip);
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
    return Narrowed(scaled(_mm512_unpacklo_epi16(low, high)),
                    scaled(_mm512_unpackhi_epi16(low, high)),
                    scaled(_mm512_unpacklo_epi16(low2, high2)),
                    scaled(_mm512_unpackhi_epi16(low2, high2)), flip);
  }

  // Pairs of rows of at most half a vector; returns how many rows.
  static INTAGLIO_INLINE ptrdiff_t ScalePairs(const ExpTable& exps, const ByteRows& rows,
                                              const RowScale* scales, uint8_t* out) {
    const Table planes[ExpTable::kPlanes] = {Table(exps.planes[0]), Table(exps.planes[1]),
                                             Table(exps.planes[2]), Table(exps.planes[3])};
    const __m512i flip = Set(rows.flip);
    const __mmask32 lanes = ~__mmask32{0} >> (kHalf - rows.depth);
    const uint8_t* row = rows.bytes;
    ptrdiff_t r = 0;
    for (; r + 2 <= rows.rows; r += 2, row += 2 * rows.depth, out += 2 * rows.depth) {
      const RowScale& a = scales[r];
      const RowScale& b = scales[r + 1];
      const __m512i bytes = Join(_mm256_maskz_loadu_epi8(lanes, row),
                                 _mm256_maskz_loadu_epi8(lanes, row + rows.depth));
      const __m512i from = Join(_mm256_set1_epi8(static_cast<char>(a.largest)),
                                _mm256_set1_epi8(static_cast<char>(b.largest)));
      const Scaling scaled(
          Join(_mm256_set1_epi64x(Bits(a.scale)), _mm256_set1_epi64x(Bits(b.scale))));
      const __m512i results =
          ScaleBlock(planes, scaled, _mm512_sub_epi8(from, _mm512_xor_si512(bytes, flip)), flip);
      _mm256_mask_storeu_epi8(out, lanes, _mm512_castsi512_si256(results));
      _mm256_mask_storeu_epi8(out + rows.depth, lanes, Upper(results));
    }
    return r;
  }

  // The results of all places.
  static INTAGLIO_INLINE void FindResults(const ExpTable& exps, const Scaling& scaled, __m512i flip,
                                          Table& results) {
    const int32_t* from = exps.words;
    for (int q = 0; q < (results.is_short ? 2 : 4); ++q, from += kBlock) {
      __m512i x[4];
      INTAGLIO_UNROLL
      for (int j = 0; j < 4; ++j) x[j] = scaled(_mm512_loadu_si512(from + 16 * j));
      results.quarters[q] = InOrder(Narrowed(x[0], x[1], x[2], x[3], flip));
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
