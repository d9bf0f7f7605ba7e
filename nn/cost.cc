#include "intaglio/nn/cost.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/nn/limits.h"
#include "intaglio/nn/nested_graphs.h"

namespace intaglio::nn {
namespace {

// The operators' own tables, whose sizes are fixed, and the objects of a routine.
constexpr int64_t kFixed = 256 << 10;
// Lists have an entry for each tensor. The lists of some operators also have an entry for each
// place along an axis, or for each block. Lists grow while they are filled.
constexpr int64_t kPerTensor = 1024;
constexpr int64_t kPerAxis = 64;
constexpr int64_t kPerScale = 64;
constexpr int64_t kPerPlace = 160;
constexpr int64_t kPerBlock = 320;
// The bytes kept for objects, and for vectors with one element per channel or scale.
constexpr int64_t kKeptPerLayer = 4096;
constexpr int64_t kKeptPerMatrix = 2048;
constexpr int64_t kKeptPerTensor = 256;
constexpr int64_t kKeptPerChannel = 64;
constexpr int64_t kKeptPerScale = 16;

template <class Visit>
void ForTensors(const LayerView& layer, const Visit& visit) {
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (layer.has_input(i)) visit(layer.input(i));
  }
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) visit(layer.output(i));
}

int64_t ScalesOf(const Tensor& tensor) {
  return static_cast<int64_t>(tensor.quantization.scales.size());
}

int64_t ElementsOf(const Tensor& tensor) {
  const Result<int64_t> elements = CountElements(tensor.shape);
  return elements.ok() ? *elements : std::numeric_limits<int64_t>::max();
}

template <class... Ops>
bool IsOneOf(const Operator& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

bool PacksConstants(const Operator& op) {
  return IsOneOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv, BatchMatMul, Lstm,
                 BasicLstm, UnidirectionalSequenceLstm, Rnn, UnidirectionalSequenceRnn, Svdf>(op);
}

// Each run packs weights that are activations, as preparation packs constants.
bool MayPack(const LayerView& layer, size_t input) {
  if (!layer.has_input(input)) return false;
  const Operator& op = layer.layer().op;
  if (layer.input(input).constant) return PacksConstants(op);
  return input > 0 && IsOneOf<Conv2D, DepthwiseConv2D, FullyConnected>(op);
}

// A constant seen as matrices of channels by depth.
struct Matrices {
  int64_t count = 1;
  int64_t channels = 1;
  int64_t depth = 1;
};

Matrices MatricesOf(const LayerView& layer, const Tensor& constant) {
  const Shape& shape = constant.shape;
  const Operator& op = layer.layer().op;
  const int64_t all = ElementsOf(constant);
  if (shape.size() < 2 || all == 0) return {1, all, 1};
  if (std::holds_alternative<TransposeConv>(op)) return {1, all / shape.back(), shape.back()};
  if (std::holds_alternative<DepthwiseConv2D>(op)) return {1, shape.back(), all / shape.back()};
  if (std::holds_alternative<BatchMatMul>(op)) {
    const int64_t rows = shape[shape.size() - 2];
    const int64_t columns = shape.back();
    return {all / (rows * columns), std::min(rows, columns), std::max(rows, columns)};
  }
  if (std::holds_alternative<Conv2D>(op) && shape.size() == 4) {
    const int64_t groups = std::clamp(layer.input(0).shape[3] / shape[3], 1, shape[0]);
    return {groups, shape[0] / groups + 1, all / shape[0]};
  }
  return {1, shape[0], all / shape[0]};
}

// Bounds any packed form of a constant, which fills up panels and groups of depth, together with
// one copy that is made on the way.
int64_t BoundPacked(const LayerView& layer, const Tensor& constant) {
  constexpr int64_t kPanel = 64;
  constexpr int64_t kDepthGroup = 16;
  constexpr int64_t kPerChannel = 128;  // parameters of pipelines
  constexpr int64_t kLines = 12;        // one for each place in a vector, for depthwise filters
  const Matrices m = MatricesOf(layer, constant);
  const bool in_lines = std::holds_alternative<DepthwiseConv2D>(layer.layer().op);
  const bool widened = std::holds_alternative<Svdf>(layer.layer().op);  // to float32
  const int64_t channels = MultiplySaturated(m.count, m.channels + kPanel);
  const int64_t depth = (m.depth + kDepthGroup) * (in_lines ? kLines : 1);
  const auto size = static_cast<int64_t>(widened ? sizeof(float) : SizeOf(constant.type));
  const int64_t packed = MultiplySaturated(MultiplySaturated(channels, depth), size);
  const int64_t copy = MultiplySaturated(ElementsOf(constant), size);
  return AddSaturated(AddSaturated(packed, MultiplySaturated(channels, kPerChannel)), copy);
}

// Bounds the lists of operators that look places up, and of operators that move blocks.
int64_t BoundLists(const LayerView& layer) {
  const Operator& op = layer.layer().op;
  const std::vector<int>* block = nullptr;
  if (const auto* const to_batch = std::get_if<SpaceToBatch>(&op)) block = &to_batch->block;
  if (const auto* const to_space = std::get_if<BatchToSpace>(&op)) block = &to_space->block;
  int64_t bytes = 0;
  if (block != nullptr) {
    const auto rank = static_cast<int64_t>(layer.input(0).shape.size());
    bytes = kPerBlock + kPerAxis * rank;
    for (const int extent : *block) bytes = MultiplySaturated(bytes, extent);
  }
  if (IsOneOf<ResizeBilinear, ResizeNearestNeighbor, MirrorPad>(op)) {
    for (const int extent : layer.output().shape) {
      bytes = AddSaturated(bytes, MultiplySaturated(extent, kPerPlace));
    }
  }
  return bytes;
}

Extent FilterOf(const Operator& op) {
  if (const auto* const pool = std::get_if<AveragePool2D>(&op)) return pool->filter;
  if (const auto* const pool = std::get_if<MaxPool2D>(&op)) return pool->filter;
  if (const auto* const pool = std::get_if<L2Pool2D>(&op)) return pool->filter;
  return {1, 1};
}

// How many input elements one output element is computed from, for operators that read many.
int64_t CountReads(const LayerView& layer) {
  const Shape& in = layer.input(0).shape;
  const Extent filter = FilterOf(layer.layer().op);
  if (filter.height > 1 || filter.width > 1) {
    return int64_t{std::min(filter.height, in[1])} * std::min(filter.width, in[2]);
  }
  if (const auto* const op = std::get_if<LocalResponseNormalization>(&layer.layer().op)) {
    return std::clamp<int64_t>(2 * int64_t{op->radius}, 0, in.back());
  }
  return 0;
}

// The pairs of boxes that a detector may compare.
int64_t CountPairs(const LayerView& layer) {
  const auto* const op = std::get_if<DetectionPostProcess>(&layer.layer().op);
  if (op == nullptr) return 0;
  const int64_t boxes = layer.input(0).shape[1];
  const int64_t most =
      op->per_class ? std::max(op->max_detections, op->detections_per_class) : op->max_detections;
  const int64_t pairs = MultiplySaturated(boxes, std::min(boxes, std::max<int64_t>(1, most)));
  return op->per_class ? MultiplySaturated(pairs, op->classes) : pairs;
}

using Span = std::pair<uintptr_t, uintptr_t>;  // the first address, and the one behind the last

void CollectConstants(const Graph& graph, std::vector<Span>& spans) {
  for (const Tensor& tensor : graph.tensors) {
    const auto first = reinterpret_cast<uintptr_t>(tensor.data);
    if (tensor.data != nullptr) spans.emplace_back(first, first + tensor.data_bytes);
  }
  for (const Layer& layer : graph.layers) {
    for (const NestedGraph& nested : NestedGraphsOf(layer.op)) {
      CollectConstants(*nested.graph, spans);
    }
  }
}

}  // namespace

