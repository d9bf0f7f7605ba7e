// Layers whose weights or biases are activations: results of layers, or inputs of the model.
#ifndef INTAGLIO_NN_OPS_LINEAR_CHANGING_WEIGHTS_H_
#define INTAGLIO_NN_OPS_LINEAR_CHANGING_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The same layer with constants in place of the changing inputs. It serves to prepare everything
// that does not depend on their elements. Biases are 0. Weights of 8 bits are as far from their
// zero points as possible, so that checks for overflow hold for all weights.
class Placeholders {
 public:
  explicit Placeholders(const LayerView& layer);
  LayerView layer() const { return {graph_, 0}; }

 private:
  Graph graph_;
  std::vector<std::vector<int64_t>> elements_;
};

// The bias of a run; null if the layer has none.
inline const void* BiasOf(const RunArguments& arguments) {
  return arguments.inputs.size() < 3 ? nullptr : arguments.inputs[2];
}

// Refuses zero points that differ per channel, for weights that every run packs, among others.
Status CheckOneZeroPoint(const LayerView& layer, const std::vector<int32_t>& zero_points);

// A reason against candidates that pack the weights beforehand.
const char* NeedsConstants(const LayerView& layer, const LayerOptions& options);

// Prepares a layer of float32 that `prepare` can prepare with constants. Every run prepares its
// routine anew, and allocates what it packs.
using PrepareConstant = Result<PreparedLayer> (*)(const LayerView& layer,
                                                  const LayerOptions& options);
Result<PreparedLayer> PrepareChanging(const LayerView& layer, const LayerOptions& options,
                                      PrepareConstant prepare);
template <PrepareConstant kPrepare>
Result<PreparedLayer> PrepareUnpacked(const LayerView& layer, const LayerOptions& options) {
  return PrepareChanging(layer, options, kPrepare);
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_CHANGING_WEIGHTS_H_
