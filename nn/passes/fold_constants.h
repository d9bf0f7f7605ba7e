// Constant folding computes everything that follows from constants alone once, before the graph is
// prepared, through any chain of operators. So weights and parameters may be computed ones, and no
// run repeats the work. The bits are the same as if each run computed them.
#ifndef INTAGLIO_NN_PASSES_FOLD_CONSTANTS_H_
#define INTAGLIO_NN_PASSES_FOLD_CONSTANTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

class Ledger;

// What folding may cost. A layer that would exceed the budget stays a layer, which is no error.
class FoldBudget {
 public:
  // `bytes` limits results and scratch. `work` limits steps as CountWork (nn/graph/cost.h) counts
  // them, plus the steps to try a layer. Bytes that are taken are also charged to the ledger, if
  // there is one.
  FoldBudget(uint64_t bytes, uint64_t work, Ledger* ledger = nullptr)
      : bytes_(bytes), work_(work), ledger_(ledger) {}
  // A budget in proportion to a model's size, with a base for small models. Real models never reach
  // it. It allows no more work than a run may take.
  static FoldBudget ForModelOf(uint64_t bytes, const Limits& limits = {}, Ledger* ledger = nullptr);

  // Takes both amounts, or nothing. Returns whether there was enough.
  bool Charge(uint64_t bytes, uint64_t work);
  // Whether the ledger, if there is one, has that many bytes left for memory that is freed again
  // soon.
  bool Allows(uint64_t bytes) const;

 private:
  uint64_t bytes_;
  uint64_t work_;
  Ledger* ledger_;
};

// Folds a complete graph, or a graph while its layers are added: the parameters of a layer decide
// its shapes, and may follow from constants through layers before it. Layers keep their indices
// until Finish. Tensor ids must be in range.
//
// It folds layers all of whose inputs are constants, and SHAPE of any tensor. It does not fold
// loops and branches, because limits on their rounds belong to a run, nor layers that read or write
// variables. A layer that cannot be prepared, or that fails, stays in the graph, and Model::Prepare
// says why. Throws std::bad_alloc.
class ConstantFolder {
 public:
  ConstantFolder(Graph& graph, FoldBudget& budget);

  // From now on DEQUANTIZE by ONNX's rules stays a layer, and what follows from it:
  // FuseQuantization looks for such layers. FoldConstants folds what is left of them afterwards.
  void KeepDequantize() { keep_dequantize_ = true; }

  // Computes the weights and parameters (OperatorRow::parameters) of a layer, however large they
  // are, if they follow from constants.
  void FoldParameters(size_t layer);

  // Adds a layer whose output shapes are set. The layers that it reads from must have been added
  // before. `source` is null if no parameter follows from shapes.
  void Add(size_t layer, std::shared_ptr<const ParameterSource> source = nullptr);

  // Whether a tensor is a constant, or may become one, that follows from the shapes of tensors.
  bool FollowsShapes(TensorId id);

  // Makes a tensor a constant, if it follows from constants. Returns whether it is one now.
  bool Fold(TensorId id);

  // Folds each remaining layer, unless its result is much larger than its inputs: a broadcast
  // constant would take memory, and its readers would be slower, because they read more. Removes
  // the layers that have been folded (the others keep their labels), and empties the constants that
  // nothing reads. What follows from shapes is kept in Graph::folded_shapes.
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
  void FindNeeded();
  void CountReaders();
  void Empty(TensorId id);
  void Release(const Layer& layer);
  void RemoveFolded();
  bool LayerFollowsShapes(size_t layer);

  Graph& graph_;
  FoldBudget& budget_;
  LayerOptions options_;
  std::vector<ptrdiff_t> maker_;  // per tensor: the layer that makes it from constants, or kNone
  std::vector<bool> folded_;      // per layer
  std::vector<size_t> seen_;      // per layer: the last walk that visited it
  size_t walks_ = 0;
  bool keep_dequantize_ = false;
  std::vector<size_t> readers_;       // per tensor; empty until Finish counts them
  std::vector<bool> follows_shapes_;  // per tensor
  std::vector<std::shared_ptr<const ParameterSource>> sources_;  // per layer
  std::vector<bool> needed_;  // per tensor: to compute with shapes again
  FoldedShapes kept_;
};

// Folds a graph that passed Validate.
void FoldConstants(Graph& graph, FoldBudget& budget);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_FOLD_CONSTANTS_H_
