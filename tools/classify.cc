#include "intaglio/tools/classify.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/ops/operators.h"
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
  return op.Is<nn::Quantize>() || op.Is<nn::Dequantize>() || op.Is<nn::Reshape>();
}

constexpr size_t kLinesPerStart = 64;

// Where the line that begins at `at` ends: at its line feed, or at the end of the text.
size_t EndOfLine(const std::vector<uint8_t>& text, size_t at) {
  const auto begin = text.begin() + static_cast<ptrdiff_t>(at);
  return static_cast<size_t>(std::find(begin, text.end(), '\n') - text.begin());
}

}  // namespace

Labels::Labels(std::vector<uint8_t> text) : text_(std::move(text)) {
  for (size_t at = 0; at < text_.size(); at = EndOfLine(text_, at) + 1) {
    if (lines_++ % kLinesPerStart == 0) starts_.push_back(at);
  }
}

std::string Labels::operator[](size_t i) const {
  size_t begin = starts_[i / kLinesPerStart];
  for (size_t line = 0; line < i % kLinesPerStart; ++line) begin = EndOfLine(text_, begin) + 1;
  const size_t end = EndOfLine(text_, begin);
  std::string label(text_.begin() + static_cast<ptrdiff_t>(begin),
                    text_.begin() + static_cast<ptrdiff_t>(end));
  std::replace(label.begin(), label.end(), '\t', ' ');
  while (!label.empty() && (label.back() == ' ' || label.back() == '\r')) label.pop_back();
  return nn::Printable(label);
}

Result<Labels> ReadLabels(const std::string& path) {
  constexpr size_t kMaxBytes = size_t{64} << 20;
  Result<std::vector<uint8_t>> bytes = ReadFile(path, kMaxBytes);
  if (!bytes.ok()) return bytes.status();
  return Labels(std::move(*bytes));
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
  return layer != nullptr && layer->op.Is<nn::Softmax>();
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
