// SOFTMAX of float32 over the last dimension.
#include <algorithm>
#include <cmath>
#include <limits>

#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/reduce/softmax.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {

Result<PreparedLayer> PrepareSoftmaxFloat(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Shape& shape = layer.input(0).shape;
  if (shape.empty()) return layer.Invalid("the input has no dimension");
  const int depth = shape.back();
  const int64_t rows = *CountElements(shape) / depth;
  PreparedLayer prepared;
  prepared.in_place_inputs = 1;
  prepared.routine =
      RoutineOf([rows, depth, beta = layer.op<Softmax>().beta](const RunArguments& arguments) {
        const auto* in = static_cast<const float*>(arguments.inputs[0]);
        auto* out = static_cast<float*>(arguments.outputs[0]);
        for (int64_t row = 0; row < rows; ++row, in += depth, out += depth) {
          float max = std::numeric_limits<float>::lowest();
          for (int i = 0; i < depth; ++i) max = std::max(max, in[i]);
          float sum = 0;
          for (int i = 0; i < depth; ++i) {
            out[i] = std::exp((in[i] - max) * beta);
            sum += out[i];
          }
          for (int i = 0; i < depth; ++i) out[i] /= sum;
        }
      });
  return prepared;
}

}  // namespace intaglio::nn
