// Inside the .onnx reader: MaxPool, AveragePool and LpPool.
#ifndef INTAGLIO_NN_FORMATS_ONNX_POOLS_H_
#define INTAGLIO_NN_FORMATS_ONNX_POOLS_H_

#include "intaglio/nn/formats/onnx/quantization.h"
#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

void ReadMaxPool(Translation& t);
void ReadAveragePool(Translation& t);
void ReadLpPool(Translation& t);

// The mean of windows of images [N, C, ...] by the attributes of AveragePool.
TensorId AveragePool(Translation& t, TensorId x);

// The same of quantized numbers by onnxruntime's rules, in one layer. None if the windows are
// those of no operator.
TensorId BytePool(Translation& t, TensorId x, const Sums& to);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_POOLS_H_
