// Inside the readers: layers that need no run.
#ifndef INTAGLIO_NN_IMPORT_FOLD_H_
#define INTAGLIO_NN_IMPORT_FOLD_H_

#include "intaglio/nn/graph.h"
#include "intaglio/nn/import/tflite_file.h"

namespace intaglio::nn {

// Files compute shapes with operators, and hold weights in fewer bits than the layers take that use
// them. Where the last layer of the graph reads only constants, or only the shape of a tensor, and
// makes a few int32 or int64 numbers, or where it dequantizes a constant, its outputs become
// constants and the layer goes; what dequantized constants take is charged to the budget. A layer
// that cannot be prepared or fails stays, and Model::Prepare says why. Returns whether the layer
// went. The shapes of its outputs must be set.
bool FoldLastLayer(Graph& graph, Budget& budget);

// A layer as a graph of its own. Nothing writes its inputs that are not constant.
Graph Alone(const Graph& graph, const Layer& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_IMPORT_FOLD_H_
