#include "intaglio/nn/routine/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/nn/routine/concatenate_in_place.h"
#include "intaglio/nn/routine/place_blocks.h"
#include "intaglio/pack/pages.h"

namespace intaglio::nn {
namespace {

constexpr size_t kMaxArena = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max());

Result<size_t> Aligned(size_t bytes) {
  if (bytes > kMaxArena - kArenaAlignment) {
    return OutOfMemory("a block of " + std::to_string(bytes) + " bytes is too large");
  }
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// Whether layers share scratch (PreparedLayer::shared_scratch_key).
enum class Scratch : uint8_t { kApart, kShared };

// Groups the tensors that share memory. Each group gets one block.
class Groups {
 public:
  Groups(const Graph& graph, bool keep_all, const std::vector<JoinedPlace>& joins, Scratch scratch)
      : graph_(graph),
        keep_all_(keep_all),
        joins_(joins),
        outermost_(OutermostPlaces(joins)),
        scratch_(scratch) {
    const int layers = static_cast<int>(graph.layers.size());
    plan_.tensor_block.assign(graph.tensors.size(), MemoryPlan::kNoBlock);
    plan_.tensor_offset.assign(graph.tensors.size(), 0);
    plan_.tensor_bytes.assign(graph.tensors.size(), 0);
    plan_.tensor_stride.assign(graph.tensors.size(), 0);
    plan_.first.assign(graph.tensors.size(), -1);
    plan_.last.assign(graph.tensors.size(), -1);
    plan_.in_place.assign(graph.layers.size(), false);
    plan_.scratch_block.assign(graph.layers.size(), MemoryPlan::kNoBlock);
    plan_.scratch_is_ready.assign(graph.layers.size(), false);
    for (int i = 0; i < layers; ++i) {
      const Layer& layer = graph.layers[static_cast<size_t>(i)];
      for (const TensorId id : layer.outputs) At(plan_.first, id) = At(plan_.last, id) = i;
      for (const TensorId id : layer.inputs) {
        if (id != kNoTensor) At(plan_.last, id) = i;
      }
    }
    for (const TensorId id : graph.outputs) At(plan_.last, id) = layers;
    for (size_t i = 0; i < graph.tensors.size(); ++i) {
      if (graph.tensors[i].variable) plan_.last[i] = layers;
    }
  }

  Status Build(const std::vector<PreparedLayer>& layers) {
    for (const TensorId id : graph_.inputs) INTAGLIO_RETURN_IF_ERROR(NewBlock(id));
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (!graph_.tensors[i].variable) continue;
      INTAGLIO_RETURN_IF_ERROR(NewBlock(static_cast<TensorId>(i)));
    }
    INTAGLIO_RETURN_IF_ERROR(AddJoins());
    for (size_t i = 0; i < layers.size(); ++i) {
      const std::vector<TensorId>& outputs = graph_.layers[i].outputs;
      for (size_t j = 0; j < outputs.size(); ++j) {
        if (At(plan_.tensor_block, outputs[j]) != MemoryPlan::kNoBlock) continue;
        if (j == 0 && !keep_all_ && TakeInput(i, layers[i])) continue;
        INTAGLIO_RETURN_IF_ERROR(NewBlock(outputs[j]));
      }
    }
    return AddScratch(layers);
  }

  MemoryPlan& plan() { return plan_; }

 private:
  template <class T>
  static T& At(std::vector<T>& values, TensorId id) {
    return values[static_cast<size_t>(id)];
  }
  template <class T>
  static const T& At(const std::vector<T>& values, TensorId id) {
    return values[static_cast<size_t>(id)];
  }

  Status Add(size_t bytes, int first, int last) {
    const Result<size_t> aligned = Aligned(bytes);
    if (!aligned.ok()) return aligned.status();
    plan_.blocks.push_back({*aligned, first, last, 0});
    return {};
  }

  Status NewBlock(TensorId id) {
    const Tensor& tensor = graph_.tensors[static_cast<size_t>(id)];
    const Result<size_t> bytes = CountBytes(tensor.shape, tensor.type);
    if (!bytes.ok()) return bytes.status();
    const int layers = static_cast<int>(graph_.layers.size());
    INTAGLIO_RETURN_IF_ERROR(keep_all_ ? Add(*bytes, -1, layers)
                                       : Add(*bytes, At(plan_.first, id), At(plan_.last, id)));
    Share(id, static_cast<int>(plan_.blocks.size()) - 1, 0, plan_.blocks.back().bytes);
    return {};
  }

  void Share(TensorId id, int block, size_t offset, size_t bytes) {
    At(plan_.tensor_block, id) = block;
    At(plan_.tensor_offset, id) = offset;
    At(plan_.tensor_bytes, id) = bytes;
  }

  // Layers that use the same form of one input share a block, which lives from the first to the
  // last of them.
  Status AddScratch(const std::vector<PreparedLayer>& layers) {
    std::map<std::pair<TensorId, int64_t>, int> made;
    for (size_t i = 0; i < layers.size(); ++i) {
      if (layers[i].scratch_bytes == 0) continue;
      const int step = static_cast<int>(i);
      INTAGLIO_RETURN_IF_ERROR(Add(layers[i].scratch_bytes, step, step));
      plan_.scratch_block[i] = static_cast<int>(plan_.blocks.size()) - 1;
      if (layers[i].shared_scratch_key == 0 || scratch_ == Scratch::kApart) continue;
      const TensorId input = graph_.layers[i].inputs[0];
      // A variable may change between them.
      if (graph_.tensors[static_cast<size_t>(input)].variable) continue;
      const auto [first, is_new] =
          made.try_emplace({input, layers[i].shared_scratch_key}, plan_.scratch_block[i]);
      if (is_new) continue;
      Block& block = plan_.blocks[static_cast<size_t>(first->second)];
      block.bytes = std::max(block.bytes, plan_.blocks.back().bytes);
      block.last = step;
      plan_.blocks.pop_back();
      plan_.scratch_block[i] = first->second;
      plan_.scratch_is_ready[i] = true;
    }
    return {};
  }

  // Makes one block for each result and all tensors that lie in it. The block lives as long as any
  // of them.
  Status AddJoins() {
    first_joined_ = static_cast<int>(plan_.blocks.size());
    for (size_t i = 0; i < joins_.size(); ++i) {
      if (joins_[i].result == kNoTensor) continue;
      const auto operand = static_cast<TensorId>(i);
      const JoinedPlace& place = outermost_[i];
      if (At(plan_.tensor_block, place.result) == MemoryPlan::kNoBlock) {
        INTAGLIO_RETURN_IF_ERROR(NewBlock(place.result));
      }
      const int index = At(plan_.tensor_block, place.result);
      Block& block = plan_.blocks[static_cast<size_t>(index)];
      block.first = std::min(block.first, At(plan_.first, operand));
      block.last = std::max(block.last, At(plan_.last, operand));
      Share(operand, index, place.offset, Extent(operand, place));
      plan_.tensor_stride[i] = place.stride;
    }
    end_joined_ = static_cast<int>(plan_.blocks.size());
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      plan_.in_place[i] = IsJoined(graph_.layers[i]);
    }
    return {};
  }

