// AVX2: bytes are widened to int16, and VPMADDWD adds two exact products per lane. VPMADDUBSW would
// do four, but saturates: 2 * 255 * 127 does not fit int16.
#include "intaglio/kernels/depthwise_tile.h"
#include "intaglio/kernels/tile.h"
#include "intaglio/kernels/x86/panel_avx2.h"

namespace intaglio {
namespace {

struct KernelAvx2 : PanelAvx2 {
  static constexpr int kDepthStep = 2;
  static constexpr bool kWidens = true;
  static constexpr int kRowBytes = 4;

  static INTAGLIO_INLINE Operand LoadPanel(const int8_t* p) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static INTAGLIO_INLINE Operand LoadRow(const void* p) {
    return _mm256_castps_si256(_mm256_broadcast_ss(static_cast<const float*>(p)));
  }
  static INTAGLIO_INLINE I32 Dot(I32 acc, Operand panel, Operand row) {
    // By hand, since g++ 12 adds to a copy of the accumulator and moves the sum back.
    const __m256i products = _mm256_madd_epi16(panel, row);
    asm("vpaddd %1, %0, %0" : "+x"(acc) : "x"(products));
    return acc;
  }
};

}  // namespace

extern const Kernel kKernelAvx2 = {
    "avx2", kAvx2, {8, 2, 2}, RowFormat::kWidened16, 6, Tile<KernelAvx2>, Depthwise<KernelAvx2>};

}  // namespace intaglio
