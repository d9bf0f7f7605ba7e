// Quantizes float32 to uint8 by the range that the numbers have.
#ifndef INTAGLIO_NN_OPS_SUPPORT_DYNAMIC_QUANTIZER_H_
#define INTAGLIO_NN_OPS_SUPPORT_DYNAMIC_QUANTIZER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "intaglio/gemm/context.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/support/half_even.h"

namespace intaglio::nn {

// By the rules of DYNAMIC_QUANTIZE (ops/elementwise/dynamic_quantize.h). Immutable.
class DynamicQuantizer {
 public:
  explicit DynamicQuantizer(std::string_view kernel);

  // Quantizes x, and returns by what. Threads share the elements.
  HalfEvenQuantizer Quantize(Context& context, const float* x, ptrdiff_t count, uint8_t* to) const;

 private:
  const FloatLoops& floats_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_DYNAMIC_QUANTIZER_H_
