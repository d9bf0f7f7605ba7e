// Whole files in memory.
#ifndef INTAGLIO_TOOLS_FILE_H_
#define INTAGLIO_TOOLS_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::tools {

// Refuses at once anything that is not a regular file (a pipe, a device, a folder), and files
// larger than `max_bytes`. Tensors and images are far smaller than 1 GiB.
Result<std::vector<uint8_t>> ReadFile(const std::string& path, size_t max_bytes = size_t{1} << 30);

// Writes whole or not at all, as nn::ReplaceFile does.
Status WriteFile(const std::string& path, std::span<const uint8_t> head,
                 std::span<const uint8_t> body = {});
Status WriteText(const std::string& path, const std::string& text);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_FILE_H_
