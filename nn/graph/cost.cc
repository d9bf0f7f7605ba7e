#include "intaglio/nn/graph/cost.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/graph/nested_graphs.h"

namespace intaglio::nn {
namespace {

// The operators' own tables, whose sizes are fixed, and the objects of a routine.
constexpr int64_t kFixed = 256 << 10;
// Lists have an entry for each tensor. They grow while they are filled.
constexpr int64_t kPerTensor = 1024;
constexpr int64_t kPerAxis = 64;
constexpr int64_t kPerScale = 64;
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

// Each run packs weights that are activations, as preparation packs constants.
bool MayPack(const LayerView& layer, size_t input) {
  const Packing& packing = layer.layer().op.row().packing;
  if (packing.matrices == nullptr || !layer.has_input(input)) return false;
  return layer.input(input).constant || (input > 0 && packing.packs_activations);
}

MatrixCounts MatricesOf(const LayerView& layer, const Tensor& constant) {
  const int64_t all = CountOrMax(constant);
  if (constant.shape.size() < 2 || all == 0) return {1, all, 1};
  return layer.layer().op.row().packing.matrices(layer, constant);
}

// Bounds any packed form of a constant, which fills up panels and groups of depth, together with
// one copy that is made on the way.
int64_t BoundPacked(const LayerView& layer, const Tensor& constant) {
  constexpr int64_t kPanel = 64;
  constexpr int64_t kDepthGroup = 16;
  constexpr int64_t kPerChannel = 128;  // parameters of pipelines
  const Packing& packing = layer.layer().op.row().packing;
  const MatrixCounts m = MatricesOf(layer, constant);
  const int64_t channels = MultiplySaturated(m.count, m.channels + kPanel);
  const int64_t depth = (m.depth + kDepthGroup) * packing.copies;
  const auto size =
      static_cast<int64_t>(packing.to_float32 ? sizeof(float) : SizeOf(constant.type));
  const int64_t packed = MultiplySaturated(MultiplySaturated(channels, depth), size);
  const int64_t copy = MultiplySaturated(CountOrMax(constant), size);
  return AddSaturated(AddSaturated(packed, MultiplySaturated(channels, kPerChannel)), copy);
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

int64_t CountOrMax(const Tensor& tensor) {
  const Result<int64_t> elements = CountElements(tensor.shape);
  return elements.ok() ? *elements : std::numeric_limits<int64_t>::max();
}

MatrixCounts RowsAsChannels(const LayerView&, const Tensor& constant) {
  return {1, constant.shape[0], CountOrMax(constant) / constant.shape[0]};
}

MatrixCounts ColumnsAsChannels(const LayerView&, const Tensor& constant) {
  return {1, constant.shape.back(), CountOrMax(constant) / constant.shape.back()};
}

int64_t BoundPlaces(const LayerView& layer) {
  constexpr int64_t kPerPlace = 160;
  int64_t bytes = 0;
  for (const int extent : layer.output().shape) {
    bytes = AddSaturated(bytes, MultiplySaturated(extent, kPerPlace));
  }
  return bytes;
}

size_t BoundPreparation(const LayerView& layer) {
  const OperatorRow& row = layer.layer().op.row();
  int64_t bytes = kFixed;
  if (row.list_bytes != nullptr) bytes = AddSaturated(bytes, row.list_bytes(layer));
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
    const MatrixCounts m = MatricesOf(layer, layer.input(i));
    const int64_t each =
        AddSaturated(kKeptPerMatrix, MultiplySaturated(m.channels, kKeptPerChannel));
    bytes = AddSaturated(bytes, MultiplySaturated(m.count, each));
  }
  return static_cast<size_t>(bytes);
}

int64_t CountWork(const LayerView& layer, int64_t macs) {
  int64_t work = macs;
  ForTensors(layer, [&](const Tensor& tensor) {
    if (!tensor.constant) work = AddSaturated(work, CountOrMax(tensor));
  });
  const OperatorRow& row = layer.layer().op.row();
  return row.extra_work == nullptr ? work : AddSaturated(work, row.extra_work(layer));
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
