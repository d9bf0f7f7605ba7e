#include "intaglio/test/nn/shared_models.h"

#include <cstdlib>
#include <system_error>

namespace intaglio::nn::test {
namespace {

std::filesystem::path SharedModels() {
  const char* const path = std::getenv("INTAGLIO_SHARED");
  const std::filesystem::path shared =
      path != nullptr ? std::filesystem::path(path)
                      : std::filesystem::path(INTAGLIO_SOURCE_DIR) / ".." / "shared";
  return shared / "models";
}

}  // namespace

std::vector<std::filesystem::path> SharedModelFiles() {
  std::vector<std::filesystem::path> files;
  std::error_code absent;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SharedModels(), absent)) {
    if (entry.path().extension() == ".tflite") files.push_back(entry.path());
  }
  return files;
}

std::string NoSharedModels() {
  return "NO MODELS: " + SharedModels().string() +
         " does not exist; set INTAGLIO_SHARED to a folder with models/ to run this test";
}

}  // namespace intaglio::nn::test
