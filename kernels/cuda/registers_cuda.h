// The register vocabulary of a GPU thread: the scalar one, in the device's own instructions where
// C++ has no name for them or lets the compiler choose. On the host it is the scalar one.
//
// __fmul_rn and __fadd_rn are never contracted to a fused multiply-add, whatever flags a caller's
// file is compiled with.
#ifndef INTAGLIO_KERNELS_CUDA_REGISTERS_CUDA_H_
#define INTAGLIO_KERNELS_CUDA_REGISTERS_CUDA_H_

#include <bit>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

struct Cuda : Scalar {
  // A float32 as bits: how results of both types wait for their store.
  static INTAGLIO_INLINE I32 FloatBits(F32 a) { return __builtin_bit_cast(I32, a); }

#if defined(__CUDA_ARCH__)
  static INTAGLIO_INLINE F32 DivF(F32 a, F32 b) { return __fdiv_rn(a, b); }
  static INTAGLIO_INLINE int LeadingZeros(uint32_t a) { return __clz(static_cast<int>(a)); }
  static INTAGLIO_INLINE F32 ToFloat(I32 a) { return __int2float_rn(a); }
  static INTAGLIO_INLINE I32 RoundToInt(F32 a) { return __float2int_rn(a); }
  static INTAGLIO_INLINE F32 MulF(F32 a, F32 b) { return __fmul_rn(a, b); }
  static INTAGLIO_INLINE F32 AddF(F32 a, F32 b) { return __fadd_rn(a, b); }
  // PTX shifts give 0 for counts over 31, which C++ leaves undefined.
  static INTAGLIO_INLINE I32 ShiftRightLogical(I32 a, I32 count) {
    I32 result;
    asm("shr.b32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(count));
    return result;
  }
#else
  static INTAGLIO_INLINE F32 DivF(F32 a, F32 b) { return a / b; }
  static INTAGLIO_INLINE int LeadingZeros(uint32_t a) { return std::countl_zero(a); }
#endif
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_CUDA_REGISTERS_CUDA_H_
