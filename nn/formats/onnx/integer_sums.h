// Inside the .onnx reader: sums of integers less zero points, which may be those of a run.
#ifndef INTAGLIO_NN_FORMATS_ONNX_INTEGER_SUMS_H_
#define INTAGLIO_NN_FORMATS_ONNX_INTEGER_SUMS_H_

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

// (a - zero point) by (b - zero point), int32. The zero points of b must be known; they may be one
// per column. Absent ones (kNoTensor) are 0.
TensorId IntegerProduct(Translation& t, TensorId a, TensorId b, TensorId a_zero_point,
                        TensorId b_zero_point);
// The same as a convolution, with the attributes of Conv.
TensorId IntegerConvolution(Translation& t, TensorId x, TensorId filter, TensorId x_zero_point,
                            TensorId filter_zero_point);

// float32 numbers as uint8, by the range that they and 0 have in this run.
struct DynamicallyQuantized {
  TensorId values = kNoTensor;
  TensorId scale = kNoTensor;       // float32, no dimensions
  TensorId zero_point = kNoTensor;  // uint8, no dimensions
};
DynamicallyQuantized QuantizeDynamically(Translation& t, TensorId x);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_INTEGER_SUMS_H_
