// Models of one operator against what TFLite's reference kernels made of them, bit for bit: every
// file of the folder golden/, whose format golden/record.py describes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/fixedpoint/foreign_float_environment.h"
#include "intaglio/test/nn/formats/tflite/exercise.h"
#include "intaglio/test/nn/guarded_buffer.h"
#include "intaglio/test/nn/ops/golden_file.h"
#include "intaglio/test/nn/ops/golden_run.h"

namespace intaglio::nn {
namespace {

using Bytes = test::GoldenBytes;
using Case = test::GoldenCase;
using RunOfCase = test::GoldenRun;

// The reference kernels do not fuse.
Result<Model> Load(const Case& c, PrepareOptions options) {
  options.float_sums = FloatSums::kUnfused;
  Result<Graph> graph = ImportTflite(c.model, nullptr, "case");
  if (!graph.ok()) return graph.status();
  return Model::Prepare(std::move(*graph), options);
}

// Whether two numbers are the same, or within the bound.
bool IsClose(float actual, float expected, float bound) {
  if (test::IsSame(actual, expected)) return true;
  if (bound == 0 || !std::isfinite(expected)) return false;
  return std::fabs(actual - expected) <= bound * std::max(1.0f, std::fabs(expected));
}

void ExpectOutputs(const Case& c, const Model& model, const RunOfCase& run,
                   const std::vector<Bytes>& outputs) {
  ASSERT_EQ(outputs.size(), run.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(test::NumberOf(model.output(i).type), run.outputs[i].type);
    EXPECT_EQ(model.output(i).shape, run.outputs[i].shape);
    const std::optional<size_t> at = test::FirstDifference(
        outputs[i], run.outputs[i], [&c](float a, float e) { return IsClose(a, e, c.bound); });
    EXPECT_FALSE(at.has_value()) << "output " << i << " differs at byte " << *at << ": "
                                 << testing::PrintToString(outputs[i]) << " instead of "
                                 << testing::PrintToString(run.outputs[i].bytes);
  }
}

// Every run, twice over: what a run leaves behind must not matter, but for the state.
void ExpectRuns(const Case& c, Model& model) {
  for (int round = 0; round < 2; ++round) {
    model.ResetState();
    for (const RunOfCase& run : c.runs) {
      std::vector<Bytes> outputs;
      const Status status = test::RunGolden(model, run, outputs);
      ASSERT_TRUE(status.ok()) << status.message();
      ExpectOutputs(c, model, run, outputs);
    }
  }
}

// Runs the case on bound buffers, behind whose ends nothing may be touched.
void ExpectBoundRuns(const Case& c, Model& model) {
  model.ResetState();
  for (const RunOfCase& run : c.runs) {
    std::list<GuardedBuffer> buffers;
    for (size_t i = 0; i < run.inputs.size(); ++i) {
      GuardedBuffer& input = buffers.emplace_back(run.inputs[i].size());
      std::copy(run.inputs[i].begin(), run.inputs[i].end(), input.data());
      const Status status = model.BindInput(i, {input.data(), input.size(), model.input(i).type});
      ASSERT_TRUE(status.ok()) << status.message();
    }
    for (size_t i = 0; i < model.output_count(); ++i) {
      const Tensor& tensor = model.output(i);
      GuardedBuffer& output = buffers.emplace_back(*CountBytes(tensor.shape, tensor.type));
      const Status status = model.BindOutput(i, {output.data(), output.size(), tensor.type});
      ASSERT_TRUE(status.ok()) << status.message();
    }
    const Status status = model.RunBound();
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<Bytes> results;
    for (const GuardedBuffer& buffer : buffers) {
      results.emplace_back(buffer.data(), buffer.data() + buffer.size());
    }
    const auto first_output = results.begin() + static_cast<ptrdiff_t>(run.inputs.size());
    EXPECT_TRUE(std::equal(results.begin(), first_output, run.inputs.begin())) << "input changed";
    ExpectOutputs(c, model, run, {first_output, results.end()});
  }
}

// The bytes charged for a layer before it is prepared are at least those that it then holds.
void ExpectBounds(const Case& c) {
  const Result<Graph> graph = ImportTflite(c.model, nullptr, "case");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (size_t i = 0; i < graph->layers.size(); ++i) {
    const LayerView layer(*graph, i);
    const Result<PreparedLayer> prepared = Prepare(layer, {});
    if (!prepared.ok()) continue;
    EXPECT_LE(prepared->constant_bytes, BoundPreparation(layer));
  }
}

// With this kernel, or the best one; returns whether a layer uses a kernel.
bool ExpectCase(const Case& c, const PrepareOptions& options) {
  Result<Model> model = Load(c, options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return false;
  }
  ExpectRuns(c, *model);
  ExpectBoundRuns(c, *model);
  const std::vector<LayerInfo>& layers = model->layers();
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerInfo& layer) { return !layer.kernel.empty(); });
}

void ExpectError(const Case& c) {
  Result<Model> model = Load(c, {});
  Status status = model.ok() ? Status() : model.status();
  std::vector<Bytes> outputs;
  if (model.ok() && !c.runs.empty()) status = test::RunGolden(*model, c.runs[0], outputs);
  EXPECT_TRUE(test::Says(status.message(), c.error))
      << "the error is: " << status.message() << "\ninstead of: " << c.error;
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
}

