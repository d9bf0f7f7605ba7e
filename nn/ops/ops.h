// What each file of this folder gives to the operator table.
#ifndef INTAGLIO_NN_OPS_OPS_H_
#define INTAGLIO_NN_OPS_OPS_H_

#include <vector>

#include "intaglio/nn/layer.h"

namespace intaglio::nn {

using ShapesResult = Result<std::vector<Shape>>;

ShapesResult InferConv2D(const LayerView& layer);
ShapesResult InferDepthwiseConv2D(const LayerView& layer);
ShapesResult InferFullyConnected(const LayerView& layer);
ShapesResult InferAdd(const LayerView& layer);
ShapesResult InferAveragePool2D(const LayerView& layer);
ShapesResult InferMaxPool2D(const LayerView& layer);
ShapesResult InferPad(const LayerView& layer);
ShapesResult InferReshape(const LayerView& layer);
ShapesResult InferMean(const LayerView& layer);
ShapesResult InferConcatenation(const LayerView& layer);
ShapesResult InferUnary(const LayerView& layer);  // the shape of input 0

Result<PreparedLayer> PrepareConv2D(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareDepthwiseConv2D(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareFullyConnected(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareAdd(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareAveragePool2D(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareMaxPool2D(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PreparePad(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareReshape(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSoftmax(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLogistic(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareTanh(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareRelu(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareRelu6(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareMean(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareConcatenation(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareQuantize(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareDequantize(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_OPS_H_
