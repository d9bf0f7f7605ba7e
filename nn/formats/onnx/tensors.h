// Inside the .onnx reader: the constants of a file.
#ifndef INTAGLIO_NN_FORMATS_ONNX_TENSORS_H_
#define INTAGLIO_NN_FORMATS_ONNX_TENSORS_H_

#include <cstdint>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/onnx/external_data.h"
#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn::onnx {

// The name of an element type of the format, such as "float16".
std::string NameOfType(int data_type);

// The bits of an element of a type that TypeFrom takes.
int BitsOf(int data_type);

// The type whose elements stand for the format's. int4, int2 and their unsigned forms are kept as
// int8 and uint8. An error for types that do not run here.
Result<Type> TypeFrom(int data_type);

// The dimensions of a tensor or an input. Dimensions without a number are 1.
Result<Shape> ShapeFrom(const TensorProto& tensor);
Result<Shape> ShapeFrom(const TensorShapeProto& shape);
// Whether the file gives a dimension a number.
bool IsKnown(const TensorShapeProto::Dimension& dimension);

// Makes a constant. Its bytes are taken out of `tensor` where they lie there as they are needed.
// Everything that is copied is charged to the ledger first.
Result<Tensor> TakeConstant(TensorProto& tensor, ExternalData& external, Ledger& ledger);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_TENSORS_H_
