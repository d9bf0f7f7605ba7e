// Runs the program: exit status, the one line of an error, and what it prints and writes.
#include "intaglio/test/tools/cli.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/formats/save.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::tools {
namespace {

using nlohmann::json;

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
  for (const char* const seconds : {"nan", "-nan", "inf", "-1", "-0.1", "3601", "1e400", "x", ""}) {
    ExpectError("bench network.tflite --seconds '" + std::string(seconds) + "'", 2, "--seconds");
  }
  ExpectError("run network.tflite --image x.bmp --std 0", 2, "--std");
  ExpectError("run network.tflite --image x.bmp --mean nan", 2, "--mean");
  ExpectError("run network.tflite --input x.npy --mean 0", 2, "--image");
}

TEST_F(Cli, EveryCommandRefusesAnIsaThatNamesNothing) {
  ASSERT_EQ(setenv("INTAGLIO_ISA", "mmx", 1), 0);
  for (const char* const arguments :
       {"run network.tflite --input x.npy", "inspect network.tflite", "bench network.tflite",
        "verify network.tflite", "convert network.tflite out.tflite",
        "partition network.tflite out", "operators", "cpu"}) {
    ExpectError(arguments, 2, "INTAGLIO_ISA=mmx is none of ");
    ExpectError(arguments, 2, ", scalar");
  }
  EXPECT_EQ(Run("--version").status, 0);
  ASSERT_EQ(unsetenv("INTAGLIO_ISA"), 0);
}

TEST_F(Cli, MistypedWordsGetASuggestion) {
  ExpectError("benhc network.tflite", 2,
              "there is no command 'benhc'; did you mean bench?; see intaglio --help");
  ExpectError("run network.tflite --treads 2", 2,
              "there is no option --treads; did you mean --threads?; see intaglio run --help");
  ExpectError("inspect --jsn", 2, "there is no option --jsn; did you mean --json?");
  ExpectError("bench network.tflite --secnods=2", 2, "did you mean --seconds?");
  ExpectError("--versoin", 2, "did you mean --version?");
}

TEST_F(Cli, OptionsTakeOneValue) {
  EXPECT_EQ(Run("run --input x.npy network.tflite --threads 1").status, 0);
  EXPECT_EQ(Run("inspect --shape 1x4x4x2 network.tflite --json").status, 0);
}

TEST_F(Cli, KnowsItsVersion) {
  const Outcome outcome = Run("--version");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out.find("intaglio "), 0u) << outcome.out;
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
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
              "shape.npy: holds int8 [1, 4, 2, 4], but input 0 'x' is int8 [1, 4, 4, 2]; --resize");
  ExpectError(run + "--input type.npy", 1,
              "type.npy: holds uint8 [1, 4, 4, 2], but input 0 'x' is int8 [1, 4, 4, 2]");
  ExpectError(run + "--input x.npy --input x.npy", 1, "the model has only 1 inputs");
  ExpectError(run + "--input x=x.npy --input x=x.npy", 1, "input 'x' is given twice");
  ExpectError(run + "--input y=x.npy", 1, "the model has no input 'y'");
  ExpectError(run + "--input x.npy --labels none.txt", 1, "none.txt: cannot open");
  ExpectError(run + "--image x.npy", 1,
              "not a picture of uint8, int8 or float32; give it with --input");
  ExpectError("bench network.tflite --kernel none", 1, "none");
  for (const char* const command : {"bench", "verify"}) {
    const std::string c = std::string(command) + " network.tflite ";
    ExpectError(c + "--input none.npy", 1, "none.npy: cannot open: No such file or directory");
    ExpectError(c + "--input type.npy", 1, "type.npy: holds uint8 [1, 4, 4, 2]");
    ExpectError(c + "--input y=x.npy", 1, "the model has no input 'y'");
  }
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

nn::test::TensorSpec MakeTensor(const char* name, nn::tflite::TensorType type,
                                std::vector<int> shape) {
  nn::test::TensorSpec tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = std::move(shape);
  return tensor;
}

