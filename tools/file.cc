#include "intaglio/tools/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

namespace intaglio::tools {
namespace {

constexpr uintmax_t kMaxBytes = uintmax_t{1} << 30;

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

std::string Why() { return std::strerror(errno); }

bool Write(FILE* file, std::span<const uint8_t> bytes) {
  return bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
}

}  // namespace

Result<std::vector<uint8_t>> ReadFile(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return IoError(path + ": cannot open: " + Why());
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return IoError(path + ": not a regular file");
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return IoError(path + ": cannot read: " + error.message());
  if (size > kMaxBytes) return IoError(path + ": larger than 1 GiB");
  try {
    std::vector<uint8_t> bytes(static_cast<size_t>(size));
    if (size > 0 && std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
      return IoError(path + ": cannot read: " + Why());
    }
    return bytes;
  } catch (const std::bad_alloc&) {
    return OutOfMemory(path + ": no memory for " + std::to_string(size) + " bytes");
  }
}

Status WriteFile(const std::string& path, std::span<const uint8_t> head,
                 std::span<const uint8_t> body) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) return IoError(path + ": cannot create: " + Why());
  if (!Write(file.get(), head) || !Write(file.get(), body)) {
    return IoError(path + ": cannot write: " + Why());
  }
  if (std::fclose(file.release()) != 0) return IoError(path + ": cannot write: " + Why());
  return {};
}

}  // namespace intaglio::tools
