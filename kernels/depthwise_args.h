// The contract of the depthwise half of a kernel.
#ifndef INTAGLIO_KERNELS_DEPTHWISE_ARGS_H_
#define INTAGLIO_KERNELS_DEPTHWISE_ARGS_H_

#include <cstdint>

#include "intaglio/kernels/epilogue.h"

namespace intaglio {

// One pixel of a depthwise convolution over one block of channels: acc[c] = sum over taps of
// input[tap][c] * weights[tap][c].
struct DepthwiseArgs {
  const int32_t* weights;  // [tap][lanes * vectors], each an int16 in the low half, zero above
  int vectors;
  const uint8_t* const* taps;  // per tap, the input at the pixel; read at `first_channel`
  int tap_count;
  int first_channel;
  bool input_is_signed;
  const PanelParams* params;
  EpilogueParams epilogue;
  void* dst;
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_ARGS_H_
