// Files in memory, whole or in parts.
#ifndef INTAGLIO_TOOLS_FILE_H_
#define INTAGLIO_TOOLS_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/files/descriptor.h"

namespace intaglio::tools {

// Refuses at once anything that is not a regular file (a pipe, a device, a folder), and files
// larger than `max_bytes`. Tensors and images are far smaller than 1 GiB.
Result<std::vector<uint8_t>> ReadFile(const std::string& path, size_t max_bytes = size_t{1} << 30);

// A regular file that is read in parts.
class InputFile {
 public:
  static Result<InputFile> Open(const std::string& path);

  size_t bytes() const { return bytes_; }
  // Fills `to` with the bytes from `place` on. A file with fewer bytes is an error.
  Status Read(size_t place, std::span<uint8_t> to) const;

 private:
  std::string path_;
  std::shared_ptr<const nn::Descriptor> file_;
  size_t bytes_ = 0;
};

// Writes whole or not at all, as nn::ReplaceFile does.
Status WriteFile(const std::string& path, std::span<const uint8_t> head,
                 std::span<const uint8_t> body = {});
Status WriteText(const std::string& path, const std::string& text);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_FILE_H_
