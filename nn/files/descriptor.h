// An open file of the operating system.
#ifndef INTAGLIO_NN_FILES_DESCRIPTOR_H_
#define INTAGLIO_NN_FILES_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace intaglio::nn {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}  // negative: no file
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }

  // Returns whether the system has taken everything that was written. If not, errno says why.
  bool Close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || close(fd) == 0;
  }

 private:
  int fd_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FILES_DESCRIPTOR_H_
