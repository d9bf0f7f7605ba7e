// The definition of a product, over any layout: every kernel, blocking and thread count gives these
// accumulators. The tests hold all of them against it. What a pipeline makes of an accumulator is
// defined by its stages (pipeline/stages.h), over the scalar vocabulary.
#ifndef INTAGLIO_KERNELS_REFERENCE_REFERENCE_H_
#define INTAGLIO_KERNELS_REFERENCE_REFERENCE_H_

#include <cstdint>

namespace intaglio {

// lhs(m, k) and rhs(k, n) give the integers that quantized elements stand for, zero points
// subtracted; dst(m, n, acc) takes each sum, modulo 2^32, row by row.
template <class Lhs, class Rhs, class Dst>
void ReferenceGemm(int m_count, int n_count, int k_count, const Lhs& lhs, const Rhs& rhs,
                   const Dst& dst) {
  for (int m = 0; m < m_count; ++m) {
    for (int n = 0; n < n_count; ++n) {
      uint32_t sum = 0;
      for (int k = 0; k < k_count; ++k) {
        sum += static_cast<uint32_t>(lhs(m, k)) * static_cast<uint32_t>(rhs(k, n));
      }
      dst(m, n, static_cast<int32_t>(sum));
    }
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_REFERENCE_REFERENCE_H_
