// Reads .onnx files into graphs. The bytes are not trusted: whatever they hold, the answer is a
// graph that passes Validate, or one line that says what is wrong.
#ifndef INTAGLIO_NN_FORMATS_ONNX_READER_H_
#define INTAGLIO_NN_FORMATS_ONNX_READER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/input_constant.h"
#include "intaglio/nn/formats/model_file.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/passes/pass_report.h"

namespace intaglio::nn {

struct OnnxOptions {
  // What reading may take for constants that are computed or widened. Model::Prepare has its own
  // limits.
  Limits limits = {};
  // The shapes of the model's inputs, in its order; empty, or past the end: the file's. A dimension
  // to which the file gives no number is 1. All shapes of the graph follow from these: to change
  // them, read the file again.
  std::vector<Shape> input_shapes = {};
  // The folder in which constants that lie outside of the file are looked for. Empty: the folder of
  // the file (LoadOnnx); a model in memory cannot have such constants then (ImportOnnx).
  std::string external_data_folder = {};
  // Reads files into memory instead of mapping them. Later changes of them then have no effect.
  bool copy_file = false;
  // Add and Mul between DequantizeLinear and QuantizeLinear get the bits of ONNX Runtime's fused
  // kernels, which are those of its operators QLinearAdd and QLinearMul. Without it they get those
  // of dequantizing, computing in float32, and quantizing, as ONNX says.
  bool ort_fused = false;
  // Inputs of four dimensions, which the file has as [N, C, H, W], are [N, H, W, C], as cameras and
  // image files give them. input_shapes are of this order, too.
  bool nhwc_inputs = false;
  // Reads float64 numbers as float32, rounded, and computes with these. Otherwise they are refused.
  bool float64_as_float32 = false;
  // Names of passes that shall not run, as `intaglio inspect --passes` lists them. A name that no
  // pass has, or one that is required, is an error. The results may differ as docs/onnx.md says.
  std::vector<std::string> without_passes = {};
  // Gets what each pass did, in order, if it is not null and the model can be read.
  std::vector<PassReport>* pass_reports = nullptr;
  // Values for inputs of the file, by name. These inputs become constants before anything else is
  // read, so that shapes and parameters may follow from them, and are no inputs of the model any
  // more: input_shapes does not count them. Their dimensions are in the file's order, whatever
  // nhwc_inputs says.
  std::vector<InputConstant> constants = {};
  // Files of constants that need not be looked for in the folder.
  std::vector<FileInMemory> external_files = {};
};

// Reads a file. It and other files with constants are mapped, as LoadTflite maps: nobody may write
// or truncate them while the graph's tensors live, unless OnnxOptions::copy_file is set.
Result<Graph> LoadOnnx(const std::string& path, const OnnxOptions& options = {});

// Returns the inputs of the file's model, with their shapes in the file, as a graph without layers.
// It looks at no node, and only at the option float64_as_float32. Callers use it to choose
// OnnxOptions::input_shapes and constants.
Result<Graph> LoadOnnxSignature(const std::string& path, const OnnxOptions& options = {});
// The same for a file that is in memory already.
Result<Graph> ImportOnnxSignature(std::span<const uint8_t> bytes, const std::string& name,
                                  const OnnxOptions& options = {});

// Reads a file that is in memory already. The graph keeps no reference to the bytes. `name` stands
// in messages and becomes the graph's name.
Result<Graph> ImportOnnx(std::span<const uint8_t> bytes, const std::string& name,
                         const OnnxOptions& options = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_ONNX_READER_H_
