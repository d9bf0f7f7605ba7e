// The operators of onnxruntime's own domain, com.microsoft.
#include <vector>

#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {

std::span<const OnnxRow> MicrosoftRows() { return {}; }

}  // namespace intaglio::nn::onnx
