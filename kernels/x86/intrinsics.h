// <immintrin.h> with one diagnostic of GCC 12 turned off inside it, and a type that it lacks.
#ifndef INTAGLIO_KERNELS_X86_INTRINSICS_H_
#define INTAGLIO_KERNELS_X86_INTRINSICS_H_

// GCC 12 reports its own _mm512_undefined_epi32 as uninitialized wherever it is inlined (GCC bug
// 105593); the report carries the place of the header, so it is here that it can be silenced.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif

namespace intaglio {

// Any four bytes at any address, for the instructions that repeat a float.
typedef float AnyFloat __attribute__((aligned(1), may_alias));

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_INTRINSICS_H_
