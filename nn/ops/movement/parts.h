// Parts of tensors.
#ifndef INTAGLIO_NN_OPS_MOVEMENT_PARTS_H_
#define INTAGLIO_NN_OPS_MOVEMENT_PARTS_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/ops/support/moves.h"

namespace intaglio::nn {

// The elements begin[i] + k step[i], 0 <= k < shape[i], along each dimension i of a tensor.
struct Part {
  std::vector<int> begin;
  std::vector<int> step;
  Shape shape;
};

// What SLICE, STRIDED_SLICE and REVERSE_V2 take of their input.
Result<Part> PartOf(const LayerView& layer);

// All of a tensor of this shape but along one axis.
Part PartAlong(const Shape& shape, size_t axis, int begin, int extent);

// From the part of a tensor of this shape to a dense tensor of the part's, and back.
Move Take(const Shape& shape, const Part& part);
Move Put(const Shape& shape, const Part& part);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_MOVEMENT_PARTS_H_
