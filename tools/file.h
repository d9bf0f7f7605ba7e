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

// Refuses at once what is no regular file (a pipe, a device, a folder), and what is larger than
// `max_bytes`: tensors and images are far smaller than 1 GiB.
Result<std::vector<uint8_t>> ReadFile(const std::string& path, size_t max_bytes = size_t{1} << 30);

// As nn::ReplaceFile does: whole, or not at all.
Status WriteFile(const std::string& path, std::span<const uint8_t> head,
                 std::span<const uint8_t> body = {});

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_FILE_H_
