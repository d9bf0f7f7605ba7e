#include "intaglio/pack/aligned_buffer.h"

#include <new>
#include <utility>

#include "intaglio/pack/buffer_pool.h"
#include "intaglio/pack/pages.h"

namespace intaglio {
namespace {

// Of memory of its own.
std::align_val_t AlignmentOf(size_t bytes) {
  return std::align_val_t{bytes >= kLargePageBytes ? kLargePageBytes : AlignedBuffer::kAlignment};
}

}  // namespace

AlignedBuffer AlignedBuffer::Allocate(size_t bytes) {
  AlignedBuffer buffer;
  BufferPool* const pool = BufferPool::InUse();
  if (pool != nullptr) buffer.data_ = pool->Take(bytes);
  if (buffer.data_ != nullptr) {
    buffer.owner_ = pool->shared_from_this();
  } else {
    buffer.data_ = ::operator new(bytes, AlignmentOf(bytes), std::nothrow);
    if (buffer.data_ == nullptr) return buffer;
    if (bytes >= kLargePageBytes) WishLargePages(buffer.data_, bytes);
  }
  buffer.bytes_ = bytes;
  return buffer;
}

AlignedBuffer AlignedBuffer::Borrow(const void* data, size_t bytes,
                                    std::shared_ptr<const void> owner) {
  AlignedBuffer buffer;
  buffer.data_ = const_cast<void*>(data);
  buffer.bytes_ = bytes;
  buffer.owner_ = std::move(owner);
  // Without an owner it points to a constant, so that the destructor frees nothing.
  static constexpr char kNobody = 0;
  if (buffer.owner_ == nullptr) buffer.owner_ = {std::shared_ptr<void>(), &kNobody};
  return buffer;
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept { *this = std::move(other); }

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(owner_, other.owner_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() {
  if (data_ != nullptr && owner_ == nullptr) ::operator delete(data_, AlignmentOf(bytes_));
}

}  // namespace intaglio
