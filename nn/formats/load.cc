#include "intaglio/nn/formats/load.h"

#include <utility>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/formats/tflite/survey.h"
#include "intaglio/nn/passes/pass_list.h"
#ifdef INTAGLIO_NN_ONNX
#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/formats/onnx/survey.h"
#endif

namespace intaglio::nn {
namespace {

#ifdef INTAGLIO_NN_ONNX
OnnxOptions ForOnnx(const LoadOptions& options) {
  if (options.signatures != nullptr) options.signatures->clear();
  return {.limits = options.limits,
          .input_shapes = options.input_shapes,
          .external_data_folder = options.external_data_folder,
          .copy_file = options.copy_file,
          .ort_fused = options.ort_fused,
          .nhwc_inputs = options.nhwc_inputs,
          .float64_as_float32 = options.float64_as_float32,
          .without_passes = options.without_passes,
          .pass_reports = options.pass_reports,
          .constants = options.constants,
          .external_files = options.external_files};
}
#endif

ImportOptions ForTflite(const LoadOptions& options) {
  return {options.limits,    options.input_shapes, options.custom_operators,
          options.copy_file, options.signatures,   options.constants};
}

// No pass runs behind the reader of .tflite files.
Status PreparePasses(const LoadOptions& options) {
  if (options.pass_reports != nullptr) options.pass_reports->clear();
  return CheckPassNames(options.without_passes);
}

}  // namespace

Result<Graph> LoadGraph(const std::string& path, const LoadOptions& options) {
#ifdef INTAGLIO_NN_ONNX
  if (FormatByContent(path) == Format::kOnnx) return LoadOnnx(path, ForOnnx(options));
#endif
  INTAGLIO_RETURN_IF_ERROR(PreparePasses(options));
  return LoadTflite(path, ForTflite(options));
}

Result<Graph> ImportGraph(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                          const std::string& name, Format format, const LoadOptions& options) {
#ifdef INTAGLIO_NN_ONNX
  if (format == Format::kOnnx) return ImportOnnx(bytes, name, ForOnnx(options));
#endif
  if (format == Format::kOnnx) return Unsupported(name + ": this build has no .onnx files");
  INTAGLIO_RETURN_IF_ERROR(PreparePasses(options));
  return ImportTflite(bytes, std::move(owner), name, ForTflite(options));
}

Result<Graph> LoadSignature(const std::string& path, [[maybe_unused]] const LoadOptions& options) {
#ifdef INTAGLIO_NN_ONNX
  if (FormatByContent(path) == Format::kOnnx) return LoadOnnxSignature(path, ForOnnx(options));
#endif
  return LoadTfliteSignature(path);
}

Result<std::vector<SurveyRow>> SurveyFile(const std::string& path, const LoadOptions& options) {
#ifdef INTAGLIO_NN_ONNX
  if (FormatByContent(path) == Format::kOnnx) return SurveyOnnx(path);
#endif
  return SurveyTflite(path, options.limits, options.custom_operators, options.constants);
}

}  // namespace intaglio::nn
