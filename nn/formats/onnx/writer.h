// Writes graphs as .onnx files, for our own reader and for other runtimes.
#ifndef INTAGLIO_NN_FORMATS_ONNX_WRITER_H_
#define INTAGLIO_NN_FORMATS_ONNX_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/model_file.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Returns the bytes of a file of opset 21 (newer where an operator asks for it). Inputs and outputs
// keep their names, if these are unique, their order, types and shapes.
//
// A layer that computes with quantized numbers becomes DequantizeLinear, an operator of float32 and
// QuantizeLinear. Layers that only move elements move the quantized ones. Images are brought to
// N C H W where an operator asks for it; transposes that would cancel are not written.
//
// Read again, the file gives the same bits for layers of float32 and for those with the numerics of
// ONNX (Scaling::kFloatHalfEven, kToFloat and kNone), which the reader of .onnx files sets. ONNX
// has no words for TFLite's fixed-point numerics. Layers with these may differ from the file by a
// step of their output. Products of float32 inputs by int8 weights, which quantize their inputs as
// they come, do not do so in the file.
//
// Refuses the following, and names the layer:
//  - a graph that Validate refuses, and one with variables;
//  - operators without a form in ONNX, such as recurrent ones, loops and detections;
//  - a model that would come to 1 GiB.
Result<std::vector<uint8_t>> ExportOnnx(const Graph& graph);

// The same for a model of any size: with 512 MiB of constants or more, or if it `keeps_apart`,
// those of 1 KiB and more are in a second file of this name, which belongs into the same folder.
Result<ModelFile> ExportOnnxFile(const Graph& graph, const std::string& constants_name,
                                 bool keeps_apart = false);

// The same into a file and, where that is needed, one whose name has ".data" added. Each appears
// whole or not at all, as with SaveTflite; that of the constants comes first.
Status SaveOnnx(const Graph& graph, const std::string& path, bool keeps_apart = false);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_ONNX_WRITER_H_
