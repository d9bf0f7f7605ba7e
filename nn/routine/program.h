// A graph with the routines and the memory plan to run it: what a model is made of, and what a
// layer that holds graphs of its own makes of each.
#ifndef INTAGLIO_NN_ROUTINE_PROGRAM_H_
#define INTAGLIO_NN_ROUTINE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/context.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/routine/memory_plan.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

class Ledger;
struct Limits;

// Where the layers of a program find their tensors in one arena.
struct Addresses {
  const void** reads = nullptr;  // [Program::read_count()]
  void** writes = nullptr;       // [Program::write_count()]
};

// Immutable: any number of arenas may be run at once.
class Program {
 public:
  using PrepareLayer = std::function<Result<PreparedLayer>(const Graph& graph, size_t layer)>;

  // Only for graphs that passed Validate. With keep_all, no tensors share memory. Layers are
  // prepared at once on the threads of the context or, if it is null, one after the other. An error
  // is that of the first layer that has one. If there is a ledger, copies of constants are charged
  // to it.
  static Result<Program> Make(Graph graph, const PrepareLayer& prepare, bool keep_all,
                              Context* context, Ledger* ledger = nullptr);

  const Graph& graph() const { return graph_; }
  const std::vector<PreparedLayer>& layers() const { return layers_; }
  const MemoryPlan& plan() const { return plan_; }
  size_t constant_bytes() const;
  int64_t macs() const;
  // The sum of the layers' work, and the largest round_work of a layer (PreparedLayer).
  int64_t work() const;
  int64_t round_work() const;

  // Where a tensor lies in an arena; null for what nothing writes.
  std::byte* Address(std::byte* arena, TensorId id) const;
  // The elements of a tensor, of a constant too; null for kNoTensor.
  const void* Read(std::byte* arena, TensorId id) const;

  size_t read_count() const { return read_count_; }
  size_t write_count() const { return write_count_; }
  // `moved` gives, for each tensor, where it lies instead of in the arena, or null. It is empty if
  // no tensor is moved.
  void Bind(std::byte* arena, const Addresses& to, std::span<std::byte* const> moved = {}) const;
  // `rounds_left`: as of RunArguments.
  Status RunLayer(size_t layer, Context& context, const Addresses& addresses,
                  int64_t& rounds_left) const;

 private:
  // What a run needs of a layer, side by side: of a small network most that is read is far apart.
  struct Place {
    const Routine* routine;
    size_t read;  // of its Addresses, the first
    size_t write;
    size_t inputs;
    size_t outputs;
    ptrdiff_t output_stride;
    bool scratch_is_ready;
  };

  Status PrepareLayers(const PrepareLayer& prepare, Context* context);
  void MakePlaces();
  ptrdiff_t Stride(TensorId id) const;
  void* Variable(std::byte* arena, TensorId id) const;

  Graph graph_;
  std::vector<PreparedLayer> layers_;
  MemoryPlan plan_;
  std::vector<Place> places_;
  size_t read_count_ = 0;
  size_t write_count_ = 0;
};

// The work of one run is within the limits. The error names the layer with the most.
Status CheckWork(const Program& program, const Limits& limits);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_PROGRAM_H_
