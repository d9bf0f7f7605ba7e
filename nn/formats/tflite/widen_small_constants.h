// Inside the .tflite reader: constants that a file stores in fewer bits than any layer takes.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_WIDEN_SMALL_CONSTANTS_H_
#define INTAGLIO_NN_FORMATS_TFLITE_WIDEN_SMALL_CONSTANTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/fixedpoint/type.h"
#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn {

struct NarrowType {
  tflite::TensorType stored;
  const char* name;
  size_t bits;   // of an element; elements are packed densely, the first in the lowest bits
  Type widened;  // what constants of it become, with the same quantization
};

// Null for a type that is not narrow.
const NarrowType* FindNarrow(tflite::TensorType type);

size_t CountBytes(const NarrowType& type, size_t elements);

// Gives the tensor, whose type and shape are set, the elements of `from`, of that many bytes,
// widened. Charges the budget.
Status Widen(const NarrowType& type, std::span<const uint8_t> from, Budget& budget, Tensor& tensor);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_WIDEN_SMALL_CONSTANTS_H_
