// A model's file in memory, and what may lie beside it.
#ifndef INTAGLIO_NN_FORMATS_MODEL_FILE_H_
#define INTAGLIO_NN_FORMATS_MODEL_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace intaglio::nn {

// A file that is to be written. Constants of an .onnx file may lie in another one in its folder.
struct ModelFile {
  std::vector<uint8_t> bytes;
  std::string constants_name = {};      // without a folder; empty: there is no such file
  std::vector<uint8_t> constants = {};  // its bytes
};

// A file that a model names and that is in memory already. `owner` keeps the bytes alive.
struct FileInMemory {
  std::string name;  // as the model names it
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_MODEL_FILE_H_
