// The products of CONV_2D and FULLY_CONNECTED, and the depthwise ones, for every kind of numbers
// but those of 8 bits throughout.
#ifndef INTAGLIO_NN_OPS_LINEAR_CONV_H_
#define INTAGLIO_NN_OPS_LINEAR_CONV_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/support/activation.h"
#include "intaglio/nn/ops/support/window.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/pack/im2col.h"

namespace intaglio::nn {

// A convolution as products, one per group. FULLY_CONNECTED is one of images of one pixel.
struct ConvShape {
  Im2col view;             // of the input, all but its data; of group 0
  bool pointwise = false;  // 1x1, no stride: the image is the matrix
  int groups = 1;
  int outputs = 0;
  Activation activation = Activation::kNone;

  int rows() const { return Rows(view); }
  int depth() const { return Cols(view); }
  int group_outputs() const { return outputs / groups; }
  int64_t inputs() const {  // elements of the input
    return int64_t{view.batch} * view.height * view.width * view.channels;
  }
  // The left-hand side of a group's product, over data of an 8-bit type.
  Operand Input(const void* data, Type type, int32_t zero_point, int group) const;
  // The result of a group's product, `stride` bytes from one pixel to the next.
  MutableMatrix Output(void* data, Type type, ptrdiff_t stride, int group) const;
};

// Errors name the layer.
Result<ConvShape> ShapeOfConv2D(const LayerView& layer);
// The same of a layer whose first two inputs are those of this convolution.
Result<ConvShape> ShapeOfConv2D(const LayerView& layer, const Conv2D& op);
ShapesResult InferConv2D(const LayerView& layer, const Conv2D& op);
Result<ConvShape> ShapeOfFullyConnected(const LayerView& layer);

// A candidate's prepare, of a function that wants the shape.
template <auto kShapeOf, auto kPrepare>
Result<PreparedLayer> PrepareShaped(const LayerView& layer, const LayerOptions& options) {
  const Result<ConvShape> shape = kShapeOf(layer);
  if (!shape.ok()) return shape.status();
  return kPrepare(layer, options, *shape);
}

// int16 inputs, int8 weights.
Result<PreparedLayer> PrepareProduct16x8(const LayerView& layer, const LayerOptions& options,
                                         const ConvShape& shape);
Result<PreparedLayer> PrepareDepthwise16x8(const LayerView& layer, const LayerOptions& options,
                                           const Im2col& view);

// Layers of 8 bits whose weights or bias change (changing_weights.h).
Result<PreparedLayer> PrepareChangingProduct(const LayerView& layer, const LayerOptions& options,
                                             const ConvShape& shape);
Result<PreparedLayer> PrepareChangingDepthwise(const LayerView& layer, const LayerOptions& options,
                                               const Window& window);
// The same for int16 inputs and int8 weights.
Result<PreparedLayer> PrepareChangingProduct16x8(const LayerView& layer,
                                                 const LayerOptions& options,
                                                 const ConvShape& shape);
Result<PreparedLayer> PrepareChangingDepthwise16x8(const LayerView& layer,
                                                   const LayerOptions& options, const Im2col& view);

// float32 inputs, int8 weights. TFLite's convolutions are asymmetric where weights have scales per
// channel.
Result<PreparedLayer> PrepareProductHybrid(const LayerView& layer, const LayerOptions& options,
                                           const ConvShape& shape, bool asymmetric);
Result<PreparedLayer> PrepareDepthwiseHybrid(const LayerView& layer, const LayerOptions& options,
                                             const Im2col& view);

// float32. rows_of_block is the number of rows that are multiplied by all weights at once, a
// multiple of a tile's rows.
inline constexpr int kRowsOfBlock[] = {96, 192};
inline constexpr CandidateParameter kFloatProductParameters[] = {{"rows_of_block", kRowsOfBlock}};
Result<PreparedLayer> PrepareProductFloat(const LayerView& layer, const LayerOptions& options,
                                          const ConvShape& shape);
Result<PreparedLayer> PrepareDepthwiseFloat(const LayerView& layer, const LayerOptions& options,
                                            const Im2col& view);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_CONV_H_
