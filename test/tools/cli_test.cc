// Runs the program: exit status, the one line of an error, and what it prints and writes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/test/nn/import/crafted_models.h"
#include "intaglio/tools/file.h"
#include "intaglio/tools/npy.h"

namespace intaglio::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string Text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("intaglio_cli_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Write("network.tflite", nn::test::Build(nn::test::SmallNetwork()));
    ASSERT_TRUE(WriteNpy(In("x.npy"), Type::kInt8, std::vector<int64_t>{1, 4, 4, 2},
                         std::vector<uint8_t>(32, 7))
                    .ok());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string In(const std::string& name) const { return (folder_ / name).string(); }

  void Write(const std::string& name, const std::vector<uint8_t>& bytes) const {
    ASSERT_TRUE(WriteFile(In(name), bytes).ok());
  }

  // Arguments are words of a shell, in the test's folder.
  Outcome Run(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.string() + "' && " INTAGLIO_PROGRAM " " +
                                arguments + " > stdout.txt 2> stderr.txt";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Text(In("stdout.txt")),
            Text(In("stderr.txt"))};
  }

  // An error: this status, nothing on stdout, and this on stderr as one line.
  void ExpectError(const std::string& arguments, int status, const std::string& message) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.status, status) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_EQ(outcome.err.find("intaglio: "), 0u) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  }

  fs::path folder_;
};

TEST_F(Cli, WrongUsageIsStatus2) {
  ExpectError("", 2, "see intaglio --help");
  ExpectError("frobnicate", 2, "there is no command 'frobnicate'; see intaglio --help");
  ExpectError("run", 2, "MODEL is required; see intaglio run --help");
  ExpectError("run network.tflite --bogus", 2, "--bogus; see intaglio run --help");
  ExpectError("run network.tflite --threads 0", 2, "--threads");
  ExpectError("run network.tflite --threads many", 2, "--threads");
  ExpectError("run network.tflite --input", 2, "--input");
  ExpectError("run network.tflite --backend tpu", 2, "--backend");
  ExpectError("run network.tflite --input x.npy --image y.bmp", 2, "excludes");
  ExpectError("inspect", 2, "see intaglio inspect --help");
  ExpectError("verify network.tflite --inputs 0", 2, "--inputs");
}

TEST_F(Cli, HelpIsNoError) {
  for (const char* const arguments : {"--help", "run --help", "cpu --help"}) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.out.find("Usage:"), std::string::npos);
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(Cli, FailedWorkIsStatus1) {
  Write("half.tflite", {'h', 'a', 'l', 'f'});
  Write("text.npy", {'t', 'e', 'x', 't'});
  nn::test::ModelSpec unsupported = nn::test::SmallNetwork();
  unsupported.operators[2].code = nn::tflite::BuiltinOperator::RFFT2D;
  Write("unsupported.tflite", nn::test::Build(unsupported));
  ASSERT_TRUE(WriteNpy(In("shape.npy"), Type::kInt8, std::vector<int64_t>{1, 4, 2, 4},
                       std::vector<uint8_t>(32))
                  .ok());
  ASSERT_TRUE(WriteNpy(In("type.npy"), Type::kUInt8, std::vector<int64_t>{1, 4, 4, 2},
                       std::vector<uint8_t>(32))
                  .ok());
  for (const char* const command : {"run", "inspect", "bench", "verify"}) {
    const std::string c = std::string(command) + " ";
    ExpectError(c + "none.tflite", 1, "none.tflite: cannot open: No such file or directory");
    ExpectError(c + "half.tflite", 1, "half.tflite: not a .tflite file");
    if (command != std::string("inspect")) {
      ExpectError(c + "unsupported.tflite", 1,
                  "unsupported.tflite: operator #2 RFFT2D v2: not supported");
    }
    ExpectError(c + ".", 1, ".: not a regular file");
  }
  const std::string run = "run network.tflite ";
  ExpectError(run, 1, "input 0 'x' (int8 [1, 4, 4, 2]) is not given; add --input FILE.npy");
  ExpectError(run + "--input none.npy", 1, "none.npy: cannot open: No such file or directory");
  ExpectError(run + "--input text.npy", 1, "text.npy: not a .npy file");
  ExpectError(run + "--input shape.npy", 1,
              "shape.npy: holds int8 [1, 4, 2, 4], but input 0 'x' is int8 [1, 4, 4, 2]");
  ExpectError(run + "--input type.npy", 1,
              "type.npy: holds uint8 [1, 4, 4, 2], but input 0 'x' is int8 [1, 4, 4, 2]");
  ExpectError(run + "--input x.npy --input x.npy", 1, "the model has only 1 inputs");
  ExpectError(run + "--input x=x.npy --input x=x.npy", 1, "input 'x' is given twice");
  ExpectError(run + "--input y=x.npy", 1, "the model has no input 'y'");
  ExpectError(run + "--input x.npy --labels none.txt", 1, "none.txt: cannot open");
  ExpectError(run + "--image x.npy", 1, "not an 8-bit picture; give it with --input");
  ExpectError("bench network.tflite --kernel none", 1, "none");
}

