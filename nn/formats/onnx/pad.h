// Inside the .onnx reader: Pad.
#ifndef INTAGLIO_NN_FORMATS_ONNX_PAD_H_
#define INTAGLIO_NN_FORMATS_ONNX_PAD_H_

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

void ReadPad(Translation& t);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_PAD_H_
