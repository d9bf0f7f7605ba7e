#include "intaglio/test/nn/formats/tflite/exercise.h"

namespace intaglio::nn::test {

std::string Exercise(std::span<const uint8_t> bytes) {
  const Result<Graph> graph = ImportTflite(bytes, nullptr, "bytes", LimitedImport());
  if (!graph.ok()) return graph.status().message();
  return Outputs(*graph, RampInputs(*graph)).status().message();
}

}  // namespace intaglio::nn::test
