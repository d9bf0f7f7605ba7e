#include "intaglio/test/nn/formats/onnx/cross_check.h"

#include <vector>

#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/formats/onnx/writer.h"
#include "intaglio/test/nn/formats/ways.h"

namespace intaglio::nn::test {
namespace {

Result<Graph> Import(std::span<const uint8_t> bytes) {
  return ImportOnnx(bytes, "bytes", {.limits = LimitedImport().limits});
}

// What runs and is written can be read, if memory allows.
std::string WhyWrittenIsNotRead(const Graph& graph) {
  if (!Model::Prepare(graph, Limited({})).ok()) return {};
  const Result<std::vector<uint8_t>> written = ExportOnnx(graph);
  if (!written.ok()) return {};
  const Status status = Import(*written).status();
  const bool is_fine = status.ok() || status.code() == StatusCode::kOutOfMemory;
  return is_fine ? std::string() : "written as .onnx: " + status.message();
}

}  // namespace

std::string ExerciseOnnx(std::span<const uint8_t> bytes) {
  const Result<Graph> graph = Import(bytes);
  if (!graph.ok()) return graph.status().message();
  return Outputs(*graph, RampInputs(*graph)).status().message();
}

std::string CrossCheckOnnx(std::span<const uint8_t> bytes) {
  const Result<Graph> graph = Import(bytes);
  if (!graph.ok()) return {};
  const std::string unreadable = WhyWrittenIsNotRead(*graph);
  if (!unreadable.empty()) return unreadable;
  size_t choice = 0;
  for (const uint8_t byte : bytes) choice += byte;
  return CompareWays(*graph, choice);
}

}  // namespace intaglio::nn::test
