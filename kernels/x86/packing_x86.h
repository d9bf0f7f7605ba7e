// The packing routines of every x86 kernel (pack/panels.h, pack/rows.h): panels filled and
// measured, rows packed, rows summed.
#ifndef INTAGLIO_KERNELS_X86_PACKING_X86_H_
#define INTAGLIO_KERNELS_X86_PACKING_X86_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/tile/fill_panel.h"
#include "intaglio/kernels/tile/panel_totals.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/kernels/x86/shuffles_sse41.h"
#include "intaglio/pack/matrix.h"
#include "intaglio/pack/rows.h"

namespace intaglio {

// For a kernel vocabulary V, with the widest shuffles of its instruction set.
template <class V, class Shuffles>
inline constexpr PanelRoutines kPanelRoutines{FillPanelOf<V, Shuffles, ShufflesSse41>,
                                              SumPanelOf<V>, MeasurePanelOf<V>};

// Rows of V, a kernel vocabulary: plain loops, of which the compiler makes vectors of V's
// instruction set. Their ends take longer than a short row, which PackRows copies in pieces.
template <class V>
class RowPacker {
 public:
  static bool Takes(const RowSource& source, int padded_depth) {
    if (source.is_im2col || source.matrix.order != Order::kRowMajor) return false;
    return source.matrix.cols >= 128 || IsOneRun(source.matrix, padded_depth);
  }

  static void Pack(const RowSource& source, int first, int count, int padded_depth, void* packed) {
    const ConstMatrix& m = source.matrix;
    const auto* from = static_cast<const uint8_t*>(m.data) + first * m.stride;
    auto* to = static_cast<Element*>(packed);
    if (IsOneRun(m, padded_depth)) {
      Move(m.type, from, ptrdiff_t{count} * m.cols, to);
      return;
    }
    for (int r = 0; r < count; ++r, from += m.stride, to += padded_depth) {
      Move(m.type, from, m.cols, to);
      for (int k = m.cols; k < padded_depth; ++k) to[k] = 0;
    }
  }

 private:
  static constexpr bool kWide = V::kRowBytes / V::kDepthStep == 2;
  using Element = std::conditional_t<kWide, int16_t, uint8_t>;

  static bool IsOneRun(const ConstMatrix& m, int padded_depth) {
    return m.stride == m.cols && padded_depth == m.cols;
  }

  static INTAGLIO_INLINE void Move(Type type, const uint8_t* __restrict from, ptrdiff_t n,
                                   Element* __restrict to) {
    if constexpr (!kWide) {
      const auto flip = static_cast<uint8_t>(RowMove(RowFormat::kUnsigned8, type));
      for (ptrdiff_t i = 0; i < n; ++i) to[i] = static_cast<uint8_t>(from[i] ^ flip);
    } else if (type == Type::kInt8) {
      for (ptrdiff_t i = 0; i < n; ++i) to[i] = static_cast<int8_t>(from[i]);
    } else {
      for (ptrdiff_t i = 0; i < n; ++i) to[i] = from[i];
    }
  }
};

template <class V>
void PackRowsOf(const RowSource& source, RowFormat format, int first, int count, int padded_depth,
                void* packed) {
  if (RowPacker<V>::Takes(source, padded_depth)) {
    RowPacker<V>::Pack(source, first, count, padded_depth, packed);
  } else {
    PackRows(source, format, first, count, padded_depth, packed);
  }
}

// The sums of rows of V, whose elements take V::kRowBytes / V::kDepthStep bytes.
template <class V>
class RowSums {
 public:
  RowSums(const void* rows, ptrdiff_t stride, int depth)
      : rows_(static_cast<const char*>(rows)),
        stride_(stride),
        bytes_(ptrdiff_t{depth} * kElement) {}

  void Sum(int count, int32_t* sums) const {
    int r = 0;
    for (; r + 4 <= count; r += 4) {
      Part parts[4];
      SumRows<4>(r, parts);
      Store(sums + r, Add(parts));
    }
    for (; r < count; ++r) {
      Part parts[4] = {};
      SumRows<1>(r, parts);
      sums[r] = _mm_cvtsi128_si32(Add(parts));
    }
  }

 private:
  static constexpr int kElement = V::kRowBytes / V::kDepthStep;

  static INTAGLIO_INLINE __m128i Load(const char* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static INTAGLIO_INLINE void Store(int32_t* p, __m128i a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a);
  }

#if defined(__AVX512BW__)
  // Fewer than 16 bytes, and zeros.
  static INTAGLIO_INLINE __m128i LoadFew(const char* p, ptrdiff_t count) {
    return _mm_maskz_loadu_epi8(static_cast<__mmask16>((1 << count) - 1), p);
  }
#else
  template <class Word>
  static INTAGLIO_INLINE uint64_t LoadWord(const char* p) {
    Word word;
    std::memcpy(&word, p, sizeof(word));
    return word;
  }
  // The same: two words that may overlap, of which the second is moved down.
  static __attribute__((noinline)) __m128i LoadFew(const char* p, ptrdiff_t count) {
    uint64_t low = 0;
    uint64_t high = 0;
    if (count >= 8) {
      low = LoadWord<uint64_t>(p);
      if (count > 8) high = LoadWord<uint64_t>(p + count - 8) >> 8 * (16 - count);
    } else if (count >= 4) {
      low = LoadWord<uint32_t>(p + count - 4) << 8 * (count - 4) | LoadWord<uint32_t>(p);
    } else {
      for (ptrdiff_t i = 0; i < count; ++i) low |= LoadWord<uint8_t>(p + i) << 8 * i;
    }
    return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
  }
#endif

