// Plans of `intaglio tune` in the command.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "intaglio/test/tools/cli.h"

namespace intaglio::tools {
namespace {

using nlohmann::json;

// Where a test needs to know what was tried, its budget is more than the tuner uses on any machine.
class CliTune : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    const Outcome tuned = Run("tune network.tflite plan.json --threads 1 --budget 0");
    ASSERT_EQ(tuned.status, 0) << tuned.err;
    EXPECT_EQ(tuned.err, "");
    EXPECT_NE(tuned.out.find("ways to compute 8 layers"), std::string::npos) << tuned.out;
    plan_ = json::parse(Text(In("plan.json")));
    EXPECT_EQ(plan_["format"], "intaglio-plan-2");
    EXPECT_EQ(plan_["model"], "network.tflite");
  }

  // Makes the plan compute the convolution, layer 0, in this way.
  void Plan(const std::string& routine, const std::string& kernel) {
    const json way = {{"routine", routine}, {"kernel", kernel}, {"threads", 1}, {"ns", 100}};
    plan_["layers"] = {{{"layer", 0},
                        {"operator", "CONV_2D"},
                        {"label", ""},
                        {"schema", routine.substr(0, routine.find('/'))},
                        {"bounded", false},
                        {"chosen", way},
                        {"untuned", way},
                        {"noise", 0}}};
    const std::string text = plan_.dump();
    Write("plan.json", {text.begin(), text.end()});
  }

  std::string RoutineOfLayer0(const std::string& options) const {
    const Outcome outcome = Run("inspect network.tflite --json " + options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out)["layers"][0]["routine"];
  }

  json plan_;
};

TEST_F(CliTune, APlanIsReplayed) {
  Plan("cpu:qint8/gemm-unpacked", "scalar");
  EXPECT_EQ(RoutineOfLayer0(""), "cpu:qint8/gemm");
  EXPECT_EQ(RoutineOfLayer0("--plan plan.json"), "cpu:qint8/gemm-unpacked");
  ASSERT_EQ(Run("run network.tflite --input x.npy --output without").status, 0);
  const Outcome planned =
      Run("run network.tflite --input x.npy --output with --plan plan.json --threads 1 --strict");
  ASSERT_EQ(planned.status, 0) << planned.err;
  EXPECT_EQ(planned.err, "");
  for (const auto& file : fs::directory_iterator(folder_ / "without")) {
    EXPECT_EQ(Text(file.path()), Text(folder_ / "with" / file.path().filename()));
  }
  const Outcome bench = Run("bench network.tflite --seconds 0 --json --threads 1 --plan plan.json");
  ASSERT_EQ(bench.status, 0) << bench.err;
  EXPECT_EQ(json::parse(bench.out)["layers"][0]["routine"], "cpu:qint8/gemm-unpacked");
}

