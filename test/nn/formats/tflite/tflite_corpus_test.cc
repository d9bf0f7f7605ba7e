// Replays the fuzzer's corpus: seeds of our own making, and small files that once broke something.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "intaglio/test/nn/formats/tflite/cross_check.h"
#include "intaglio/test/nn/formats/tflite/exercise.h"

namespace intaglio::nn::test {
namespace {

TEST(TfliteCorpus, IsSurvived) {
  const std::string folder = INTAGLIO_SOURCE_DIR "/test/fuzz/corpus";
  size_t ran = 0;
  size_t refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".tflite") continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    // A copy of just this length: a read behind its end is seen by the address sanitizer.
    const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
    SCOPED_TRACE(entry.path().filename().string());
    const std::string error = Exercise(exact);
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_EQ(CrossCheck(exact), "");
    ++(error.empty() ? ran : refused);
  }
  EXPECT_GT(ran, 0u) << "the seeds are models that run";
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace intaglio::nn::test
