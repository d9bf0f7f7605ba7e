#include "intaglio/pack/buffer_pool.h"

#include <limits>
#include <new>
#include <utility>

#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/pages.h"

namespace intaglio {
namespace {

thread_local std::shared_ptr<BufferPool> in_use;

constexpr std::align_val_t kAlign{kLargePageBytes};

// AddressSanitizer does not tell pieces of one allocation apart.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kChecksAddresses = true;
#elif defined(__has_feature)
constexpr bool kChecksAddresses = __has_feature(address_sanitizer);
#else
constexpr bool kChecksAddresses = false;
#endif

}  // namespace

BufferPool::BufferPool(size_t bytes)
    : memory_(static_cast<std::byte*>(::operator new(bytes, kAlign, std::nothrow))),
      bytes_(bytes) {}

BufferPool::~BufferPool() { ::operator delete(memory_, kAlign); }

std::shared_ptr<BufferPool> BufferPool::Make(size_t expected) try {
  if (expected > std::numeric_limits<size_t>::max() / 4) return nullptr;
  const size_t large = (expected + kLargePageBytes / 3) / kLargePageBytes * kLargePageBytes;
  if (large == 0 || kChecksAddresses) return nullptr;
  const std::shared_ptr<BufferPool> pool(new (std::nothrow) BufferPool(2 * large));
  if (pool == nullptr || pool->memory_ == nullptr) return nullptr;
  return WishLargePages(pool->memory_, large) ? pool : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void* BufferPool::Take(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > bytes_ - taken_) return nullptr;
  void* const piece = memory_ + taken_;
  taken_ += RoundUp(bytes, AlignedBuffer::kAlignment);
  return piece;
}

BufferPool::Use::Use(std::shared_ptr<BufferPool> pool)
    : before_(std::exchange(in_use, std::move(pool))) {}

BufferPool::Use::~Use() { in_use = std::move(before_); }

const std::shared_ptr<BufferPool>& BufferPool::InUse() { return in_use; }

}  // namespace intaglio
