// SOFTMAX of float32 over the last dimension.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/reduce/softmax.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// Below it, waking a thread costs more than the exponentials that it computes.
constexpr ptrdiff_t kLeastElementsOfThread = 1 << 11;

// The largest element, which no NaN is. Several maxima run side by side, because each comparison
// waits for the one before.
float Largest(const float* x, ptrdiff_t count) {
  constexpr ptrdiff_t kChains = 16;
  float largest[kChains];
  std::fill_n(largest, kChains, std::numeric_limits<float>::lowest());
  ptrdiff_t i = 0;
  for (; i + kChains <= count; i += kChains) {
    for (ptrdiff_t k = 0; k < kChains; ++k) largest[k] = std::max(largest[k], x[i + k]);
  }
  for (; i < count; ++i) largest[0] = std::max(largest[0], x[i]);
  return *std::max_element(largest, largest + kChains);
}

void SoftmaxRow(const float* in, ptrdiff_t depth, float beta, float* out) {
  const float max = Largest(in, depth);
  float sum = 0;
  for (ptrdiff_t i = 0; i < depth; ++i) {
    out[i] = std::exp((in[i] - max) * beta);
    sum += out[i];
  }
  for (ptrdiff_t i = 0; i < depth; ++i) out[i] /= sum;
}

}  // namespace

Result<PreparedLayer> PrepareSoftmaxFloat(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Shape& shape = layer.input(0).shape;
  if (shape.empty()) return layer.Invalid("the input has no dimension");
  const ptrdiff_t depth = shape.back();
  const auto rows = static_cast<ptrdiff_t>(*CountElements(shape)) / depth;
  PreparedLayer prepared;
  prepared.in_place_inputs = 1;
  prepared.routine =
      RoutineOf([rows, depth, beta = layer.op<Softmax>().beta](const RunArguments& arguments) {
        const auto* const in = static_cast<const float*>(arguments.inputs[0]);
        auto* const out = static_cast<float*>(arguments.outputs[0]);
        ForParts(arguments.context, rows, kLeastElementsOfThread / depth + 1,
                 [&](ptrdiff_t begin, ptrdiff_t end) {
                   for (ptrdiff_t row = begin; row < end; ++row) {
                     SoftmaxRow(in + row * depth, depth, beta, out + row * depth);
                   }
                 });
      });
  return prepared;
}

}  // namespace intaglio::nn