TEST_F(CliTune, APageShowsWhatWasTried) {
  ASSERT_EQ(Run("tune network.tflite again.json --threads 1 --budget 600 --html page.html").status,
            0);
  const std::string page = Text(In("page.html"));
  EXPECT_EQ(page.find("<!DOCTYPE html>"), 0u);
  EXPECT_EQ(page.rfind("</html>\n"), page.size() - 8);
  for (const char* const part :
       {"intaglio tune", "network.tflite", "#0 CONV_2D", "gemm-unpacked"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST_F(CliTune, APlanMayComputeInFloat) {
  const Outcome tuned = Run(
      "tune network.tflite float.json --threads 1 --budget 600 --allow float32 --html page.html");
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("in turns untuned"), std::string::npos) << tuned.out;
  const std::string page = Text(In("page.html"));
  EXPECT_NE(page.find("cpu:float32/gemm"), std::string::npos);
  // The convolution in float32, whatever was found.
  Plan("cpu:float32/gemm", "");
  plan_["layers"][0]["schema"] = "cpu:float32";
  plan_["layers"][0]["bounded"] = true;
  const std::string text = plan_.dump();
  Write("plan.json", {text.begin(), text.end()});
  const Outcome inspected = Run("inspect network.tflite --json --plan plan.json --strict");
  ASSERT_EQ(inspected.status, 0) << inspected.err;
  const json layers = json::parse(inspected.out)["layers"];
  EXPECT_EQ(layers.size(), 10u);
  EXPECT_EQ(layers[0]["routine"], "cpu:qint8/dequantize");
  EXPECT_EQ(layers[1]["routine"], "cpu:float32/gemm");
  EXPECT_EQ(Run("run network.tflite --input x.npy --threads 1 --plan plan.json --strict").status,
            0);
  EXPECT_EQ(Run("bench network.tflite --seconds 0 --threads 1 --plan plan.json").status, 0);
  ExpectError("tune network.tflite float.json --allow float16", 2, "float32");
}

TEST_F(CliTune, ALimitOfErrorsIsKept) {
  const Outcome tuned =
      Run("tune network.tflite small.json --threads 1 --budget 600 --allow float32 --max-error 0 "
          "--input x.npy --html page.html");
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  const json plan = json::parse(Text(In("small.json")));
  if (plan.contains("difference")) {
    EXPECT_EQ(plan["difference"]["relative"], 0) << plan;
  }
  ExpectError("tune network.tflite small.json --max-error 1", 1, "--max-error needs --allow");
  ExpectError("tune network.tflite small.json --input none.npy", 1, "none.npy");
}

TEST_F(CliTune, ALimitOfMemoryIsKeptOrAnError) {
  const Outcome tuned = Run("tune network.tflite small.json --threads 1 --budget 600 --memory 1M");
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("memory   "), std::string::npos) << tuned.out;
  ExpectError("tune network.tflite small.json --threads 1 --budget 600 --memory 100", 1,
              "no way was found to keep within 100 bytes: the least was");
}

TEST_F(CliTune, TimesAreKept) {
  const std::string tune =
      "tune network.tflite timed.json --threads 1 --budget 600 --timings times.txt";
  ASSERT_EQ(Run(tune).status, 0);
  const std::string text = Text(In("times.txt"));
  EXPECT_EQ(text.find("intaglio-timing-1 "), 0u) << text;
  ASSERT_EQ(Run(tune).status, 0);
  EXPECT_EQ(Text(In("times.txt")), text);
  Write("times.txt", {'x', '\n'});
  ExpectError(tune, 1, "times.txt: line 1 of the timings does not begin with");
}

TEST_F(CliTune, WhatDoesNotFitIsAWarningOrAnError) {
  Plan("cpu:qint8/magic", "");
  const std::string warning = "runs as without a plan: there is no routine 'cpu:qint8/magic'";
  const Outcome loose = Run("run network.tflite --input x.npy --threads 1 --plan plan.json");
  EXPECT_EQ(loose.status, 0);
  EXPECT_EQ(loose.err.find("intaglio: plan.json: CONV_2D #0"), 0u) << loose.err;
  EXPECT_NE(loose.err.find(warning), std::string::npos) << loose.err;
  ExpectError("run network.tflite --input x.npy --threads 1 --plan plan.json --strict", 1, warning);
  EXPECT_NE(Run("inspect network.tflite --strict").status, 0);
}

TEST_F(CliTune, AWrongPlanIsAnError) {
  ExpectError("bench network.tflite --plan none.json", 1, "none.json: cannot open");
  Write("cut.json", {'{', '"'});
  ExpectError("bench network.tflite --plan cut.json", 1, "intaglio: cut.json: the plan is no JSON");
  plan_["digest"] = "0";
  Plan("cpu:qint8/gemm", "");
  ExpectError("bench network.tflite --plan plan.json", 1,
              "plan.json: the plan was made for another network, 'network.tflite'");
  ExpectError("tune network.tflite", 2, "--output is required");
  ExpectError("tune none.tflite plan2.json", 1, "none.tflite");
  ExpectError("tune network.tflite no/such/folder.json --budget 0", 1, "no/such");
}

TEST_F(CliTune, APlanForADeviceThatIsNotHereIsAWarning) {
  Plan("cuda:qint8/gemm", "");
  plan_["device"] = "cuda: NVIDIA H200";
  const std::string text = plan_.dump();
  Write("plan.json", {text.begin(), text.end()});
  const std::string warning =
      "the plan was made for the device 'cuda: NVIDIA H200'; there is none here, so 1 layer runs "
      "as without a plan";
  const Outcome loose = Run("run network.tflite --input x.npy --threads 1 --plan plan.json");
  EXPECT_EQ(loose.status, 0) << loose.err;
  EXPECT_NE(loose.err.find(warning), std::string::npos) << loose.err;
  ExpectError("run network.tflite --input x.npy --threads 1 --plan plan.json --strict", 1, warning);
  EXPECT_NE(Run("run network.tflite --input x.npy --device cuda").status, 0);  // it needs a plan
  const Outcome cuda = Run("tune network.tflite other.json --device cuda --budget 0");
  if (cuda.status == 0) GTEST_SKIP() << "there is a GPU";
  ExpectError("tune network.tflite other.json --device cuda", 1, "intaglio: cuda: ");
  ExpectError("bench network.tflite --plan plan.json --device cuda", 1, "intaglio: cuda: ");
  EXPECT_EQ(Run("inspect network.tflite --plan plan.json --device cuda").status, 1);
}

}  // namespace
}  // namespace intaglio::tools
