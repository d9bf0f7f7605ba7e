#include "intaglio/nn/formats/write_model_file.h"

#include "intaglio/nn/files/replace_file.h"

namespace intaglio::nn {
namespace {

// Where the name begins.
size_t NameBegin(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

}  // namespace

std::string ConstantsNameOf(const std::string& path) {
  return path.substr(NameBegin(path)) + ".data";
}

Status WriteModelFile(const std::string& path, const ModelFile& file) {
  const auto write_constants = [&]() -> Status {
    if (file.constants_name.empty()) return {};
    return ReplaceFile(path.substr(0, NameBegin(path)) + file.constants_name, file.constants);
  };
  return ReplaceFile(path, file.bytes, {}, write_constants);
}

}  // namespace intaglio::nn
