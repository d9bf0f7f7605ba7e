#include "intaglio/tools/classify.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "intaglio/tools/file.h"
#include "intaglio/tools/model_io.h"

namespace intaglio::tools {
namespace {

// The layer that writes a tensor; null where it is an input or a constant.
const nn::Layer* WriterOf(const nn::Graph& graph, nn::TensorId tensor) {
  for (const nn::Layer& layer : graph.layers) {
    if (std::find(layer.outputs.begin(), layer.outputs.end(), tensor) != layer.outputs.end()) {
      return &layer;
    }
  }
  return nullptr;
}

bool PassesScoresOn(const nn::Operator& op) {
  return std::holds_alternative<nn::Quantize>(op) || std::holds_alternative<nn::Dequantize>(op) ||
         std::holds_alternative<nn::Reshape>(op);
}

}  // namespace

Result<std::vector<std::string>> ReadLabels(const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  std::vector<std::string> labels;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string label(text.substr(0, end));
    for (char& c : label) {
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    while (!label.empty() && label.back() == ' ') label.pop_back();
    labels.push_back(std::move(label));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return labels;
}

bool LooksLikeClassifier(const nn::Model& model, size_t output) {
  const nn::Shape& shape = model.output(output).shape;
  if (shape.empty() || shape.back() < 2 ||
      std::any_of(shape.begin(), shape.end() - 1, [](int dim) { return dim != 1; })) {
    return false;
  }
  const nn::Layer* layer = WriterOf(model.graph(), model.graph().outputs[output]);
  while (layer != nullptr && PassesScoresOn(layer->op)) {
    layer = WriterOf(model.graph(), layer->inputs[0]);
  }
  return layer != nullptr && std::holds_alternative<nn::Softmax>(layer->op);
}

std::vector<Score> TopScores(const nn::Tensor& tensor, const std::vector<uint8_t>& bytes,
                             size_t count) {
  std::vector<Score> scores;
  for (size_t i = 0; i < bytes.size() / SizeOf(tensor.type); ++i) {
    scores.push_back({i, RealValue(tensor, bytes, i)});
  }
  const auto middle = scores.begin() + static_cast<ptrdiff_t>(std::min(count, scores.size()));
  std::partial_sort(scores.begin(), middle, scores.end(), [](const Score& a, const Score& b) {
    return a.score != b.score ? a.score > b.score : a.index < b.index;
  });
  scores.erase(middle, scores.end());
  return scores;
}

}  // namespace intaglio::tools
