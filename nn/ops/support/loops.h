// Nested loops over several tensors at once, each with strides of its own: broadcasting, padding
// and reductions are this and a body for the innermost dimension.
#ifndef INTAGLIO_NN_OPS_SUPPORT_LOOPS_H_
#define INTAGLIO_NN_OPS_SUPPORT_LOOPS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn {

// kTensors tensors walked together; offsets and strides are in elements.
template <size_t kTensors>
class Loops {
 public:
  using Offsets = std::array<ptrdiff_t, kTensors>;

  // Dimensions are added outermost first. Those of extent 1 vanish, and those that continue the one
  // before in every tensor merge with it, so that the innermost loop is as long as it can be.
  void Add(int extent, const Offsets& strides) {
    if (extent == 1) return;
    ptrdiff_t merged = 0;
    if (!extents_.empty() && Continues(extent, strides) &&
        !__builtin_mul_overflow(extents_.back(), extent, &merged)) {
      extents_.back() = merged;
      strides_.back() = strides;
      return;
    }
    extents_.push_back(extent);
    strides_.push_back(strides);
  }

  // Makes the innermost loop one over adjacent elements of every tensor, of one element if need be.
  void MakeInnerDense() {
    Offsets dense;
    dense.fill(1);
    if (!extents_.empty() && strides_.back() == dense) return;
    extents_.push_back(1);
    strides_.push_back(dense);
  }

  // The same without the two innermost dimensions, in place of which there is one of one element.
  Loops Outer() const {
    Loops outer;
    outer.extents_.assign(extents_.begin(), extents_.end() - 2);
    outer.strides_.assign(strides_.begin(), strides_.end() - 2);
    outer.extents_.push_back(1);
    outer.strides_.push_back({});
    return outer;
  }

  // The same with the two innermost dimensions as one, over elements that are adjacent.
  Loops InnerMerged() const {
    Loops merged = *this;
    merged.extents_.pop_back();
    merged.strides_.pop_back();
    merged.extents_.back() *= extents_.back();
    merged.strides_.back().fill(1);
    return merged;
  }

  // The innermost dimension. There is always one.
  ptrdiff_t inner_extent() const { return extents_.empty() ? 1 : extents_.back(); }
  Offsets inner_strides() const { return strides_.empty() ? Offsets{} : strides_.back(); }

  // All dimensions, outermost first.
  size_t rank() const { return extents_.size(); }
  ptrdiff_t extent(size_t dimension) const { return extents_[dimension]; }
  const Offsets& strides(size_t dimension) const { return strides_[dimension]; }

  // The outermost dimension, where it is not the innermost; else 1.
  ptrdiff_t outer_extent() const { return extents_.size() < 2 ? 1 : extents_[0]; }

  // Elements in one step of it.
  ptrdiff_t outer_size() const {
    ptrdiff_t size = 1;
    for (size_t i = 1; i < extents_.size(); ++i) size *= extents_[i];
    return size;
  }

  // Run for [first, last) of the outermost dimension only.
  template <class Body>
  void RunPart(ptrdiff_t first, ptrdiff_t last, const Body& body) const {
    for (const ptrdiff_t extent : extents_) {
      if (extent == 0) return;
    }
    if (extents_.size() < 2) return body(Offsets{});
    Offsets offsets{};
    for (size_t t = 0; t < kTensors; ++t) offsets[t] = first * strides_[0][t];
    for (ptrdiff_t i = first; i < last; ++i) {
      RunFrom<1>(1, offsets, body);
      for (size_t t = 0; t < kTensors; ++t) offsets[t] += strides_[0][t];
    }
  }

  // Calls body(offsets) for the start of every innermost loop, or nest of kInner loops. Allocates
  // nothing.
  template <size_t kInner = 1, class Body>
  void Run(const Body& body) const {
    for (const ptrdiff_t extent : extents_) {
      if (extent == 0) return;
    }
    RunFrom<kInner>(0, Offsets{}, body);
  }

 private:
  bool Continues(int extent, const Offsets& strides) const {
    for (size_t t = 0; t < kTensors; ++t) {
      if (strides_.back()[t] != extent * strides[t]) return false;
    }
    return true;
  }

  // The depth is at most 64: no more than 63 dimensions have 2 elements and more.
  template <size_t kInner, class Body>
  void RunFrom(size_t dimension, Offsets offsets, const Body& body) const {
    if (dimension + kInner >= extents_.size()) return body(offsets);
    for (ptrdiff_t i = 0; i < extents_[dimension]; ++i) {
      RunFrom<kInner>(dimension + 1, offsets, body);
      for (size_t t = 0; t < kTensors; ++t) offsets[t] += strides_[dimension][t];
    }
  }

  std::vector<ptrdiff_t> extents_;
  std::vector<Offsets> strides_;
};

// The strides of a dense row-major tensor; 0 for one without elements, whose extents may be
// anything.
inline std::vector<ptrdiff_t> DenseStrides(const Shape& shape) {
  std::vector<ptrdiff_t> strides(shape.size(), 0);
  if (std::count(shape.begin(), shape.end(), 0) > 0) return strides;
  ptrdiff_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_LOOPS_H_
