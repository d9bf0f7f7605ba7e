// Panels of bytes, four depths a lane, of AVX2 for safe pairs and of AVX-VNNI.
#ifndef INTAGLIO_KERNELS_X86_PANEL_BYTES_AVX2_H_
#define INTAGLIO_KERNELS_X86_PANEL_BYTES_AVX2_H_

#include <cstdint>

#include "intaglio/kernels/x86/panel_avx2.h"

namespace intaglio {

struct BytesAvx2 : PanelAvx2 {
  static constexpr int kDepthStep = 4;

  static INTAGLIO_INLINE Operand LoadPanel(const int8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static INTAGLIO_INLINE Operand Distance(Operand panel, Operand zero) {
    const Operand top = _mm256_set1_epi8(-128);
    const Operand a = _mm256_xor_si256(panel, top);
    const Operand b = _mm256_xor_si256(zero, top);
    return _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_PANEL_BYTES_AVX2_H_