// One operator that uses all tensors. The last tensor is its output.
nn::test::ModelSpec MakeModel(nn::tflite::BuiltinOperator code, nn::test::MakeOptions options,
                              std::vector<nn::test::TensorSpec> tensors) {
  nn::test::ModelSpec spec;
  for (int i = 0; i + 1 < static_cast<int>(tensors.size()); ++i) spec.inputs.push_back(i);
  spec.outputs = {static_cast<int>(tensors.size()) - 1};
  spec.tensors = std::move(tensors);
  nn::test::OperatorSpec& op = spec.operators.emplace_back();
  op.code = code;
  op.inputs = spec.inputs;
  op.outputs = spec.outputs;
  op.options = std::move(options);
  return spec;
}

// float32 [1, 2, 2, C] through an operator that keeps numbers that are not negative.
nn::test::ModelSpec FloatPicture(int channels) {
  const auto type = nn::tflite::TensorType::FLOAT32;
  return MakeModel(
      nn::tflite::BuiltinOperator::RELU, nullptr,
      {MakeTensor("x", type, {1, 2, 2, channels}), MakeTensor("y", type, {1, 2, 2, channels})});
}

std::vector<float> Floats(const std::string& path) {
  const Result<NpyArray> array = ReadNpy(path);
  EXPECT_TRUE(array.ok()) << array.status().message();
  if (!array.ok()) return {};
  std::vector<float> values(array->data.size() / sizeof(float));
  std::memcpy(values.data(), array->data.data(), array->data.size());
  return values;
}

