// Scratch of several parts.
#ifndef INTAGLIO_NN_OPS_SUPPORT_SCRATCH_DIVIDER_H_
#define INTAGLIO_NN_OPS_SUPPORT_SCRATCH_DIVIDER_H_

#include <cstddef>

namespace intaglio::nn {

// Divides scratch into parts of 64-byte alignment. Over null it only counts the bytes.
class ScratchDivider {
 public:
  explicit ScratchDivider(std::byte* base) : base_(base) {}

  template <class T>
  T* Take(size_t count) {
    auto* const part = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + bytes_);
    bytes_ += (count * sizeof(T) + 63) / 64 * 64;
    return part;
  }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* base_;
  size_t bytes_ = 0;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_SCRATCH_DIVIDER_H_
