#include "intaglio/nn/passes/fold_constants.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/graph/align_constants.h"
#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/graph/nested_graphs.h"
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/pack/aligned_buffer.h"

namespace intaglio::nn {
namespace {

// Folding a layer includes checking and preparing it.
constexpr uint64_t kWorkOfALayer = 1024;
constexpr uint64_t kPerTensor = 64;

// A result is worth its memory up to kSmallBytes, or up to kWorthwhileGrowth times the size of its
// inputs: int8 weights that become float32 grow four times.
constexpr size_t kSmallBytes = 64 << 10;
constexpr size_t kWorthwhileGrowth = 4;

bool ReadsOnlyShapes(const Layer& layer) { return layer.op.row().reads_only_shapes; }

struct Size {
  size_t bytes = 0;
  uint64_t elements = 0;
};

// Sums the tensors of a list, without those that are absent. The sizes are those of a graph that
// passed Validate.
Size SizeOfAll(const Graph& graph, const std::vector<TensorId>& ids) {
  Size size;
  for (const TensorId id : ids) {
    if (id == kNoTensor) continue;
    const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
    const Result<size_t> bytes = CountBytes(tensor.shape, tensor.type);
    if (!bytes.ok()) continue;
    size.bytes += std::min(*bytes, SIZE_MAX - size.bytes);
    size.elements += *bytes / SizeOf(tensor.type);
  }
  return size;
}

// The steps of looking at one layer alone: its names and quantizations are copied and checked.
uint64_t WorkOfTrying(const Graph& graph, const Layer& layer) {
  constexpr uint64_t kPerScale = 8;
  uint64_t work = kWorkOfALayer;
  for (const std::vector<TensorId>* const ids : {&layer.inputs, &layer.outputs}) {
    for (const TensorId id : *ids) {
      if (id == kNoTensor) continue;
      const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
      work += kPerTensor + tensor.name.size() / 8 + kPerScale * tensor.quantization.scales.size();
    }
  }
  return work;
}

std::shared_ptr<std::byte> Allocate(size_t bytes) {
  const auto buffer =
      std::make_shared<AlignedBuffer>(AlignedBuffer::Allocate(std::max<size_t>(1, bytes)));
  if (buffer->data() == nullptr) throw std::bad_alloc();
  return {buffer, static_cast<std::byte*>(buffer->data())};
}

void SetElements(Tensor& tensor, const void* data, std::shared_ptr<const void> owner) {
  tensor.constant = true;
  tensor.data = data;
  tensor.data_bytes = *CountBytes(tensor.shape, tensor.type);
  tensor.owner = std::move(owner);
}

}  // namespace

FoldBudget FoldBudget::ForModelOf(uint64_t bytes, const Limits& limits, Ledger* ledger) {
  constexpr uint64_t kBytesPerByte = 32;
  constexpr uint64_t kWorkPerByte = 64;
  constexpr uint64_t kBaseBytes = 64 << 20;
  constexpr uint64_t kBaseWork = 64 << 20;
  const uint64_t counted = std::min(bytes, UINT64_MAX / 128);
  const auto most = static_cast<uint64_t>(std::max<int64_t>(0, limits.max_work));
  return {kBaseBytes + kBytesPerByte * counted, std::min(most, kBaseWork + kWorkPerByte * counted),
          ledger};
}

bool FoldBudget::Allows(uint64_t bytes) const {
  if (ledger_ == nullptr) return true;
  if (!ledger_->Charge(static_cast<size_t>(bytes)).ok()) return false;
  ledger_->Return(static_cast<size_t>(bytes));
  return true;
}

bool FoldBudget::Charge(uint64_t bytes, uint64_t work) {
  if (bytes > bytes_ || work > work_) return false;
  if (ledger_ != nullptr && !ledger_->Charge(static_cast<size_t>(bytes)).ok()) return false;
  bytes_ -= bytes;
  work_ -= work;
  return true;
}

ConstantFolder::ConstantFolder(Graph& graph, FoldBudget& budget) : graph_(graph), budget_(budget) {}

bool ConstantFolder::FollowsShapes(TensorId id) {
  return id != kNoTensor && static_cast<size_t>(id) < follows_shapes_.size() &&
         follows_shapes_[static_cast<size_t>(id)];
}

// Called for layers that CanFold only.
bool ConstantFolder::LayerFollowsShapes(size_t index) {
  const Layer& layer = graph_.layers[index];
  return ReadsOnlyShapes(layer) || sources_[index] != nullptr ||
         std::any_of(layer.inputs.begin(), layer.inputs.end(),
                     [&](TensorId id) { return FollowsShapes(id); });
}

ptrdiff_t& ConstantFolder::MakerOf(TensorId id) {
  if (maker_.size() < graph_.tensors.size()) maker_.resize(graph_.tensors.size(), kNone);
  return maker_[static_cast<size_t>(id)];
}

bool ConstantFolder::Follows(const Layer& layer) {
  if (ReadsOnlyShapes(layer)) return true;
  return std::all_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
    return id == kNoTensor || At(id).constant || MakerOf(id) != kNone;
  });
}