  // The number of bytes from the first to the last byte of a place.
  size_t Extent(TensorId id, const JoinedPlace& place) const {
    const Tensor& tensor = graph_.tensors[static_cast<size_t>(id)];
    const size_t bytes = *CountBytes(tensor.shape, tensor.type);
    if (place.stride == 0 || bytes == 0) return bytes;
    return (bytes / place.bytes - 1) * place.stride + place.bytes;
  }

  // Whether all operands of a concatenation are written where they belong.
  bool IsJoined(const Layer& layer) const {
    if (layer.inputs.empty() || layer.outputs.empty()) return false;
    size_t end = 0;  // of the operands so far
    for (const TensorId id : layer.inputs) {
      if (id == kNoTensor) return false;
      const JoinedPlace& place = At(joins_, id);
      if (place.result != layer.outputs[0] || place.offset != end) return false;
      end += place.bytes;
    }
    return true;
  }

  // Puts output 0 of a layer into the block of an input, where that is legal.
  bool TakeInput(size_t layer, const PreparedLayer& prepared) {
    const Layer& l = graph_.layers[layer];
    const TensorId output = l.outputs[0];
    for (size_t i = 0; i < l.inputs.size() && i < 32; ++i) {
      const TensorId input = l.inputs[i];
      if (input == kNoTensor || At(plan_.tensor_block, input) == MemoryPlan::kNoBlock) continue;
      const int index = At(plan_.tensor_block, input);
      Block& block = plan_.blocks[static_cast<size_t>(index)];
      // A variable's elements may change while an alias of them is read.
      const bool alias =
          prepared.alias && i == 0 && !graph_.tensors[static_cast<size_t>(input)].variable;
      // Memory may be overwritten where no tensor of the block is read after this layer, nor, at
      // another place of the block, by it.
      const bool joined = index >= first_joined_ && index < end_joined_;
      const bool in_place = (prepared.in_place_inputs >> i & 1) != 0 && !joined &&
                            block.last == static_cast<int>(layer) && Fits(output, block) &&
                            !ReadsElsewhere(l, prepared, index);
      if (!alias && !in_place) continue;
      block.last = std::max(block.last, At(plan_.last, output));
      Share(output, index, At(plan_.tensor_offset, input), At(plan_.tensor_bytes, input));
      plan_.in_place[layer] = true;
      return true;
    }
    return false;
  }

