// Memory that ends at a page that nobody may touch.
#ifndef INTAGLIO_TEST_KERNELS_GUARDED_H_
#define INTAGLIO_TEST_KERNELS_GUARDED_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace intaglio::test {

class Guarded {
 public:
  explicit Guarded(size_t bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    usable_ = (bytes + page - 1) / page * page;
    mapped_ = usable_ + page;
    base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(static_cast<uint8_t*>(base_) + usable_, page, PROT_NONE);
    data_ = static_cast<uint8_t*>(base_) + usable_ - bytes;
  }
  ~Guarded() { munmap(base_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  uint8_t* data() const { return data_; }

 private:
  size_t usable_;
  size_t mapped_;
  void* base_;
  uint8_t* data_;
};

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_KERNELS_GUARDED_H_
