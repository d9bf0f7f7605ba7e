// SOFTMAX of float32 over the last dimension.
#include <cstddef>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/reduce/softmax.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// Below it, waking a thread costs more than the exponentials that it computes.
constexpr ptrdiff_t kLeastElementsOfThread = 1 << 11;

}  // namespace

Result<PreparedLayer> PrepareSoftmaxFloat(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Shape& shape = layer.input(0).shape;
  if (shape.empty()) return layer.Invalid("the input has no dimension");
  const ptrdiff_t depth = shape.back();
  const auto rows = static_cast<ptrdiff_t>(*CountElements(shape)) / depth;
  PreparedLayer prepared;
  prepared.in_place_inputs = 1;
  prepared.routine =
      RoutineOf([rows, depth, beta = layer.op<Softmax>().beta,
                 softmax = FloatLoopsOf(options.kernel).softmax](const RunArguments& arguments) {
        const auto* const in = static_cast<const float*>(arguments.inputs[0]);
        auto* const out = static_cast<float*>(arguments.outputs[0]);
        ForParts(arguments.context, rows, kLeastElementsOfThread / depth + 1,
                 [&](ptrdiff_t begin, ptrdiff_t end) {
                   for (ptrdiff_t row = begin; row < end; ++row) {
                     softmax(beta, in + row * depth, depth, out + row * depth);
                   }
                 });
      });
  return prepared;
}

}  // namespace intaglio::nn
