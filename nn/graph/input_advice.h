// What a message says where something must be known when a file is read, and follows from inputs of
// the model.
#ifndef INTAGLIO_NN_GRAPH_INPUT_ADVICE_H_
#define INTAGLIO_NN_GRAPH_INPUT_ADVICE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/layer_view.h"

namespace intaglio::nn {

// The inputs of the graph that these tensors follow from; none if they follow from many, through
// many layers, or from anything else that is not constant. Nobody would give those inputs values.
std::vector<TensorId> InputsBehind(const Graph& graph, const std::vector<TensorId>& tensors);

// "; give input 'axes' a value with the option constants (--constant axes=VALUE)". Empty if there
// is no such input.
std::string AdviceFor(const Graph& graph, const std::vector<TensorId>& inputs);

// The same for a tensor of a model's graph, and for an input of a layer. A graph inside a layer,
// which has no name, gets none: its inputs are not those of the model.
std::string AdviceForTensor(const Graph& graph, TensorId tensor);
std::string AdviceForInput(const LayerView& layer, size_t input);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_INPUT_ADVICE_H_
