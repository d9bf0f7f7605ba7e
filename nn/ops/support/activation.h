// The function that an operator may apply to its result.
#ifndef INTAGLIO_NN_OPS_SUPPORT_ACTIVATION_H_
#define INTAGLIO_NN_OPS_SUPPORT_ACTIVATION_H_

#include <cstdint>

namespace intaglio::nn {

// Clamps the real value of the output: kRelu to [0, inf), kRelu6 to [0, 6], kReluN1To1 to [-1, 1].
enum class Activation : uint8_t { kNone, kRelu, kRelu6, kReluN1To1 };

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_ACTIVATION_H_
