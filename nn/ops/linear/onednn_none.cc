// In place of onednn.cc, in builds without oneDNN.
#include "intaglio/nn/ops/linear/onednn.h"

namespace intaglio::nn {

const char* WhyNotOneDnn(const ConvShape&) { return "this build does not link oneDNN"; }

Result<PreparedLayer> PrepareOneDnn(const LayerView& layer, const LayerOptions&, const ConvShape&) {
  return layer.Unsupported("this build does not link oneDNN");
}

int64_t BoundOneDnn(const LayerView&, const LayerOptions&) { return 0; }

}  // namespace intaglio::nn