class Golden : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Families, Golden, testing::ValuesIn(test::GoldenFiles()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return std::filesystem::path(info.param).stem().string();
                         });

TEST_P(Golden, IsWhatTheReferenceMade) {
  const std::vector<Case> cases = test::ReadGoldenFile(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    if (!c.error.empty()) {
      ExpectError(c);
      continue;
    }
    EXPECT_FALSE(c.runs.empty());
    ExpectBounds(c);
    PrepareOptions apart;
    apart.keep_all_tensors = true;
    ExpectCase(c, apart);
    if (!ExpectCase(c, {})) continue;
    for (const KernelInfo& kernel : ListKernels()) {
      if (!kernel.usable) continue;
      SCOPED_TRACE(kernel.name);
      PrepareOptions options;
      options.kernel = kernel.name;
      options.threads = 2;
      ExpectCase(c, options);
    }
  }
}

// Nobody promises the sign and payload of NaN.
void MakeNanOne(Bytes& reals) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (size_t at = 0; at < reals.size(); at += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, reals.data() + at, sizeof(number));
    if (std::isnan(number)) std::memcpy(reals.data() + at, &kNan, sizeof(kNan));
  }
}

// The outputs of all runs in turn, with fused sums where the kernel has them.
std::vector<std::vector<Bytes>> FusedOutputs(const Case& c, const std::string& kernel,
                                             bool& fuses) {
  Result<Graph> graph = ImportTflite(c.model, nullptr, "case");
  std::vector<std::vector<Bytes>> all;
  if (!graph.ok()) return all;
  Result<Model> model = Model::Prepare(std::move(*graph), {.threads = 2, .kernel = kernel});
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return all;
  fuses = model->float_sums() == FloatSums::kFused;
  for (const RunOfCase& run : c.runs) {
    std::vector<Bytes>& outputs = all.emplace_back();
    EXPECT_TRUE(test::RunGolden(*model, run, outputs).ok());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (model->output(i).type == Type::kFloat32) MakeNanOne(outputs[i]);
    }
  }
  return all;
}

// The order of sums depends on nothing that differs between kernels.
TEST_P(Golden, KernelsThatFuseAgree) {
  for (const Case& c : test::ReadGoldenFile(GetParam())) {
    if (!c.error.empty()) continue;
    SCOPED_TRACE(c.name);
    std::optional<std::vector<std::vector<Bytes>>> expected;
    for (const KernelInfo& kernel : ListKernels()) {
      bool fuses = false;
      if (!kernel.usable) continue;
      std::vector<std::vector<Bytes>> got = FusedOutputs(c, kernel.name, fuses);
      if (!fuses) continue;
      if (!expected)
        expected = std::move(got);
      else
        EXPECT_EQ(got, *expected) << kernel.name;
    }
  }
}

// Neither preparation nor a run uses the caller's rounding mode, on any thread.
TEST_P(Golden, IsTheSameInEveryFloatEnvironment) {
  for (const Case& c : test::ReadGoldenFile(GetParam())) {
    if (!c.error.empty()) continue;
    SCOPED_TRACE(c.name);
    for (const intaglio::test::FloatMode& mode : intaglio::test::kForeignFloatModes) {
      SCOPED_TRACE(mode.name);
      const intaglio::test::ForeignFloatEnvironment foreign(mode);
      PrepareOptions options;
      options.threads = 2;
      ExpectCase(c, options);
    }
  }
}

// Right models with one bit flipped, here and there: whatever comes of it must be a model that runs
// or one line that says why not; the address sanitizer sees the rest.
TEST_P(Golden, SurvivesFlippedBits) {
  const std::vector<Case> cases = test::ReadGoldenFile(GetParam());
  constexpr size_t kStep = 211;
  size_t refused = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].name);
    Bytes bytes = cases[i].model;
    for (size_t bit = i % kStep; bit < 8 * bytes.size(); bit += kStep) {
      const auto mask = static_cast<uint8_t>(1 << (bit % 8));
      bytes[bit / 8] ^= mask;
      const std::string error = test::Exercise(bytes);
      bytes[bit / 8] ^= mask;
      ASSERT_EQ(error.find('\n'), std::string::npos) << error;
      refused += error.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, cases.size());
}

// Shapes of a graph inside a layer follow from those given to it.
TEST(GoldenResized, StateOfALoop) {
  const std::vector<std::string> files = test::GoldenFiles();
  const auto file = std::find_if(files.begin(), files.end(), [](const std::string& path) {
    return std::filesystem::path(path).stem() == "control";
  });
  ASSERT_NE(file, files.end());
  const std::vector<Case> cases = test::ReadGoldenFile(*file);
  const auto c = std::find_if(cases.begin(), cases.end(), [](const Case& each) {
    return each.name == "5 rounds float32(2, 3)";
  });
  ASSERT_NE(c, cases.end());
  Result<Graph> graph = ImportTflite(c->model, nullptr, "case", {.input_shapes = {{4, 1, 5}}});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<float> x(20, 1.5f);
  std::vector<float> y(20);
  const Status status = model->Run(std::vector<InputBuffer>{MakeInput(std::span<const float>(x))},
                                   std::vector<OutputBuffer>{MakeOutput(std::span<float>(y))});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(y, std::vector<float>(20, 48));
}

}  // namespace
}  // namespace intaglio::nn
