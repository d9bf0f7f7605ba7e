// From a real multiplier to the integers that stand for it.
#ifndef INTAGLIO_FIXEDPOINT_QUANTIZE_MULTIPLIER_H_
#define INTAGLIO_FIXEDPOINT_QUANTIZE_MULTIPLIER_H_

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/status.h"

namespace intaglio {

// The multiplier nearest to `real`, ties away from zero, as TFLite's QuantizeMultiplier makes it:
//   real = 0                 {0, 0}
//   real = f * 2^exponent    {round(f * 2^31), exponent} with f in [1/2, 1); a mantissa that rounds
//                            up to 2^31 becomes 2^30 of the next exponent
//   exponent < -31           {0, 0}: every accumulator would become 0 or, rounding away, 1
//   exponent > 30            {2^31 - 1, 30}, the largest multiplier. TFLite takes it if it is built
//                            with single rounding; built otherwise, its shift overflows.
// NaN, infinity and negative numbers are errors.
Result<QuantizedMultiplier> QuantizeMultiplier(double real);

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_QUANTIZE_MULTIPLIER_H_
