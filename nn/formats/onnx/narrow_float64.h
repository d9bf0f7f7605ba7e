// Inside the .onnx reader: makes float32 of what is float64 in a model.
#ifndef INTAGLIO_NN_FORMATS_ONNX_NARROW_FLOAT64_H_
#define INTAGLIO_NN_FORMATS_ONNX_NARROW_FLOAT64_H_

#include "intaglio/nn/formats/onnx/onnx.pb.h"

namespace intaglio::nn::onnx {

// Changes constants, the types of inputs and outputs, and the nodes that ask for a type. Numbers
// are rounded to the nearest float32. Constants beside the file stay as they are, and are refused
// later.
void NarrowFloat64(ModelProto& model);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_NARROW_FLOAT64_H_
