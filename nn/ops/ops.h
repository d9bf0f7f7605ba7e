// What each file of this folder gives to the operator table.
#ifndef INTAGLIO_NN_OPS_OPS_H_
#define INTAGLIO_NN_OPS_OPS_H_

#include <vector>

#include "intaglio/nn/layer.h"

namespace intaglio::nn {

using ShapesResult = Result<std::vector<Shape>>;

ShapesResult InferUnary(const LayerView& layer);      // the shape of input 0
ShapesResult InferBroadcast(const LayerView& layer);  // that to which all inputs broadcast
ShapesResult InferConv2D(const LayerView& layer);
ShapesResult InferDepthwiseConv2D(const LayerView& layer);
ShapesResult InferFullyConnected(const LayerView& layer);
ShapesResult InferTransposeConv(const LayerView& layer);
ShapesResult InferBatchMatMul(const LayerView& layer);
ShapesResult InferAveragePool2D(const LayerView& layer);
ShapesResult InferMaxPool2D(const LayerView& layer);
ShapesResult InferL2Pool2D(const LayerView& layer);
ShapesResult InferPad(const LayerView& layer);
ShapesResult InferReshape(const LayerView& layer);
ShapesResult InferSqueeze(const LayerView& layer);
ShapesResult InferExpandDims(const LayerView& layer);
ShapesResult InferMirrorPad(const LayerView& layer);
ShapesResult InferTranspose(const LayerView& layer);
ShapesResult InferSlice(const LayerView& layer);
ShapesResult InferStridedSlice(const LayerView& layer);
ShapesResult InferSplit(const LayerView& layer);
ShapesResult InferSplitV(const LayerView& layer);
ShapesResult InferPack(const LayerView& layer);
ShapesResult InferUnpack(const LayerView& layer);
ShapesResult InferReverse(const LayerView& layer);
ShapesResult InferTile(const LayerView& layer);
ShapesResult InferBroadcastTo(const LayerView& layer);
ShapesResult InferGather(const LayerView& layer);
ShapesResult InferGatherNd(const LayerView& layer);
ShapesResult InferEmbeddingLookup(const LayerView& layer);
ShapesResult InferFill(const LayerView& layer);
ShapesResult InferShapeOf(const LayerView& layer);
ShapesResult InferSequence(const LayerView& layer);
ShapesResult InferOneHot(const LayerView& layer);
ShapesResult InferTopK(const LayerView& layer);
ShapesResult InferResizeBilinear(const LayerView& layer);
// Whether the weights of its float32 interpolation have so few bits that bytes take integers.
bool ResizesByFewBits(const LayerView& layer);
ShapesResult InferResizeNearestNeighbor(const LayerView& layer);
ShapesResult InferSpaceToDepth(const LayerView& layer);
ShapesResult InferDepthToSpace(const LayerView& layer);
ShapesResult InferSpaceToBatch(const LayerView& layer);
ShapesResult InferBatchToSpace(const LayerView& layer);
ShapesResult InferArgMax(const LayerView& layer);
ShapesResult InferArgMin(const LayerView& layer);
ShapesResult InferSelect(const LayerView& layer);
ShapesResult InferCumsum(const LayerView& layer);
ShapesResult InferConcatenation(const LayerView& layer);
ShapesResult InferPrelu(const LayerView& layer);
ShapesResult InferRows(const LayerView& layer);  // the shape of input 0, not a scalar
ShapesResult InferDetectionPostProcess(const LayerView& layer);
ShapesResult InferLstm(const LayerView& layer);
ShapesResult InferBasicLstm(const LayerView& layer);
ShapesResult InferRnn(const LayerView& layer);
ShapesResult InferSvdf(const LayerView& layer);
ShapesResult InferReadVariable(const LayerView& layer);
ShapesResult InferAssignVariable(const LayerView& layer);
ShapesResult InferDynamicSlice(const LayerView& layer);
ShapesResult InferDynamicUpdateSlice(const LayerView& layer);
ShapesResult InferScatterNd(const LayerView& layer);
ShapesResult InferWhile(const LayerView& layer);
ShapesResult InferIf(const LayerView& layer);

Result<PreparedLayer> PrepareConv2D(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareDepthwiseConv2D(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareFullyConnected(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareTransposeConv(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareBatchMatMul(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareAveragePool2D(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareMaxPool2D(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareL2Pool2D(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareAdd(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSoftmax(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLogistic(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareTanh(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareRelu(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareRelu6(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareMean(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareConcatenation(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareQuantize(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareDequantize(const LayerView& layer, const LayerOptions& options);

// Data movement.
Result<PreparedLayer> PreparePad(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareReshape(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareMirrorPad(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareTranspose(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSlice(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareStridedSlice(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSplit(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSplitV(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PreparePack(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareUnpack(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareReverse(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareTile(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareBroadcastTo(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareGather(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareGatherNd(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareEmbeddingLookup(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareFill(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareShapeOf(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSequence(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareCast(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareOneHot(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareTopK(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareResizeBilinear(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareResizeNearestNeighbor(const LayerView& layer,
                                                   const LayerOptions& options);
Result<PreparedLayer> PrepareSpaceToDepth(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareDepthToSpace(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSpaceToBatch(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareBatchToSpace(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareArgMax(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareArgMin(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSelect(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSelectV2(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareCumsum(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareScatterNd(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareDynamicSlice(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareDynamicUpdateSlice(const LayerView& layer,
                                                const LayerOptions& options);

// Element by element, along rows, or reducing.
Result<PreparedLayer> PrepareSub(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareMul(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareDiv(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareMaximum(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareMinimum(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSquaredDifference(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareFloorDiv(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareFloorMod(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PreparePow(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareEqual(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareNotEqual(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLess(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLessEqual(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareGreater(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareGreaterEqual(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLogicalAnd(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLogicalOr(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLogicalNot(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareAbs(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareNeg(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareExp(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLog(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSqrt(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareRsqrt(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSquare(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareFloor(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareCeil(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareRound(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSin(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareCos(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareReluN1To1(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareHardSwish(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareElu(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareGelu(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLeakyRelu(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PreparePrelu(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLogSoftmax(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareL2Normalization(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareLocalResponseNormalization(const LayerView& layer,
                                                        const LayerOptions& options);
Result<PreparedLayer> PrepareSum(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareReduceMax(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareReduceMin(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareReduceProd(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareReduceAny(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareReduceAll(const LayerView& layer, const LayerOptions& options);

Result<PreparedLayer> PrepareDetectionPostProcess(const LayerView& layer,
                                                  const LayerOptions& options);

// Recurrent.
Result<PreparedLayer> PrepareLstm(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareBasicLstm(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareRnn(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareUnidirectionalSequenceRnn(const LayerView& layer,
                                                       const LayerOptions& options);
Result<PreparedLayer> PrepareSvdf(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareAssignVariable(const LayerView& layer, const LayerOptions& options);

// Layers that run graphs.
Result<PreparedLayer> PrepareWhile(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareIf(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_OPS_H_
