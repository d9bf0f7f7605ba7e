// AVX2: bytes are widened to int16, and VPMADDWD adds two exact products per lane. VPMADDUBSW does
// four, but saturates, since 2 * 255 * 127 does not fit int16: it serves safe pairs only.
#include "intaglio/kernels/depthwise_tile.h"
#include "intaglio/kernels/lines.h"
#include "intaglio/kernels/tile.h"
#include "intaglio/kernels/x86/bytes.h"
#include "intaglio/kernels/x86/packing_sse41.h"
#include "intaglio/kernels/x86/panel_avx2.h"
#include "intaglio/kernels/x86/shuffles_avx2.h"
#include "intaglio/kernels/x86/taps.h"

namespace intaglio {
namespace {

// g++ 12 would add to a copy of the accumulator, and move the sum back.
INTAGLIO_INLINE __m256i AddInPlace(__m256i acc, __m256i a) {
  asm("vpaddd %1, %0, %0" : "+x"(acc) : "x"(a));
  return acc;
}

struct KernelAvx2 : PanelAvx2 {
  static constexpr int kDepthStep = 2;
  static constexpr bool kWidens = true;

  static INTAGLIO_INLINE Operand LoadPanel(const int8_t* p) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    return AddInPlace(acc, _mm256_madd_epi16(panel, row));
  }
  static INTAGLIO_INLINE Operand Distance(Operand panel, Operand zero) {
    return _mm256_abs_epi16(_mm256_sub_epi16(panel, zero));
  }
};

struct KernelAvx2SafePairs : BytesAvx2 {
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    const __m256i pairs = _mm256_maddubs_epi16(row, panel);
    return AddInPlace(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

constexpr Kernel kSafePairs = {.name = "avx2-safe-pairs",
                               .needs = kAvx2,
                               .panel = {8, 2, 4, true},
                               .row_format = RowFormat::kUnsigned8,
                               .max_rows = 6,
                               .tile = Tile<KernelAvx2SafePairs>,
                               .tap_step = 2,
                               .depthwise = Depthwise<KernelAvx2, TapPairs<KernelAvx2>>,
                               .has_fma = true,
                               .pack = kPanelRoutines<KernelAvx2SafePairs, ShufflesAvx2>,
                               .sum_rows = SumRowsOf<KernelAvx2SafePairs>};

}  // namespace

extern const Kernel kKernelAvx2 = {.name = "avx2",
                                   .needs = kAvx2,
                                   .panel = {8, 2, 2},
                                   .row_format = RowFormat::kWidened16,
                                   .max_rows = 6,
                                   .tile = Tile<KernelAvx2>,
                                   .tap_step = 2,
                                   .depthwise = Depthwise<KernelAvx2, TapPairs<KernelAvx2>>,
                                   .has_fma = true,
                                   .pack = kPanelRoutines<KernelAvx2, ShufflesAvx2>,
                                   .sum_rows = SumRowsOf<KernelAvx2>,
                                   .lines = &kLines<KernelAvx2, BytesX86<KernelAvx2>>,
                                   .for_safe_pairs = &kSafePairs};

}  // namespace intaglio
