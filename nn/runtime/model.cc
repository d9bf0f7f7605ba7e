#include "intaglio/nn/runtime/model.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/nn/passes/infer_shapes.h"
#include "intaglio/nn/runtime/check_buffers.h"
#include "intaglio/nn/runtime/instance.h"

namespace intaglio::nn {

Result<Model> Model::Prepare(Graph graph, const PrepareOptions& options) try {
  const DefaultFloatEnvironment environment;
  Result<std::unique_ptr<Instance>> instance = Instance::Prepare(std::move(graph), options, {});
  if (!instance.ok()) return instance.status();
  return Model(std::move(*instance));
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while the model was prepared");
}

Result<Model> Model::Prepare(Graph graph, const PrepareOptions& options,
                             std::span<const Model* const> earlier) try {
  const DefaultFloatEnvironment environment;
  Instance::Earlier packed;
  for (const Model* const model : earlier) {
    packed.packed.push_back(model->instance_->prepared->packed);
  }
  Result<std::unique_ptr<Instance>> instance = Instance::Prepare(std::move(graph), options, packed);
  if (!instance.ok()) return instance.status();
  return Model(std::move(*instance));
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while the model was prepared");
}

Status Model::Resize(const std::vector<Shape>& input_shapes) try {
  const DefaultFloatEnvironment environment;
  if (instance_->bound.any()) {
    return InvalidArgument("the model has bound buffers: unbind them before it is resized");
  }
  const Prepared& prepared = *instance_->prepared;
  Result<Graph> resized = ResizeInputs(graph(), input_shapes, prepared.options.limits);
  if (!resized.ok()) return resized.status();
  Result<std::unique_ptr<Instance>> instance =
      Instance::Prepare(std::move(*resized), prepared.options, {{prepared.packed}, true});
  if (!instance.ok()) return instance.status();
  instance_ = std::move(*instance);
  return {};
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while the model was resized");
}

Status Model::Update(std::span<const TensorUpdate> updates) try {
  const DefaultFloatEnvironment environment;
  const PrepareOptions& options = instance_->prepared->options;
  if (options.backend != nullptr || options.device != nullptr) {
    return Unsupported("constants are updated on the CPU only");
  }
  if (instance_->bound.any()) {
    return InvalidArgument("the model has bound buffers: unbind them before it is updated");
  }
  Result<std::unique_ptr<Instance>> instance = instance_->Update(updates);
  if (!instance.ok()) return instance.status();
  instance_ = std::move(*instance);
  return {};
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while the model was updated");
}

Result<Model> Model::Share() const try {
  Result<std::unique_ptr<Instance>> instance =
      Instance::Make(instance_->prepared, Instance::MakeContext(instance_->prepared->options));
  if (!instance.ok()) return instance.status();
  return Model(std::move(*instance));
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while the model was shared");
}

Model::Model(std::unique_ptr<Instance> instance) : instance_(std::move(instance)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Status Model::Run(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
                  std::span<std::chrono::nanoseconds> layer_times) try {
  const Prepared& prepared = *instance_->prepared;
  INTAGLIO_RETURN_IF_ERROR(CheckCount("input", input_count(), inputs.size()));
  INTAGLIO_RETURN_IF_ERROR(CheckCount("output", output_count(), outputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(CheckBuffer("input", i, input(i), prepared.input_bytes[i],
                                         inputs[i].data, inputs[i].bytes, inputs[i].type));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(CheckBuffer("output", i, output(i), prepared.output_bytes[i],
                                         outputs[i].data, outputs[i].bytes, outputs[i].type));
  }
  if (instance_->bound.any()) {
    return InvalidArgument("the model has bound buffers: call RunBound, or unbind them");
  }
  INTAGLIO_RETURN_IF_ERROR(CheckTimes(layer_times));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].bytes == 0) continue;
    INTAGLIO_RETURN_IF_ERROR(prepared.backend->CopyIn(instance_->Address(graph().inputs[i]),
                                                      inputs[i].data, inputs[i].bytes));
  }
  INTAGLIO_RETURN_IF_ERROR(RunLayers(layer_times));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].bytes == 0) continue;
    INTAGLIO_RETURN_IF_ERROR(prepared.backend->CopyOut(
        outputs[i].data, instance_->Read(graph().outputs[i]), outputs[i].bytes));
  }
  return {};
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out during a run");
}

Status Model::CheckTimes(std::span<std::chrono::nanoseconds> layer_times) const {
  if (layer_times.empty() || layer_times.size() == layers().size()) return {};
  return InvalidArgument("layer_times has " + std::to_string(layer_times.size()) +
                         " elements; the model has " + std::to_string(layers().size()) + " layers");
}

