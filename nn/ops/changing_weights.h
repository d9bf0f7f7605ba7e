// Layers whose weights or biases are activations: results of layers, or inputs of the model.
#ifndef INTAGLIO_NN_OPS_CHANGING_WEIGHTS_H_
#define INTAGLIO_NN_OPS_CHANGING_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "intaglio/nn/layer.h"

namespace intaglio::nn {

// Whether the weights (input 1) or the bias (input 2) are no constants.
bool HasChangingWeights(const LayerView& layer);

// The same layer with constants in the place of what changes, to prepare what does not depend on
// their elements. Biases are 0; weights of 8 bits are as far from their zero points as they get, so
// that checks of overflow hold for all weights.
class Placeholders {
 public:
  explicit Placeholders(const LayerView& layer);
  LayerView layer() const { return {graph_, 0}; }

 private:
  Graph graph_;
  std::vector<std::vector<int64_t>> elements_;
};

// The bias of a run; null where the layer has none.
inline const void* BiasOf(const RunArguments& arguments) {
  return arguments.inputs.size() < 3 ? nullptr : arguments.inputs[2];
}

// Weights that are packed by every run have one zero point.
Status CheckOneZeroPoint(const LayerView& layer, const std::vector<int32_t>& zero_points);

// A layer of float32 that `prepare` takes with constants: its routine is prepared anew by every
// run, which allocates what it packs.
using PrepareConstant = Result<PreparedLayer> (*)(const LayerView& layer,
                                                  const LayerOptions& options);
Result<PreparedLayer> PrepareChanging(const LayerView& layer, const LayerOptions& options,
                                      PrepareConstant prepare);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_CHANGING_WEIGHTS_H_
