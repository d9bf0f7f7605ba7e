#include "intaglio/nn/runtime/instance.h"

#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/nn/runtime/check_buffers.h"

namespace intaglio::nn {

class Model::Instance::OwnMemory {
 public:
  explicit OwnMemory(Instance& instance) : instance_(instance) { Bind({}); }
  ~OwnMemory() { Bind(instance_.moved); }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

 private:
  void Bind(std::span<std::byte* const> moved) const {
    if (instance_.moved.empty()) return;
    instance_.prepared->program.Bind(instance_.arena.get(), instance_.addresses, moved);
  }

  Instance& instance_;
};

Model::Instance::Instance(std::shared_ptr<const Prepared> p, Arena a, std::unique_ptr<Context> c)
    : prepared(std::move(p)),
      arena(std::move(a)),
      context(std::move(c)),
      reads(prepared->program.read_count()),
      writes(prepared->program.write_count()),
      addresses{reads.data(), writes.data()},
      bound(prepared->program) {
  prepared->program.Bind(arena.get(), addresses);
}

Result<std::unique_ptr<Model::Instance>> Model::Instance::Make(
    std::shared_ptr<const Prepared> prepared, std::unique_ptr<Context> context) {
  const size_t bytes = prepared->program.plan().arena_bytes + kArenaAlignment;
  Result<Arena> arena = prepared->backend->Allocate(bytes);
  if (!arena.ok()) return arena.status();
  auto instance =
      std::make_unique<Instance>(std::move(prepared), std::move(*arena), std::move(context));
  INTAGLIO_RETURN_IF_ERROR(instance->AddDevice());
  INTAGLIO_RETURN_IF_ERROR(instance->ResetState());
  return instance;
}

Status Model::Instance::AddDevice() {
  if (!prepared->has_device()) return {};
  const Program& program = prepared->program;
  Result<Arena> memory = device().Allocate(program.plan().arena_bytes + kArenaAlignment);
  if (!memory.ok()) return memory.status();
  device_arena = std::move(*memory);
  device_reads.resize(program.read_count());
  device_writes.resize(program.write_count());
  device_addresses = {device_reads.data(), device_writes.data()};
  program.Bind(device_arena.get(), device_addresses);
  return {};
}

std::unique_ptr<Context> Model::Instance::MakeContext(const PrepareOptions& options) {
  if (options.parallel_for) return std::make_unique<Context>(options.threads, options.parallel_for);
  return std::make_unique<Context>(options.threads);
}

std::byte* Model::Instance::Place(TensorId id) const {
  std::byte* const place = moved.empty() ? nullptr : moved[static_cast<size_t>(id)];
  return place != nullptr ? place : Address(id);
}

const void* Model::Instance::Read(TensorId id) const {
  const Tensor& tensor = prepared->graph().tensors[static_cast<size_t>(id)];
  return tensor.constant ? tensor.data : Place(id);
}

Status Model::Instance::CheckBinding(const char* kind, size_t i, const Tensor& tensor,
                                     const void* data, size_t bytes, Type type) const {
  if (data == nullptr) return {};
  if (prepared->options.backend != nullptr) {
    return Unsupported("buffers are bound on the CPU only");
  }
  INTAGLIO_RETURN_IF_ERROR(CheckBuffer(kind, i, tensor, TensorBytes(tensor), data, bytes, type));
  return CheckAligned(kind, i, data, type);
}

void Model::Instance::Rebind() {
  moved = bound.any() ? bound.Moved() : std::vector<std::byte*>();
  prepared->program.Bind(arena.get(), addresses, moved);
}

Status Model::Instance::ResetState() {
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

Status Model::Instance::Fill(TensorId id, int byte) {
  const Tensor& tensor = prepared->graph().tensors[static_cast<size_t>(id)];
  return prepared->backend->Fill(Address(id), byte, TensorBytes(tensor));
}

Status Model::Instance::RunLayers(std::span<std::chrono::nanoseconds> layer_times,
                                  int64_t& rounds_left) {
  const Status status = RunSteps(layer_times, rounds_left);
  // The device may still read the arena of the host.
  if (!status.ok() && prepared->has_device()) (void)device().Wait();
  return status;
}

Status Model::Instance::RunSteps(std::span<std::chrono::nanoseconds> layer_times,
                                 int64_t& rounds_left) {
  const DefaultFloatEnvironment environment;
  using Clock = std::chrono::steady_clock;
  const Program& program = prepared->program;
  const bool takes_times = !layer_times.empty();
  for (size_t i = 0; i < program.layers().size(); ++i) {
    if (prepared->has_device()) INTAGLIO_RETURN_IF_ERROR(Cross(i, takes_times));
    const Clock::time_point start = takes_times ? Clock::now() : Clock::time_point();
    INTAGLIO_RETURN_IF_ERROR(program.RunLayer(i, *context, AddressesOf(i), rounds_left));
    if (!takes_times) continue;
    if (prepared->crossings.OnDevice(i)) INTAGLIO_RETURN_IF_ERROR(device().Wait());
    layer_times[i] = Clock::now() - start;
  }
  return prepared->has_device() ? Cross(program.layers().size(), false) : Status();
}

Status Model::Instance::Cross(size_t i, bool takes_times) {
  const Crossings::Step& step = prepared->crossings.steps[i];
  const auto bytes = [this](TensorId id) {
    return TensorBytes(prepared->graph().tensors[static_cast<size_t>(id)]);
  };
  for (const TensorId id : step.to_host) {
    INTAGLIO_RETURN_IF_ERROR(device().CopyOut(Place(id), DeviceAddress(id), bytes(id)));
  }
  for (const TensorId id : step.to_device) {
    INTAGLIO_RETURN_IF_ERROR(device().CopyIn(DeviceAddress(id), Read(id), bytes(id)));
  }
  const bool waits = step.waits || (takes_times && !step.to_device.empty());
  return waits ? device().Wait() : Status();
}

Status Model::Instance::WarmLayers(int64_t rounds) {
  const DefaultFloatEnvironment environment;
  const OwnMemory own(*this);
  const Program& program = prepared->program;
  for (size_t i = 0; i < program.layers().size(); ++i) {
    int64_t rounds_left = rounds;
    const Status status = program.RunLayer(i, *context, AddressesOf(i), rounds_left);
    if (status.ok()) continue;
    if (status.code() != StatusCode::kInvalidArgument) return status;
    context->Run(context->threads(), [](int) {});
  }
  return prepared->has_device() ? device().Wait() : Status();
}

}  // namespace intaglio::nn
