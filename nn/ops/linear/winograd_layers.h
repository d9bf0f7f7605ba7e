// CONV_2D of float32 by Winograd's algorithm as a childnet: a transform of the input, 36 products,
// and a transform back. The results are those of the routine in one piece (winograd_float.h). That
// one keeps tensors between the parts in a cache, but does not choose a way for each part.
#ifndef INTAGLIO_NN_OPS_LINEAR_WINOGRAD_LAYERS_H_
#define INTAGLIO_NN_OPS_LINEAR_WINOGRAD_LAYERS_H_

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/ops/support/activation.h"
#include "intaglio/nn/ops/support/padding.h"

namespace intaglio::nn {

// Only childnets have these operators; no file has them.
//
// Input: x [N, H, W, C]. Output: [tiles, 1, 1, 36 C], the 36 frequencies of each tile of the 6x6
// pixels under 4x4 outputs.
struct WinogradTransform {
  static const OperatorRow kRow;
  Padding padding = {};  // of the convolution
};

// Inputs: the products [tiles, 1, 1, 36 O]; none; optional bias [O]. Output: `shape`, [N, H, W, O].
struct WinogradFinish {
  static const OperatorRow kRow;
  Shape shape = {};
  Activation activation = Activation::kNone;
};

// WINOGRAD_TRANSFORM, CONV_2D of 36 groups, WINOGRAD_FINISH. Only for layers that
// WhyNotWinogradFloat accepts.
Result<Graph> WinogradLayers(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_WINOGRAD_LAYERS_H_
