// Replays what the fuzzer of .onnx files once found.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "intaglio/test/nn/formats/onnx/cross_check.h"

namespace intaglio::nn::test {
namespace {

TEST(OnnxCorpus, IsSurvived) {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(INTAGLIO_SOURCE_DIR "/test/fuzz/corpus")) {
    if (entry.path().extension() != ".onnx") continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    // A copy of just this length: a read behind its end is seen by the address sanitizer.
    const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
    SCOPED_TRACE(entry.path().filename().string());
    const std::string error = ExerciseOnnx(exact);
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_EQ(CrossCheckOnnx(exact), "");
    ++files;
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
}  // namespace intaglio::nn::test
