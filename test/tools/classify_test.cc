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

Labels LabelsOf(const std::string& text) { return Labels({text.begin(), text.end()}); }

TEST(Classify, ReadsLabels) {
  const Labels labels = LabelsOf("background\r\n\ntabby,\t\x1b[31mcat\nlast");
  ASSERT_EQ(labels.size(), 4u);
  EXPECT_EQ(labels[0], "background");
  EXPECT_EQ(labels[1], "");
  EXPECT_EQ(labels[2], "tabby, \\x1b[31mcat");
  EXPECT_EQ(labels[3], "last");
  EXPECT_EQ(LabelsOf("").size(), 0u);
  EXPECT_EQ(LabelsOf("a\n").size(), 1u);
  EXPECT_EQ(LabelsOf("\n\n").size(), 2u);
}

TEST(Classify, FindsEachOfManyLabels) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\n";
  const Labels labels = LabelsOf(text);
  ASSERT_EQ(labels.size(), 1000u);
  for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(labels[i], std::to_string(i));
}

TEST(Classify, RefusesFilesThatAreNoLabels) {
  const std::string path = testing::TempDir() + "intaglio_labels.txt";
  ASSERT_TRUE(WriteFile(path, std::vector<uint8_t>((64 << 20) + 1, '\n')).ok());
  const Result<Labels> labels = ReadLabels(path);
  std::remove(path.c_str());
  EXPECT_EQ(labels.status().message(), path + ": larger than 64 MiB");
}

}  // namespace
}  // namespace intaglio::tools
