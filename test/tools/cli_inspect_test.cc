// What `intaglio inspect` prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "intaglio/test/tools/cli.h"

namespace intaglio::tools {
namespace {

using nlohmann::json;

TEST_F(Cli, InspectTellsWhatTheModelIs) {
  const Outcome text = Run("inspect network.tflite");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("FULLY_CONNECTED"), std::string::npos);
  EXPECT_EQ(text.out.find("gemm-unpacked"), std::string::npos);
  const Outcome routines = Run("inspect network.tflite --routines");
  EXPECT_NE(routines.out.find("cpu:qint8/gemm-unpacked"), std::string::npos) << routines.out;
  EXPECT_NE(routines.out.find("no: not for int8"), std::string::npos);
  const Outcome outcome = Run("inspect network.tflite --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["format"], "intaglio-inspect-1");
  EXPECT_EQ(report["inputs"], json::array({0}));
  EXPECT_EQ(report["outputs"], json::array({15}));
  EXPECT_EQ(report["tensors"].size(), 16u);
  EXPECT_EQ(report["tensors"][1]["quantization"]["scales"].size(), 4u);
  EXPECT_EQ(report["layers"].size(), 8u);
  EXPECT_EQ(report["layers"][0]["operator"], "CONV_2D");
  const json& routines_of = report["layers"][0]["routines"];
  const auto first = std::find_if(routines_of.begin(), routines_of.end(),
                                  [](const json& routine) { return routine["why_not"] == ""; });
  ASSERT_NE(first, routines_of.end());
  EXPECT_EQ(report["layers"][0]["routine"], (*first)["name"]);
  EXPECT_EQ(report["layers"][0]["macs"], 4 * 4 * 4 * 3 * 3 * 2);
  EXPECT_GT(report["arena_bytes"], 0);
  EXPECT_GT(report["memory_plan"].size(), 0u);
}

TEST_F(Cli, InspectTellsSignatures) {
  nn::test::ModelSpec spec = nn::test::SmallNetwork();
  spec.signatures = {{"serve", {{"image", 0}}, {{"scores", 15}, {"same", 15}}}};
  Write("signed.tflite", nn::test::Build(spec));
  const Outcome text = Run("inspect signed.tflite");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(
      text.out.find("signature 'serve', input 0 'image', output 0 'scores', output 0 'same'\n"),
      std::string::npos)
      << text.out;
  const json report = json::parse(Run("inspect signed.tflite --json").out);
  EXPECT_EQ(report["signatures"], json::parse(R"([{"key": "serve", "inputs": {"image": 0},
                                                   "outputs": {"scores": 15, "same": 15}}])"));
  EXPECT_EQ(json::parse(Run("inspect network.tflite --json").out)["signatures"], json::array());
  ASSERT_EQ(Run("convert signed.tflite again.tflite").status, 0);
  const json again = json::parse(Run("inspect again.tflite --json").out);
  ASSERT_EQ(again["signatures"].size(), 1u);
  EXPECT_EQ(again["signatures"][0]["inputs"]["image"], again["inputs"][0]);
  EXPECT_EQ(again["signatures"][0]["outputs"]["same"], again["outputs"][0]);
}

// Fields of a protobuf message. All of it is shorter than 128 bytes.
std::string Field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string Field(int number, char value) { return {static_cast<char>(number << 3), value}; }

// y = Relu(x), of 4 numbers, in ONNX's format.
std::string OnnxRelu() {
  const std::string shape = Field(1, Field(1, char{4}));
  const std::string type = Field(2, Field(1, Field(1, char{1}) + Field(2, shape)));
  const std::string node = Field(1, "x") + Field(2, "y") + Field(4, "Relu");
  const std::string graph = Field(1, node) + Field(2, "g") + Field(11, Field(1, "x") + type) +
                            Field(12, Field(1, "y") + type);
  return Field(1, char{10}) + Field(7, graph) + Field(8, Field(2, char{20}));
}

TEST_F(Cli, InspectTellsWhatPassesDid) {
  EXPECT_NE(Run("inspect network.tflite --passes").out.find("none: passes are for .onnx files"),
            std::string::npos);
  ExpectError("verify network.tflite --without-pass fuse", 1, "there is no pass 'fuse'");
  ExpectError("bench network.tflite --without-pass fold-constants", 1, "is required");
  const std::string relu = OnnxRelu();
  Write("relu.onnx", {relu.begin(), relu.end()});
  const Outcome text = Run("inspect relu.onnx --passes --without-pass remove-transposes");
  if (text.err.find("not a .tflite file") != std::string::npos) GTEST_SKIP() << text.err;
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("fuse-quantization"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("switched off"), std::string::npos) << text.out;
  EXPECT_EQ(Run("inspect relu.onnx").out.find("fuse-quantization"), std::string::npos);
  const Outcome outcome = Run("inspect relu.onnx --json --without-pass remove-transposes");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json passes = json::parse(outcome.out)["passes"];
  ASSERT_GT(passes.size(), 2u);
  for (const json& pass : passes) {
    EXPECT_EQ(pass["ran"], pass["name"] != "remove-transposes");
    EXPECT_EQ(pass["layers_before"], 1);
    EXPECT_EQ(pass["counts"].empty(), !pass["ran"]);
  }
}

TEST_F(Cli, InspectSurvivesNamesThatAreNotText) {
  nn::test::ModelSpec spec = nn::test::SmallNetwork();
  spec.tensors[0].name = "\xff\xfe\x1b[2J\n";
  Write("odd.tflite", nn::test::Build(spec));
  const Outcome outcome = Run("inspect odd.tflite --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(json::accept(outcome.out));
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
}

TEST_F(Cli, InspectSaysWhatDoesNotRun) {
  nn::test::ModelSpec spec = nn::test::SmallNetwork();
  spec.operators[2].code = nn::tflite::BuiltinOperator::RFFT2D;
  Write("unsupported.tflite", nn::test::Build(spec));
  const Outcome text = Run("inspect unsupported.tflite");
  EXPECT_EQ(text.status, 1);
  EXPECT_NE(text.out.find("RFFT2D v2"), std::string::npos);
  EXPECT_NE(text.out.find("no: not supported"), std::string::npos);
  EXPECT_NE(text.err.find("operator #2 RFFT2D v2: not supported"), std::string::npos);
  const Outcome outcome = Run("inspect unsupported.tflite --json");
  EXPECT_EQ(outcome.status, 1);
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["operators"].size(), 8u);
  EXPECT_EQ(report["operators"][0]["runs"], true);
  EXPECT_EQ(report["operators"][2]["operator"], "RFFT2D");
  EXPECT_EQ(report["operators"][2]["runs"], false);
  EXPECT_EQ(report["operators"][2]["why_not"], "not supported");
}

TEST_F(Cli, InspectShowsItsTableWhateverTheTypes) {
  nn::test::ModelSpec spec = nn::test::SmallNetwork();
  spec.tensors[15].type = nn::tflite::TensorType::COMPLEX64;  // the output of SOFTMAX
  Write("complex.tflite", nn::test::Build(spec));
  const Outcome text = Run("inspect complex.tflite");
  EXPECT_EQ(text.status, 1);
  EXPECT_NE(text.out.find("no: one of its tensors: type COMPLEX64 is not supported"),
            std::string::npos)
      << text.out;
  EXPECT_NE(text.err.find("tensor #15 'scores': type COMPLEX64 is not supported"),
            std::string::npos)
      << text.err;
  const json report = json::parse(Run("inspect complex.tflite --json").out);
  EXPECT_EQ(report["operators"][0]["runs"], true);
  EXPECT_EQ(report["operators"][7]["runs"], false);
}

}  // namespace
}  // namespace intaglio::tools
