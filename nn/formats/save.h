// Writes a model's file of any format that this build knows.
#ifndef INTAGLIO_NN_FORMATS_SAVE_H_
#define INTAGLIO_NN_FORMATS_SAVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/format.h"
#include "intaglio/nn/formats/model_file.h"
#include "intaglio/nn/formats/signature.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

struct SaveOptions {
  std::vector<CustomOperator> custom_operators = {};  // of .tflite files
  std::vector<Signature> signatures = {};             // of .tflite files; others have none
  bool constants_apart = false;                       // of .onnx files: see ExportOnnxFile
};

// Returns the bytes of a file. The headers of ExportTflite and ExportOnnx say what they refuse. The
// formats round quantized numbers in different ways, so what was read from one and is written in
// the other may be refused, or give results that differ by a step.
Result<std::vector<uint8_t>> ExportGraph(const Graph& graph, Format format,
                                         const SaveOptions& options = {});

// The same for a file of this path, in this format. Constants of large .onnx files are those of a
// second file.
Result<ModelFile> ExportFile(const Graph& graph, const std::string& path, Format format,
                             const SaveOptions& options = {});

// The same into a file, in the format of its name. It appears whole or not at all; a file of
// constants beside it comes first.
Status SaveGraph(const Graph& graph, const std::string& path, const SaveOptions& options = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_SAVE_H_
