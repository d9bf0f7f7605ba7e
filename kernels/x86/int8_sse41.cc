// SSE4.1: PMADDWD over widened bytes, panels of one or two vectors of four channels.
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/x86/bytes.h"
#include "intaglio/kernels/x86/packing_x86.h"
#include "intaglio/kernels/x86/registers_sse41.h"
#include "intaglio/kernels/x86/taps.h"
#include "intaglio/kernels/x86/words_sse41.h"

namespace intaglio {
namespace {

struct KernelSse41 : Sse41 {
  static constexpr int kMaxVectors = 2;
  static constexpr bool kSharesTails = true;
  static constexpr int kMaxRows = 4;  // 8 accumulators, 2 panel vectors, 1 row, 1 product
  static constexpr int kDepthStep = 2;
  static constexpr int kRowBytes = 4;
  using Operand = __m128i;

  static INTAGLIO_INLINE Operand LoadPanel(const int8_t* p) {
    return _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static INTAGLIO_INLINE Operand LoadRow(const void* p) {
    return _mm_castps_si128(_mm_set1_ps(*static_cast<const AnyFloat*>(p)));
  }
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return Add(acc, _mm_madd_epi16(panel, row));
  }
  static INTAGLIO_INLINE Operand Distance(Operand panel, Operand zero) {
    return _mm_abs_epi16(_mm_sub_epi16(panel, zero));
  }
  static INTAGLIO_INLINE void Keep(I32& acc) { asm("" : "+x"(acc)); }
  static INTAGLIO_INLINE I32 FloatBits(F32 a) { return _mm_castps_si128(a); }

  static INTAGLIO_INLINE void StoreRuns(int32_t* p, ptrdiff_t, I32 a) { Store(p, a); }

  template <int kVectors>
  static INTAGLIO_INLINE void StoreInt16(int16_t* p, const I32* a) {
    const __m128i words = _mm_packs_epi32(a[0], a[kVectors - 1]);
    if constexpr (kVectors == 2) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), words);
    } else {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(p), words);
    }
  }

  template <int kVectors, bool kSigned>
  static INTAGLIO_INLINE void StoreBytes(void* p, const I32* a, int32_t zero_point, int32_t min,
                                         int32_t max) {
    const __m128i words = _mm_adds_epi16(_mm_packs_epi32(a[0], a[kVectors - 1]),
                                         _mm_set1_epi16(static_cast<int16_t>(zero_point)));
    __m128i bytes;
    if constexpr (kSigned) {
      bytes = _mm_packs_epi16(words, words);
      bytes = _mm_max_epi8(bytes, _mm_set1_epi8(static_cast<char>(min)));
      bytes = _mm_min_epi8(bytes, _mm_set1_epi8(static_cast<char>(max)));
    } else {
      bytes = _mm_packus_epi16(words, words);
      bytes = _mm_max_epu8(bytes, _mm_set1_epi8(static_cast<char>(min)));
      bytes = _mm_min_epu8(bytes, _mm_set1_epi8(static_cast<char>(max)));
    }
    if constexpr (kVectors == 2) {
      _mm_storel_epi64(static_cast<__m128i*>(p), bytes);
    } else {
      _mm_storeu_si32(p, bytes);
    }
  }

  template <int kVectors>
  static INTAGLIO_INLINE Operand LoadSpread(const uint8_t* p) {
    return kVectors == 2 ? _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)) : _mm_loadu_si32(p);
  }
  static INTAGLIO_INLINE Operand Broadcast8(uint8_t byte) {
    return _mm_set1_epi8(static_cast<char>(byte));
  }
  static INTAGLIO_INLINE Operand DotBytes(Operand a, Operand b) { return _mm_maddubs_epi16(a, b); }
  template <bool kSigned>
  static INTAGLIO_INLINE Operand PackBytes(Operand a, Operand b) {
    return kSigned ? _mm_packs_epi16(a, b) : _mm_packus_epi16(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackLow8(Operand a, Operand b) {
    return _mm_unpacklo_epi8(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackHigh8(Operand a, Operand b) {
    return _mm_unpackhi_epi8(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackLow16(Operand a, Operand b) {
    return _mm_unpacklo_epi16(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackHigh16(Operand a, Operand b) {
    return _mm_unpackhi_epi16(a, b);
  }
};

}  // namespace

extern constinit const Kernel kKernelSse41 = MakeKernel<KernelSse41, TapPairs<KernelSse41>>(
    {.name = "sse4.1",
     .needs = kSse41,
     .row_format = RowFormat::kWidened16,
     .pack = kPanelRoutines<KernelSse41, ShufflesSse41>,
     .pack_rows = PackRowsOf<KernelSse41>,
     .sum_rows = SumRowsOf<KernelSse41>,
     .lines = &kLines<KernelSse41, BytesX86<KernelSse41>>,
     .winograd = &kWinogradX86<KernelSse41, WordsSse41, ShufflesSse41>});

}  // namespace intaglio
