#include "intaglio/nn/routine/program.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/graph/align_constants.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/ledger.h"

namespace intaglio::nn {
namespace {

// Lets go of the pages of constants that a layer has packed, so that no second copy stays in
// memory. Whoever needs them reads the mapped file again.
void ForgetPacked(const Graph& graph, size_t layer, const PreparedLayer& prepared) {
  constexpr size_t kFewBytes = 64 << 10;
  const std::vector<TensorId>& inputs = graph.layers[layer].inputs;
  for (size_t i = 0; i < std::min<size_t>(inputs.size(), 32); ++i) {
    if ((prepared.packed_inputs >> i & 1) == 0) continue;
    const Tensor& tensor = graph.tensors[static_cast<size_t>(inputs[i])];
    if (tensor.data_bytes >= kFewBytes) ForgetPages(tensor.owner, tensor.data, tensor.data_bytes);
  }
}

// Whether the memory plan may be the same for both.
bool WantsSameMemory(const PreparedLayer& a, const PreparedLayer& b) {
  return a.scratch_bytes == b.scratch_bytes && a.shared_scratch_key == b.shared_scratch_key &&
         a.in_place_inputs == b.in_place_inputs && a.packed_inputs == b.packed_inputs &&
         a.alias == b.alias && a.joined_axis == b.joined_axis &&
         a.strides_output == b.strides_output;
}

}  // namespace

Result<Program> Program::Make(Graph graph, const PrepareLayer& prepare, bool keep_all,
                              Context* context, Ledger* ledger) {
  Program program;
  program.graph_ = std::move(graph);
  INTAGLIO_RETURN_IF_ERROR(AlignConstants(program.graph_, ledger));
  INTAGLIO_RETURN_IF_ERROR(program.PrepareLayers(prepare, context));
  Result<MemoryPlan> plan = PlanMemory(program.graph_, program.layers_, keep_all);
  if (!plan.ok()) return plan.status();
  program.plan_ = std::move(*plan);
  program.MakePlaces();
  return program;
}

Result<Program> Program::Update(Graph graph, std::span<const size_t> layers,
                                const PrepareLayer& prepare, bool keep_all) const {
  Program program;
  program.graph_ = std::move(graph);
  program.layers_ = layers_;
  bool same_memory = true;
  for (const size_t i : layers) {
    Result<PreparedLayer> layer = prepare(program.graph_, i);
    if (!layer.ok()) return layer.status();
    if (layer->work == 0) layer->work = CountWork(LayerView(program.graph_, i), layer->macs);
    same_memory = same_memory && WantsSameMemory(*layer, layers_[i]);
    program.layers_[i] = std::move(*layer);
  }
  if (same_memory) {
    program.plan_ = plan_;
  } else {
    Result<MemoryPlan> plan = PlanMemory(program.graph_, program.layers_, keep_all);
    if (!plan.ok()) return plan.status();
    program.plan_ = std::move(*plan);
  }
  program.MakePlaces();
  return program;
}

Status Program::PrepareLayers(const PrepareLayer& prepare, Context* context) {
  struct Failure {
    Status status;
    std::exception_ptr exception;
  };
  const size_t count = graph_.layers.size();
  layers_.resize(count);
  std::vector<Failure> failures(count);
  std::atomic<size_t> first = count;  // the first layer that has failed
  const auto fail = [&](size_t i, Failure failure) {
    failures[i] = std::move(failure);
    for (size_t before = first; i < before && !first.compare_exchange_weak(before, i);) {
    }
  };
  const auto prepare_one = [&](int number) {
    const auto i = static_cast<size_t>(number);
    if (i > first) return;
    try {
      Result<PreparedLayer> layer = prepare(graph_, i);
      if (!layer.ok()) return fail(i, {layer.status(), nullptr});
      layers_[i] = std::move(*layer);
      if (layers_[i].work == 0) layers_[i].work = CountWork(LayerView(graph_, i), layers_[i].macs);
      ForgetPacked(graph_, i, layers_[i]);
    } catch (...) {
      fail(i, {{}, std::current_exception()});
    }
  };
  if (context == nullptr) {
    for (size_t i = 0; i < count; ++i) prepare_one(static_cast<int>(i));
  } else {
    context->Run(static_cast<int>(count), std::ref(prepare_one));
  }
  // Layers that are prepared at once take more memory for a while than layers prepared one after
  // the other. A layer that was refused for this reason is tried again alone, so that the answer is
  // that of one thread.
  if (first < count && context != nullptr && !failures[first].exception &&
      failures[first].status.code() == StatusCode::kOutOfMemory) {
    const size_t again = first.exchange(count);
    for (size_t i = again; i < count && first == count; ++i) {
      if (layers_[i].name.empty()) prepare_one(static_cast<int>(i));
    }
  }
  if (first == count) return {};
  if (failures[first].exception) std::rethrow_exception(failures[first].exception);
  return failures[first].status;
}

void Program::MakePlaces() {
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    const Layer& layer = graph_.layers[i];
    places_.push_back({layers_[i].routine.get(), read_count_, write_count_, layer.inputs.size(),
                       layer.outputs.size(), layer.outputs.empty() ? 0 : Stride(layer.outputs[0]),
                       plan_.scratch_is_ready[i], layers_[i].threads});
    read_count_ += layer.inputs.size();
    write_count_ += layer.inputs.size() + layer.outputs.size() + 1;
  }
}

