// Inside the .onnx reader: Einsum.
#ifndef INTAGLIO_NN_FORMATS_ONNX_EINSUM_H_
#define INTAGLIO_NN_FORMATS_ONNX_EINSUM_H_

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

void ReadEinsum(Translation& t);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_EINSUM_H_