bool ConstantFolder::CanFold(const Layer& layer) {
  if (layer.inputs.empty() || layer.outputs.empty()) return false;
  if (keep_dequantize_ && layer.op.Is<Dequantize>() && layer.numerics.has_value() &&
      layer.numerics->scaling == Scaling::kFloatHalfEven) {
    return false;
  }
  if (!Follows(layer) || !NestedGraphsOf(layer.op).empty()) return false;
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const TensorId id = layer.outputs[i];
    const auto end = layer.outputs.begin() + static_cast<ptrdiff_t>(i);
    if (At(id).constant || At(id).variable || MakerOf(id) != kNone) return false;
    if (std::find(layer.outputs.begin(), end, id) != end) return false;
  }
  return true;
}

void ConstantFolder::FoldParameters(size_t layer) {
  const Layer& l = graph_.layers[layer];
  const uint32_t parameters = l.op.row().parameters;
  for (size_t i = 0; i < std::min<size_t>(l.inputs.size(), 32); ++i) {
    if ((parameters >> i & 1) != 0 && l.inputs[i] != kNoTensor) Fold(l.inputs[i]);
  }
}

void ConstantFolder::Add(size_t layer, std::shared_ptr<const ParameterSource> source) {
  folded_.resize(graph_.layers.size());
  seen_.resize(graph_.layers.size());
  follows_shapes_.resize(graph_.tensors.size());
  sources_.resize(graph_.layers.size());
  if (source != nullptr) {
    // Constants that a loop gives back as they came are no longer among its outputs.
    for (const TensorId id : source->outputs) follows_shapes_[static_cast<size_t>(id)] = true;
    sources_[layer] = std::move(source);
  }
  if (!CanFold(graph_.layers[layer])) return;
  const bool follows_shapes = LayerFollowsShapes(layer);
  for (const TensorId id : graph_.layers[layer].outputs) {
    MakerOf(id) = static_cast<ptrdiff_t>(layer);
    follows_shapes_[static_cast<size_t>(id)] = follows_shapes;
  }
}

// Returns the layers that a tensor follows from and that are not folded yet, in the graph's order.
std::vector<size_t> ConstantFolder::LayersBehind(TensorId id) {
  ++walks_;
  std::vector<size_t> layers;
  std::vector<TensorId> open = {id};
  while (!open.empty()) {
    const TensorId tensor = open.back();
    open.pop_back();
    if (tensor == kNoTensor || At(tensor).constant || MakerOf(tensor) == kNone) continue;
    const auto maker = static_cast<size_t>(MakerOf(tensor));
    if (std::exchange(seen_[maker], walks_) == walks_) continue;
    layers.push_back(maker);
    const Layer& layer = graph_.layers[maker];
    if (!ReadsOnlyShapes(layer)) open.insert(open.end(), layer.inputs.begin(), layer.inputs.end());
  }
  std::sort(layers.begin(), layers.end());
  return layers;
}

