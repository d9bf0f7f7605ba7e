// CONV_2D and FULLY_CONNECTED of float32 by oneDNN, in builds that link it (INTAGLIO_ONEDNN). It
// has to be named: oneDNN promises no order of sums, so that bits may change with the CPU, the
// number of threads and its version. Its threads are its own.
#ifndef INTAGLIO_NN_OPS_LINEAR_ONEDNN_H_
#define INTAGLIO_NN_OPS_LINEAR_ONEDNN_H_

#include <cstdint>

#include "intaglio/nn/ops/linear/conv.h"

namespace intaglio::nn {

// Why oneDNN does not compute a layer of float32 with constant weights of this shape; null if it
// does.
const char* WhyNotOneDnn(const ConvShape& shape);

Result<PreparedLayer> PrepareOneDnn(const LayerView& layer, const LayerOptions& options,
                                    const ConvShape& shape);

template <Result<ConvShape> (*kShapeOf)(const LayerView& layer)>
const char* WhyNotOneDnnLayer(const LayerView& layer, const LayerOptions& options) {
  const Result<ConvShape> shape = kShapeOf(layer);
  if (!shape.ok()) return "the layer has an error";
  const char* const why_not = WhyNotOneDnn(*shape);
  if (why_not != nullptr) return why_not;
  return options.routine.empty() ? "it rounds otherwise; its name is asked for" : nullptr;
}

// Bounds the bytes of the reordered weights.
int64_t BoundOneDnn(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_ONEDNN_H_
