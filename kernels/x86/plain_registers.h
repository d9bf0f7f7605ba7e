// The register vocabularies of x86 for code that is compiled with a caller's own flags: PlainSse41,
// PlainAvx2 and PlainAvx512. Scalar says what each operation means.
//
// A vector is an ordinary object, so functions of any flags pass and return it in memory.
// Operations on vectors are functions for their instruction set. Run is a function for the same
// instruction set: the compiler inlines all operations into it, together with the caller's stages
// between them, and then keeps these objects in registers.
#ifndef INTAGLIO_KERNELS_X86_PLAIN_REGISTERS_H_
#define INTAGLIO_KERNELS_X86_PLAIN_REGISTERS_H_

#include <cstdint>
#include <cstring>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/fixedpoint/unfused.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/tile.h"

// Functions between INTAGLIO_BEGIN_TARGET(sets) and INTAGLIO_END_TARGET are for the instruction
// `sets`, a string.
#define INTAGLIO_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define INTAGLIO_BEGIN_TARGET(sets) \
  INTAGLIO_PRAGMA(clang attribute push(__attribute__((target(sets))), apply_to = function))
#define INTAGLIO_END_TARGET _Pragma("clang attribute pop")
// g++ cannot inline a copy that it specialized for some arguments of a function.
#define INTAGLIO_PLAIN_OPERATION static inline
#else
#define INTAGLIO_BEGIN_TARGET(sets) _Pragma("GCC push_options") INTAGLIO_PRAGMA(GCC target(sets))
#define INTAGLIO_END_TARGET _Pragma("GCC pop_options")
#define INTAGLIO_PLAIN_OPERATION static inline __attribute__((noclone))
#endif

namespace intaglio {

// A vector as an object. Its own copy constructor makes every function pass and return it in
// memory; without it, functions for different instruction sets would differ.
#define INTAGLIO_PLAIN_VECTOR(Name, Vector)                       \
  struct Name {                                                   \
    Name() = default;                                             \
    INTAGLIO_INLINE explicit Name(const Vector& v) : bits(v) {}   \
    INTAGLIO_INLINE Name(const Name& other) : bits(other.bits) {} \
    INTAGLIO_INLINE Name& operator=(const Name& other) {          \
      bits = other.bits;                                          \
      return *this;                                               \
    }                                                             \
    Vector bits;                                                  \
  }
struct PlainVectors128 {
  INTAGLIO_PLAIN_VECTOR(I32, __m128i);
  INTAGLIO_PLAIN_VECTOR(F32, __m128);
};
struct PlainVectors256 {
  INTAGLIO_PLAIN_VECTOR(I32, __m256i);
  INTAGLIO_PLAIN_VECTOR(F32, __m256);
};
struct PlainVectors512 {
  INTAGLIO_PLAIN_VECTOR(I32, __m512i);
  INTAGLIO_PLAIN_VECTOR(F32, __m512);
};
#undef INTAGLIO_PLAIN_VECTOR

}  // namespace intaglio

INTAGLIO_BEGIN_TARGET("sse4.1")
#include "intaglio/kernels/x86/registers_sse41.h"
#define INTAGLIO_PLAIN PlainSse41
#define INTAGLIO_VOCABULARY Sse41
#define INTAGLIO_VECTORS PlainVectors128
#include "intaglio/kernels/x86/plain_registers.inc"
INTAGLIO_END_TARGET

#define INTAGLIO_STORES_TOGETHER
INTAGLIO_BEGIN_TARGET("avx2,fma")
#include "intaglio/kernels/x86/registers_avx2.h"
#define INTAGLIO_PLAIN PlainAvx2
#define INTAGLIO_VOCABULARY Avx2
#define INTAGLIO_VECTORS PlainVectors256
#define INTAGLIO_NARROWER PlainSse41
#include "intaglio/kernels/x86/plain_registers.inc"
INTAGLIO_END_TARGET

INTAGLIO_BEGIN_TARGET("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")
#include "intaglio/kernels/x86/registers_avx512.h"
#define INTAGLIO_PLAIN PlainAvx512
#define INTAGLIO_VOCABULARY Avx512
#define INTAGLIO_VECTORS PlainVectors512
#define INTAGLIO_NARROWER PlainAvx2
#include "intaglio/kernels/x86/plain_registers.inc"
INTAGLIO_END_TARGET

#undef INTAGLIO_STORES_TOGETHER
#undef INTAGLIO_PRAGMA
#undef INTAGLIO_BEGIN_TARGET
#undef INTAGLIO_END_TARGET
#undef INTAGLIO_PLAIN_OPERATION

#endif  // INTAGLIO_KERNELS_X86_PLAIN_REGISTERS_H_
