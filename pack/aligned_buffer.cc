#include "intaglio/pack/aligned_buffer.h"

#include <new>
#include <utility>

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
    buffer.pool_ = pool->shared_from_this();
  } else {
    buffer.data_ = ::operator new(bytes, AlignmentOf(bytes), std::nothrow);
    if (buffer.data_ == nullptr) return buffer;
    if (bytes >= kLargePageBytes) WishLargePages(buffer.data_, bytes);
  }
  buffer.bytes_ = bytes;
  return buffer;
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept { *this = std::move(other); }

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(pool_, other.pool_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() {
  if (data_ != nullptr && pool_ == nullptr) ::operator delete(data_, AlignmentOf(bytes_));
}

}  // namespace intaglio
