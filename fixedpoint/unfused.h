// A vocabulary that rounds each product before anything is added to it, whatever the compiler's
// flags. g++ compiles a product and a sum to one instruction with one rounding, unless it is given
// -ffp-contract=off. Callers of the library need not know this flag.
#ifndef INTAGLIO_FIXEDPOINT_UNFUSED_H_
#define INTAGLIO_FIXEDPOINT_UNFUSED_H_

#include "intaglio/fixedpoint/registers.h"

// Hides from the compiler how `value`, a float or a vector of floats, was made.
#if defined(__CUDACC__)
#define INTAGLIO_FORGET(value)
#elif defined(__SSE2__)
#define INTAGLIO_FORGET(value) asm("" : "+x"(value))
#elif defined(__ARM_NEON)
#define INTAGLIO_FORGET(value) asm("" : "+w"(value))
#else
#define INTAGLIO_FORGET(value) asm("" : "+m"(value))
#endif

namespace intaglio {

template <class R>
struct Unfused : R {
  static INTAGLIO_INLINE typename R::F32 MulF(typename R::F32 a, typename R::F32 b) {
    typename R::F32 product = R::MulF(a, b);
    INTAGLIO_FORGET(product);
    return product;
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_UNFUSED_H_
