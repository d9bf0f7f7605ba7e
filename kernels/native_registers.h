// The widest register vocabulary that the flags of the including file allow, and its name for
// descriptions.
#ifndef INTAGLIO_KERNELS_NATIVE_REGISTERS_H_
#define INTAGLIO_KERNELS_NATIVE_REGISTERS_H_

#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "intaglio/kernels/x86/registers_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "intaglio/kernels/x86/registers_avx2.h"
#elif defined(__SSE4_1__)
#include "intaglio/kernels/x86/registers_sse41.h"
#elif defined(__ARM_NEON)
#include "intaglio/kernels/arm/registers_neon.h"
#else
#include "intaglio/fixedpoint/registers.h"
#endif

namespace intaglio {

#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
using NativeRegisters = Avx512;
inline constexpr const char* kNativeRegisters = "avx512, by the compiler's flags";
#elif defined(__AVX2__) && defined(__FMA__)
using NativeRegisters = Avx2;
inline constexpr const char* kNativeRegisters = "avx2, by the compiler's flags";
#elif defined(__SSE4_1__)
using NativeRegisters = Sse41;
inline constexpr const char* kNativeRegisters = "sse4.1, by the compiler's flags";
#elif defined(__ARM_NEON)
using NativeRegisters = Neon;
inline constexpr const char* kNativeRegisters = "neon";
#else
using NativeRegisters = Scalar;
inline constexpr const char* kNativeRegisters = "scalar, by the compiler's flags";
#endif

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_NATIVE_REGISTERS_H_
