// The definition of the library: dst = pipeline(lhs x rhs) in thirty lines, over any layout. Every
// kernel, blocking and thread count must give these bits.
#ifndef INTAGLIO_KERNELS_REFERENCE_REFERENCE_H_
#define INTAGLIO_KERNELS_REFERENCE_REFERENCE_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/pipeline/place.h"

namespace intaglio {

// lhs(m, k) and rhs(k, n) give the integers that quantized elements stand for, zero points
// subtracted; dst(m, n, acc) takes each sum, modulo 2^32.
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

// The stages of a pipeline, applied to one accumulator by the scalar vocabulary.
template <class AnyPipeline>
auto ReferenceStages(const AnyPipeline& pipeline, int32_t acc, int row, int col) {
  return pipeline.template Apply<Scalar>(acc, Place{row, col, Axis::kCols});
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_REFERENCE_REFERENCE_H_
