#include "intaglio/nn/passes/partition.h"

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/passes/integer_only.h"
#include "intaglio/nn/passes/sensor_input.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {
namespace {

constexpr int kNoRank = std::numeric_limits<int>::max();

enum Part { kInputs, kMain, kOutputs };

// Decides where each layer runs, and which tensors go from one part to the next.
class Splitter {
 public:
  explicit Splitter(const Graph& graph)
      : graph_(graph),
        part_(graph.layers.size(), kMain),
        made_in_(graph.tensors.size(), kInputs),
        used_in_(graph.tensors.size(), -1),
        input_rank_(graph.tensors.size(), kNoRank),
        output_rank_(graph.tensors.size(), kNoRank) {}

  Status Assign() {
    FindInputLayers();
    ReturnInputLayers();
    FindOutputLayers();
    for (size_t i = 0; i < part_.size(); ++i) {
      if (part_[i] == kMain) INTAGLIO_RETURN_IF_ERROR(CheckInteger(i));
    }
    INTAGLIO_RETURN_IF_ERROR(CheckVariables());
    FindUses();
    RankTensors();
    for (const TensorId id : Crossing(kInputs)) INTAGLIO_RETURN_IF_ERROR(CheckCrossing(id));
    return {};
  }

  Graph Make(Part part, const char* name) const {
    Graph made;
    made.name = graph_.name.empty() ? name : graph_.name + "/" + name;
    std::vector<TensorId> place(graph_.tensors.size(), kNoTensor);
    const auto move = [&](const std::vector<TensorId>& ids) {
      std::vector<TensorId> moved;
      for (const TensorId id : ids) moved.push_back(Place(id, place, made));
      return moved;
    };
    made.inputs = move(part == kInputs ? graph_.inputs : Crossing(static_cast<Part>(part - 1)));
    for (size_t i = 0; i < part_.size(); ++i) {
      if (part_[i] != part) continue;
      const Layer& layer = graph_.layers[i];
      made.layers.push_back(
          {layer.op, move(layer.inputs), move(layer.outputs), {}, layer.numerics});
    }
    made.outputs = move(part == kOutputs ? graph_.outputs : Crossing(part));
    if (graph_.folded_shapes != nullptr) made.folded_shapes = IncompleteShapes();
    return made;
  }

 private:
  size_t Index(TensorId id) const { return static_cast<size_t>(id); }
  bool IsData(TensorId id) const { return id != kNoTensor && !graph_.tensors[Index(id)].constant; }
  bool IsVariable(TensorId id) const { return IsData(id) && graph_.tensors[Index(id)].variable; }
  bool IsFloat(TensorId id) const { return graph_.tensors[Index(id)].type == Type::kFloat32; }
  bool HasFloat(size_t layer) const { return !WhatForcesFloat(graph_, layer).empty(); }

  // Layers with float that need nothing but inputs of the graph and each other.
  void FindInputLayers() {
    std::vector<bool> known(graph_.tensors.size());
    for (const TensorId id : graph_.inputs) known[Index(id)] = true;
    for (size_t i = 0; i < part_.size(); ++i) {
      const Layer& layer = graph_.layers[i];
      const bool ready = std::all_of(layer.inputs.begin(), layer.inputs.end(),
                                     [&](TensorId id) { return !IsData(id) || known[Index(id)]; });
      if (!ready || !HasFloat(i)) continue;
      part_[i] = kInputs;
      for (const TensorId id : layer.outputs) known[Index(id)] = true;
    }
  }

  // Takes those back whose real results are needed elsewhere.
  void ReturnInputLayers() {
    std::vector<bool> needed(graph_.tensors.size());
    for (const TensorId id : graph_.outputs) needed[Index(id)] = true;
    for (size_t i = part_.size(); i-- > 0;) {
      const Layer& layer = graph_.layers[i];
      if (part_[i] == kInputs &&
          std::any_of(layer.outputs.begin(), layer.outputs.end(),
                      [&](TensorId id) { return needed[Index(id)] && IsFloat(id); })) {
        part_[i] = kMain;
      }
      if (part_[i] == kInputs) continue;
      for (const TensorId id : layer.inputs) {
        if (IsData(id)) needed[Index(id)] = true;
      }
    }
  }

  // Layers with float, of those left, whose results go nowhere but to outputs and each other.
  void FindOutputLayers() {
    std::vector<bool> needed(graph_.tensors.size());  // by a layer of another part
    for (size_t i = part_.size(); i-- > 0;) {
      const Layer& layer = graph_.layers[i];
      const bool free = std::none_of(layer.outputs.begin(), layer.outputs.end(),
                                     [&](TensorId id) { return needed[Index(id)]; });
      if (part_[i] == kMain && free && HasFloat(i)) {
        part_[i] = kOutputs;
        continue;
      }
      for (const TensorId id : layer.inputs) {
        if (IsData(id)) needed[Index(id)] = true;
      }
    }
  }

  Status CheckInteger(size_t layer) const {
    const std::string why = WhatForcesFloat(graph_, layer);
    if (why.empty()) return {};
    return LayerView(graph_, layer)
        .Unsupported("needs floating point between quantized layers: " + why);
  }

  // Parts that share a variable would each keep their own state. An output of the graph that is a
  // variable shows the state of the last part.
  Status CheckVariables() const {
    std::vector<int> used_in(graph_.tensors.size(), -1);
    for (const TensorId id : graph_.outputs) {
      if (IsVariable(id)) used_in[Index(id)] = kOutputs;
    }
    for (size_t i = 0; i < part_.size(); ++i) {
      for (const TensorId id : graph_.layers[i].inputs) {
        if (!IsVariable(id)) continue;
        int& part = used_in[Index(id)];
        if (part >= 0 && part != part_[i]) {
          return LayerView(graph_, i).Unsupported("shares the variable '" +
                                                  graph_.tensors[Index(id)].name +
                                                  "' with a layer or an output of another part");
        }
        part = part_[i];
      }
    }
    return {};
  }