  // Whether a layer reads from a block through an input whose memory its output may not take. What
  // it writes there might be read again: a scatter whose updates are the tensor that it changes.
  bool ReadsElsewhere(const Layer& layer, const PreparedLayer& prepared, int block) const {
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const TensorId id = layer.inputs[i];
      const bool in_place = i < 32 && (prepared.in_place_inputs >> i & 1) != 0;
      if (!in_place && id != kNoTensor && At(plan_.tensor_block, id) == block) return true;
    }
    return false;
  }

  bool Fits(TensorId id, const Block& block) const {
    const Tensor& tensor = graph_.tensors[static_cast<size_t>(id)];
    const Result<size_t> bytes = CountBytes(tensor.shape, tensor.type);
    return bytes.ok() && *bytes <= block.bytes;
  }

  const Graph& graph_;
  bool keep_all_;
  const std::vector<JoinedPlace>& joins_;
  const std::vector<JoinedPlace> outermost_;
  Scratch scratch_;
  int first_joined_ = 0;  // the blocks of joined tensors
  int end_joined_ = 0;
  MemoryPlan plan_;
};

Result<MemoryPlan> PlanWith(const Graph& graph, const std::vector<PreparedLayer>& layers,
                            bool keep_all, const std::vector<JoinedPlace>& joins, Scratch scratch,
                            int64_t& visits_left) {
  Groups groups(graph, keep_all, joins, scratch);
  INTAGLIO_RETURN_IF_ERROR(groups.Build(layers));
  MemoryPlan& plan = groups.plan();
  const Result<size_t> arena = PlaceBlocks(plan.blocks, visits_left);
  if (!arena.ok()) return arena.status();
  plan.arena_bytes = *arena;
  return std::move(plan);
}

// Finds which joins cost no memory.
class Joiner {
 public:
  Joiner(const Graph& graph, const std::vector<PreparedLayer>& layers, Scratch scratch,
         MemoryPlan apart)
      : graph_(graph),
        layers_(layers),
        scratch_(scratch),
        all_(FindJoins(graph, layers)),
        outermost_(OutermostPlaces(all_)),
        joins_(graph.tensors.size()),
        most_(apart.arena_bytes),
        plan_(std::move(apart)) {}

