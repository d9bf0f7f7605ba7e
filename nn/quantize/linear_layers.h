// Inside the quantizer: quantized layers with constant weights, in both graphs.
#ifndef INTAGLIO_NN_QUANTIZE_LINEAR_LAYERS_H_
#define INTAGLIO_NN_QUANTIZE_LINEAR_LAYERS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/quantize/quantize_graph.h"

namespace intaglio::nn::quantize {

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

// The constant with other elements of its type.
Tensor WithElements(const Tensor& old, std::vector<std::byte> elements);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_LINEAR_LAYERS_H_
