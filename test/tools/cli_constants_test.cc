// Values that --constant gives inputs of a model.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/test/tools/cli.h"

namespace intaglio::tools {
namespace {

// y = SUM(x, axes) of float32 x [2, 3]. `axes` has no dimensions or one.
std::vector<uint8_t> Sum(const std::vector<int>& shape_of_axes) {
  nn::test::ModelSpec spec;
  const auto add = [&](const char* name, nn::tflite::TensorType type,
                       const std::vector<int>& shape) {
    nn::test::TensorSpec& tensor = spec.tensors.emplace_back();
    tensor.name = name;
    tensor.type = type;
    tensor.shape = shape;
    tensor.scales.clear();
    tensor.zero_points.clear();
  };
  add("axes", nn::tflite::TensorType::INT32, shape_of_axes);
  add("x", nn::tflite::TensorType::FLOAT32, {2, 3});
  add("y", nn::tflite::TensorType::FLOAT32, {2});
  nn::test::OperatorSpec& op = spec.operators.emplace_back();
  op.code = nn::tflite::BuiltinOperator::SUM;
  op.inputs = {1, 0};
  op.outputs = {2};
  op.options = nn::test::ReducerOptions(false);
  spec.inputs = {0, 1};
  spec.outputs = {2};
  return nn::test::Build(spec);
}

class Constants : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    Write("sum.tflite", Sum({1}));
    ASSERT_TRUE(
        WriteNpy(In("x.npy"), Type::kFloat32, std::vector<int64_t>{2, 3}, std::vector<uint8_t>(24))
            .ok());
    ASSERT_TRUE(WriteNpy(In("axes.npy"), Type::kInt32, std::vector<int64_t>{1},
                         std::vector<uint8_t>{1, 0, 0, 0})
                    .ok());
  }
};

TEST_F(Constants, EveryCommandTakesThem) {
  for (const std::string& axes : {std::string("1"), std::string("axes.npy"), std::string("-1")}) {
    const Outcome run = Run("run sum.tflite --input x.npy --output out --constant axes=" + axes);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.out.find("input    0 'x' float32 [2, 3]\noutput   0 'y' float32 [2]"),
              std::string::npos)
        << run.out;
  }
  const Outcome inspect = Run("inspect sum.tflite --constant axes=1");
  EXPECT_EQ(inspect.status, 0) << inspect.err;
  EXPECT_EQ(inspect.out.find("not constant"), std::string::npos) << inspect.out;
  for (const char* const command :
       {"bench sum.tflite --seconds 0", "verify sum.tflite", "convert sum.tflite out.tflite",
        "partition sum.tflite parts --no-verify"}) {
    const Outcome outcome = Run(std::string(command) + " --constant axes=1");
    // Sums of float32 have no part of integers alone.
    EXPECT_EQ(outcome.err.find("not constant"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.empty(), std::string(command).starts_with("partition")) << outcome.err;
    EXPECT_NE(Run(command).err.find("--constant axes=VALUE"), std::string::npos) << command;
  }
  EXPECT_EQ(Run("verify out.tflite").status, 0);
}

TEST_F(Constants, LeaveTheOtherInputsTheirPlaces) {
  ASSERT_TRUE(
      WriteNpy(In("wide.npy"), Type::kFloat32, std::vector<int64_t>{2, 5}, std::vector<uint8_t>(40))
          .ok());
  for (const char* const shape : {"--input x.npy --shape 2x3", "--input wide.npy --resize",
                                  "--input x=wide.npy --shape x=2x5"}) {
    const Outcome run = Run("run sum.tflite --constant axes=1 " + std::string(shape));
    EXPECT_EQ(run.status, 0) << run.err;
  }
  ExpectError("run sum.tflite --constant axes=1 --input axes=axes.npy", 1,
              "the model has no input 'axes'");
}

TEST_F(Constants, MayBeScalars) {
  Write("sum.tflite", Sum({}));
  EXPECT_EQ(Run("run sum.tflite --input x.npy --constant axes=1").status, 0);
  ExpectError("run sum.tflite --input x.npy --constant axes=0,1", 1,
              "the value of input 'axes' is int32 [2]; the input is int32 []");
}

TEST_F(Constants, AreRefusedWhereTheyDoNotFit) {
  const std::string run = "run sum.tflite --input x.npy --constant ";
  ExpectError(run + "axis=1", 1, "--constant axis=1: the model has no input 'axis'");
  ExpectError(run + "1", 1, "--constant 1: not NAME=VALUE");
  ExpectError(run + "axes=1.5", 1, "--constant axes=1.5: neither int32 numbers such as 0,1 nor a");
  ExpectError(run + "axes=1,", 1, "neither int32 numbers");
  ExpectError(run + "axes=4294967296", 1, "neither int32 numbers");
  ExpectError(run + "axes=0,1", 1, "is int32 [2]; the input is int32 [1]");
  ExpectError(run + "axes=x.npy", 1, "is float32 [2, 3]; the input is int32 [1]");
  ExpectError(run + "axes=1 --constant axes=1", 1, "the value of input 'axes' is given twice");
  ExpectError("run sum.tflite --input x.npy --constant x=0,1,2,3,4,nan", 1, "axes");
  ExpectError("run sum.tflite --input x.npy --constant x=0,1,2,3,4", 1,
              "is float32 [5]; the input is float32 [2, 3]");
}

}  // namespace
}  // namespace intaglio::tools
