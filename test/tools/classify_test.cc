#include "intaglio/tools/classify.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "intaglio/tools/file.h"

namespace intaglio::tools {
namespace {

TEST(Classify, RanksDequantizedScores) {
  nn::Tensor tensor;
  tensor.type = Type::kInt8;
  tensor.shape = {1, 4};
  tensor.quantization = nn::PerTensor(0.5f, -128);
  const std::vector<Score> top = TopScores(tensor, {0x80, 0x7f, 0x00, 0x7f}, 3);
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].index, 1u);
  EXPECT_EQ(top[0].score, 127.5);
  EXPECT_EQ(top[1].index, 3u) << "the lower index first among equal scores";
  EXPECT_EQ(top[2].index, 2u);
  EXPECT_EQ(top[2].score, 64);
  EXPECT_EQ(TopScores(tensor, {0x80, 0x7f, 0x00, 0x7f}, 9).size(), 4u);
}

TEST(Classify, ReadsLabels) {
  const std::string path = testing::TempDir() + "intaglio_labels.txt";
  const std::string text = "background\r\n\ntabby, \x1b[31mcat\nlast";
  ASSERT_TRUE(WriteFile(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}).ok());
  const Result<std::vector<std::string>> labels = ReadLabels(path);
  std::remove(path.c_str());
  ASSERT_TRUE(labels.ok()) << labels.status().message();
  EXPECT_EQ(*labels, (std::vector<std::string>{"background", "", "tabby,  [31mcat", "last"}));
}

}  // namespace
}  // namespace intaglio::tools
