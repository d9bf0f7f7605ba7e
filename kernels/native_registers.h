// The widest register vocabulary that the flags of the including file allow: the one in which a
// caller's own pipeline is compiled.
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
#elif defined(__AVX2__) && defined(__FMA__)
using NativeRegisters = Avx2;
#elif defined(__SSE4_1__)
using NativeRegisters = Sse41;
#elif defined(__ARM_NEON)
using NativeRegisters = Neon;
#else
using NativeRegisters = Scalar;
#endif

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_NATIVE_REGISTERS_H_
