// What was read, written and read again computes the same bits, and is written as the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/formats/tflite/writer.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"
#include "intaglio/test/nn/ops/golden_file.h"
#include "intaglio/test/nn/raw_run.h"
#include "intaglio/test/nn/shared_models.h"

namespace intaglio::nn {
namespace {

using Runs = std::vector<test::RawTensors>;

// Runs one instance several times. Returns why it gives no outputs, or nothing.
std::string Outcome(const Graph& graph, const Runs& inputs, Runs& outputs) {
  Result<Model> model = Model::Prepare(graph);
  if (!model.ok()) return model.status().message();
  for (const test::RawTensors& run : inputs) {
    const std::string error = test::RunRaw(*model, run, outputs.emplace_back());
    if (!error.empty()) return error;
  }
  return {};
}

// Returns whether the model ran.
bool ExpectRoundTrip(const Graph& graph, const Runs& inputs) {
  const Result<std::vector<uint8_t>> written = ExportTflite(graph);
  if (!written.ok()) {
    ADD_FAILURE() << written.status().message();
    return false;
  }
  const Result<Graph> again = ImportTflite(*written, nullptr, graph.name);
  if (!again.ok()) {
    ADD_FAILURE() << again.status().message();
    return false;
  }
  EXPECT_EQ(again->layers.size(), graph.layers.size());
  const Result<std::vector<uint8_t>> rewritten = ExportTflite(*again);
  EXPECT_TRUE(rewritten.ok());
  EXPECT_EQ(*rewritten, *written) << "the second file differs from the first";
  Runs expected;
  Runs outputs;
  const std::string error = Outcome(graph, inputs, expected);
  const std::string error_again = Outcome(*again, inputs, outputs);
  EXPECT_EQ(error_again, error);
  EXPECT_EQ(outputs, expected);
  return error.empty();
}

Runs SomeInputs(const Graph& graph) {
  return {test::RandomInputs(graph, 1), test::RandomInputs(graph, 2)};
}

// Every operator.
class GoldenRoundTrip : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Families, GoldenRoundTrip, testing::ValuesIn(test::GoldenFiles()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return std::filesystem::path(info.param).stem().string();
                         });

TEST_P(GoldenRoundTrip, GivesTheSameBits) {
  size_t ran = 0;
  for (const test::GoldenCase& c : test::ReadGoldenFile(GetParam())) {
    if (!c.error.empty()) continue;
    SCOPED_TRACE(c.name);
    const Result<Graph> graph = ImportTflite(c.model, nullptr, "case");
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    Runs inputs;
    for (const test::GoldenRun& run : c.runs) inputs.push_back(run.inputs);
    ran += ExpectRoundTrip(*graph, inputs) ? 1 : 0;
  }
  EXPECT_GT(ran, 0u);
}

TEST(CraftedRoundTrip, GivesTheSameBits) {
  test::ModelSpec old = test::SmallNetwork();
  old.deprecated_codes = true;
  for (const test::ModelSpec& spec :
       {test::SmallNetwork(), old, test::SmallElementwise(), test::SmallUint8()}) {
    const std::vector<uint8_t> bytes = test::Build(spec);
    const Result<Graph> graph = ImportTflite(bytes, nullptr, "crafted");
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_TRUE(ExpectRoundTrip(*graph, SomeInputs(*graph)));
  }
}

// Of the models that are there, those that the reader takes.
TEST(SharedRoundTrip, GivesTheSameBits) {
  const std::vector<std::filesystem::path> files = test::SharedModelFiles();
  if (files.empty()) GTEST_SKIP() << test::NoSharedModels();
  size_t ran = 0;
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    const Result<Graph> graph = LoadTflite(file.string());
    if (graph.ok()) ran += ExpectRoundTrip(*graph, SomeInputs(*graph)) ? 1 : 0;
  }
  EXPECT_GT(ran, 40u) << "of " << files.size() << " models";
}

}  // namespace
}  // namespace intaglio::nn
