#include "intaglio/nn/runtime/model.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/passes/infer_shapes.h"
#include "intaglio/nn/passes/integer_only.h"
#include "intaglio/nn/routine/packed_once.h"
#include "intaglio/nn/routine/program.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/nn/runtime/bound_buffers.h"
#include "intaglio/nn/runtime/update_graph.h"

namespace intaglio::nn {
namespace {

using Arena = std::shared_ptr<std::byte>;

size_t BytesOf(const Tensor& tensor) { return *CountBytes(tensor.shape, tensor.type); }

std::vector<size_t> BytesOf(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<size_t> bytes;
  bytes.reserve(ids.size());
  for (const TensorId id : ids) bytes.push_back(BytesOf(graph.tensors[static_cast<size_t>(id)]));
  return bytes;
}

// `expected` is the number of bytes of the tensor. Only an error makes strings.
Status CheckBuffer(const char* kind, size_t index, const Tensor& tensor, size_t expected,
                   const void* data, size_t bytes, Type type) {
  if (type == tensor.type && bytes == expected && (bytes == 0 || data != nullptr)) return {};
  const std::string name =
      std::string(kind) + " " + std::to_string(index) + " '" + tensor.name + "'";
  if (type != tensor.type) {
    return InvalidArgument(name + " is " + NameOf(tensor.type) + ", but a buffer of " +
                           NameOf(type) + " was given");
  }
  if (bytes == expected) return InvalidArgument(name + ": the buffer is null");
  return InvalidArgument(name + " has " + std::to_string(expected) + " bytes, " +
                         ToString(tensor.shape) + ", but a buffer of " + std::to_string(bytes) +
                         " was given");
}

Status CheckCount(const char* kind, size_t expected, size_t given) {
  if (expected == given) return {};
  return InvalidArgument("the model has " + std::to_string(expected) + " " + kind + "s, but " +
                         std::to_string(given) + " were given");
}

std::vector<Placement> PlacementsOf(const MemoryPlan& plan) {
  std::vector<Placement> placements;
  for (size_t i = 0; i < plan.tensor_block.size(); ++i) {
    if (plan.tensor_block[i] == MemoryPlan::kNoBlock) continue;
    const Block& block = plan.blocks[static_cast<size_t>(plan.tensor_block[i])];
    placements.push_back({static_cast<TensorId>(i), block.offset + plan.tensor_offset[i],
                          plan.tensor_bytes[i], plan.first[i], plan.last[i],
                          plan.tensor_stride[i]});
  }
  return placements;
}

Status CheckIndex(const char* kind, size_t index, size_t count) {
  if (index < count) return {};
  return InvalidArgument("there is no " + std::string(kind) + " " + std::to_string(index) +
                         "; the model has " + std::to_string(count));
}

Status CheckAligned(const char* kind, size_t index, const void* data, Type type) {
  if (reinterpret_cast<uintptr_t>(data) % SizeOf(type) == 0) return {};
  return InvalidArgument(std::string(kind) + " " + std::to_string(index) +
                         ": the address of a bound buffer must be a multiple of " +
                         std::to_string(SizeOf(type)));
}

}  // namespace

struct Model::Prepared {
  Program program;
  PrepareOptions options;
  std::shared_ptr<const Backend> backend;
  std::vector<LayerInfo> infos;
  std::vector<Placement> placements;
  std::shared_ptr<Ledger> ledger;
  std::shared_ptr<PackedOnce> packed;
  int64_t max_rounds;  // of all loops of one run
  FloatSums float_sums;
  // The bytes of each input and output. They are kept because counting takes a division for each
  // dimension.
  std::vector<size_t> input_bytes = {};
  std::vector<size_t> output_bytes = {};

  const Graph& graph() const { return program.graph(); }
  void Describe();
};

struct Model::Instance {
  Instance(std::shared_ptr<const Prepared> p, Arena a, std::unique_ptr<Context> c)
      : prepared(std::move(p)),
        arena(std::move(a)),
        context(std::move(c)),
        reads(prepared->program.read_count()),
        writes(prepared->program.write_count()),
        addresses{reads.data(), writes.data()},
        bound(prepared->program) {
    prepared->program.Bind(arena.get(), addresses);
  }

  static std::unique_ptr<Context> MakeContext(const PrepareOptions& options) {
    if (options.parallel_for)
      return std::make_unique<Context>(options.threads, options.parallel_for);
    return std::make_unique<Context>(options.threads);
  }

