// What a survey says of files whose operators run, and of others.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "intaglio/nn/formats/tflite/survey.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"

namespace intaglio::nn {
namespace {

using Code = tflite::BuiltinOperator;

Result<std::vector<SurveyRow>> Survey(const std::vector<uint8_t>& bytes) {
  const std::string path = testing::TempDir() + "/survey.tflite";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  Result<std::vector<SurveyRow>> rows = SurveyTflite(path);
  std::remove(path.c_str());
  return rows;
}

// "2 CONCATENATION v2 int8" and what keeps them from running.
std::vector<std::string> Lines(const test::ModelSpec& spec) {
  const Result<std::vector<SurveyRow>> rows = Survey(test::Build(spec));
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  std::vector<std::string> lines;
  if (!rows.ok()) return lines;
  for (const SurveyRow& row : *rows) {
    lines.push_back(std::to_string(row.count) + " " + row.name + " v" +
                    std::to_string(row.version) + " " + row.type +
                    (row.why_not.empty() ? "" : ": " + row.why_not));
  }
  return lines;
}

TEST(Survey, ListsWhatRuns) {
  EXPECT_EQ(
      Lines(test::SmallElementwise()),
      (std::vector<std::string>{"1 QUANTIZE v1 float32", "1 PAD v2 int8", "1 LOGISTIC v2 int8",
                                "1 CONCATENATION v2 int8", "1 MEAN v2 int8", "1 RELU v2 int8",
                                "1 TANH v2 int8", "1 DEQUANTIZE v2 int8"}));
}

TEST(Survey, SaysWhyTheOthersDoNot) {
  test::ModelSpec spec = test::SmallElementwise();
  spec.operators[1].version = 99;         // PAD
  spec.operators[2].code = Code::WHILE;   // LOGISTIC
  spec.operators[5].code = Code::CUSTOM;  // RELU
  spec.operators[5].custom_code = "my-op";
  spec.tensors[9].scales = {};  // the output of TANH
  spec.tensors[9].zero_points = {};
  EXPECT_EQ(Lines(spec),
            (std::vector<std::string>{"1 QUANTIZE v1 float32", "1 PAD v99 int8: not supported",
                                      "1 WHILE v2 int8: not supported", "1 CONCATENATION v2 int8",
                                      "1 MEAN v2 int8", "1 CUSTOM 'my-op' v2 int8: not supported",
                                      "1 TANH v2 int8: tensor 'tanh' has no quantization",
                                      "1 DEQUANTIZE v2 int8: tensor 'tanh' has no quantization"}));
}

// One tensor of a model gets a type that no layer takes. Its neighbours still run.
TEST(Survey, TakesTensorsOfAnyType) {
  for (const auto type : tflite::EnumValuesTensorType()) {
    test::ModelSpec spec = test::SmallElementwise();
    spec.tensors[9].type = type;  // the output of TANH, the input of DEQUANTIZE
    const std::vector<std::string> lines = Lines(spec);
    ASSERT_EQ(lines.size(), 8u) << tflite::EnumNameTensorType(type);
    EXPECT_EQ(lines[5], "1 RELU v2 int8");
    const std::string name = tflite::EnumNameTensorType(type);
    if (name == "COMPLEX64" || name == "STRING") {
      const std::string why = ": one of its tensors: type " + name + " is not supported";
      EXPECT_EQ(lines[6], "1 TANH v2 int8" + why);
      EXPECT_EQ(lines[7],
                (name == "STRING" ? "1 DEQUANTIZE v2 string" : "1 DEQUANTIZE v2 complex64") + why);
    }
  }
  test::ModelSpec spec = test::SmallElementwise();
  spec.tensors[9].type = static_cast<tflite::TensorType>(99);
  spec.tensors[8].sparse = true;
  EXPECT_EQ(Lines(spec)[7],
            "1 DEQUANTIZE v2 number 99: one of its tensors: type number 99 is not supported");
  EXPECT_EQ(Lines(spec)[6], "1 TANH v2 int8: one of its tensors: sparse tensors are not supported");
}

TEST(Survey, TakesOperatorsOfAnyKind) {
  test::ModelSpec spec = test::SmallElementwise();
  spec.operators[6].code = static_cast<Code>(9999);
  spec.operators[7].code = Code::RFFT2D;
  const std::vector<std::string> lines = Lines(spec);
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[6], "1 number 9999 v2 int8: not supported");
  EXPECT_EQ(lines[7], "1 RFFT2D v2 int8: not supported");
}

TEST(Survey, RefusesWhatIsNoModel) {
  const Result<std::vector<SurveyRow>> rows = Survey({1, 2, 3});
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.status().message().find("survey.tflite: not a .tflite file"), std::string::npos)
      << rows.status().message();
}

}  // namespace
}  // namespace intaglio::nn
