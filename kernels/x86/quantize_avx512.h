// Real numbers to bytes. VDIVPS takes five times as long as the products here.
#ifndef INTAGLIO_KERNELS_X86_QUANTIZE_AVX512_H_
#define INTAGLIO_KERNELS_X86_QUANTIZE_AVX512_H_

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/elementwise/line_args.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/kernels/x86/registers_avx512.h"

namespace intaglio {

class QuantizeAvx512 {
 public:
  static void Run(const float* in, float scale, const LineOutput& output, void* out,
                  ptrdiff_t count) {
    const QuantizeAvx512 quantize(scale, output);
    auto* to = static_cast<uint8_t*>(out);
    for (; count >= 2 * kBlock; count -= 2 * kBlock, in += 2 * kBlock, to += 2 * kBlock) {
      __m512 x[8];
      INTAGLIO_UNROLL
      for (int j = 0; j < 8; ++j) x[j] = _mm512_loadu_ps(in + 16 * j);
      quantize.Divide(x);
      _mm512_storeu_si512(to, quantize.Bytes(x));
      _mm512_storeu_si512(to + kBlock, quantize.Bytes(x + 4));
    }
    for (; count >= kBlock; count -= kBlock, in += kBlock, to += kBlock) {
      _mm512_storeu_si512(to, quantize.Block([&](int j) { return _mm512_loadu_ps(in + 16 * j); }));
    }
    if (count == 0) return;
    const __mmask64 lanes = ~__mmask64{0} >> (kBlock - count);
    _mm512_mask_storeu_epi8(to, lanes, quantize.Block([&](int j) {
      return _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes >> 16 * j), in + 16 * j);
    }));
  }

 private:
  static constexpr ptrdiff_t kBlock = 64;

  INTAGLIO_INLINE QuantizeAvx512(float scale, const LineOutput& output)
      : scale_(_mm512_set1_ps(scale)),
        reciprocal_(_mm512_set1_ps(1 / scale)),
        most_(_mm512_set1_ps(512 * scale)),
        least_(_mm512_set1_ps(-512 * scale)),
        zero_point_(_mm512_set1_epi16(static_cast<int16_t>(output.zero_point + output.flip()))),
        flip_(_mm512_set1_epi8(static_cast<char>(output.flip()))) {}

  // The correctly rounded quotients of what saturates no byte beyond all doubt (Markstein,
  // "Computation of elementary functions on the IBM RISC System/6000 processor", 1990): the first
  // correction leaves an error below an ulp, the second none. 0 of NaN. All vectors take each step
  // together, as a CPU looks ahead of no more than some of such chains.
  template <int kVectors>
  INTAGLIO_INLINE void Divide(__m512 (&x)[kVectors]) const {
    __m512 quotient[kVectors];
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const __mmask16 numbers = _mm512_cmp_ps_mask(x[j], x[j], _CMP_ORD_Q);
      x[j] = _mm512_maskz_min_ps(numbers, most_, _mm512_max_ps(least_, x[j]));
    }
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) quotient[j] = _mm512_mul_ps(x[j], reciprocal_);
    INTAGLIO_UNROLL
    for (int i = 0; i < 2; ++i) {
      __m512 rest[kVectors];
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) rest[j] = _mm512_fnmadd_ps(quotient[j], scale_, x[j]);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        quotient[j] = _mm512_fmadd_ps(rest[j], reciprocal_, quotient[j]);
      }
    }
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) x[j] = quotient[j];
  }

  // Half, less its last bit, rounds ties away from zero and nothing else beyond.
  static INTAGLIO_INLINE __m512i Rounded(__m512 x) {
    const __m512 sign = _mm512_and_ps(x, _mm512_set1_ps(-0.0f));
    const __m512 half = _mm512_or_ps(sign, _mm512_set1_ps(0x1.fffffep-2f));
    return _mm512_cvttps_epi32(_mm512_add_ps(x, half));
  }

  // Signed bytes are the unsigned, 128 lower.
  template <class Load>
  INTAGLIO_INLINE __m512i Block(const Load& load) const {
    __m512 x[4];
    INTAGLIO_UNROLL
    for (int j = 0; j < 4; ++j) x[j] = load(j);
    Divide(x);
    return Bytes(x);
  }
  INTAGLIO_INLINE __m512i Bytes(const __m512* x) const {
    __m512i words[4];
    INTAGLIO_UNROLL
    for (int j = 0; j < 4; ++j) words[j] = Rounded(x[j]);
    const __m512i ab = _mm512_add_epi16(_mm512_packs_epi32(words[0], words[1]), zero_point_);
    const __m512i cd = _mm512_add_epi16(_mm512_packs_epi32(words[2], words[3]), zero_point_);
    return Avx512::InOrder(_mm512_xor_si512(_mm512_packus_epi16(ab, cd), flip_));
  }

  __m512 scale_;
  __m512 reciprocal_;
  __m512 most_;
  __m512 least_;
  __m512i zero_point_;
  __m512i flip_;
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_QUANTIZE_AVX512_H_
