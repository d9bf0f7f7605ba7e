// Inside the .onnx reader: Resize and Upsample.
#ifndef INTAGLIO_NN_FORMATS_ONNX_RESIZE_H_
#define INTAGLIO_NN_FORMATS_ONNX_RESIZE_H_

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

void ReadResize(Translation& t);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_RESIZE_H_
