// Whole files in memory.
#ifndef INTAGLIO_TOOLS_FILE_H_
#define INTAGLIO_TOOLS_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::tools {

// Refuses directories, and files over 1 GiB: tensors and images are far smaller.
Result<std::vector<uint8_t>> ReadFile(const std::string& path);

Status WriteFile(const std::string& path, std::span<const uint8_t> head,
                 std::span<const uint8_t> body = {});

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_FILE_H_