TEST_F(Cli, PicturesBecomeFloats) {
  Write("grey.tflite", nn::test::Build(FloatPicture(1)));
  Write("rgb.tflite", nn::test::Build(FloatPicture(3)));
  const std::string pgm = std::string("P5 2 2 255\n\x80\xff\xc0\x00", 15);
  Write("grey.pgm", {pgm.begin(), pgm.end()});
  ASSERT_EQ(Run("run grey.tflite --image grey.pgm --output a").status, 0);
  EXPECT_EQ(Floats(In("a/0_y.npy")), (std::vector<float>{0.5f / 127.5f, 1, 64.5f / 127.5f, 0}))
      << "from -1 to 1";
  ASSERT_EQ(Run("run grey.tflite --image grey.pgm --mean 0 --std 255 --output b").status, 0);
  EXPECT_EQ(Floats(In("b/0_y.npy")), (std::vector<float>{128.0f / 255, 1, 192.0f / 255, 0}))
      << "from 0 to 1";
  ASSERT_EQ(Run("run rgb.tflite --image grey.pgm --mean 0,64,128 --std 1,2,4 --output c").status,
            0);
  const std::vector<float> rgb = Floats(In("c/0_y.npy"));
  EXPECT_EQ(std::vector<float>(rgb.begin(), rgb.begin() + 6),
            (std::vector<float>{128, 32, 0, 255, 95.5f, 31.75f}));
  ExpectError("run grey.tflite --image grey.pgm --mean 1,2,3", 1, "each of the 1 channels");
  Write("bytes.tflite", nn::test::Build(nn::test::SmallUint8()));
  ExpectError("run bytes.tflite --image grey.pgm --std 255", 1, "are for inputs of float32");
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

TEST_F(Cli, EveryCommandTakesShapes) {
  Write("elementwise.tflite", nn::test::Build(nn::test::SmallElementwise()));
  const std::string name = nn::LoadSignature(In("elementwise.tflite"))->tensors[0].name;
  for (const std::string& shape : {std::string("3x4"), name + "=3x4"}) {
    const Outcome outcome = Run("inspect elementwise.tflite --shape " + shape);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("float32 [3, 1]"), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(Run("bench elementwise.tflite --seconds 0 --shape 3x4").status, 0);
  EXPECT_EQ(Run("verify elementwise.tflite --shape 3x4").status, 0);
  ExpectError("bench elementwise.tflite --seconds 0 --shape nobody=3x4", 1,
              "--shape nobody=3x4: the model has");
  ExpectError("bench elementwise.tflite --seconds 0 --shape 3x4 --shape 1 --shape 1 --shape 1", 1,
              "only");
  for (const char* const wrong : {"3x", "x3", "3x-4", "99999999999", "3*4"}) {
    ExpectError(std::string("bench elementwise.tflite --seconds 0 --shape ") + wrong, 1,
                "not numbers such as");
  }
}

TEST_F(Cli, RunResizesBeforeItPrepares) {
  nn::test::ModelSpec spec = nn::test::SmallNetwork();
  spec.tensors[0].shape = {1, 1, 1, 2};
  Write("placeholder.tflite", nn::test::Build(spec));
  const Outcome outcome = Run("run placeholder.tflite --input x=x.npy --resize");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("'x' int8 [1, 4, 4, 2]"), std::string::npos) << outcome.out;
}

TEST_F(Cli, MemoryAndWorkHaveLimits) {
  for (const char* const command :
       {"run network.tflite --input x.npy", "bench network.tflite --seconds 0",
        "verify network.tflite", "inspect network.tflite", "partition network.tflite limited"}) {
    SCOPED_TRACE(command);
    const Outcome memory = Run(std::string(command) + " --max-memory 64K");
    EXPECT_EQ(memory.status, 1);
    EXPECT_NE(memory.err.find("but 65536 are allowed"), std::string::npos) << memory.err;
    const Outcome work = Run(std::string(command) + " --max-work 100");
    EXPECT_EQ(work.status, 1);
    EXPECT_NE(work.err.find("but 100 are allowed"), std::string::npos) << work.err;
    EXPECT_EQ(Run(std::string(command) + " --max-memory 64M --max-work 1000000").status, 0);
  }
  const json report = json::parse(Run("inspect network.tflite --json --max-memory 64M").out);
  EXPECT_EQ(report["max_memory_bytes"], 64 << 20);
  EXPECT_GE(report["memory_bytes"],
            report["packed_constant_bytes"].get<int64_t>() + report["arena_bytes"].get<int64_t>());
  EXPECT_GT(report["work"], report["macs"]);
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
  EXPECT_NE(outcome.out.find("same bits with every exact routine"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.out.find("DIFFER"), std::string::npos) << outcome.out;
}

// The sums add NaN of several payloads. Each kernel's instructions choose which one comes out.
TEST_F(Cli, VerifyTakesNanForOneValue) {
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < 16 * 33; ++i) {
    numbers.push_back(i % 3 == 0 ? 0x7fc00000u + i : i % 3 == 1 ? 0xffc00000u + i : 0x3f800000u);
  }
  using nn::tflite::TensorType;
  auto weights = MakeTensor("w", TensorType::FLOAT32, {33, 16});
  weights.data = nn::test::Bytes<uint32_t>(numbers);
  auto bias = MakeTensor("b", TensorType::FLOAT32, {33});
  bias.data = nn::test::Bytes<uint32_t>({numbers.end() - 33, numbers.end()});
  nn::test::ModelSpec model =
      MakeModel(nn::tflite::BuiltinOperator::FULLY_CONNECTED,
                [](nn::test::Builder& b) {
                  return nn::test::Options(nn::tflite::BuiltinOptions::FullyConnectedOptions,
                                           nn::tflite::CreateFullyConnectedOptions(b).Union());
                },
                {MakeTensor("x", TensorType::FLOAT32, {5, 16}), weights, bias,
                 MakeTensor("y", TensorType::FLOAT32, {5, 33})});
  model.inputs = {0};
  Write("nan.tflite", nn::test::Build(model));
  const Outcome outcome = Run("verify nan.tflite");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

// GATHER from [5, 3] by indices [8].
nn::test::ModelSpec SmallGather() {
  return MakeModel(nn::tflite::BuiltinOperator::GATHER,
                   [](nn::test::Builder& b) {
                     return nn::test::Options(nn::tflite::BuiltinOptions::GatherOptions,
                                              nn::tflite::CreateGatherOptions(b).Union());
                   },
                   {MakeTensor("table", nn::tflite::TensorType::INT8, {5, 3}),
                    MakeTensor("indices", nn::tflite::TensorType::INT32, {8}),
                    MakeTensor("y", nn::tflite::TensorType::INT8, {8, 3})});
}

TEST_F(Cli, BenchAndVerifyMakeInputsOrTakeThem) {
  Write("gather.tflite", nn::test::Build(SmallGather()));
  ASSERT_TRUE(WriteNpy(In("good.npy"), Type::kInt32, std::vector<int64_t>{8},
                       nn::test::Bytes<int32_t>({0, 1, 2, 3, 4, 0, 1, 2}))
                  .ok());
  ASSERT_TRUE(WriteNpy(In("bad.npy"), Type::kInt32, std::vector<int64_t>{8},
                       nn::test::Bytes<int32_t>({0, 1, 2, 3, 5, 0, 1, 2}))
                  .ok());
  ASSERT_TRUE(WriteNpy(In("table.npy"), Type::kInt8, std::vector<int64_t>{5, 3},
                       std::vector<uint8_t>(15, 9))
                  .ok());
  for (const char* const command : {"bench --seconds 0", "verify"}) {
    const std::string c = command + std::string(" gather.tflite");
    for (const char* const given : {"", " --input indices=good.npy", " --input table.npy",
                                    " --input table.npy --input good.npy"}) {
      const Outcome outcome = Run(c + given);
      EXPECT_EQ(outcome.status, 0) << c << given << ": " << outcome.err;
    }
    ExpectError(c + " --input indices=bad.npy", 1, "the index 5 is not in [0, 5)");
  }
  EXPECT_NE(Run("verify gather.tflite").out.find("outputs of 4 inputs: "), std::string::npos);
  EXPECT_NE(Run("verify gather.tflite --input table.npy --input good.npy")
                .out.find("outputs of 1 input: "),
            std::string::npos);
}

TEST_F(Cli, CpuListsKernels) {
  const Outcome text = Run("cpu");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("used"), std::string::npos);
  const json report = json::parse(Run("cpu --json").out);
  EXPECT_EQ(report["format"], "intaglio-cpu-1");
  EXPECT_GE(report["kernels"].size(), 1u);
}

TEST_F(Cli, PartsAreVerified) {
  Write("stateful.tflite", nn::test::Build(nn::test::SmallStateful()));
  for (const char* const model : {"network.tflite", "stateful.tflite"}) {
    const Outcome verified = Run(std::string("partition ") + model + " parts");
    EXPECT_EQ(verified.status, 0) << verified.err;
    EXPECT_NE(verified.out.find("verified in 3 runs"), std::string::npos) << verified.out;
    const Outcome unverified = Run(std::string("partition ") + model + " other --no-verify");
    EXPECT_EQ(unverified.status, 0) << unverified.err;
    EXPECT_EQ(unverified.out.find("verified"), std::string::npos) << unverified.out;
    for (const char* const part : {"quantize_inputs", "quantized_main", "dequantize_outputs"}) {
      const std::string name = std::string(part) + ".tflite";
      EXPECT_EQ(Text(In("parts/" + name)), Text(In("other/" + name)));
    }
  }
  const Outcome sensor = Run("partition network.tflite sensed --sensor uint8,127.5,0.01");
  EXPECT_EQ(sensor.status, 0) << sensor.err;
  EXPECT_NE(sensor.out.find("verified in 3 runs"), std::string::npos) << sensor.out;
  EXPECT_EQ(Run("partition network.tflite given --input x.npy").status, 0);
  ExpectError("partition network.tflite wrong --input none.npy", 1,
              "network.tflite: none.npy: cannot open: No such file or directory (nothing was "
              "written; --no-verify writes without)");
  EXPECT_FALSE(fs::exists(In("wrong")));
}

// Whether this build has .onnx files.
bool HasOnnx(const std::string& operators) {
  return operators.find("## .onnx") != std::string::npos;
}

TEST_F(Cli, ModelsAreConverted) {
  if (!HasOnnx(Run("operators").out)) GTEST_SKIP() << "without .onnx";
  const Outcome there = Run("convert network.tflite network.onnx");
  ASSERT_EQ(there.status, 0) << there.err;
  EXPECT_NE(there.out.find("in 3 runs\nwrote    network.onnx: "), std::string::npos) << there.out;
  EXPECT_EQ(Run("verify network.onnx").status, 0);
  // The file says that its integers are rounded by ONNX's rules.
  ExpectError("convert network.onnx again.tflite", 1, "again.tflite: ");
  EXPECT_FALSE(fs::exists(In("again.tflite")));
  const Outcome same = Run("convert network.onnx again.onnx --input x.npy");
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_NE(same.out.find(": the same in 3 runs\n"), std::string::npos) << same.out;
  EXPECT_EQ(Run("convert network.tflite copy.tflite --no-verify").out.find("output"),
            std::string::npos);
  ExpectError("convert network.tflite network.txt", 1,
              "network.txt: the name must end in .tflite or .onnx, which says the format");
}

// Sums of .onnx files keep infinities.
TEST_F(Cli, FiniteModelsAreConverted) {
  if (!HasOnnx(Run("operators").out)) GTEST_SKIP() << "without .onnx";
  nn::Builder b;
  const nn::Value x = b.Input("x", Type::kFloat32, {1, 4});
  b.Output(b.Layer(nn::Add{.keeps_infinities = true}, {x.id, x.id}, Type::kFloat32, {}), "y");
  ASSERT_TRUE(nn::SaveGraph(*b.Finish(), In("sum.onnx")).ok());
  ExpectError("convert sum.onnx sum.tflite", 1, "infinities");
  const Outcome finite = Run("convert --finite sum.onnx sum.tflite");
  EXPECT_EQ(finite.status, 0) << finite.err;
  EXPECT_NE(finite.out.find(": the same in 3 runs\n"), std::string::npos) << finite.out;
}

// y = x w, where w has 16 KiB.
nn::Graph WideProduct() {
  nn::Builder b;
  const nn::Value x = b.Input("x", Type::kFloat32, {1, 64});
  const auto w = b.Const<float>("w", std::vector<float>(64 * 64, 0.5f), {64, 64});
  b.Output(b.Layer(nn::FullyConnected{}, {x.id, w.id}, Type::kFloat32, {}), "y");
  return *b.Finish();
}

TEST_F(Cli, ConstantsAreWrittenApart) {
  if (!HasOnnx(Run("operators").out)) GTEST_SKIP() << "without .onnx";
  ASSERT_TRUE(nn::SaveGraph(WideProduct(), In("wide.tflite")).ok());
  const Outcome apart = Run("convert wide.tflite wide.onnx --constants-apart");
  ASSERT_EQ(apart.status, 0) << apart.err;
  EXPECT_NE(apart.out.find(": the same in 3 runs\n"), std::string::npos) << apart.out;
  EXPECT_EQ(fs::file_size(In("wide.onnx.data")), 64u * 64 * sizeof(float));
  const Outcome together = Run("convert wide.onnx again.onnx");
  EXPECT_NE(together.out.find(": the same in 3 runs\n"), std::string::npos) << together.err;
  EXPECT_FALSE(fs::exists(In("again.onnx.data")));
}

TEST_F(Cli, PartsAreWrittenInAFormat) {
  if (!HasOnnx(Run("operators").out)) GTEST_SKIP() << "without .onnx";
  const Outcome parts = Run("partition network.tflite parts --format onnx");
  ASSERT_EQ(parts.status, 0) << parts.err;
  EXPECT_NE(parts.out.find("as .onnx files they may differ by rounding"), std::string::npos);
  for (const char* const part : {"quantize_inputs", "quantized_main", "dequantize_outputs"}) {
    EXPECT_EQ(Run("verify parts/" + std::string(part) + ".onnx").status, 0) << part;
  }
  ExpectError("partition network.tflite parts --format pb", 2, "--format");
}

}  // namespace
}  // namespace intaglio::tools
