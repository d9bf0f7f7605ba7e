// What the routines of pools share.
#ifndef INTAGLIO_NN_OPS_WINDOW_POOL_2D_H_
#define INTAGLIO_NN_OPS_WINDOW_POOL_2D_H_

#include <algorithm>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/window.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The taps of one window that lie inside the image: [begin, end).
struct Taps {
  int begin = 0;
  int end = 0;

  Taps(const WindowAxis& w, int out) {
    const int start = out * w.stride - w.pad;
    begin = std::max(start, 0);
    end = std::min(start + w.kernel, w.in);
  }
  int count() const { return std::max(0, end - begin); }
};

// A pool of integers; each window meets the image.
struct PoolShape {
  int batch = 0;
  int channels = 0;
  Window window;
  Range clamp;
};
// Errors name the layer.
Result<PoolShape> ShapeOfAveragePool2D(const LayerView& layer);
Result<PoolShape> ShapeOfMaxPool2D(const LayerView& layer);

// float32, with windows of which each meets the image.
Result<PreparedLayer> PreparePoolFloat(const LayerView& layer, const LayerOptions& options,
                                       const Window& window, Activation activation, PoolKind kind);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_WINDOW_POOL_2D_H_
