// An operator of one's own: numbers near 0 become 0, all others stay.
#ifndef INTAGLIO_EXAMPLES_CUSTOM_OPERATOR_HARD_SHRINK_H_
#define INTAGLIO_EXAMPLES_CUSTOM_OPERATOR_HARD_SHRINK_H_

#include <intaglio/nn/formats/tflite/custom_operator.h>

// y = x where |x| > lambda, else 0. The operator takes int8 and keeps the quantization.
struct HardShrink {
  float lambda = 0.5f;

  static const intaglio::nn::OperatorRow kRow;
};

// How it is read and written: as the custom operator "HardShrink", whose options are lambda, 4
// bytes.
extern const intaglio::nn::CustomOperator kHardShrinkInFiles;

#endif  // INTAGLIO_EXAMPLES_CUSTOM_OPERATOR_HARD_SHRINK_H_
