// Writes graphs as .tflite files, for our own reader and for TFLite's runtimes.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_WRITER_H_
#define INTAGLIO_NN_FORMATS_TFLITE_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/signature.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

struct ExportOptions {
  // Your own operators that the graph may have.
  std::vector<CustomOperator> custom_operators = {};
  // Names for the inputs and outputs of the graph.
  std::vector<Signature> signatures = {};
};

// Returns the bytes of a file that reads back as the same graph: layers, shapes, types,
// quantizations, constants, variables and the graphs of loops and branches. Tensors
// that no layer uses, and labels, are left out. Layers keep their order. Variables that
// READ_VARIABLE and ASSIGN_VARIABLE use become resources. If two of them have one name, one gets
// another name.
//
// Refuses the following, and names the layer:
//  - a graph that Validate refuses;
//  - a signature of inputs or outputs that the graph does not have;
//  - an operator that is neither the format's nor in the list, or that the list cannot write;
//  - explicit padding other than none of TRANSPOSE_CONV, and of pools that take means where it is
//    not SAME: the format knows only SAME and VALID. Convolutions and MAX_POOL_2D get SAME where it
//    is the same, or a layer PAD before them;
//  - a RESIZE_BILINEAR of float32 with scales, for the format's rules give other bits
//  (quantize::Form
//    says which rules a quantized network's layers of float32 follow);
//  - a variable that READ_VARIABLE or ASSIGN_VARIABLE uses and that another layer uses as it is;
//  - other variables with elements of their own;
//  - forms of DYNAMIC_UPDATE_SLICE, and of slices with computed places, that no file has;
//  - a model that would come to 1 GiB.
Result<std::vector<uint8_t>> ExportTflite(const Graph& graph, const ExportOptions& options = {});

// The same into a file. It appears whole or not at all: the bytes go to a file beside it, which
// then takes its name, so that it may be the one the graph was read from.
Status SaveTflite(const Graph& graph, const std::string& path, const ExportOptions& options = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_WRITER_H_
