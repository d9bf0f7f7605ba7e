// Memory aligned for vectors, whose allocation can fail without an exception.
#ifndef INTAGLIO_PACK_ALIGNED_BUFFER_H_
#define INTAGLIO_PACK_ALIGNED_BUFFER_H_

#include <cstddef>
#include <memory>

namespace intaglio {

constexpr size_t RoundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

class AlignedBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  // A piece of the pool in use (pack/buffer_pool.h) where that has room; else memory of its own, in
  // large pages as far as it fills them. Empty (null data) where memory is short.
  static AlignedBuffer Allocate(size_t bytes);

  // Memory of someone else, which `owner` keeps alive; null: the caller does. It is only read, and
  // its address is a multiple of kAlignment.
  static AlignedBuffer Borrow(const void* data, size_t bytes, std::shared_ptr<const void> owner);

  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  std::shared_ptr<const void> owner_;  // of memory that is not this buffer's own: a pool, mostly
};

}  // namespace intaglio

#endif  // INTAGLIO_PACK_ALIGNED_BUFFER_H_
