// Constant folding: what follows from constants alone is computed once, before the graph is
// prepared, through any chain of operators. Weights and parameters may then be computed, and no run
// repeats the work. The bits are those of running the layers.
#ifndef INTAGLIO_NN_PASSES_FOLD_CONSTANTS_H_
#define INTAGLIO_NN_PASSES_FOLD_CONSTANTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/nn/graph.h"
#include "intaglio/nn/layer.h"
#include "intaglio/nn/limits.h"

namespace intaglio::nn {

// What folding may cost. A layer that would exceed it stays a layer, which is no error.
class FoldBudget {
 public:
  // bytes: of results and scratch. work: as CountWork (nn/cost.h) has it, and what trying takes.
  // The bytes that are taken are charged to the ledger as well, if there is one.
  FoldBudget(uint64_t bytes, uint64_t work, Ledger* ledger = nullptr)
      : bytes_(bytes), work_(work), ledger_(ledger) {}
  // In proportion to what a model holds, with a base for small models: real models never meet it.
  // No more work than a run may take.
  static FoldBudget ForModelOf(uint64_t bytes, const Limits& limits = {}, Ledger* ledger = nullptr);

  // Takes both, or nothing. Returns whether there was enough.
  bool Charge(uint64_t bytes, uint64_t work);
  // Whether the ledger, if there is one, has as many bytes for what is free again soon.
  bool Allows(uint64_t bytes) const;

 private:
  uint64_t bytes_;
  uint64_t work_;
  Ledger* ledger_;
};

// Folds a graph that is complete, or while its layers are added: the parameters of a layer, which
// decide its shapes, may follow from constants through layers before it. Layers keep their indices
// until Finish. Tensor ids must be in range.
//
// What folds: layers all of whose inputs are constants, and SHAPE of anything. Not loops and
// branches, whose rounds have limits that belong to a run, nor what reads or writes variables. A
// layer that cannot be prepared or fails stays, and Model::Prepare says why. Throws std::bad_alloc.
class ConstantFolder {
 public:
  ConstantFolder(Graph& graph, FoldBudget& budget);

  // Computes the weights and parameters (OperatorRow::parameters) of a layer, if they follow from
  // constants, however large they are.
  void FoldParameters(size_t layer);

  // Makes the layer known, whose output shapes are set, after the layers that it reads from.
  void Add(size_t layer);

  // Makes a tensor a constant, if it follows from constants. Returns whether it is one now.
  bool Fold(TensorId id);

  // Computes what is left, unless it is much larger than what it is made from: a broadcast constant
  // would take memory, and its readers would be slower, as they read more. Removes the layers that
  // have been folded (the others keep their labels), and empties the constants that nothing reads.
  void Finish();

 private:
  static constexpr ptrdiff_t kNone = -1;

  Tensor& At(TensorId id) { return graph_.tensors[static_cast<size_t>(id)]; }
  ptrdiff_t& MakerOf(TensorId id);
  bool Follows(const Layer& layer);
  bool CanFold(const Layer& layer);
  bool IsWorthIt(const Layer& layer);
  std::vector<size_t> LayersBehind(TensorId id);
  bool FoldLayer(size_t index);
  bool Run(const Graph& alone, const PreparedLayer& prepared, const Layer& layer);
  void CountReaders();
  void Release(const Layer& layer);
  void RemoveFolded();

  Graph& graph_;
  FoldBudget& budget_;
  LayerOptions options_;
  std::vector<ptrdiff_t> maker_;  // of each tensor that follows from constants: its layer, or kNone
  std::vector<bool> folded_;      // per layer
  std::vector<size_t> seen_;      // per layer: the last walk that came by
  size_t walks_ = 0;
  std::vector<size_t> readers_;  // per tensor, once Finish counts them
};

// Folds a graph that passed Validate.
void FoldConstants(Graph& graph, FoldBudget& budget);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_FOLD_CONSTANTS_H_
