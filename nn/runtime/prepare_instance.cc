// How a graph becomes what an instance runs, the first time and after constants have changed.
#include <algorithm>
#include <string>
#include <utility>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/passes/integer_only.h"
#include "intaglio/nn/runtime/check_buffers.h"
#include "intaglio/nn/runtime/instance.h"
#include "intaglio/nn/runtime/update_graph.h"

namespace intaglio::nn {
namespace {

std::vector<size_t> BytesOf(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<size_t> bytes;
  bytes.reserve(ids.size());
  for (const TensorId id : ids)
    bytes.push_back(TensorBytes(graph.tensors[static_cast<size_t>(id)]));
  return bytes;
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

// Whether each layer runs on PrepareOptions::device; empty if none does.
Result<std::vector<bool>> DeviceLayersOf(const Graph& graph,
                                         const std::vector<LayerChoice>& choices,
                                         const PrepareOptions& options) {
  std::vector<bool> on_device;
  if (options.device == nullptr) return on_device;
  if (options.backend != nullptr) {
    return InvalidArgument("a model takes either a backend for all layers or a device for some");
  }
  const std::string prefix = options.device->name().append(":");
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    on_device.push_back(choices[i].routine.rfind(prefix, 0) == 0);
    const LayerView layer(graph, i);
    for (size_t k = 0; on_device[i] && k < layer.input_count(); ++k) {
      if (!layer.has_input(k) || !layer.input(k).variable) continue;
      return layer.Unsupported("has the variable '" + layer.input(k).name +
                               "', so it cannot run on a device");
    }
  }
  const bool any = std::find(on_device.begin(), on_device.end(), true) != on_device.end();
  return any ? on_device : std::vector<bool>();
}

// Prepares layers where they run.
class LayerPreparer {
 public:
  LayerPreparer(const Backend& host, const Backend* device, const Crossings& crossings,
                const std::vector<LayerChoice>& choices)
      : host_(host), device_(device), crossings_(crossings), choices_(choices) {}

  Result<PreparedLayer> operator()(const Graph& graph, size_t layer) const {
    const bool on_device = crossings_.OnDevice(layer);
    Result<PreparedLayer> prepared =
        (on_device ? *device_ : host_).Prepare(graph, layer, choices_[layer]);
    if (!prepared.ok()) return prepared;
    // Lines that lie apart are not copied between the memories.
    prepared->strides_output = prepared->strides_output && crossings_.StaysInMemory(graph, layer);
    // A layer of the other memory would not find what this one makes.
    if (on_device) prepared->shared_scratch_key = 0;
    return prepared;
  }

  bool prepares_at_once() const {
    return crossings_.on_device.empty() ? host_.prepares_at_once()
                                        : host_.prepares_at_once() && device_->prepares_at_once();
  }

 private:
  const Backend& host_;
  const Backend* device_;
  const Crossings& crossings_;
  const std::vector<LayerChoice>& choices_;
};

// How many rounds of loops a run may take.
int64_t MaxRounds(const Program& program, const Limits& limits) {
  return std::min(limits.max_rounds, limits.max_work / std::max<int64_t>(1, program.round_work()));
}

}  // namespace

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
  Result<std::vector<bool>> on_device = DeviceLayersOf(graph, *choices, options);
  if (!on_device.ok()) return on_device.status();
  const Crossings crossings = FindCrossings(graph, std::move(*on_device), options.keep_all_tensors);
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
  const LayerPreparer prepare(*backend, options.device.get(), crossings, *choices);
  Result<Program> program =
      Program::Make(std::move(graph), prepare, options.keep_all_tensors,
                    prepare.prepares_at_once() ? context.get() : nullptr, ledger.get());
  if (!program.ok()) return program.status();
  packed->ForgetEarlier();
  INTAGLIO_RETURN_IF_ERROR(CheckWork(*program, options.limits));
  const size_t arenas = crossings.on_device.empty() ? 1 : 2;
  for (size_t i = 0; i < arenas; ++i) {
    if (const Status s = ledger->Charge(program->plan().arena_bytes); !s.ok()) {
      return Status(s.code(), "the arena: " + s.message());
    }
  }
  const int64_t max_rounds = MaxRounds(*program, options.limits);
  const auto prepared = std::make_shared<Prepared>(Prepared{
      std::move(*program), options, backend, {}, {}, ledger, packed, max_rounds, float_sums});
  prepared->crossings = crossings;
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

}  // namespace intaglio::nn