bool ConstantFolder::Fold(TensorId id) {
  for (const size_t index : LayersBehind(id)) {
    if (FoldLayer(index)) continue;
    // Neither this layer nor the layers that follow from it are tried again.
    for (const TensorId output : graph_.layers[index].outputs) MakerOf(output) = kNone;
  }
  return At(id).constant;
}

bool ConstantFolder::FoldLayer(size_t index) {
  const Layer& layer = graph_.layers[index];
  const auto is_missing = [&](TensorId id) { return id != kNoTensor && !At(id).constant; };
  const bool of_shapes = ReadsOnlyShapes(layer);
  if (!of_shapes && std::any_of(layer.inputs.begin(), layer.inputs.end(), is_missing)) return false;
  if (!budget_.Charge(0, WorkOfTrying(graph_, layer))) return false;
  Graph alone = Alone(graph_, layer);
  if (of_shapes && is_missing(layer.inputs[0])) alone.inputs = {alone.layers[0].inputs[0]};
  if (!Validate(alone).ok()) return false;
  const Size out = SizeOfAll(graph_, layer.outputs);
  const Size in = of_shapes ? Size() : SizeOfAll(graph_, layer.inputs);
  if (!budget_.Charge(out.bytes, in.elements)) return false;
  if (!budget_.Allows(BoundPreparation(LayerView(alone, 0)))) return false;
  if (!AlignConstants(alone, nullptr).ok()) return false;
  if (options_.kernel.empty()) options_.kernel = BestKernel();
  const Result<PreparedLayer> prepared = Prepare(LayerView(alone, 0), options_);
  if (prepared.status().code() == StatusCode::kOutOfMemory) throw std::bad_alloc();
  if (!prepared.ok() || !Run(alone, *prepared, layer)) return false;
  folded_[index] = true;
  Release(layer);
  return true;
}

bool ConstantFolder::Run(const Graph& alone, const PreparedLayer& prepared, const Layer& layer) {
  if (prepared.alias) {
    const Tensor& input = At(layer.inputs[0]);
    SetElements(At(layer.outputs[0]), input.data, input.owner);
    return true;
  }
  const int64_t work = CountWork(LayerView(alone, 0), prepared.macs);
  if (!budget_.Charge(prepared.scratch_bytes, static_cast<uint64_t>(work))) return false;
  const Layer& copy = alone.layers[0];
  std::vector<const void*> inputs;
  for (const TensorId id : copy.inputs) {
    inputs.push_back(id == kNoTensor ? nullptr : alone.tensors[static_cast<size_t>(id)].data);
  }
  std::vector<std::shared_ptr<std::byte>> results;
  std::vector<void*> outputs;
  for (const TensorId id : layer.outputs) {
    results.push_back(Allocate(SizeOfAll(graph_, {id}).bytes));
    outputs.push_back(results.back().get());
  }
  const std::shared_ptr<std::byte> scratch = Allocate(prepared.scratch_bytes);
  const std::vector<void*> variables(inputs.size());
  Context context(1);
  int64_t rounds_left = 0;
  const Status status = prepared.routine->Run({context, inputs, outputs, scratch.get(), variables,
                                               LineBytes(At(layer.outputs[0])), rounds_left});
  if (status.code() == StatusCode::kOutOfMemory) throw std::bad_alloc();
  if (!status.ok()) return false;
  for (size_t i = 0; i < results.size(); ++i) {
    SetElements(At(layer.outputs[i]), outputs[i], std::move(results[i]));
  }
  return true;
}

bool ConstantFolder::IsWorthIt(const Layer& layer) {
  const size_t bytes = SizeOfAll(graph_, layer.outputs).bytes;
  return bytes <= kSmallBytes || bytes / kWorthwhileGrowth <= SizeOfAll(graph_, layer.inputs).bytes;
}

