#include "intaglio/nn/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include "intaglio/nn/files/descriptor.h"

namespace intaglio::nn {
namespace {

struct Unmap {
  size_t bytes;
  void operator()(void* start) const { munmap(start, bytes); }
};

Status Failed(const std::string& what) { return IoError(what + ": " + std::strerror(errno)); }

// O_NONBLOCK: opening a pipe must not wait for a writer.
int OpenFile(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

// The size of a regular file. An empty file is an error.
Result<size_t> SizeOfFile(const Descriptor& file) {
  if (file.get() < 0) return Failed("cannot open");
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return Failed("cannot read");
  if (!S_ISREG(info.st_mode)) return IoError("not a regular file");
  if (info.st_size <= 0) return InvalidArgument("the file is empty");
  if (static_cast<uintmax_t>(info.st_size) > std::numeric_limits<size_t>::max() / 2) {
    return OutOfMemory("the file does not fit the address space");
  }
  return static_cast<size_t>(info.st_size);
}

Result<MappedFile> Map(const Descriptor& file) {
  const Result<size_t> size = SizeOfFile(file);
  if (!size.ok()) return size.status();
  void* const address = mmap(nullptr, *size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return Failed("cannot map");
  try {
    std::shared_ptr<const void> owner(address, Unmap{*size});
    return MappedFile{{static_cast<const uint8_t*>(address), *size}, std::move(owner)};
  } catch (const std::bad_alloc&) {  // the shared_ptr has unmapped
    return OutOfMemory("no memory to map the file");
  }
}

Result<MappedFile> Copy(const Descriptor& file) try {
  const Result<size_t> size = SizeOfFile(file);
  if (!size.ok()) return size.status();
  const auto bytes = std::make_shared<std::vector<uint8_t>>(*size);
  for (size_t done = 0; done < *size;) {
    const ssize_t count = read(file.get(), bytes->data() + done, *size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed("cannot read");
    if (count == 0) return IoError("the file became shorter while it was read");
    done += static_cast<size_t>(count);
  }
  return MappedFile{*bytes, bytes};
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory to read the file");
}

// Opens one component of a path, which must be no link. "" and "." are the folder itself.
int OpenComponent(int folder, const std::string& name, bool last) {
  if (name == "..") {
    errno = EXDEV;
    return -1;
  }
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW;
  const char* const path = name.empty() ? "." : name.c_str();
  return openat(folder, path,
                last ? O_RDONLY | O_NONBLOCK | kFlags : O_PATH | O_DIRECTORY | kFlags);
}

int OpenBelow(const std::string& folder, const std::string& path) {
  int at = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  size_t begin = 0;
  for (bool last = false; at >= 0 && !last;) {
    const Descriptor parent(at);
    const size_t end = path.find('/', begin);
    last = end == std::string::npos;
    at = OpenComponent(parent.get(), path.substr(begin, end - begin), last);
    begin = end + 1;
  }
  return at;
}

}  // namespace

Result<MappedFile> MapFile(const std::string& path) { return Map(Descriptor(OpenFile(path))); }

Result<MappedFile> ReadWholeFile(const std::string& path) {
  return Copy(Descriptor(OpenFile(path)));
}

Result<MappedFile> OpenBeneath(const std::string& folder, const std::string& path, bool copy) {
  const Descriptor file(OpenBelow(folder, path));
  return copy ? Copy(file) : Map(file);
}

void ForgetPages(const std::shared_ptr<const void>& owner, const void* data, size_t bytes) {
  if (std::get_deleter<Unmap>(owner) == nullptr) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (start + page - 1) / page * page;
  const uintptr_t last = (start + bytes) / page * page;
  if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

std::shared_ptr<void> AllocatePages(size_t bytes) {
  struct Free {
    size_t bytes;
    void operator()(void* start) const { munmap(start, bytes); }
  };
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return {address, Free{bytes}};  // if this throws, it has freed
}

}  // namespace intaglio::nn