  std::byte* Address(TensorId id) const { return prepared->program.Address(arena.get(), id); }
  // Where layers write and read a tensor.
  std::byte* Place(TensorId id) const {
    std::byte* const place = moved.empty() ? nullptr : moved[static_cast<size_t>(id)];
    return place != nullptr ? place : Address(id);
  }
  const void* Read(TensorId id) const {
    const Tensor& tensor = prepared->graph().tensors[static_cast<size_t>(id)];
    return tensor.constant ? tensor.data : Place(id);
  }

  // A null buffer unbinds, which is always allowed.
  Status CheckBinding(const char* kind, size_t i, const Tensor& tensor, const void* data,
                      size_t bytes, Type type) const {
    if (data == nullptr) return {};
    if (prepared->options.backend != nullptr) {
      return Unsupported("buffers are bound on the CPU only");
    }
    INTAGLIO_RETURN_IF_ERROR(CheckBuffer(kind, i, tensor, BytesOf(tensor), data, bytes, type));
    return CheckAligned(kind, i, data, type);
  }

  void Rebind() {
    moved = bound.any() ? bound.Moved() : std::vector<std::byte*>();
    prepared->program.Bind(arena.get(), addresses, moved);
  }

  // While an object of this class lives, layers use no memory of the caller's.
  struct OwnMemory {
    explicit OwnMemory(Instance& i) : instance(i) { Bind({}); }
    ~OwnMemory() { Bind(instance.moved); }
    OwnMemory(const OwnMemory&) = delete;
    OwnMemory& operator=(const OwnMemory&) = delete;
    void Bind(std::span<std::byte* const> moved) const {
      if (!instance.moved.empty()) {
        instance.prepared->program.Bind(instance.arena.get(), instance.addresses, moved);
      }
    }
    Instance& instance;
  };

  Status ResetState() {
    const std::vector<Tensor>& tensors = prepared->graph().tensors;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = tensors[i];
      if (!tensor.variable) continue;
      if (tensor.data != nullptr) {
        INTAGLIO_RETURN_IF_ERROR(prepared->backend->CopyIn(Address(static_cast<TensorId>(i)),
                                                           tensor.data, tensor.data_bytes));
        continue;
      }
      const bool has_zero_point = tensor.type == Type::kInt8 && tensor.quantization.quantized();
      const int zero = has_zero_point ? tensor.quantization.zero_points[0] : 0;
      INTAGLIO_RETURN_IF_ERROR(Fill(static_cast<TensorId>(i), zero));
    }
    return {};
  }

  // Every element of a tensor that the arena holds.
  Status Fill(TensorId id, int byte) {
    const Tensor& tensor = prepared->graph().tensors[static_cast<size_t>(id)];
    return prepared->backend->Fill(Address(id), byte, BytesOf(tensor));
  }

  // `rounds_left` is the number of rounds that loops of this run may still take. It is negative
  // after a loop wanted more.
  Status RunLayers(std::span<std::chrono::nanoseconds> layer_times, int64_t& rounds_left) {
    const DefaultFloatEnvironment environment;
    using Clock = std::chrono::steady_clock;
    const Program& program = prepared->program;
    for (size_t i = 0; i < program.layers().size(); ++i) {
      const Clock::time_point start = layer_times.empty() ? Clock::time_point() : Clock::now();
      INTAGLIO_RETURN_IF_ERROR(program.RunLayer(i, *context, addresses, rounds_left));
      if (!layer_times.empty()) layer_times[i] = Clock::now() - start;
    }
    return {};
  }

  // Runs each layer by itself on what the arena holds. A layer that refuses its inputs, or a loop
  // that they do not end, does not prevent other layers from making the scratch that they need.
  // Such a layer may not have started the threads, so they are started here.
  Status WarmLayers(int64_t rounds) {
    const DefaultFloatEnvironment environment;
    const OwnMemory own(*this);
    const Program& program = prepared->program;
    for (size_t i = 0; i < program.layers().size(); ++i) {
      int64_t rounds_left = rounds;
      const Status status = program.RunLayer(i, *context, addresses, rounds_left);
      if (status.ok()) continue;
      if (status.code() != StatusCode::kInvalidArgument) return status;
      context->Run(context->threads(), [](int) {});
    }
    return {};
  }

  // What models of the same constants have packed, and whether little is left to pack.
  struct Earlier {
    std::vector<std::shared_ptr<PackedOnce>> packed = {};
    bool is_most = false;
  };
  static Result<std::unique_ptr<Instance>> Prepare(Graph graph, const PrepareOptions& options,
                                                   const Earlier& earlier);

  // Has the arena and the threads of this instance, unless there is an error.
  Result<std::unique_ptr<Instance>> Update(std::span<const TensorUpdate> updates);