void ConstantFolder::FindNeeded() {
  follows_shapes_.resize(graph_.tensors.size());
  needed_.resize(graph_.tensors.size());
  const auto need = [&](const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
      if (id != kNoTensor) needed_[static_cast<size_t>(id)] = true;
    }
  };
  for (const auto& source : sources_) {
    if (source == nullptr) continue;
    need(source->inputs);
    need(source->outputs);
    kept_.sources.push_back(source);
  }
  for (const Layer& layer : graph_.layers) {
    if (layer.outputs.empty() || !FollowsShapes(layer.outputs[0])) continue;
    need(layer.inputs);
    need(layer.outputs);
  }
}

// Elements that follow from shapes are computed again: nobody needs these.
void ConstantFolder::Empty(TensorId id) {
  Tensor& constant = At(id);
  if (needed_[static_cast<size_t>(id)]) {
    kept_.tensors.emplace_back(id, constant);
    if (FollowsShapes(id)) SetElements(kept_.tensors.back().second, nullptr, nullptr);
  }
  ForgetPages(constant.owner, constant.data, constant.data_bytes);
  constant.shape = {0};
  constant.quantization = {};
  SetElements(constant, nullptr, nullptr);
}

void ConstantFolder::CountReaders() {
  readers_.assign(graph_.tensors.size(), 0);
  const auto count = [&](const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
      if (id != kNoTensor) ++readers_[static_cast<size_t>(id)];
    }
  };
  count(graph_.inputs);
  count(graph_.outputs);
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    if (!folded_[i]) count(graph_.layers[i].inputs);
  }
  for (size_t i = 0; i < readers_.size(); ++i) {
    if (readers_[i] == 0 && graph_.tensors[i].constant) Empty(static_cast<TensorId>(i));
  }
}

// Frees the inputs that only this folded layer read, and its outputs that nothing reads.
void ConstantFolder::Release(const Layer& layer) {
  if (readers_.empty()) return;
  for (const TensorId id : layer.inputs) {
    if (id == kNoTensor) continue;
    if (--readers_[static_cast<size_t>(id)] == 0 && At(id).constant) Empty(id);
  }
  for (const TensorId id : layer.outputs) {
    if (readers_[static_cast<size_t>(id)] == 0) Empty(id);
  }
}

void ConstantFolder::RemoveFolded() {
  std::vector<Layer> left;
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    Layer& layer = graph_.layers[i];
    const bool keep = folded_[i] && FollowsShapes(layer.outputs[0]);
    if (folded_[i] && !keep) continue;
    // Messages call a layer by its place among all layers before folding.
    if (left.size() < i || keep) layer.label = LabelOf(graph_, i);
    if (keep) {
      kept_.layers.push_back({left.size(), std::move(layer)});
    } else {
      left.push_back(std::move(layer));
    }
  }
  graph_.layers = std::move(left);
  if (graph_.folded_shapes != nullptr) {
    // Nobody can tell where layers that were removed before stood among those of now.
    graph_.folded_shapes = IncompleteShapes();
  } else if (!kept_.layers.empty() || !kept_.sources.empty()) {
    graph_.folded_shapes = std::make_shared<const FoldedShapes>(std::move(kept_));
  }
}

void ConstantFolder::Finish() {
  folded_.resize(graph_.layers.size());
  FindNeeded();
  CountReaders();
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    const Layer& layer = graph_.layers[i];
    if (folded_[i] || layer.outputs.empty()) continue;
    if (std::cmp_equal(MakerOf(layer.outputs[0]), i) && IsWorthIt(layer)) Fold(layer.outputs[0]);
  }
  RemoveFolded();
}

void FoldConstants(Graph& graph, FoldBudget& budget) {
  ConstantFolder folder(graph, budget);
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    folder.FoldParameters(i);
    folder.Add(i);
  }
  folder.Finish();
}

}  // namespace intaglio::nn
