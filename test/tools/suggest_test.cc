#include "intaglio/tools/suggest.h"

#include <gtest/gtest.h>

namespace intaglio::tools {
namespace {

const std::vector<std::string> kKnown = {"--threads", "--top", "--input", "--inputs", "--json"};

TEST(Suggest, FindsTheNearest) {
  EXPECT_EQ(Nearest("--thread", kKnown), "--threads");
  EXPECT_EQ(Nearest("--treads", kKnown), "--threads");
  EXPECT_EQ(Nearest("--inptu", kKnown), "--input");
  EXPECT_EQ(Nearest("--input", kKnown), "--input");
  EXPECT_EQ(Nearest("--jsno", kKnown), "--json");
}

TEST(Suggest, LeavesWhatIsFarAway) {
  EXPECT_EQ(Nearest("--quantize", kKnown), "");
  EXPECT_EQ(Nearest("", kKnown), "");
  EXPECT_EQ(Nearest("x", kKnown), "");
  EXPECT_EQ(Nearest(std::string(100000, '-'), kKnown), "");
}

}  // namespace
}  // namespace intaglio::tools