size_t Program::constant_bytes() const {
  size_t bytes = 0;
  for (const PreparedLayer& layer : layers_) bytes += layer.constant_bytes;
  return bytes;
}

int64_t Program::macs() const {
  int64_t macs = 0;
  for (const PreparedLayer& layer : layers_) macs = AddSaturated(macs, layer.macs);
  return macs;
}

int64_t Program::work() const {
  int64_t work = 0;
  for (const PreparedLayer& layer : layers_) work = AddSaturated(work, layer.work);
  return work;
}

int64_t Program::round_work() const {
  int64_t most = 0;
  for (const PreparedLayer& layer : layers_) most = std::max(most, layer.round_work);
  return most;
}

std::byte* Program::Address(std::byte* arena, TensorId id) const {
  const int block = plan_.tensor_block[static_cast<size_t>(id)];
  if (block == MemoryPlan::kNoBlock) return nullptr;
  return arena + plan_.blocks[static_cast<size_t>(block)].offset +
         plan_.tensor_offset[static_cast<size_t>(id)];
}

const void* Program::Read(std::byte* arena, TensorId id) const {
  if (id == kNoTensor) return nullptr;
  const Tensor& tensor = graph_.tensors[static_cast<size_t>(id)];
  return tensor.constant ? tensor.data : Address(arena, id);
}

void* Program::Variable(std::byte* arena, TensorId id) const {
  if (id == kNoTensor || !graph_.tensors[static_cast<size_t>(id)].variable) return nullptr;
  return Address(arena, id);
}

// Bytes from one line of a tensor's last dimension to the next.
ptrdiff_t Program::Stride(TensorId id) const {
  const size_t stride = plan_.tensor_stride[static_cast<size_t>(id)];
  return stride != 0 ? static_cast<ptrdiff_t>(stride)
                     : LineBytes(graph_.tensors[static_cast<size_t>(id)]);
}

// A layer's reads are its inputs; its writes the variables among them, its outputs, its scratch.
void Program::Bind(std::byte* arena, const Addresses& to, std::span<std::byte* const> moved) const {
  const auto moved_to = [&](TensorId id) -> std::byte* {
    return moved.empty() || id == kNoTensor ? nullptr : moved[static_cast<size_t>(id)];
  };
  const void** read = to.reads;
  void** write = to.writes;
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    for (const TensorId id : graph_.layers[i].inputs) {
      const void* const place = moved_to(id);
      *read++ = place != nullptr ? place : Read(arena, id);
      *write++ = Variable(arena, id);
    }
    for (const TensorId id : graph_.layers[i].outputs) {
      std::byte* const place = moved_to(id);
      *write++ = place != nullptr ? place : Address(arena, id);
    }
    const int block = plan_.scratch_block[i];
    *write++ = block == MemoryPlan::kNoBlock
                   ? nullptr
                   : arena + plan_.blocks[static_cast<size_t>(block)].offset;
  }
}

Status Program::RunLayer(size_t layer, Context& context, const Addresses& addresses,
                         int64_t& rounds_left) const {
  const Place& place = places_[layer];
  if (place.threads == 0) return RunPlace(layer, context, addresses, rounds_left);
  const Context::Limit limit(context, place.threads);
  return RunPlace(layer, context, addresses, rounds_left);
}

Status Program::RunPlace(size_t layer, Context& context, const Addresses& addresses,
                         int64_t& rounds_left) const {
  const Place& place = places_[layer];
  void** const writes = addresses.writes + place.write;
  const Status status = place.routine->Run({context,
                                            {addresses.reads + place.read, place.inputs},
                                            {writes + place.inputs, place.outputs},
                                            writes[place.inputs + place.outputs],
                                            {writes, place.inputs},
                                            place.output_stride,
                                            rounds_left,
                                            place.scratch_is_ready});
  return status.ok() ? status : LayerView(graph_, layer).Wrap(status);
}

Status CheckWork(const Program& program, const Limits& limits) {
  if (program.work() <= limits.max_work) return {};
  const std::vector<PreparedLayer>& layers = program.layers();
  const auto most = std::max_element(
      layers.begin(), layers.end(),
      [](const PreparedLayer& a, const PreparedLayer& b) { return a.work < b.work; });
  const LayerView layer(program.graph(), static_cast<size_t>(most - layers.begin()));
  return layer.Unsupported("takes " + std::to_string(most->work) + " steps of a run's " +
                           std::to_string(program.work()) + ", but " +
                           std::to_string(limits.max_work) + " are allowed (Limits::max_work)");
}

}  // namespace intaglio::nn
