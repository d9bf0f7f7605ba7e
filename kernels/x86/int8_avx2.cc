// AVX2: bytes are widened to int16, and VPMADDWD adds two exact products per lane. VPMADDUBSW does
// four, but saturates, since 2 * 255 * 127 does not fit int16: it serves safe pairs only.
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/make_kernel.h"
#include "intaglio/kernels/x86/bytes.h"
#include "intaglio/kernels/x86/packing_x86.h"
#include "intaglio/kernels/x86/panel_avx2.h"
#include "intaglio/kernels/x86/shuffles_avx2.h"
#include "intaglio/kernels/x86/taps.h"
#include "intaglio/kernels/x86/words_avx2.h"

namespace intaglio {
namespace {

struct KernelAvx2 : PanelAvx2 {
  static constexpr bool kTakesWindows = true;
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

}  // namespace

extern const LineRoutines kLinesAvx2 = kLines<KernelAvx2, BytesX86<KernelAvx2>>;

extern constinit const Kernel kKernelAvx2 = MakeKernel<KernelAvx2, TapPairs<KernelAvx2>>(
    {.name = "avx2",
     .needs = kAvx2,
     .row_format = RowFormat::kWidened16,
     .pack = kPanelRoutines<KernelAvx2, ShufflesAvx2>,
     .pack_rows = PackRowsOf<KernelAvx2>,
     .sum_rows = SumRowsOf<KernelAvx2>,
     .lines = &kLinesAvx2,
     .winograd = &kWinogradX86<KernelAvx2, WordsAvx2, ShufflesAvx2>});

}  // namespace intaglio
