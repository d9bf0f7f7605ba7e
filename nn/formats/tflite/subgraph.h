// Inside the .tflite reader: a subgraph as a graph.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_SUBGRAPH_H_
#define INTAGLIO_NN_FORMATS_TFLITE_SUBGRAPH_H_

#include <functional>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/input_constant.h"
#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Changes the inputs of a graph before its operators are read, from which all other shapes follow.
using SetInputs = std::function<Status(Graph& graph)>;

// Reads the tensors of a subgraph, and which of them are inputs and outputs: a graph without
// layers.
Status ReadInputIds(const tflite::SubGraph& subgraph, Budget& budget, Graph& graph);
Status ReadTensorsAndIds(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget,
                         Graph& graph);

// Gives inputs of the subgraph their values. They are no inputs of the graph any more.
Status GiveConstants(const std::vector<InputConstant>& constants, const tflite::SubGraph& subgraph,
                     Budget& budget, Graph& graph);

// The result passes Validate.
Status ReadSubgraph(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget,
                    const SetInputs& set_inputs, Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_SUBGRAPH_H_