// Without CUDA in the build, or without a GPU, the reason is named and nothing else changes.
TEST_F(Cli, BackendsThatAreNotThereAreErrors) {
  const Outcome cuda = Run("run network.tflite --input x.npy --backend cuda");
  if (cuda.status == 0) GTEST_SKIP() << "there is a GPU";
  ExpectError("run network.tflite --input x.npy --backend cuda", 1, "intaglio: cuda: ");
  ExpectError("verify network.tflite --backend cuda", 1, "intaglio: cuda: ");
  EXPECT_EQ(Run("run network.tflite --input x.npy --backend cpu").status, 0);
}

TEST_F(Cli, RunWritesOutputsAndNamesTheClass) {
  Write("labels.txt", {'A', '\n', 'B', '\n', 'C', '\n'});
  const Outcome outcome =
      Run("run network.tflite --input x=x.npy --labels labels.txt --output out/deep --threads 3");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "") << "quiet where it is no terminal";
  EXPECT_NE(outcome.out.find("on 3 threads"), std::string::npos) << outcome.out;
  const Result<NpyArray> output = ReadNpy(In("out/deep/0_scores.npy"));
  ASSERT_TRUE(output.ok()) << output.status().message();
  EXPECT_EQ(Describe(*output), "int8 [1, 3]");
  size_t best = 0;
  for (size_t i = 1; i < 3; ++i) {
    if (static_cast<int8_t>(output->data[i]) > static_cast<int8_t>(output->data[best])) best = i;
  }
  const size_t line = outcome.out.find("highest of 3:\n");
  ASSERT_NE(line, std::string::npos) << outcome.out;
  const size_t next = outcome.out.find('\n', line + 14);
  EXPECT_EQ(outcome.out[next - 1], static_cast<char>('A' + best)) << outcome.out;
}

