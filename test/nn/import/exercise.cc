#include "intaglio/test/nn/import/exercise.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/nn/import/tflite_reader.h"
#include "intaglio/nn/model.h"
#include "intaglio/nn/nested_graphs.h"

namespace intaglio::nn::test {
namespace {

constexpr size_t kMaxBytes = size_t{8} << 20;   // of activations
constexpr int64_t kMaxWork = int64_t{1} << 24;  // of a run: multiply-accumulates, pooled elements
constexpr int64_t kMaxRounds = 8;               // of its loops

// Elements that reach both ends of any 8-bit type.
std::vector<uint8_t> Ramp(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 127);
  return bytes;
}

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

// An upper bound of the elements that a pool looks at; 0 for other operators. LayerInfo counts only
// multiplications.
int64_t PooledElements(const Graph& graph, const Layer& layer) {
  Extent filter = {0, 0};
  if (const auto* average = std::get_if<AveragePool2D>(&layer.op)) filter = average->filter;
  if (const auto* max = std::get_if<MaxPool2D>(&layer.op)) filter = max->filter;
  if (filter.height == 0) return 0;
  const Shape& in = graph.tensors[static_cast<size_t>(layer.inputs[0])].shape;
  const Shape& out = graph.tensors[static_cast<size_t>(layer.outputs[0])].shape;
  const int64_t window = int64_t{std::min(filter.height, in[1])} * std::min(filter.width, in[2]);
  return *CountElements(out) * window;  // both are below kMaxBytes
}

// The pairs of boxes that a detector may compare; 0 for other operators.
int64_t ComparedBoxes(const Graph& graph, const Layer& layer) {
  const auto* const op = std::get_if<DetectionPostProcess>(&layer.op);
  if (op == nullptr) return 0;
  const int64_t boxes = graph.tensors[static_cast<size_t>(layer.inputs[0])].shape[1];
  const int64_t pairs = boxes * std::min<int64_t>(boxes, op->max_detections);
  return op->per_class ? std::min(pairs, kMaxWork + 1) * op->classes : pairs;
}

int64_t Limited(int64_t work) { return std::min(work, kMaxWork + 1); }

// What LayerInfo does not count, once through every graph.
int64_t OtherWork(const Graph& graph) {
  int64_t work = 0;
  for (const Layer& layer : graph.layers) {
    work = Limited(work + Limited(PooledElements(graph, layer)) +
                   Limited(ComparedBoxes(graph, layer)));
    for (const NestedGraph& nested : NestedGraphsOf(layer.op)) {
      work = Limited(work + OtherWork(*nested.graph));
    }
  }
  return work;
}

int64_t WorkOf(const Model& model) {
  int64_t work = OtherWork(model.graph());
  for (const LayerInfo& layer : model.layers()) work = Limited(work + Limited(layer.macs));
  return work;
}

}  // namespace

std::string Exercise(std::span<const uint8_t> bytes) {
  ImportOptions options;
  options.max_activation_bytes = kMaxBytes;
  Result<Graph> graph = ImportTflite(bytes, nullptr, "bytes", options);
  if (!graph.ok()) return graph.status().message();
  PrepareOptions prepare;
  prepare.max_rounds = kMaxRounds;
  Result<Model> model = Model::Prepare(std::move(*graph), prepare);
  if (!model.ok()) return model.status().message();
  return WorkOf(*model) > kMaxWork ? std::string() : Run(*model);
}

}  // namespace intaglio::nn::test
