// Memory that ends at the beginning of a page that nobody may touch: reading or writing behind it
// ends the test.
#ifndef INTAGLIO_TEST_NN_GUARDED_BUFFER_H_
#define INTAGLIO_TEST_NN_GUARDED_BUFFER_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace intaglio::nn {

class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t whole = (bytes + page - 1) / page * page;
    mapped_ = whole + page;
    memory_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    uint8_t* const end = static_cast<uint8_t*>(memory_) + whole;
    if (mprotect(end, page, PROT_NONE) != 0) throw std::bad_alloc();
    data_ = end - bytes;
  }
  ~GuardedBuffer() { munmap(memory_, mapped_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  uint8_t* data() const { return data_; }
  size_t size() const { return bytes_; }

 private:
  size_t bytes_;
  size_t mapped_;
  void* memory_;
  uint8_t* data_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_TEST_NN_GUARDED_BUFFER_H_
