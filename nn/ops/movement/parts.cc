#include "intaglio/nn/ops/movement/parts.h"

#include "intaglio/nn/ops/support/loops.h"

namespace intaglio::nn {

Part PartAlong(const Shape& shape, size_t axis, int begin, int extent) {
  Part part{std::vector<int>(shape.size(), 0), std::vector<int>(shape.size(), 1), shape};
  part.begin[axis] = begin;
  part.shape[axis] = extent;
  return part;
}

Move Take(const Shape& shape, const Part& part) {
  Move move;
  const std::vector<ptrdiff_t> from = DenseStrides(shape);
  const std::vector<ptrdiff_t> to = DenseStrides(part.shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    move.from += part.begin[i] * from[i];
    move.loops.Add(part.shape[i], {part.step[i] * from[i], to[i]});
  }
  return move;
}

Move Put(const Shape& shape, const Part& part) {
  Move move;
  const std::vector<ptrdiff_t> to = DenseStrides(shape);
  const std::vector<ptrdiff_t> from = DenseStrides(part.shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    move.to += part.begin[i] * to[i];
    move.loops.Add(part.shape[i], {from[i], part.step[i] * to[i]});
  }
  return move;
}

}  // namespace intaglio::nn
