// How products are added to sums.
#ifndef INTAGLIO_KERNELS_FLOAT32_SUMS_H_
#define INTAGLIO_KERNELS_FLOAT32_SUMS_H_

#include "intaglio/fixedpoint/float_sums.h"

namespace intaglio::float32 {

// Rounds the product, then the sum.
struct Unfused {
  static constexpr FloatSums kSums = FloatSums::kUnfused;

  template <class Reals>
  [[gnu::always_inline]] static void Add(const Reals& x, const Reals& w, Reals& sum) {
    sum += x * w;
  }
};

#if defined(__x86_64__) || defined(__aarch64__)
// Rounds once. Left to the compiler, contraction would be its choice, operation by operation; and
// no intrinsic takes vectors of every width.
struct Fused {
  static constexpr FloatSums kSums = FloatSums::kFused;

  template <class Reals>
  [[gnu::always_inline]] static void Add(const Reals& x, const Reals& w, Reals& sum) {
    Reals result = sum;  // g++ keeps an array in memory if an element of it is an operand
#if defined(__x86_64__)
    asm("vfmadd231ps %2, %1, %0" : "+v"(result) : "v"(x), "v"(w));
#else
    static_assert(sizeof(Reals) == 16);
    asm("fmla %0.4s, %1.4s, %2.4s" : "+w"(result) : "w"(x), "w"(w));
#endif
    sum = result;
  }
};
#endif

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_SUMS_H_
