// Reads a model's file of any format that this build knows. Its content says which format it has,
// not its name.
#ifndef INTAGLIO_NN_FORMATS_LOAD_H_
#define INTAGLIO_NN_FORMATS_LOAD_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/format.h"
#include "intaglio/nn/formats/input_constant.h"
#include "intaglio/nn/formats/model_file.h"
#include "intaglio/nn/formats/signature.h"
#include "intaglio/nn/formats/survey_row.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/passes/pass_report.h"

namespace intaglio::nn {

// See ImportOptions (formats/tflite/reader.h) and OnnxOptions (formats/onnx/reader.h).
struct LoadOptions {
  Limits limits = {};
  std::vector<Shape> input_shapes = {};
  std::vector<CustomOperator> custom_operators = {};  // of .tflite files
  std::string external_data_folder = {};              // of .onnx files
  bool copy_file = false;
  bool ort_fused = false;                           // of .onnx files
  bool nhwc_inputs = false;                         // of .onnx files
  bool float64_as_float32 = false;                  // of .onnx files
  std::vector<std::string> without_passes = {};     // of .onnx files
  std::vector<PassReport>* pass_reports = nullptr;  // empty for .tflite files
  std::vector<Signature>* signatures = nullptr;     // empty for .onnx files
  std::vector<InputConstant> constants = {};
  std::vector<FileInMemory> external_files = {};  // of .onnx files
};

Result<Graph> LoadGraph(const std::string& path, const LoadOptions& options = {});

// The same for a file that is in memory already. `owner` keeps the bytes alive for as long as the
// graph needs them. `name` stands in messages and becomes the graph's name.
Result<Graph> ImportGraph(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                          const std::string& name, Format format, const LoadOptions& options = {});

// The inputs of the file's model, with their shapes in the file, as a graph without layers. Only
// the option float64_as_float32 counts.
Result<Graph> LoadSignature(const std::string& path, const LoadOptions& options = {});

// Which operators of the file run here. The options' shapes are not used; constants are, because
// operators of .tflite files are tried.
Result<std::vector<SurveyRow>> SurveyFile(const std::string& path, const LoadOptions& options = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_LOAD_H_
