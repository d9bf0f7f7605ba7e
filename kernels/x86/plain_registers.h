// The register vocabularies of x86 for code that is compiled with a caller's own flags: PlainSse41,
// PlainAvx2 and PlainAvx512. What each operation means is said at Scalar.
//
// A vector is an ordinary object, which functions of any flags take and give in memory; operations
// on it are functions for their instruction set. In Run, which is for the same, all of them are
// inlined, with the stages of the caller's between them, and compilers then keep these objects in
// registers.
#ifndef INTAGLIO_KERNELS_X86_PLAIN_REGISTERS_H_
#define INTAGLIO_KERNELS_X86_PLAIN_REGISTERS_H_

#include <cstdint>
#include <cstring>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/fixedpoint/unfused.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/tile.h"

// Functions between these two are for the instruction `sets`, a string.
#define INTAGLIO_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define INTAGLIO_BEGIN_TARGET(sets) \
  INTAGLIO_PRAGMA(clang attribute push(__attribute__((target(sets))), apply_to = function))
#define INTAGLIO_END_TARGET _Pragma("clang attribute pop")
// g++ inlines no copy that it made of a function for some of its arguments.
#define INTAGLIO_PLAIN_OPERATION static inline
#else
#define INTAGLIO_BEGIN_TARGET(sets) _Pragma("GCC push_options") INTAGLIO_PRAGMA(GCC target(sets))
#define INTAGLIO_END_TARGET _Pragma("GCC pop_options")
#define INTAGLIO_PLAIN_OPERATION static inline __attribute__((noclone))
#endif

namespace intaglio {

// A vector as an object. That it is copied by a function of its own makes it one that every
// function takes and gives in memory, as it would not be where instruction sets differ.
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
