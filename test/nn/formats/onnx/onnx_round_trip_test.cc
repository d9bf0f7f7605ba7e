// What was read from .onnx files, written and read again computes the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/formats/onnx/writer.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/onnx/golden_case.h"
#include "intaglio/test/nn/ops/golden_file.h"
#include "intaglio/test/nn/ops/golden_run.h"

namespace intaglio::nn {
namespace {

const std::string kFolder = INTAGLIO_SOURCE_DIR "/test/nn/formats/onnx/";

using Outputs = std::vector<test::GoldenOutput>;

// The outputs of all runs.
std::string RunAll(const Graph& graph, const std::vector<test::GoldenRun>& runs,
                   std::vector<Outputs>& all) {
  Result<Model> model = Model::Prepare(graph);
  if (!model.ok()) return model.status().message();
  for (const test::GoldenRun& run : runs) {
    std::vector<test::GoldenBytes> bytes;
    const Status status = test::RunGolden(*model, run, bytes);
    if (!status.ok()) return status.message();
    Outputs& outputs = all.emplace_back();
    for (size_t i = 0; i < bytes.size(); ++i) {
      const Tensor& tensor = model->output(i);
      outputs.push_back({test::NumberOf(tensor.type), tensor.shape, bytes[i]});
    }
  }
  return "";
}

// How the outputs of a case differ, or nothing.
std::string Difference(const std::vector<Outputs>& actual, const std::vector<Outputs>& expected) {
  for (size_t run = 0; run < expected.size(); ++run) {
    if (actual[run].size() != expected[run].size()) return "another number of outputs";
    for (size_t i = 0; i < expected[run].size(); ++i) {
      const test::GoldenOutput& a = actual[run][i];
      const test::GoldenOutput& e = expected[run][i];
      if (a.type != e.type || a.shape != e.shape) return "another type or shape";
      const auto same = [](float x, float y) { return test::IsSame(x, y); };
      if (test::FirstDifference(a.bytes, e, same))
        return "other bits in output " + std::to_string(i);
    }
  }
  return "";
}

// What goes wrong with a case that is read, or nothing.
std::string Failure(const std::vector<test::GoldenRun>& runs, const Graph& graph,
                    const std::vector<Outputs>& expected) {
  const Result<std::vector<uint8_t>> written = ExportOnnx(graph);
  if (!written.ok()) return "is not written: " + written.status().message();
  const Result<Graph> again = ImportOnnx(*written, "again");
  if (!again.ok()) return "is not read again: " + again.status().message();
  std::vector<Outputs> outputs;
  const std::string error = RunAll(*again, runs, outputs);
  if (!error.empty()) return "does not run again: " + error;
  return Difference(outputs, expected);
}

// Layers that stand for branches and loops are not written. They have the labels of their nodes.
bool HasControl(const Graph& graph) {
  return std::any_of(graph.layers.begin(), graph.layers.end(), [](const Layer& layer) {
    return layer.label.starts_with("If '") || layer.label.starts_with("Loop '") ||
           layer.label.starts_with("Scan '");
  });
}

// Takes the cases that are read and run. Returns how many pass.
int ExpectRoundTrips(const std::string& file) {
  int passed = 0;
  for (const test::GoldenCase& c : test::ReadGoldenFile(kFolder + file)) {
    const test::OnnxCase read = test::ReadOnnxCase(c);
    if (!read.graph.ok() || HasControl(*read.graph)) continue;
    std::vector<Outputs> expected;
    if (!RunAll(*read.graph, read.runs, expected).empty()) continue;
    const std::string failure = Failure(read.runs, *read.graph, expected);
    EXPECT_EQ(failure, "") << c.name;
    passed += failure.empty() ? 1 : 0;
  }
  std::cout << file << ": " << passed << " cases\n";
  return passed;
}

TEST(OnnxRoundTrip, NodeTests) { EXPECT_GT(ExpectRoundTrips("node_tests.golden"), 1000); }

TEST(OnnxRoundTrip, Operators) { EXPECT_GT(ExpectRoundTrips("operators.golden"), 100); }

TEST(OnnxRoundTrip, Quantized) { EXPECT_GT(ExpectRoundTrips("quantized.golden"), 100); }

TEST(OnnxRoundTrip, Recurrent) { EXPECT_GT(ExpectRoundTrips("recurrent.golden"), 50); }

}  // namespace
}  // namespace intaglio::nn
