// Products of float32 with the constant weights of a layer that has a matrix for each direction of
// its sequences.
#ifndef INTAGLIO_NN_OPS_RECURRENT_DIRECTED_PRODUCT_H_
#define INTAGLIO_NN_OPS_RECURRENT_DIRECTED_PRODUCT_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "intaglio/nn/ops/linear/float_panels.h"
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

// Immutable.
class DirectedProduct {
 public:
  // bias: one element per direction and row of the product.
  static Result<DirectedProduct> Make(const LayerView& layer, const DirectedRows& of,
                                      std::vector<float> bias, const LayerOptions& options);

  // y = W x + bias for `rows` rows x of each direction. The bits do not depend on the threads.
  void Multiply(Context& context, const DirectedMatrix<const float>& x, int rows,
                const DirectedMatrix<float>& y) const;

  size_t constant_bytes() const { return new_bytes_; }  // not packed by an earlier layer

 private:
  int depth_ = 0;
  int outputs_ = 0;  // per direction
  FloatFinish finish_;
  std::shared_ptr<const std::vector<FloatPanels>> panels_;  // per direction
  size_t new_bytes_ = 0;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_DIRECTED_PRODUCT_H_
