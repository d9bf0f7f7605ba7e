// Memory aligned for vectors, whose allocation can fail without an exception.
#ifndef INTAGLIO_PACK_ALIGNED_BUFFER_H_
#define INTAGLIO_PACK_ALIGNED_BUFFER_H_

#include <cstddef>
#include <memory>
#include <new>

namespace intaglio {

class AlignedBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  AlignedBuffer() = default;

  // Empty (null data) where memory is short.
  static AlignedBuffer Allocate(size_t bytes) {
    AlignedBuffer buffer;
    buffer.data_.reset(::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow));
    buffer.bytes_ = buffer.data_ != nullptr ? bytes : 0;
    return buffer;
  }

  void* data() const { return data_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(void* p) const { ::operator delete (p, std::align_val_t{kAlignment}); }
  };
  std::unique_ptr<void, Free> data_;
  size_t bytes_ = 0;
};

}  // namespace intaglio

#endif  // INTAGLIO_PACK_ALIGNED_BUFFER_H_
