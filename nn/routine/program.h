// A graph with the routines and the memory plan to run it. A model has one, and so has each graph
// inside a layer.
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

// The addresses of all tensors of a program's layers in one arena.
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

  // The program of a graph that differs from this one's in elements of constants and in
  // quantizations only. These layers are prepared anew, one after the other. The plan of memory is
  // the same, unless one of them wants other memory than before.
  Result<Program> Update(Graph graph, std::span<const size_t> layers, const PrepareLayer& prepare,
                         bool keep_all) const;

  const Graph& graph() const { return graph_; }
  const std::vector<PreparedLayer>& layers() const { return layers_; }
  const MemoryPlan& plan() const { return plan_; }
  size_t constant_bytes() const;
  int64_t macs() const;
  // The sum of the layers' work, and the largest round_work of a layer (PreparedLayer).
  int64_t work() const;
  int64_t round_work() const;

  // Where a tensor lies in an arena, or null if nothing writes it.
  std::byte* Address(std::byte* arena, TensorId id) const;
  // The elements of a tensor, of a constant too; null for kNoTensor.
  const void* Read(std::byte* arena, TensorId id) const;

  size_t read_count() const { return read_count_; }
  size_t write_count() const { return write_count_; }
  // Sets the addresses. `moved` gives, for each tensor, its address outside the arena, or null if
  // it lies in the arena. `moved` may be empty.
  void Bind(std::byte* arena, const Addresses& to, std::span<std::byte* const> moved = {}) const;
  // `rounds_left` is that of RunArguments.
  Status RunLayer(size_t layer, Context& context, const Addresses& addresses,
                  int64_t& rounds_left) const;

 private:
  // What a run needs of a layer. It lies side by side, because a small network spends much of its
  // time on reads from memory that is far apart.
  struct Place {
    const Routine* routine;
    size_t read;  // of its Addresses, the first
    size_t write;
    size_t inputs;
    size_t outputs;
    ptrdiff_t output_stride;
    bool scratch_is_ready;
    int threads;
  };

  Status RunPlace(size_t layer, Context& context, const Addresses& addresses,
                  int64_t& rounds_left) const;
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
