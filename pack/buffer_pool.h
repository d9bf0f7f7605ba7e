// Memory in large pages for what is allocated once and stays together, such as a model's weights.
#ifndef INTAGLIO_PACK_BUFFER_POOL_H_
#define INTAGLIO_PACK_BUFFER_POOL_H_

#include <atomic>
#include <cstddef>
#include <memory>

namespace intaglio {

// Pieces of one region, one behind the other, which are given back all at once: the memory stays
// until the pool and the last buffer of it are gone. Where the region is expected to be filled it
// has large pages (pack/pages.h), so that pieces need not fill any themselves.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  // Large pages for `expected` bytes, the last one if they fill two thirds of it; as much again, of
  // which nothing is used before it is taken, has small pages. Null where there is no large one, or
  // the OS has none, or memory is short.
  static std::shared_ptr<BufferPool> Make(size_t expected);

  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // At a multiple of AlignedBuffer::kAlignment. Null where too little is left. Of any thread.
  void* Take(size_t bytes);

  // As long as it lives, buffers (pack/aligned_buffer.h) that its thread allocates are pieces of
  // the pool, if there is one and they fit.
  class Use {
   public:
    explicit Use(std::shared_ptr<BufferPool> pool);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    const std::shared_ptr<BufferPool> pool_;
    BufferPool* const before_;
  };

  // The pool in use by this thread, or null.
  static BufferPool* InUse();

 private:
  explicit BufferPool(size_t bytes);  // memory_ is null where memory is short

  std::byte* const memory_;
  const size_t bytes_;
  std::atomic<size_t> taken_ = 0;  // not locked: a forked child might find a lock held for good
};

}  // namespace intaglio

#endif  // INTAGLIO_PACK_BUFFER_POOL_H_
