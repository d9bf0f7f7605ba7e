#include "intaglio/test/nn/formats/onnx/cross_check.h"

#include <memory>
#include <vector>

#include "intaglio/nn/formats/onnx/import_mapped.h"
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

// Reads the file at an address that few constants are aligned for, and lets all of them stay there.
Result<Graph> ImportWhereItLies(std::span<const uint8_t> bytes, size_t choice) {
  const auto file = std::make_shared<std::vector<uint8_t>>(choice % 8);
  file->insert(file->end(), bytes.begin(), bytes.end());
  return onnx::ImportMapped({std::span(*file).last(bytes.size()), file}, "bytes",
                            {.limits = LimitedImport().limits}, 1);
}

// Constants may stay in the file or be copied out of it: both are the same model. They take
// different amounts of memory, so that one alone may be refused for it.
std::string WhyItDiffersWhereItLies(std::span<const uint8_t> bytes, size_t choice,
                                    const Result<Graph>& copied) {
  const Result<Graph> graph = ImportWhereItLies(bytes, choice);
  for (const Result<Graph>* const one : {&copied, &graph}) {
    if (one->status().code() == StatusCode::kOutOfMemory) return {};
  }
  if (copied.status().message() != graph.status().message()) {
    return "constants in the file: " + graph.status().message() +
           "; copied: " + copied.status().message();
  }
  if (!graph.ok()) return {};
  const bool is_prepared = Model::Prepare(*copied, Limited({})).ok();
  if (is_prepared != Model::Prepare(*graph, Limited({})).ok()) {
    return "constants in the file: prepared in one of two ways only";
  }
  if (!is_prepared) return {};  // its inputs may be too large to make
  const Tensors in = RampInputs(*copied);
  const bool is_same = SameOutputs(*copied, Outputs(*copied, in), Outputs(*graph, in));
  return is_same ? std::string() : "constants in the file make other outputs";
}

}  // namespace

std::string ExerciseOnnx(std::span<const uint8_t> bytes) {
  const Result<Graph> graph = Import(bytes);
  if (!graph.ok()) return graph.status().message();
  return Outputs(*graph, RampInputs(*graph)).status().message();
}

std::string CrossCheckOnnx(std::span<const uint8_t> bytes) {
  const Result<Graph> graph = Import(bytes);
  size_t choice = 0;
  for (const uint8_t byte : bytes) choice += byte;
  const std::string differs = WhyItDiffersWhereItLies(bytes, choice, graph);
  if (!differs.empty() || !graph.ok()) return differs;
  const std::string unreadable = WhyWrittenIsNotRead(*graph);
  if (!unreadable.empty()) return unreadable;
  return CompareWays(*graph, choice);
}

}  // namespace intaglio::nn::test
