// Recurrent operators.
#include <vector>

#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {

std::span<const OnnxRow> RecurrentRows() { return {}; }

}  // namespace intaglio::nn::onnx
