// Writes graphs as .tflite files, for our own reader and for TFLite's runtimes.
#ifndef INTAGLIO_NN_EXPORT_TFLITE_WRITER_H_
#define INTAGLIO_NN_EXPORT_TFLITE_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph.h"

namespace intaglio::nn {

// The bytes of a file that reads back as the same graph: layers, shapes, types, quantizations,
// constants, variables and the graphs of loops and branches. Tensors that no layer uses, and
// labels, are left out. Layers keep their order. Variables that READ_VARIABLE and ASSIGN_VARIABLE
// use become resources; where two have one name, one gets another.
//
// Refuses, naming the layer: a graph that Validate refuses; explicit padding other than none (the
// format knows SAME and VALID only); a variable that a layer uses as it is and READ_VARIABLE or
// ASSIGN_VARIABLE, too; other variables with elements of their own; DYNAMIC_UPDATE_SLICE and slices
// with computed places of a form that no file has; and what would come to 1 GiB.
Result<std::vector<uint8_t>> ExportTflite(const Graph& graph);

// The same into a file. It appears whole or not at all: the bytes go to a file beside it, which
// then takes its name, so that it may be the one the graph was read from.
Status SaveTflite(const Graph& graph, const std::string& path);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_EXPORT_TFLITE_WRITER_H_
