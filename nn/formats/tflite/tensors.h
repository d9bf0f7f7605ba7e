// Inside the .tflite reader: tensors.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_TENSORS_H_
#define INTAGLIO_NN_FORMATS_TFLITE_TENSORS_H_

#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Reads all tensors of a subgraph into graph.tensors, which is empty. A tensor is a constant where
// its buffer holds data, and where it has no elements and nothing writes it. Handles of resources
// become scalars, which no layer may use.
Status ReadTensors(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget,
                   Graph& graph);

// Reads the tensors too, but continues if a tensor cannot be read. Returns, for each tensor, why
// not. Only tensors that can be read may be used.
Result<std::vector<Status>> SurveyTensors(const TfliteFile& file, const tflite::SubGraph& subgraph,
                                          Budget& budget, Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_TENSORS_H_
