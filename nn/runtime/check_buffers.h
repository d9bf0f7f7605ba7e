#ifndef INTAGLIO_NN_RUNTIME_CHECK_BUFFERS_H_
#define INTAGLIO_NN_RUNTIME_CHECK_BUFFERS_H_

#include <cstddef>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/tensor.h"

// Checks of the buffers that a caller gives a model. `kind` is "input" or "output".
namespace intaglio::nn {

// The number of bytes of a tensor.
size_t TensorBytes(const Tensor& tensor);

// Whether a buffer has the type and the size of a tensor of `expected` bytes.
Status CheckBuffer(const char* kind, size_t index, const Tensor& tensor, size_t expected,
                   const void* data, size_t bytes, Type type);

// Whether as many buffers are given as there are tensors.
Status CheckCount(const char* kind, size_t expected, size_t given);

Status CheckIndex(const char* kind, size_t index, size_t count);

// Whether layers can compute where a buffer lies.
Status CheckAligned(const char* kind, size_t index, const void* data, Type type);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_RUNTIME_CHECK_BUFFERS_H_