  static Result<std::unique_ptr<Instance>> Make(std::shared_ptr<const Prepared> prepared,
                                                std::unique_ptr<Context> context) {
    const size_t bytes = prepared->program.plan().arena_bytes + kArenaAlignment;
    Result<Arena> arena = prepared->backend->Allocate(bytes);
    if (!arena.ok()) return arena.status();
    auto instance =
        std::make_unique<Instance>(std::move(prepared), std::move(*arena), std::move(context));
    INTAGLIO_RETURN_IF_ERROR(instance->ResetState());
    return instance;
  }

  std::shared_ptr<const Prepared> prepared;
  Arena arena;
  std::unique_ptr<Context> context;
  std::vector<const void*> reads;
  std::vector<void*> writes;
  Addresses addresses;  // the two above
  BoundBuffers bound;
  std::vector<std::byte*> moved;  // from BoundBuffers::Moved, or empty
};

void Model::Prepared::Describe() {
  const MemoryPlan& plan = program.plan();
  placements = PlacementsOf(plan);
  input_bytes = BytesOf(graph(), graph().inputs);
  output_bytes = BytesOf(graph(), graph().outputs);
  for (size_t i = 0; i < program.layers().size(); ++i) {
    const PreparedLayer& layer = program.layers()[i];
    LayerInfo info;
    info.label = LabelOf(graph(), i);
    info.operator_name = NameOf(graph().layers[i].op);
    info.routine = layer.name;
    info.kernel = layer.kernel;
    info.macs = layer.macs;
    info.work = layer.work;
    info.constant_bytes = layer.constant_bytes;
    info.scratch_bytes = layer.scratch_bytes;
    if (plan.scratch_block[i] != MemoryPlan::kNoBlock) {
      info.scratch_offset = plan.blocks[static_cast<size_t>(plan.scratch_block[i])].offset;
    }
    info.in_place = plan.in_place[i];
    info.output = graph().layers[i].outputs.empty() ? kNoTensor : graph().layers[i].outputs[0];
    infos.push_back(std::move(info));
  }
}

namespace {

Status CheckLimits(const Limits& limits) {
  if (limits.max_work >= 0 && limits.max_rounds >= 0) return {};
  return InvalidArgument("Limits::max_work is " + std::to_string(limits.max_work) +
                         " and Limits::max_rounds is " + std::to_string(limits.max_rounds) +
                         "; neither can be negative");
}

// The layers that a choice names.
Result<std::vector<size_t>> LayersOf(const Graph& graph, const RoutineChoice& choice) {
  std::vector<size_t> layers;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (choice.layer == std::to_string(i) || choice.layer == LabelOf(graph, i)) layers.push_back(i);
  }
  if (!layers.empty()) return layers;
  const std::string what = choice.routine.empty() ? "" : " to run by '" + choice.routine + "'";
  return InvalidArgument("there is no layer '" + choice.layer + "'" + what);
}

// The choice for each layer.
Result<std::vector<LayerChoice>> ChoicesOf(const Graph& graph,
                                           const std::vector<RoutineChoice>& choices) {
  std::vector<LayerChoice> of_layers(graph.layers.size());
  for (const RoutineChoice& choice : choices) {
    const Result<std::vector<size_t>> layers = LayersOf(graph, choice);
    if (!layers.ok()) return layers.status();
    if (choice.threads < 0) {
      return InvalidArgument("layer '" + choice.layer + "' cannot use " +
                             std::to_string(choice.threads) + " threads");
    }
    for (const size_t layer : *layers) {
      of_layers[layer] = {choice.routine, choice.kernel, choice.threads};
    }
  }
  return of_layers;
}

// The options of the CPU's backend. Without a ledger nothing is charged.
LayerOptions LayerOptionsOf(const PrepareOptions& options, const std::string& kernel,
                            const Graph& graph, std::shared_ptr<Ledger> ledger,
                            std::shared_ptr<PackedOnce> packed) {
  return {.kernel = kernel,
          .fit = !options.integer_only,
          .cold = ConstantBytes(graph) > Cpu().l2_bytes,
          .float_sums = options.float_sums,
          .winograd_weights = options.winograd_weights,
          .ledger = std::move(ledger),
          .packed = std::move(packed)};
}

// How many rounds of loops a run may take.
int64_t MaxRounds(const Program& program, const Limits& limits) {
  return std::min(limits.max_rounds, limits.max_work / std::max<int64_t>(1, program.round_work()));
}

}  // namespace

