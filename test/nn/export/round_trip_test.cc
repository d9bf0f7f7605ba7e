// What was read, written and read again computes the same bits, and is written as the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/nn/export/tflite_writer.h"
#include "intaglio/nn/import/tflite_reader.h"
#include "intaglio/nn/model.h"
#include "intaglio/test/nn/import/crafted_models.h"
#include "intaglio/test/nn/ops/golden_file.h"
#include "intaglio/test/nn/raw_run.h"
#include "intaglio/test/nn/shared_models.h"

namespace intaglio::nn {
namespace {

// What a run gives, or why it gives nothing.
std::string Outcome(const Graph& graph, const test::RawTensors& inputs, test::RawTensors& outputs) {
  Result<Model> model = Model::Prepare(graph);
  return model.ok() ? test::RunRaw(*model, inputs, outputs) : model.status().message();
}

// The writer does not know all operators.
bool CanBeWritten(const Graph& graph) {
  constexpr std::string_view kUnknown[] = {"LSTM",          "UNIDIRECTIONAL_SEQUENCE_LSTM",
                                           "RNN",           "UNIDIRECTIONAL_SEQUENCE_RNN",
                                           "SVDF",          "TFLite_Detection_PostProcess",
                                           "READ_VARIABLE", "ASSIGN_VARIABLE",
                                           "WHILE",         "IF"};
  return std::none_of(graph.layers.begin(), graph.layers.end(), [&](const Layer& layer) {
    const auto* const end = std::end(kUnknown);
    const bool computed_shape =
        std::holds_alternative<TransposeConv>(layer.op) && layer.inputs.size() > 3;
    const bool computed_place = std::holds_alternative<DynamicSlice>(layer.op);
    return computed_shape || computed_place ||
           std::find(std::begin(kUnknown), end, NameOf(layer.op)) != end;
  });
}

// Returns whether the model ran.
bool ExpectRoundTrip(const Graph& graph, const test::RawTensors& inputs) {
  if (!CanBeWritten(graph)) {
    const Status status = ExportTflite(graph).status();
    EXPECT_NE(status.message().find("the writer of .tflite files does not know"), std::string::npos)
        << status.message();
    return true;
  }
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
  test::RawTensors expected;
  test::RawTensors outputs;
  const std::string error = Outcome(graph, inputs, expected);
  const std::string error_again = Outcome(*again, inputs, outputs);
  EXPECT_EQ(error_again.empty(), error.empty()) << error << error_again;
  EXPECT_EQ(outputs, expected);
  return error.empty();
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
    for (const test::GoldenRun& run : c.runs) ran += ExpectRoundTrip(*graph, run.inputs) ? 1 : 0;
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
    EXPECT_TRUE(ExpectRoundTrip(*graph, test::RandomInputs(*graph, 1)));
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
    if (graph.ok()) ran += ExpectRoundTrip(*graph, test::RandomInputs(*graph, 2)) ? 1 : 0;
  }
  EXPECT_GT(ran, 40u) << "of " << files.size() << " models";
}

}  // namespace
}  // namespace intaglio::nn
