#include "intaglio/nn/formats/load.h"

#include <algorithm>
#include <string_view>

#include "intaglio/nn/files/mapped_file.h"
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
// A .tflite file has its identifier behind the first offset. An .onnx file has none: every file
// without the other's identifier is taken for one if its first byte is a field of a model. A file
// that cannot be opened is left to its reader, which says why.
bool IsOnnx(const std::string& path) {
  const Result<MappedFile> file = MapFile(path);
  if (!file.ok()) return false;
  const auto bytes = file->bytes;
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<size_t>(bytes.size(), 8));
  if (start.size() == 8 && start.substr(4) == "TFL3") return false;
  constexpr std::string_view kFields("\x08\x12\x1a\x22\x28\x32\x3a\x42\x72", 9);
  return kFields.find(start[0]) != std::string_view::npos;
}

OnnxOptions ForOnnx(const LoadOptions& options) {
  return {.limits = options.limits,
          .input_shapes = options.input_shapes,
          .external_data_folder = options.external_data_folder,
          .copy_file = options.copy_file,
          .ort_fused = options.ort_fused,
          .nhwc_inputs = options.nhwc_inputs,
          .float64_as_float32 = options.float64_as_float32,
          .without_passes = options.without_passes,
          .pass_reports = options.pass_reports};
}
#endif

}  // namespace

Result<Graph> LoadGraph(const std::string& path, const LoadOptions& options) {
#ifdef INTAGLIO_NN_ONNX
  if (IsOnnx(path)) return LoadOnnx(path, ForOnnx(options));
#endif
  INTAGLIO_RETURN_IF_ERROR(CheckPassNames(options.without_passes));
  if (options.pass_reports != nullptr) options.pass_reports->clear();
  return LoadTflite(
      path, {options.limits, options.input_shapes, options.custom_operators, options.copy_file});
}

Result<Graph> LoadSignature(const std::string& path) {
#ifdef INTAGLIO_NN_ONNX
  if (IsOnnx(path)) return LoadOnnxSignature(path);
#endif
  return LoadTfliteSignature(path);
}

Result<std::vector<SurveyRow>> SurveyFile(const std::string& path, const LoadOptions& options) {
#ifdef INTAGLIO_NN_ONNX
  if (IsOnnx(path)) return SurveyOnnx(path);
#endif
  return SurveyTflite(path, options.limits, options.custom_operators);
}

}  // namespace intaglio::nn
