// Inside the .tflite reader: operators.
#ifndef INTAGLIO_NN_IMPORT_TFLITE_OPERATORS_H_
#define INTAGLIO_NN_IMPORT_TFLITE_OPERATORS_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph.h"
#include "intaglio/nn/import/tflite_file.h"

namespace intaglio::nn {

// Refuses a subgraph with an operator that cannot be translated, before anything else is looked at:
// of all that may be wrong with a model, that is what its owner needs to know first.
Status CheckOperators(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget);

// Translates every operator, one layer each, in the file's order, after CheckOperators and
// ReadTensors. Output tensors take the shapes that follow from the inputs, as they do in TFLite.
Status ReadOperators(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget,
                     Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_IMPORT_TFLITE_OPERATORS_H_
