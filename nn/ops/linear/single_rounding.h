// Float64 multipliers that integers can stand for. Kernels requantize with a single rounding in
// registers, but by float64 multipliers only in memory.
#ifndef INTAGLIO_NN_OPS_LINEAR_SINGLE_ROUNDING_H_
#define INTAGLIO_NN_OPS_LINEAR_SINGLE_ROUNDING_H_

#include <optional>
#include <vector>

#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/support/quantization.h"

namespace intaglio::nn {

// Returns multipliers for requantization with a single rounding. For every int32 accumulator, the
// result after adding the zero point and clamping is that of RequantizeReal64 with the real
// multipliers. Returns nothing if one of these has no such multiplier.
std::optional<Multipliers> SingleRoundingMultipliers(const std::vector<double>& real,
                                                     int32_t zero_point, Range clamp);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_SINGLE_ROUNDING_H_
