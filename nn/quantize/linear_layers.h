// Inside the quantizer: quantized layers with constant weights, in both graphs.
#ifndef INTAGLIO_NN_QUANTIZE_LINEAR_LAYERS_H_
#define INTAGLIO_NN_QUANTIZE_LINEAR_LAYERS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/quantize/quantize_graph.h"

namespace intaglio::nn::quantize {

// Which inputs of a layer they are.
inline constexpr size_t kWeights = 1;
inline constexpr size_t kBias = 2;

inline bool HasInput(const Layer& layer, size_t i) {
  return i < layer.inputs.size() && layer.inputs[i] != kNoTensor;
}

struct LinearLayer {
  size_t layer = 0;  // its number in the graph of float32
  std::string label;
  // Tensors of the graph of integers.
  TensorId weights = kNoTensor;
  TensorId bias = kNoTensor;  // kNoTensor if the layer has none
};

// Whether a layer of float32 multiplies by constant weights.
bool IsLinear(const Graph& graph, const Layer& layer);

// In the order of the layers. `quantized` was made of `graph`.
std::vector<LinearLayer> FindLinearLayers(const Graph& graph, const Quantized& quantized);
}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_LINEAR_LAYERS_H_
