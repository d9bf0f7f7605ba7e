#ifndef INTAGLIO_NN_RUNTIME_INSTANCE_H_
#define INTAGLIO_NN_RUNTIME_INSTANCE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/routine/packed_once.h"
#include "intaglio/nn/routine/program.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/nn/runtime/bound_buffers.h"
#include "intaglio/nn/runtime/crossings.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {

// What instances of a model share. It does not change.
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
  Crossings crossings = {};  // empty if all layers run in one memory

  bool has_device() const { return !crossings.on_device.empty(); }

  const Graph& graph() const { return program.graph(); }
  // Fills in what callers ask of layers and tensors.
  void Describe();
};

// What one caller runs: an arena, threads, and where layers read and write.
struct Model::Instance {
  using Arena = std::shared_ptr<std::byte>;

  Instance(std::shared_ptr<const Prepared> p, Arena a, std::unique_ptr<Context> c);
  // Gives an instance an arena on the device, if layers run there.
  Status AddDevice();

  // What models of the same constants have packed, and whether little is left to pack.
  struct Earlier {
    std::vector<std::shared_ptr<PackedOnce>> packed = {};
    bool is_most = false;
  };
  static Result<std::unique_ptr<Instance>> Prepare(Graph graph, const PrepareOptions& options,
                                                   const Earlier& earlier);
  static Result<std::unique_ptr<Instance>> Make(std::shared_ptr<const Prepared> prepared,
                                                std::unique_ptr<Context> context);
  static std::unique_ptr<Context> MakeContext(const PrepareOptions& options);
  // The new instance takes the arena and the threads of this one, unless there is an error.
  Result<std::unique_ptr<Instance>> Update(std::span<const TensorUpdate> updates);

  std::byte* Address(TensorId id) const { return prepared->program.Address(arena.get(), id); }
  // Where layers write and read a tensor.
  std::byte* Place(TensorId id) const;
  const void* Read(TensorId id) const;

  // A null buffer unbinds, which is always allowed.
  Status CheckBinding(const char* kind, size_t i, const Tensor& tensor, const void* data,
                      size_t bytes, Type type) const;
  // After `bound` has changed.
  void Rebind();

  Status ResetState();
  // Every element of a tensor that the arena holds.
  Status Fill(TensorId id, int byte);

  // `rounds_left` is the number of rounds that loops of this run may still take. It is negative
  // after a loop wanted more.
  Status RunLayers(std::span<std::chrono::nanoseconds> layer_times, int64_t& rounds_left);
  Status RunSteps(std::span<std::chrono::nanoseconds> layer_times, int64_t& rounds_left);
  // Copies tensors between the memories as step `i` says. If times are taken, waits for the copies.
  Status Cross(size_t i, bool takes_times);
  const Backend& device() const { return *prepared->options.device; }
  std::byte* DeviceAddress(TensorId id) const {
    return prepared->program.Address(device_arena.get(), id);
  }
  const Addresses& AddressesOf(size_t layer) const {
    return prepared->crossings.OnDevice(layer) ? device_addresses : addresses;
  }
  // Runs each layer by itself on what the arena holds. A layer that refuses its inputs, or a loop
  // that they do not end, does not prevent other layers from making the scratch that they need.
  // Such a layer may not have started the threads, so they are started here.
  Status WarmLayers(int64_t rounds);

  class OwnMemory;  // while one lives, layers use no memory of the caller's

  std::shared_ptr<const Prepared> prepared;
  Arena arena;
  std::unique_ptr<Context> context;
  std::vector<const void*> reads;
  std::vector<void*> writes;
  Addresses addresses;  // the two above
  BoundBuffers bound;
  std::vector<std::byte*> moved;  // from BoundBuffers::Moved, or empty
  // The same for layers on the device. Null and empty if there are none.
  Arena device_arena;
  std::vector<const void*> device_reads;
  std::vector<void*> device_writes;
  Addresses device_addresses;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_RUNTIME_INSTANCE_H_
