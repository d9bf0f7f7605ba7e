// MUL of 8-bit tensors as numbers, whoever computes them.
#ifndef INTAGLIO_NN_OPS_SUPPORT_BYTE_PRODUCT_H_
#define INTAGLIO_NN_OPS_SUPPORT_BYTE_PRODUCT_H_

#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

struct ByteProduct {
  ProductOfBytes product;  // whose multiplier may have a left shift
  LineOutput output;
};

// The product of a MUL whose inputs and output have one 8-bit type. Errors name the layer.
Result<ByteProduct> ByteProductOf(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_BYTE_PRODUCT_H_
