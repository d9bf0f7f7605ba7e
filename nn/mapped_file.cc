#include "intaglio/nn/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include "intaglio/nn/descriptor.h"

namespace intaglio::nn {
namespace {

struct Unmap {
  size_t bytes;
  void operator()(void* start) const { munmap(start, bytes); }
};

Status Failed(const std::string& what) { return IoError(what + ": " + std::strerror(errno)); }

}  // namespace

Result<MappedFile> MapFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return Failed("cannot open");
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return Failed("cannot read");
  if (!S_ISREG(info.st_mode)) return IoError("not a regular file");
  if (info.st_size <= 0) return InvalidArgument("the file is empty");
  if (static_cast<uintmax_t>(info.st_size) > std::numeric_limits<size_t>::max() / 2) {
    return OutOfMemory("the file does not fit the address space");
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* const address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return Failed("cannot map");
  try {
    std::shared_ptr<const void> owner(address, Unmap{size});
    return MappedFile{{static_cast<const uint8_t*>(address), size}, std::move(owner)};
  } catch (const std::bad_alloc&) {  // the shared_ptr has unmapped
    return OutOfMemory("no memory to map the file");
  }
}

void ForgetPages(const std::shared_ptr<const void>& owner, const void* data, size_t bytes) {
  if (std::get_deleter<Unmap>(owner) == nullptr) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (start + page - 1) / page * page;
  const uintptr_t last = (start + bytes) / page * page;
  if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace intaglio::nn
