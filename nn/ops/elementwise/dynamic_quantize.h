// DYNAMIC_QUANTIZE: a quantization that each run chooses.
#ifndef INTAGLIO_NN_OPS_ELEMENTWISE_DYNAMIC_QUANTIZE_H_
#define INTAGLIO_NN_OPS_ELEMENTWISE_DYNAMIC_QUANTIZE_H_

#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn {

// ONNX's DynamicQuantizeLinear. Input: x, float32. Outputs: x as uint8; the scale, one float32; the
// zero point, one uint8. With the least and the greatest of all elements and 0:
//   scale = (greatest - least) / 255, or 1 where both are 0, in float32
//   zero point = -least / scale, clamped to [0, 255], rounded half to even
// and x is quantized as by QUANTIZE. NaN does not count as an element, and becomes 0. No .tflite
// form.
struct DynamicQuantize {
  static const OperatorRow kRow;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_ELEMENTWISE_DYNAMIC_QUANTIZE_H_
