// The transforms of F(4x4, 3x3) along one axis. G is scaled by 24, so that all numbers are whole:
// over both axes the result is 576 times the convolution's.
//
// W is a vocabulary of k16Lanes int16, modulo 2^16: Add16, Sub16, ShiftLeft16<count>. V is a
// register vocabulary of int32.
#ifndef INTAGLIO_KERNELS_WINOGRAD_TRANSFORMS_H_
#define INTAGLIO_KERNELS_WINOGRAD_TRANSFORMS_H_

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// B':   4  0 -5  0  1  0
//       0 -4 -4  1  1  0
//       0  4 -4 -1  1  0
//       0 -2 -1  2  1  0
//       0  2 -1 -2  1  0
//       0  4  0 -5  0  1
template <class W>
INTAGLIO_INLINE void TransformPixels(const typename W::I16 (&d)[6], typename W::I16 (&t)[6]) {
  using I16 = typename W::I16;
  const I16 outer = W::Sub16(d[4], d[2]);
  const I16 inner = W::Sub16(d[3], d[1]);
  const I16 even = W::Sub16(d[4], W::template ShiftLeft16<2>(d[2]));
  const I16 odd = W::Sub16(d[3], W::template ShiftLeft16<2>(d[1]));
  const I16 twice = W::template ShiftLeft16<1>(inner);
  t[0] = W::Add16(W::template ShiftLeft16<2>(W::Sub16(d[0], d[2])), outer);
  t[1] = W::Add16(even, odd);
  t[2] = W::Sub16(even, odd);
  t[3] = W::Add16(outer, twice);
  t[4] = W::Sub16(outer, twice);
  t[5] = W::Sub16(W::Sub16(d[5], d[3]), W::template ShiftLeft16<1>(twice));
}

// G':   6  0  0
//      -4 -4 -4
//      -4  4 -4
//       1  2  4
//       1 -2  4
//       0  0  6, where 24 would be the pattern: A' has a 4 in its place
template <class W>
INTAGLIO_INLINE void TransformTaps(const typename W::I16 (&w)[3], typename W::I16 (&t)[6]) {
  using I16 = typename W::I16;
  const auto times6 = [](I16 a) {
    return W::template ShiftLeft16<1>(W::Add16(a, W::template ShiftLeft16<1>(a)));
  };
  const I16 zero = W::Sub16(w[0], w[0]);
  const I16 ends = W::template ShiftLeft16<2>(W::Sub16(zero, W::Add16(w[0], w[2])));
  const I16 middle = W::template ShiftLeft16<2>(w[1]);
  const I16 sum = W::Add16(w[0], W::template ShiftLeft16<2>(w[2]));
  const I16 twice = W::template ShiftLeft16<1>(w[1]);
  t[0] = times6(w[0]);
  t[1] = W::Sub16(ends, middle);
  t[2] = W::Add16(ends, middle);
  t[3] = W::Add16(sum, twice);
  t[4] = W::Sub16(sum, twice);
  t[5] = times6(w[2]);
}

// A':   1  1  1  1  1  0
//       0  1 -1  2 -2  0
//       0  1  1  4  4  0
//       0  1 -1  8 -8  4
template <class V>
INTAGLIO_INLINE void TransformProducts(const typename V::I32 (&m)[6], typename V::I32 (&y)[4]) {
  using I32 = typename V::I32;
  const I32 near = V::Add(m[1], m[2]);
  const I32 near_difference = V::Sub(m[1], m[2]);
  const I32 far = V::Add(m[3], m[4]);
  const I32 twice = V::template ShiftLeft<1>(V::Sub(m[3], m[4]));
  const I32 last = V::template ShiftLeft<2>(V::Add(m[5], twice));
  y[0] = V::Add(m[0], V::Add(near, far));
  y[1] = V::Add(near_difference, twice);
  y[2] = V::Add(near, V::template ShiftLeft<2>(far));
  y[3] = V::Add(near_difference, last);
}

// From 576 times an accumulator, modulo 2^32, to the accumulator: times the inverse of 9 it is 64
// times the accumulator, which is within int32 by the proof that gemm/plan/winograd_groups.h asks
// for.
template <class V>
INTAGLIO_INLINE typename V::I32 ToAccumulator(typename V::I32 a) {
  constexpr uint32_t kInverseOf9 = 0x38E38E39;
  static_assert(9 * kInverseOf9 == 1);
  return V::template ShiftRight<6>(V::Mul(a, V::Set(static_cast<int32_t>(kInverseOf9))));
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_WINOGRAD_TRANSFORMS_H_