size_t BoundPreparation(const LayerView& layer) {
  int64_t bytes = AddSaturated(kFixed, BoundLists(layer));
  ForTensors(layer, [&](const Tensor& tensor) {
    const auto rank = static_cast<int64_t>(tensor.shape.size());
    bytes = AddSaturated(bytes, kPerTensor + kPerAxis * rank + kPerScale * ScalesOf(tensor));
  });
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (MayPack(layer, i)) bytes = AddSaturated(bytes, BoundPacked(layer, layer.input(i)));
  }
  return static_cast<size_t>(bytes);
}

size_t BoundKept(const LayerView& layer) {
  int64_t bytes = kKeptPerLayer;
  ForTensors(layer, [&](const Tensor& tensor) {
    bytes = AddSaturated(bytes, kKeptPerTensor + kKeptPerScale * ScalesOf(tensor));
  });
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (!MayPack(layer, i)) continue;
    const Matrices m = MatricesOf(layer, layer.input(i));
    const int64_t each =
        AddSaturated(kKeptPerMatrix, MultiplySaturated(m.channels, kKeptPerChannel));
    bytes = AddSaturated(bytes, MultiplySaturated(m.count, each));
  }
  return static_cast<size_t>(bytes);
}

int64_t CountWork(const LayerView& layer, int64_t macs) {
  int64_t work = AddSaturated(macs, CountPairs(layer));
  ForTensors(layer, [&](const Tensor& tensor) {
    if (!tensor.constant) work = AddSaturated(work, ElementsOf(tensor));
  });
  if (layer.layer().outputs.empty() || !layer.has_input(0)) return work;
  return AddSaturated(work, MultiplySaturated(ElementsOf(layer.output()), CountReads(layer)));
}

size_t CountConstants(const Graph& graph) {
  std::vector<Span> spans;
  CollectConstants(graph, spans);
  std::sort(spans.begin(), spans.end());
  size_t bytes = 0;
  uintptr_t end = 0;  // of the constants counted so far
  for (const auto& [first, last] : spans) {
    if (last > end) bytes += last - std::max(first, end);
    end = std::max(end, last);
  }
  return bytes;
}

}  // namespace intaglio::nn