  // Elements of a vector, added up to sums of eight bytes, whose upper halves are zero, or of two
  // words.
  static INTAGLIO_INLINE __m128i AddUp(__m128i elements) {
    return kElement == 1 ? _mm_sad_epu8(elements, _mm_setzero_si128())
                         : _mm_madd_epi16(elements, _mm_set1_epi16(1));
  }

  // Sums of one row in the widest vectors whose lanes are folded when those of four rows are.
#if defined(__AVX2__)
  using Part = __m256i;
  static INTAGLIO_INLINE Part Plus(Part a, Part b) { return _mm256_add_epi32(a, b); }
  static INTAGLIO_INLINE Part Widened(__m128i a) { return _mm256_zextsi128_si256(a); }
  static INTAGLIO_INLINE __m128i Folded(Part a) {
    return _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  }
  // Lanes a0 b0 a1 b1 .. of sums with zeros above them.
  static INTAGLIO_INLINE Part Paired(Part a, Part b) {
    return _mm256_or_si256(a, _mm256_slli_epi64(b, 32));
  }
  static INTAGLIO_INLINE Part Neighbours(Part ab, Part cd) {
    return Plus(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
  }
  static INTAGLIO_INLINE Part AddedNeighbours(Part a, Part b) { return _mm256_hadd_epi32(a, b); }
#else
  using Part = __m128i;
  static INTAGLIO_INLINE Part Plus(Part a, Part b) { return _mm_add_epi32(a, b); }
  static INTAGLIO_INLINE Part Widened(__m128i a) { return a; }
  static INTAGLIO_INLINE __m128i Folded(Part a) { return a; }
  static INTAGLIO_INLINE Part Paired(Part a, Part b) {
    return _mm_or_si128(a, _mm_slli_epi64(b, 32));
  }
  static INTAGLIO_INLINE Part Neighbours(Part ab, Part cd) {
    return Plus(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd));
  }
  static INTAGLIO_INLINE Part AddedNeighbours(Part a, Part b) { return _mm_hadd_epi32(a, b); }
#endif

  // The sums of each row's lanes.
  static INTAGLIO_INLINE __m128i Add(const Part (&parts)[4]) {
    if constexpr (kElement == 1) {
      return Folded(Neighbours(Paired(parts[0], parts[1]), Paired(parts[2], parts[3])));
    }
    return Folded(
        AddedNeighbours(AddedNeighbours(parts[0], parts[1]), AddedNeighbours(parts[2], parts[3])));
  }

  // What vectors of 32 bytes and more hold; returns how many bytes that is.
  template <int kRows>
  INTAGLIO_INLINE ptrdiff_t SumWide(const char* row, Part* parts) const {
    ptrdiff_t k = 0;
#if defined(__AVX512BW__)
    if (bytes_ >= 64) {
      __m512i wide[kRows];
      for (int r = 0; r < kRows; ++r) wide[r] = _mm512_setzero_si512();
      for (; k + 64 <= bytes_; k += 64) {
        for (int r = 0; r < kRows; ++r) {
          const __m512i elements = _mm512_loadu_si512(row + r * stride_ + k);
          wide[r] = _mm512_add_epi32(
              wide[r], kElement == 1 ? _mm512_sad_epu8(elements, _mm512_setzero_si512())
                                     : _mm512_madd_epi16(elements, _mm512_set1_epi16(1)));
        }
      }
      for (int r = 0; r < kRows; ++r) {
        parts[r] = Plus(_mm512_castsi512_si256(wide[r]), _mm512_extracti64x4_epi64(wide[r], 1));
      }
    }
#endif
#if defined(__AVX2__)
    for (; k + 32 <= bytes_; k += 32) {
      for (int r = 0; r < kRows; ++r) {
        const __m256i elements =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + r * stride_ + k));
        parts[r] =
            Plus(parts[r], kElement == 1 ? _mm256_sad_epu8(elements, _mm256_setzero_si256())
                                         : _mm256_madd_epi16(elements, _mm256_set1_epi16(1)));
      }
    }
#endif
    static_cast<void>(row);
    static_cast<void>(parts);
    return k;
  }

  template <int kRows>
  INTAGLIO_INLINE void SumRows(int first, Part* parts) const {
    const char* row = rows_ + first * stride_;
    for (int r = 0; r < kRows; ++r) parts[r] = Widened(_mm_setzero_si128());
    ptrdiff_t k = SumWide<kRows>(row, parts);
    for (; k + 16 <= bytes_; k += 16) {
      for (int r = 0; r < kRows; ++r) {
        parts[r] = Plus(parts[r], Widened(AddUp(Load(row + r * stride_ + k))));
      }
    }
    if (k == bytes_) return;
    for (int r = 0; r < kRows; ++r) {
      parts[r] = Plus(parts[r], Widened(AddUp(LoadFew(row + r * stride_ + k, bytes_ - k))));
    }
  }

  const char* rows_;
  ptrdiff_t stride_;
  ptrdiff_t bytes_;
};

template <class V>
void SumRowsOf(RowFormat, const void* rows, ptrdiff_t stride_bytes, int count, int depth,
               int32_t* sums) {
  RowSums<V>(rows, stride_bytes, depth).Sum(count, sums);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_PACKING_X86_H_
