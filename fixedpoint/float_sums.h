// How a product of float32 is added to its sum.
#ifndef INTAGLIO_FIXEDPOINT_FLOAT_SUMS_H_
#define INTAGLIO_FIXEDPOINT_FLOAT_SUMS_H_

#include <cstdint>

namespace intaglio {

enum class FloatSums : uint8_t {
  kFused,    // rounded once, by a fused multiply-add, on every CPU that has one; else kUnfused
  kUnfused,  // the product is rounded, then the sum: on every CPU
};

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_FLOAT_SUMS_H_