  MemoryPlan Join() {
    std::vector<TensorId> results;  // those that lie in no other result
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].result == kNoTensor) continue;
      results.push_back(outermost_[i].result);
    }
    std::sort(results.begin(), results.end());
    results.erase(std::unique(results.begin(), results.end()), results.end());
    Add(results);
    return std::move(plan_);
  }

 private:
  // Joins all tensors that lie in these results. If that costs memory, tries each half of the
  // results alone.
  void Add(std::span<const TensorId> results) {
    if (results.empty() || visits_left_ <= 0) return;
    visits_left_ -= static_cast<int64_t>(all_.size());
    std::vector<JoinedPlace> tried = joins_;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (std::binary_search(results.begin(), results.end(), outermost_[i].result)) {
        tried[i] = all_[i];
      }
    }
    Result<MemoryPlan> plan = PlanWith(graph_, layers_, false, tried, scratch_, visits_left_);
    if (plan.ok() && plan->arena_bytes <= most_) {
      joins_ = std::move(tried);
      plan_ = std::move(*plan);
    } else if (results.size() > 1) {
      Add(results.first(results.size() / 2));
      Add(results.subspan(results.size() / 2));
    }
  }

  const Graph& graph_;
  const std::vector<PreparedLayer>& layers_;
  Scratch scratch_;
  const std::vector<JoinedPlace> all_;
  const std::vector<JoinedPlace> outermost_;  // of all_
  std::vector<JoinedPlace> joins_;            // of plan_
  size_t most_;                               // bytes of an arena without joins
  MemoryPlan plan_;
  int64_t visits_left_ = kMostVisits;  // of all plans that are tried
};

}  // namespace

Result<MemoryPlan> PlanMemory(const Graph& graph, const std::vector<PreparedLayer>& layers,
                              bool keep_all) {
  const std::vector<JoinedPlace> none(graph.tensors.size());
  Scratch scratch = Scratch::kApart;
  int64_t visits_left = kMostVisits;
  Result<MemoryPlan> plan = PlanWith(graph, layers, keep_all, none, scratch, visits_left);
  if (!plan.ok()) return plan;
  const bool has_forms = std::any_of(layers.begin(), layers.end(), [](const PreparedLayer& l) {
    return l.shared_scratch_key != 0;
  });
  if (has_forms) {
    visits_left = kMostVisits;
    Result<MemoryPlan> shared =
        PlanWith(graph, layers, keep_all, none, Scratch::kShared, visits_left);
    if (shared.ok() && shared->arena_bytes <= plan->arena_bytes) {
      scratch = Scratch::kShared;
      plan = std::move(shared);
    }
  }
  if (keep_all) return plan;
  return Joiner(graph, layers, scratch, std::move(*plan)).Join();
}

size_t ConstantBytes(const Graph& graph) {
  size_t bytes = 0;
  for (const Layer& layer : graph.layers) {
    for (const TensorId id : layer.inputs) {
      if (id == kNoTensor) continue;
      const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
      if (!tensor.constant) continue;
      const size_t all = *CountBytes(tensor.shape, tensor.type);
      if (SizeOf(tensor.type) == 1 && tensor.shape.size() > 1) {
        bytes += all;
      } else if (tensor.type == Type::kInt32 && tensor.shape.size() == 1) {
        bytes += all / sizeof(int32_t) * BoundPipeline::kChannelBytes;
      }
    }
  }
  return bytes;
}

size_t EstimateBytes(const Graph& graph) {
  constexpr size_t kLargeArena = kLargePageBytes;
  size_t arena = 0;  // the tensors of the largest layer
  for (const Layer& layer : graph.layers) {
    size_t tensors = 0;
    const auto add = [&](TensorId id) {
      if (id == kNoTensor) return;
      const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
      if (!tensor.constant) {
        tensors += std::min<size_t>(*CountBytes(tensor.shape, tensor.type), kLargeArena);
      }
    };
    std::for_each(layer.inputs.begin(), layer.inputs.end(), add);
    std::for_each(layer.outputs.begin(), layer.outputs.end(), add);
    arena = std::max(arena, tensors);
  }
  return ConstantBytes(graph) + (arena < kLargeArena ? arena : 0);
}

}  // namespace intaglio::nn
