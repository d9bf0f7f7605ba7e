// Inside the .onnx reader: elements of 4 and 2 bits, which lie in bytes here.
#ifndef INTAGLIO_NN_FORMATS_ONNX_NARROW_H_
#define INTAGLIO_NN_FORMATS_ONNX_NARROW_H_

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

// An element type of the format.
struct ElementType {
  Type type = Type::kUInt8;  // in which it lies
  int bits = 8;              // at most 8 count; others have the type's
};
// Fails for types that do not run here.
ElementType ElementTypeFrom(Translation& t, int data_type);
// That of a tensor.
ElementType ElementTypeOf(Translation& t, TensorId id);

// Bytes that become numbers of so many bits by losing the others, or by the nearest number.
enum class Narrowing { kLowBits, kSaturate };
TensorId Narrowed(LayerMaker& make, TensorId bytes, int bits, Narrowing how);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_NARROW_H_
