// Products of float32 with the constant weights of a layer, one matrix for each direction of its
// sequences.
#ifndef INTAGLIO_NN_OPS_RECURRENT_DIRECTED_PRODUCT_H_
#define INTAGLIO_NN_OPS_RECURRENT_DIRECTED_PRODUCT_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// Which rows of a constant [directions * rows, depth] are multiplied: `count` of each direction,
// from `first` on.
struct DirectedRows {
  size_t input = 0;
  int directions = 1;
  int rows = 0;
  int first = 0;
  int count = 0;
};

// Rows of float32, `row` elements apart; those of the next direction start `direction` elements
// behind.
template <class T>
struct DirectedMatrix {
  T* data = nullptr;
  ptrdiff_t direction = 0;
  ptrdiff_t row = 0;
};

// The directions [begin, end).
struct Directions {
  int begin = 0;
  int end = 1;

  int count() const { return end - begin; }
};

// Immutable.
class DirectedProduct {
 public:
  virtual ~DirectedProduct() = default;

  // y = W x + bias for `rows` rows x of each of these directions. x and y point to direction 0.
  // The bits do not depend on the threads.
  virtual Status Multiply(Context& context, Directions directions,
                          const DirectedMatrix<const float>& x, int rows,
                          const DirectedMatrix<float>& y, std::byte* scratch) const = 0;
  virtual size_t ScratchBytes(int rows) const = 0;  // of one call

  size_t constant_bytes = 0;  // not packed by an earlier layer
};

using MadeProduct = Result<std::unique_ptr<const DirectedProduct>>;

// With weights of float32. bias: one element per direction and row of the product.
MadeProduct MakeFloatProduct(const LayerView& layer, const DirectedRows& of,
                             std::vector<float> bias, const LayerOptions& options);

// With weights of int8 or uint8, whose quantization has one scale, or one for each row of the
// constant. The rows x of a direction are quantized together, as by DYNAMIC_QUANTIZE, and y is
// float32(sum) * (scale of x * scale of W) + bias, each step rounded.
MadeProduct MakeQuantizingProduct(const LayerView& layer, const DirectedRows& of,
                                  const std::vector<float>& bias, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_DIRECTED_PRODUCT_H_
