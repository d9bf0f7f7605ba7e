#include "intaglio/tools/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "intaglio/nn/files/replace_file.h"

namespace intaglio::tools {
namespace {

Status Failed(const std::string& path, const char* what) {
  return IoError(path + ": cannot " + what + ": " + std::strerror(errno));
}

// Reads until the buffer is full.
bool ReadAll(int fd, size_t place, std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;  // the file became shorter
    if (got <= 0) return false;
    place += static_cast<size_t>(got);
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  return true;
}

}  // namespace

Result<InputFile> InputFile::Open(const std::string& path) {
  InputFile file;
  file.path_ = path;
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  file.file_ = std::make_shared<const nn::Descriptor>(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.file_->get() < 0) return Failed(path, "open");
  struct stat info = {};
  if (fstat(file.file_->get(), &info) != 0) return Failed(path, "read");
  if (!S_ISREG(info.st_mode)) return IoError(path + ": not a regular file");
  file.bytes_ = static_cast<size_t>(info.st_size);
  return file;
}

Status InputFile::Read(size_t place, std::span<uint8_t> to) const {
  return ReadAll(file_->get(), place, to) ? Status() : Failed(path_, "read");
}

Result<std::vector<uint8_t>> ReadFile(const std::string& path, size_t max_bytes) {
  const Result<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  if (file->bytes() > max_bytes) {
    return IoError(path + ": larger than " + std::to_string(max_bytes >> 20) + " MiB");
  }
  try {
    std::vector<uint8_t> bytes(file->bytes());
    INTAGLIO_RETURN_IF_ERROR(file->Read(0, bytes));
    return bytes;
  } catch (const std::bad_alloc&) {
    return OutOfMemory(path + ": no memory for " + std::to_string(file->bytes()) + " bytes");
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
