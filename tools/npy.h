// NumPy's .npy files, versions 1.0 and 2.0: little-endian arrays in C order of the element types of
// fixedpoint/type.h. Read as untrusted bytes.
#ifndef INTAGLIO_TOOLS_NPY_H_
#define INTAGLIO_TOOLS_NPY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/fixedpoint/type.h"

namespace intaglio::tools {

struct NpyArray {
  Type type = Type::kInt8;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;
};

// "uint8 [1, 224, 224, 3]"
std::string Describe(const NpyArray& array);

// `name` stands in messages.
Result<NpyArray> ParseNpy(std::span<const uint8_t> bytes, const std::string& name);
Result<NpyArray> ReadNpy(const std::string& path);

// Writes version 1.0.
Status WriteNpy(const std::string& path, Type type, std::span<const int64_t> shape,
                std::span<const uint8_t> data);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_NPY_H_
