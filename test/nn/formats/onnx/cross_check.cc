#include "intaglio/test/nn/formats/onnx/cross_check.h"

#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/test/nn/formats/ways.h"

namespace intaglio::nn::test {
namespace {

Result<Graph> Import(std::span<const uint8_t> bytes) {
  return ImportOnnx(bytes, "bytes", {.limits = LimitedImport().limits});
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
  size_t choice = 0;
  for (const uint8_t byte : bytes) choice += byte;
  return CompareWays(*graph, choice);
}

}  // namespace intaglio::nn::test
