#include "intaglio/pack/buffer_pool.h"

#include <limits>
#include <new>
#include <utility>

#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/pages.h"

namespace intaglio {
namespace {

// It has no destructor to register, so a new thread needs no memory to look at it.
constinit thread_local BufferPool* in_use = nullptr;

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
  size_t at = taken_.load(std::memory_order_relaxed);
  do {
    if (bytes > bytes_ - at) return nullptr;
  } while (!taken_.compare_exchange_weak(at, at + RoundUp(bytes, AlignedBuffer::kAlignment),
                                         std::memory_order_relaxed));
  return memory_ + at;
}

BufferPool::Use::Use(std::shared_ptr<BufferPool> pool)
    : pool_(std::move(pool)), before_(std::exchange(in_use, pool_.get())) {}

BufferPool::Use::~Use() { in_use = before_; }

BufferPool* BufferPool::InUse() { return in_use; }

}  // namespace intaglio
