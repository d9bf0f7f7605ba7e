#include "intaglio/test/nn/formats/tflite/exercise.h"

#include <utility>
#include <vector>

namespace intaglio::nn::test {
namespace {

constexpr size_t kMaxBytes = size_t{8} << 20;  // for a tensor, and for what reading makes
constexpr size_t kMaxPrepared = size_t{64} << 20;
// Per run. A file takes about a dozen runs, and one of them may be the scalar kernel's, which
// sanitizers slow down to some microseconds a step where windows are narrow.
constexpr int64_t kMaxWork = int64_t{1} << 18;
constexpr int64_t kMaxRounds = 8;  // of its loops

std::string Run(Model& model) {
  std::vector<std::vector<uint8_t>> data;
  std::vector<InputBuffer> inputs;
  std::vector<OutputBuffer> outputs;
  for (size_t i = 0; i < model.input_count(); ++i) {
    const Tensor& tensor = model.input(i);
    data.push_back(Ramp(*CountBytes(tensor.shape, tensor.type)));
    inputs.push_back({data.back().data(), data.back().size(), tensor.type});
  }
  for (size_t i = 0; i < model.output_count(); ++i) {
    const Tensor& tensor = model.output(i);
    data.emplace_back(*CountBytes(tensor.shape, tensor.type));
    outputs.push_back({data.back().data(), data.back().size(), tensor.type});
  }
  return model.Run(inputs, outputs).message();
}

}  // namespace

ImportOptions LimitedImport() {
  ImportOptions options;
  options.limits.max_bytes = kMaxBytes;
  return options;
}

PrepareOptions Limited(PrepareOptions options) {
  options.limits = {.max_bytes = kMaxPrepared, .max_work = kMaxWork, .max_rounds = kMaxRounds};
  return options;
}

std::vector<uint8_t> Ramp(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 127);
  return bytes;
}

std::string Exercise(std::span<const uint8_t> bytes) {
  Result<Graph> graph = ImportTflite(bytes, nullptr, "bytes", LimitedImport());
  if (!graph.ok()) return graph.status().message();
  Result<Model> model = Model::Prepare(std::move(*graph), Limited({}));
  return model.ok() ? Run(*model) : model.status().message();
}

}  // namespace intaglio::nn::test
