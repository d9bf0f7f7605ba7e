#include "intaglio/nn/import/fold.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/nn/model.h"

namespace intaglio::nn {
namespace {

constexpr size_t kMaxBytes = 4096;  // of one input or output; shapes and lists of axes are smaller

using Numbers = std::shared_ptr<std::vector<int64_t>>;  // the bytes of a constant, aligned

bool IsSmall(const Tensor& tensor) {
  const Result<size_t> bytes = CountBytes(tensor.shape, tensor.type);
  return bytes.ok() && *bytes <= kMaxBytes;
}

bool CanBecomeConstant(const Tensor& tensor) {
  return !tensor.constant && IsSmall(tensor) &&
         (tensor.type == Type::kInt32 || tensor.type == Type::kInt64);
}

Tensor& At(Graph& graph, TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

bool CanFold(Graph& graph, const Layer& layer) {
  // Loops, in branches too: their rounds have a limit that reading a file does not know.
  if (std::holds_alternative<While>(layer.op) || std::holds_alternative<If>(layer.op)) return false;
  const bool shape_only = std::holds_alternative<ShapeOf>(layer.op);
  for (const TensorId id : layer.inputs) {
    if (id == kNoTensor || shape_only) continue;
    if (!At(graph, id).constant || !IsSmall(At(graph, id))) return false;
  }
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    if (!CanBecomeConstant(At(graph, layer.outputs[i]))) return false;
    const auto begin = layer.outputs.begin();
    if (std::count(begin, layer.outputs.end(), layer.outputs[i]) > 1) return false;
  }
  return !layer.inputs.empty() && !layer.outputs.empty();
}

// Weights that the file holds in fewer bits than the layers take.
bool CanDequantize(Graph& graph, const Layer& layer, Budget& budget) {
  if (!std::holds_alternative<Dequantize>(layer.op) || layer.inputs.size() != 1 ||
      layer.outputs.size() != 1 || layer.inputs[0] == kNoTensor) {
    return false;
  }
  const Tensor& output = At(graph, layer.outputs[0]);
  if (!At(graph, layer.inputs[0]).constant || output.constant) return false;
  const Result<size_t> bytes = CountBytes(output.shape, output.type);
  return bytes.ok() && budget.Charge(*bytes, 1).ok();
}

Result<std::vector<Numbers>> RunAlone(Graph graph) {
  Result<Model> model = Model::Prepare(std::move(graph));
  if (!model.ok()) return model.status();
  std::vector<Numbers> results;
  std::vector<OutputBuffer> outputs;
  for (size_t i = 0; i < model->output_count(); ++i) {
    const Tensor& tensor = model->output(i);
    const size_t bytes = *CountBytes(tensor.shape, tensor.type);
    results.push_back(std::make_shared<std::vector<int64_t>>(bytes / sizeof(int64_t) + 1));
    outputs.push_back({results.back()->data(), bytes, tensor.type});
  }
  INTAGLIO_RETURN_IF_ERROR(model->Run({}, outputs));
  return results;
}

std::vector<Numbers> DimensionsOf(const Tensor& x, Type type) {
  const Numbers numbers = std::make_shared<std::vector<int64_t>>(x.shape.begin(), x.shape.end());
  numbers->push_back(0);  // never empty
  if (type == Type::kInt32 && !x.shape.empty()) {
    std::memcpy(numbers->data(), x.shape.data(), x.shape.size() * sizeof(int32_t));
  }
  return {numbers};
}

void MakeConstant(Tensor& tensor, const Numbers& numbers) {
  tensor.constant = true;
  tensor.data = numbers->data();
  tensor.data_bytes = *CountBytes(tensor.shape, tensor.type);
  tensor.owner = numbers;
}

}  // namespace

Graph Alone(const Graph& graph, const Layer& layer) {
  Graph alone;
  Layer& copy = alone.layers.emplace_back(layer);
  const auto add = [&](TensorId& id) {
    if (id == kNoTensor) return;
    alone.tensors.push_back(graph.tensors[static_cast<size_t>(id)]);
    id = static_cast<TensorId>(alone.tensors.size()) - 1;
  };
  for (TensorId& id : copy.inputs) add(id);
  for (TensorId& id : copy.outputs) add(id);
  alone.outputs = copy.outputs;
  return alone;
}

bool FoldLastLayer(Graph& graph, Budget& budget) {
  const Layer& layer = graph.layers.back();
  if (!CanFold(graph, layer) && !CanDequantize(graph, layer, budget)) return false;
  std::vector<Numbers> results;
  if (std::holds_alternative<ShapeOf>(layer.op)) {
    results = DimensionsOf(At(graph, layer.inputs[0]), At(graph, layer.outputs[0]).type);
  } else {
    Result<std::vector<Numbers>> run = RunAlone(Alone(graph, layer));
    if (run.status().code() == StatusCode::kOutOfMemory) throw std::bad_alloc();
    if (!run.ok()) return false;
    results = std::move(*run);
  }
  if (results.size() != layer.outputs.size()) return false;
  for (size_t i = 0; i < results.size(); ++i) {
    MakeConstant(At(graph, layer.outputs[i]), results[i]);
  }
  graph.layers.pop_back();
  return true;
}

}  // namespace intaglio::nn
