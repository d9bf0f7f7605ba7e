// Files that were right once: cut short at every length, and with every bit flipped. Whatever comes
// of it must be a model that runs or one line that says why not; the address sanitizer sees the
// rest.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "intaglio/test/nn/formats/tflite/crafted_models.h"
#include "intaglio/test/nn/formats/tflite/exercise.h"

namespace intaglio::nn::test {
namespace {

std::vector<ModelSpec> SmallModels() { return {SmallNetwork(), SmallElementwise(), SmallUint8()}; }

TEST(TfliteDamage, EveryTruncationIsRefused) {
  for (const ModelSpec& spec : SmallModels()) {
    const std::vector<uint8_t> bytes = Build(spec);
    ASSERT_EQ(Exercise(bytes), "");
    for (size_t length = 0; length < bytes.size(); ++length) {
      // A copy of just this length, so that a read behind its end is one behind an allocation's.
      const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
      const std::string error = Exercise(cut);
      ASSERT_NE(error, "") << "cut to " << length << " bytes";
      ASSERT_EQ(error.find('\n'), std::string::npos) << error;
    }
  }
}

#ifdef INTAGLIO_TEST_EXHAUSTIVE
constexpr size_t kStep = 1;
#else
constexpr size_t kStep = 3;  // each bit of a byte in some byte of three
#endif

TEST(TfliteDamage, FlippedBitsAreSurvived) {
  for (const ModelSpec& spec : SmallModels()) {
    std::vector<uint8_t> bytes = Build(spec);
    size_t refused = 0;
    for (size_t bit = 0; bit < 8 * bytes.size(); bit += kStep) {
      const auto mask = static_cast<uint8_t>(1 << (bit % 8));
      bytes[bit / 8] ^= mask;
      const std::string error = Exercise(bytes);
      bytes[bit / 8] ^= mask;
      ASSERT_EQ(error.find('\n'), std::string::npos) << error;
      refused += error.empty() ? 0 : 1;
    }
    // Many bits are weights or unused; far more than these must matter.
    EXPECT_GT(refused, bytes.size() / 4 / kStep);
  }
}

}  // namespace
}  // namespace intaglio::nn::test
