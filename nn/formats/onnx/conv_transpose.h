// Inside the .onnx reader: ConvTranspose.
#ifndef INTAGLIO_NN_FORMATS_ONNX_CONV_TRANSPOSE_H_
#define INTAGLIO_NN_FORMATS_ONNX_CONV_TRANSPOSE_H_

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

void ReadConvTranspose(Translation& t);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_CONV_TRANSPOSE_H_