Status Model::BindInput(size_t i, const InputBuffer& buffer) try {
  INTAGLIO_RETURN_IF_ERROR(CheckIndex("input", i, input_count()));
  INTAGLIO_RETURN_IF_ERROR(
      instance_->CheckBinding("input", i, input(i), buffer.data, buffer.bytes, buffer.type));
  INTAGLIO_RETURN_IF_ERROR(instance_->bound.BindInput(i, buffer.data));
  instance_->Rebind();
  return {};
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while a buffer was bound");
}

Status Model::BindOutput(size_t i, const OutputBuffer& buffer) try {
  INTAGLIO_RETURN_IF_ERROR(CheckIndex("output", i, output_count()));
  INTAGLIO_RETURN_IF_ERROR(
      instance_->CheckBinding("output", i, output(i), buffer.data, buffer.bytes, buffer.type));
  INTAGLIO_RETURN_IF_ERROR(instance_->bound.BindOutput(i, buffer.data));
  instance_->Rebind();
  return {};
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while a buffer was bound");
}

void* Model::InputData(size_t i) {
  if (i >= input_count() || instance_->prepared->options.backend != nullptr) return nullptr;
  return instance_->Place(graph().inputs[i]);
}

const void* Model::OutputData(size_t i) const {
  if (i >= output_count() || instance_->prepared->options.backend != nullptr) return nullptr;
  const void* const bound = instance_->bound.output(i);
  return bound != nullptr ? bound : instance_->Read(graph().outputs[i]);
}

Status Model::RunBound(std::span<std::chrono::nanoseconds> layer_times) try {
  if (instance_->prepared->options.backend != nullptr) {
    return Unsupported("RunBound runs on the CPU only");
  }
  INTAGLIO_RETURN_IF_ERROR(CheckTimes(layer_times));
  INTAGLIO_RETURN_IF_ERROR(RunLayers(layer_times));
  for (size_t i = 0; i < output_count(); ++i) {
    void* const bound = instance_->bound.output(i);
    const void* const made = instance_->Read(graph().outputs[i]);
    const size_t bytes = instance_->prepared->output_bytes[i];
    if (bound != nullptr && bound != made && bytes > 0) std::memcpy(bound, made, bytes);
  }
  return {};
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out during a run");
}

Status Model::RunLayers(std::span<std::chrono::nanoseconds> layer_times) {
  int64_t rounds_left = instance_->prepared->max_rounds;
  return instance_->RunLayers(layer_times, rounds_left);
}

Status Model::RunLayersForTiming() try { return RunLayers({}); } catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out during a run");
}

Status Model::WarmUp() try {
  constexpr int64_t kRounds = 16;
  for (const TensorId id : graph().inputs) INTAGLIO_RETURN_IF_ERROR(instance_->Fill(id, 0));
  const Status status = instance_->WarmLayers(std::min(kRounds, instance_->prepared->max_rounds));
  ResetState();
  return status;
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out during a run");
}

// Only the CPU's backend has variables, and what it does here cannot fail.
void Model::ResetState() { (void)instance_->ResetState(); }

const Graph& Model::graph() const { return instance_->prepared->graph(); }
const std::vector<LayerInfo>& Model::layers() const { return instance_->prepared->infos; }
std::vector<CandidateInfo> Model::ListRoutines(size_t layer) const {
  const Prepared& prepared = *instance_->prepared;
  std::vector<CandidateInfo> routines = prepared.backend->ListCandidates(graph(), layer);
  if (prepared.options.device == nullptr) return routines;
  for (CandidateInfo& routine : prepared.options.device->ListCandidates(graph(), layer)) {
    routines.push_back(std::move(routine));
  }
  return routines;
}
size_t Model::arena_bytes() const {
  const Prepared& prepared = *instance_->prepared;
  return prepared.program.plan().arena_bytes * (prepared.has_device() ? 2 : 1);
}
const std::vector<Placement>& Model::placements() const { return instance_->prepared->placements; }
size_t Model::taken_bytes() const { return instance_->prepared->ledger->taken(); }
size_t Model::max_bytes() const { return instance_->prepared->ledger->most(); }
FloatSums Model::float_sums() const { return instance_->prepared->float_sums; }
int64_t Model::work() const { return instance_->prepared->program.work(); }
size_t Model::constant_bytes() const { return instance_->prepared->program.constant_bytes(); }

const void* Model::TensorData(TensorId tensor) const {
  const Prepared& prepared = *instance_->prepared;
  if (tensor < 0 || static_cast<size_t>(tensor) >= graph().tensors.size()) return nullptr;
  const size_t i = static_cast<size_t>(tensor);
  const bool lasts = prepared.options.keep_all_tensors || graph().tensors[i].constant ||
                     prepared.program.plan().last[i] == static_cast<int>(graph().layers.size());
  return lasts ? instance_->Read(tensor) : nullptr;
}

}  // namespace intaglio::nn
