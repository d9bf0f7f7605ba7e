// NumPy's .npy files, versions 1.0 and 2.0: little-endian arrays in C order of the element types of
// fixedpoint/type.h. Read as untrusted bytes.
#ifndef INTAGLIO_TOOLS_NPY_H_
#define INTAGLIO_TOOLS_NPY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/fixedpoint/type.h"
#include "intaglio/tools/file.h"

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

// A file whose data is read in parts.
class NpyFile {
 public:
  static Result<NpyFile> Open(const std::string& path);

  const NpyArray& array() const { return array_; }  // without its data
  size_t data_bytes() const { return file_.bytes() - data_begin_; }
  // Fills `to` with the bytes of the data from `place` on.
  Status Read(size_t place, std::span<uint8_t> to) const {
    return file_.Read(data_begin_ + place, to);
  }

 private:
  NpyFile(InputFile file, NpyArray array, size_t data_begin)
      : file_(std::move(file)), array_(std::move(array)), data_begin_(data_begin) {}

  InputFile file_;
  NpyArray array_;
  size_t data_begin_;
};

// Writes version 1.0.
Status WriteNpy(const std::string& path, Type type, std::span<const int64_t> shape,
                std::span<const uint8_t> data);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_NPY_H_
