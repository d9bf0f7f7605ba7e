#include "intaglio/nn/ops/linear/changing_weights.h"

#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/ops/support/quantization.h"

namespace intaglio::nn {
namespace {

constexpr size_t kWeights = 1;
constexpr size_t kBias = 2;

bool Changes(const LayerView& layer, size_t input) {
  return layer.has_input(input) && !layer.input(input).constant;
}

// Makes a graph of this layer alone, with the same label.
Graph WithLabel(const LayerView& layer) {
  Graph alone = Alone(layer.graph(), layer.layer());
  alone.layers[0].label = layer.label();
  return alone;
}

// The element that is farthest from a zero point, as a byte.
int Farthest(const Tensor& weights) {
  const Range range = RangeOf(weights.type);
  const std::vector<int32_t>& zero_points = weights.quantization.zero_points;
  const int64_t zero_point = zero_points.empty() ? 0 : zero_points[0];  // of a file: any int32
  return zero_point - range.min >= range.max - zero_point ? range.min : range.max;
}

class ChangingRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override try {
    Graph graph = alone;
    for (const size_t input : {kWeights, kBias}) {
      if (!changes[input]) continue;
      Tensor& tensor = graph.tensors[static_cast<size_t>(graph.layers[0].inputs[input])];
      tensor.constant = true;
      tensor.data = arguments.inputs[input];
      tensor.data_bytes = *CountBytes(tensor.shape, tensor.type);
    }
    const Result<PreparedLayer> prepared = prepare(LayerView(graph, 0), options);
    if (!prepared.ok()) return prepared.status();
    return prepared->routine->Run(arguments);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to pack weights that change");
  }

  Graph alone;
  bool changes[kBias + 1] = {};
  PrepareConstant prepare = nullptr;
  LayerOptions options;
};

}  // namespace

const char* NeedsConstants(const LayerView& layer, const LayerOptions&) {
  if (Changes(layer, kWeights)) return "the weights are activations";
  return Changes(layer, kBias) ? "the bias is an activation" : nullptr;
}

Placeholders::Placeholders(const LayerView& layer) : graph_(WithLabel(layer)) {
  for (const size_t input : {kWeights, kBias}) {
    if (!Changes(layer, input)) continue;
    Tensor& tensor = graph_.tensors[static_cast<size_t>(graph_.layers[0].inputs[input])];
    tensor.constant = true;
    tensor.variable = false;
    tensor.data_bytes = *CountBytes(tensor.shape, tensor.type);
    std::vector<int64_t>& elements =
        elements_.emplace_back(tensor.data_bytes / sizeof(int64_t) + 1);
    if (SizeOf(tensor.type) == 1) {
      std::memset(elements.data(), Farthest(tensor), tensor.data_bytes);
    }
    tensor.data = elements.data();
  }
}

Status CheckOneZeroPoint(const LayerView& layer, const std::vector<int32_t>& zero_points) {
  for (const int32_t zero_point : zero_points) {
    if (zero_point == zero_points[0]) continue;
    return layer.Unsupported("the weights have zero points that differ per channel");
  }
  return {};
}

Result<PreparedLayer> PrepareChanging(const LayerView& layer, const LayerOptions& options,
                                      PrepareConstant prepare) {
  auto routine = std::make_shared<ChangingRoutine>();
  routine->alone = WithLabel(layer);
  // Program::RunLayer names the layer.
  routine->alone.layers[0].label = "with the weights of this run";
  for (const size_t input : {kWeights, kBias}) routine->changes[input] = Changes(layer, input);
  routine->prepare = prepare;
  routine->options = options;
  // These options pay off only over many runs.
  routine->options.fit = false;
  routine->options.cold = false;
  // The elements at an address change here, and each run frees what it packed.
  routine->options.packed = nullptr;
  routine->options.ledger = nullptr;
  const Placeholders placeholders(layer);
  Result<PreparedLayer> prepared = prepare(placeholders.layer(), routine->options);
  if (!prepared.ok()) return prepared.status();
  prepared->packed_inputs = 0;
  prepared->routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