TEST_F(Cli, OutputNamesAreSafeFileNames) {
  nn::test::ModelSpec spec = nn::test::SmallNetwork();
  spec.tensors[15].name = "../../soft max:0";
  Write("evil.tflite", nn::test::Build(spec));
  const Outcome outcome = Run("run evil.tflite --input x.npy --output out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(In("out/0_.._.._soft_max_0.npy")));
}

TEST_F(Cli, RunTakesPictures) {
  nn::test::ModelSpec spec = nn::test::SmallUint8();
  Write("picture.tflite", nn::test::Build(spec));
  const std::string pgm = "P5 3 3 255\nabcdefghi";
  Write("picture.pgm", {pgm.begin(), pgm.end()});
  ASSERT_TRUE(WriteNpy(In("picture.npy"), Type::kUInt8, std::vector<int64_t>{1, 3, 3, 1},
                       std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'})
                  .ok());
  EXPECT_EQ(Run("run picture.tflite --image picture.pgm --output a").status, 0);
  EXPECT_EQ(Run("run picture.tflite --input picture.npy --output b").status, 0);
  EXPECT_NE(Text(In("a/0_y.npy")), "");
  EXPECT_EQ(Text(In("a/0_y.npy")), Text(In("b/0_y.npy")));
}

TEST_F(Cli, InspectTellsWhatTheModelIs) {
  const Outcome text = Run("inspect network.tflite");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("FULLY_CONNECTED"), std::string::npos);
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
  EXPECT_EQ(report["layers"][0]["macs"], 4 * 4 * 4 * 3 * 3 * 2);
  EXPECT_GT(report["arena_bytes"], 0);
  EXPECT_GT(report["memory_plan"].size(), 0u);
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

TEST_F(Cli, RunResizes) {
  Write("elementwise.tflite", nn::test::Build(nn::test::SmallElementwise()));
  ASSERT_TRUE(WriteNpy(In("batch.npy"), Type::kFloat32, std::vector<int64_t>{3, 4},
                       std::vector<uint8_t>(48))
                  .ok());
  const Outcome outcome = Run("run elementwise.tflite --input batch.npy --resize");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("float32 [3, 1]"), std::string::npos) << outcome.out;
  ExpectError("run elementwise.tflite --input batch.npy", 1, "batch.npy: holds float32 [3, 4]");
  ExpectError("run network.tflite --image x.bmp --resize", 2, "--resize");
}

TEST_F(Cli, BenchMeasures) {
  const Outcome text = Run("bench network.tflite --seconds 0.01 --threads 1");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("SOFTMAX"), std::string::npos);
  const Outcome outcome = Run("bench network.tflite --seconds 0 --threads 2 --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["format"], "intaglio-bench-1");
  EXPECT_EQ(report["threads"], 2);
  EXPECT_GE(report["runs"], 5);
  EXPECT_GE(report["median_ms"], report["min_ms"]);
  EXPECT_EQ(report["layers"].size(), 8u);
  const double peak = report["peak_gops"];
  EXPECT_GT(peak, 0);
  for (const json& layer : report["layers"]) {
    const double gops = layer["gops"];
    EXPECT_NEAR(layer["share_of_peak"], gops / peak, 1e-9) << layer["label"];
  }
}

// What the Trace Event Format asks of complete events, and one layer at a time.
TEST_F(Cli, BenchWritesATrace) {
  const Outcome outcome = Run("bench network.tflite --seconds 0 --threads 1 --trace trace.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json trace = json::parse(Text(In("trace.json")));
  size_t layers = 0;
  std::map<std::pair<int, int>, double> end;  // of the last event, by process and thread
  for (const json& event : trace.at("traceEvents")) {
    EXPECT_TRUE(event.at("name").is_string());
    EXPECT_TRUE(event.at("pid").is_number_integer());
    if (event.at("ph") == "M") {
      EXPECT_TRUE(event.at("args").at("name").is_string());
      continue;
    }
    ASSERT_EQ(event.at("ph"), "X") << event;
    ++layers;
    const double start = event.at("ts");
    const double duration = event.at("dur");
    double& last = end[{event.at("pid"), event.at("tid")}];
    EXPECT_GE(start, last) << event;
    EXPECT_GE(duration, 0) << event;
    last = start + duration;
  }
  EXPECT_EQ(layers, 8u);
}

TEST_F(Cli, VerifyFindsTheSameBits) {
  const Outcome outcome = Run("verify network.tflite --inputs 2");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("same bits with 1 to 8 threads"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("DIFFERS"), std::string::npos) << outcome.out;
}

TEST_F(Cli, CpuListsKernels) {
  const Outcome text = Run("cpu");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("used"), std::string::npos);
  const json report = json::parse(Run("cpu --json").out);
  EXPECT_EQ(report["format"], "intaglio-cpu-1");
  EXPECT_GE(report["kernels"].size(), 1u);
}

TEST_F(Cli, AFullDiskIsStatus1) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  const std::string command = INTAGLIO_PROGRAM " cpu > /dev/full 2> '" + In("err.txt") + "'";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(Text(In("err.txt")), "intaglio: cannot write to standard output\n");
}

}  // namespace
}  // namespace intaglio::tools
