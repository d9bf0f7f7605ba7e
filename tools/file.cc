#include "intaglio/tools/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "intaglio/nn/files/descriptor.h"
#include "intaglio/nn/files/replace_file.h"

namespace intaglio::tools {
namespace {

Status Failed(const std::string& path, const char* what) {
  return IoError(path + ": cannot " + what + ": " + std::strerror(errno));
}

// Reads until the buffer is full.
bool ReadAll(int fd, std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = read(fd, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;  // the file became shorter
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  return true;
}

}  // namespace

Result<std::vector<uint8_t>> ReadFile(const std::string& path, size_t max_bytes) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const nn::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) return Failed(path, "open");
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return Failed(path, "read");
  if (!S_ISREG(info.st_mode)) return IoError(path + ": not a regular file");
  if (static_cast<uintmax_t>(info.st_size) > max_bytes) {
    return IoError(path + ": larger than " + std::to_string(max_bytes >> 20) + " MiB");
  }
  try {
    std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
    if (!ReadAll(file.get(), bytes)) return Failed(path, "read");
    return bytes;
  } catch (const std::bad_alloc&) {
    return OutOfMemory(path + ": no memory for " + std::to_string(info.st_size) + " bytes");
  }
}

Status WriteFile(const std::string& path, std::span<const uint8_t> head,
                 std::span<const uint8_t> body) {
  return nn::ReplaceFile(path, head, body);
}

Status WriteText(const std::string& path, const std::string& text) {
  return WriteFile(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace intaglio::tools