  void FindUses() {
    for (size_t i = 0; i < part_.size(); ++i) {
      for (const TensorId id : graph_.layers[i].outputs) made_in_[Index(id)] = part_[i];
      for (const TensorId id : graph_.layers[i].inputs) {
        if (IsData(id)) used_in_[Index(id)] = std::max<int>(used_in_[Index(id)], part_[i]);
      }
    }
    for (const TensorId id : graph_.outputs) {
      if (IsData(id)) used_in_[Index(id)] = kOutputs;
    }
  }

  // The first input of the graph that a tensor depends on, and the first output that depends on it:
  // parts take and give their tensors in the order of the model's.
  void RankTensors() {
    const auto lower = [](int& rank, int other) { rank = std::min(rank, other); };
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      lower(input_rank_[Index(graph_.inputs[i])], static_cast<int>(i));
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      lower(output_rank_[Index(graph_.outputs[i])], static_cast<int>(i));
    }
    for (const Layer& layer : graph_.layers) {
      ForEachPair(layer, [&](size_t in, size_t out) { lower(input_rank_[out], input_rank_[in]); });
    }
    for (size_t i = part_.size(); i-- > 0;) {
      ForEachPair(graph_.layers[i],
                  [&](size_t in, size_t out) { lower(output_rank_[in], output_rank_[out]); });
    }
  }

  template <class Use>
  void ForEachPair(const Layer& layer, const Use& use) const {
    for (const TensorId in : layer.inputs) {
      if (!IsData(in)) continue;
      for (const TensorId out : layer.outputs) use(Index(in), Index(out));
    }
  }

  // The tensors made in `part` or before and used after it.
  std::vector<TensorId> Crossing(Part part) const {
    std::vector<TensorId> ids;
    const auto add = [&](TensorId id) {
      if (made_in_[Index(id)] <= part && used_in_[Index(id)] > part) ids.push_back(id);
    };
    std::for_each(graph_.inputs.begin(), graph_.inputs.end(), add);
    for (const Layer& layer : graph_.layers) {
      std::for_each(layer.outputs.begin(), layer.outputs.end(), add);
    }
    const std::vector<int>& ranks = part == kInputs ? input_rank_ : output_rank_;
    std::stable_sort(ids.begin(), ids.end(),
                     [&](TensorId a, TensorId b) { return ranks[Index(a)] < ranks[Index(b)]; });
    return ids;
  }

  // Real numbers that leave the first part are inputs of the graph: its layers give none.
  Status CheckCrossing(TensorId id) const {
    if (!IsFloat(id)) return {};
    const std::string name = "input '" + graph_.tensors[Index(id)].name + "'";
    for (size_t i = 0; i < part_.size(); ++i) {
      const std::vector<TensorId>& inputs = graph_.layers[i].inputs;
      if (part_[i] == kInputs || std::find(inputs.begin(), inputs.end(), id) == inputs.end()) {
        continue;
      }
      return LayerView(graph_, i).Unsupported("needs floating point: the model's " + name +
                                              " is float32 and is not quantized before this layer");
    }
    return Unsupported("the model's " + name + " is float32 and one of its outputs");
  }

  TensorId Place(TensorId id, std::vector<TensorId>& place, Graph& made) const {
    if (id == kNoTensor) return id;
    TensorId& placed = place[Index(id)];
    if (placed == kNoTensor) {
      placed = static_cast<TensorId>(made.tensors.size());
      made.tensors.push_back(graph_.tensors[Index(id)]);
    }
    return placed;
  }

  const Graph& graph_;
  std::vector<Part> part_;    // per layer
  std::vector<int> made_in_;  // per tensor; inputs of the graph are made in the first part
  std::vector<int> used_in_;  // per tensor; the last part that reads it, or -1
  std::vector<int> input_rank_;
  std::vector<int> output_rank_;
};

Result<Parts> MakeParts(const Graph& graph, const PartitionOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  if (!options.sensors.empty() && options.sensors.size() != graph.inputs.size()) {
    return InvalidArgument("the model has " + std::to_string(graph.inputs.size()) +
                           " inputs, but " + std::to_string(options.sensors.size()) +
                           " sensors were given");
  }
  Splitter splitter(graph);
  INTAGLIO_RETURN_IF_ERROR(splitter.Assign());
  Parts parts{splitter.Make(kInputs, "quantize_inputs"), splitter.Make(kMain, "quantized_main"),
              splitter.Make(kOutputs, "dequantize_outputs")};
  INTAGLIO_RETURN_IF_ERROR(CheckIntegerOnly(parts.quantized_main));
  for (size_t i = 0; i < options.sensors.size(); ++i) {
    if (!options.sensors[i]) continue;
    INTAGLIO_RETURN_IF_ERROR(FoldSensor(parts.quantize_inputs, i, *options.sensors[i]));
  }
  const bool all_sensors = !options.sensors.empty() &&
                           std::all_of(options.sensors.begin(), options.sensors.end(),
                                       [](const auto& sensor) { return sensor.has_value(); });
  if (all_sensors) INTAGLIO_RETURN_IF_ERROR(CheckIntegerOnly(parts.quantize_inputs));
  return parts;
}

}  // namespace

Result<Parts> Partition(const Graph& graph, const PartitionOptions& options) try {
  const DefaultFloatEnvironment environment;
  return MakeParts(graph, options);
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while the model was split");
}

}  // namespace intaglio::nn