Result<std::unique_ptr<Model::Instance>> Model::Instance::Prepare(Graph graph,
                                                                  const PrepareOptions& options,
                                                                  const Earlier& earlier) {
  if (options.threads < 1) {
    return InvalidArgument("threads is " + std::to_string(options.threads) +
                           "; at least 1 is needed");
  }
  INTAGLIO_RETURN_IF_ERROR(CheckLimits(options.limits));
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  if (options.integer_only) INTAGLIO_RETURN_IF_ERROR(CheckIntegerOnly(graph));
  const Result<std::vector<LayerChoice>> choices = ChoicesOf(graph, options.routines);
  if (!choices.ok()) return choices.status();
  const Result<const Kernel*> kernel = KernelNamed(options.kernel);
  if (!kernel.ok()) return kernel.status();
  const auto ledger = std::make_shared<Ledger>(options.limits, CountConstants(graph));
  const auto packed = std::make_shared<PackedOnce>(earlier.packed);
  std::shared_ptr<const Backend> backend = options.backend;
  if (backend == nullptr) {
    // What was packed before fills pages already.
    const size_t expected_bytes = earlier.is_most ? 0 : EstimateBytes(graph);
    backend = MakeHostBackend(LayerOptionsOf(options, (*kernel)->name, graph, ledger, packed),
                              expected_bytes);
  }
  const FloatSums float_sums = options.backend != nullptr
                                   ? FloatSums::kUnfused
                                   : FloatLoopsOf((*kernel)->name, options.float_sums).sums;
  std::unique_ptr<Context> context = MakeContext(options);
  Result<Program> program = Program::Make(
      std::move(graph),
      [&](const Graph& g, size_t layer) { return backend->Prepare(g, layer, (*choices)[layer]); },
      options.keep_all_tensors, backend->prepares_at_once() ? context.get() : nullptr,
      ledger.get());
  if (!program.ok()) return program.status();
  packed->ForgetEarlier();
  INTAGLIO_RETURN_IF_ERROR(CheckWork(*program, options.limits));
  if (const Status s = ledger->Charge(program->plan().arena_bytes); !s.ok()) {
    return Status(s.code(), "the arena: " + s.message());
  }
  const int64_t max_rounds = MaxRounds(*program, options.limits);
  const auto prepared = std::make_shared<Prepared>(Prepared{
      std::move(*program), options, backend, {}, {}, ledger, packed, max_rounds, float_sums});
  prepared->Describe();
  return Make(prepared, std::move(context));
}

// Constants are packed into a new PackedOnce, because it knows them by their addresses, and new
// elements may lie where others were freed. Layers of the same shapes take no more memory than
// before, so nothing is charged.
Result<std::unique_ptr<Model::Instance>> Model::Instance::Update(
    std::span<const TensorUpdate> updates) {
  const PrepareOptions& options = prepared->options;
  Result<UpdatedGraph> updated = UpdateGraph(prepared->graph(), updates);
  if (!updated.ok()) return updated.status();
  if (options.integer_only) INTAGLIO_RETURN_IF_ERROR(CheckIntegerOnly(updated->graph));
  const Result<std::vector<LayerChoice>> choices = ChoicesOf(updated->graph, options.routines);
  if (!choices.ok()) return choices.status();
  const Result<const Kernel*> kernel = KernelNamed(options.kernel);
  if (!kernel.ok()) return kernel.status();
  const auto packed = std::make_shared<PackedOnce>();
  const auto backend =
      MakeHostBackend(LayerOptionsOf(options, (*kernel)->name, updated->graph, nullptr, packed), 0);
  Result<Program> program = prepared->program.Update(
      std::move(updated->graph), updated->layers,
      [&](const Graph& g, size_t layer) { return backend->Prepare(g, layer, (*choices)[layer]); },
      options.keep_all_tensors);
  if (!program.ok()) return program.status();
  const bool same_arena = program->plan().arena_bytes == prepared->program.plan().arena_bytes;
  const auto next = std::make_shared<Prepared>(Prepared{std::move(*program),
                                                        options,
                                                        backend,
                                                        {},
                                                        {},
                                                        prepared->ledger,
                                                        packed,
                                                        prepared->max_rounds,
                                                        prepared->float_sums});
  next->Describe();
  if (!same_arena) return Make(next, MakeContext(options));
  auto instance = std::make_unique<Instance>(next, arena, nullptr);
  instance->context = std::move(context);
  (void)instance->ResetState();  // on the CPU it cannot fail
  return instance;
}

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
  if (instance_->prepared->options.backend != nullptr) {
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
  return instance_->prepared->backend->ListCandidates(graph(), layer);
}
size_t Model::arena_bytes() const { return instance_->prepared->program.plan().arena_bytes; }
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
