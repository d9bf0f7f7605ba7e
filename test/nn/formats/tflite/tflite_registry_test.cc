#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "intaglio/nn/formats/tflite/registry.h"

namespace intaglio::nn {
namespace {

TEST(TfliteRegistry, SaysForEveryOperatorWhatItTakes) {
  const std::vector<TfliteOperator> operators = ListTfliteOperators();
  EXPECT_GT(operators.size(), 90u);
  for (size_t i = 0; i < operators.size(); ++i) {
    const TfliteOperator& op = operators[i];
    EXPECT_FALSE(op.name.empty());
    EXPECT_FALSE(op.types.empty()) << op.name << " has no row in the table of operators";
    EXPECT_GE(op.max_version, 1) << op.name;
    EXPECT_TRUE(i == 0 || operators[i - 1].name < op.name) << op.name;
  }
  const auto conv = std::find_if(operators.begin(), operators.end(),
                                 [](const TfliteOperator& op) { return op.name == "CONV_2D"; });
  ASSERT_NE(conv, operators.end());
  EXPECT_EQ(conv->types, "int8, uint8, int16, float32");
}

}  // namespace
}  // namespace intaglio::nn
