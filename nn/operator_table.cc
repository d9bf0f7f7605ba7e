#include "intaglio/nn/operator_table.h"

#include <iterator>
#include <string>
#include <variant>

#include "intaglio/nn/ops/ops.h"

namespace intaglio::nn {
namespace {

constexpr TypeSet kEightBit = SetOf(Type::kInt8) | SetOf(Type::kUInt8);
constexpr TypeSet kQuantized = kEightBit | SetOf(Type::kInt16);
constexpr TypeSet kInteger = SetOf(Type::kInt32) | SetOf(Type::kInt64);
constexpr TypeSet kFloat = SetOf(Type::kFloat32);
constexpr TypeSet kArgTypes = kEightBit | SetOf(Type::kInt32) | SetOf(Type::kBool) | kFloat;
constexpr TypeSet kAny = ~TypeSet{0};
constexpr size_t kMany = 1 << 20;

// In the order of the variant Operator.
constexpr OperatorRow kRows[] = {
    {"CONV_2D", 2, 3, kEightBit, InferConv2D, PrepareConv2D},
    {"DEPTHWISE_CONV_2D", 2, 3, kEightBit, InferDepthwiseConv2D, PrepareDepthwiseConv2D},
    {"FULLY_CONNECTED", 2, 3, kEightBit, InferFullyConnected, PrepareFullyConnected},
    {"ADD", 2, 2, kEightBit, InferBroadcast, PrepareAdd},
    {"AVERAGE_POOL_2D", 1, 1, kEightBit, InferAveragePool2D, PrepareAveragePool2D},
    {"MAX_POOL_2D", 1, 1, kEightBit, InferMaxPool2D, PrepareMaxPool2D},
    {"PAD", 1, 1, kAny, InferPad, PreparePad},
    {"RESHAPE", 1, 1, kAny, InferReshape, PrepareReshape},
    {"SOFTMAX", 1, 1, kEightBit, InferUnary, PrepareSoftmax},
    {"LOGISTIC", 1, 1, kEightBit, InferUnary, PrepareLogistic},
    {"TANH", 1, 1, kEightBit, InferUnary, PrepareTanh},
    {"RELU", 1, 1, kEightBit, InferUnary, PrepareRelu},
    {"RELU6", 1, 1, kEightBit, InferUnary, PrepareRelu6},
    {"MEAN", 1, 1, kEightBit, InferMean, PrepareMean},
    {"CONCATENATION", 1, kMany, kAny, InferConcatenation, PrepareConcatenation},
    {"QUANTIZE", 1, 1, kQuantized | SetOf(Type::kInt32) | kFloat, InferUnary, PrepareQuantize},
    {"DEQUANTIZE", 1, 1, kQuantized, InferUnary, PrepareDequantize},
    {"SQUEEZE", 1, 1, kAny, InferSqueeze, PrepareReshape},
    {"EXPAND_DIMS", 1, 1, kAny, InferExpandDims, PrepareReshape},
    {"MIRROR_PAD", 1, 1, kAny, InferMirrorPad, PrepareMirrorPad},
    {"TRANSPOSE", 1, 1, kAny, InferTranspose, PrepareTranspose},
    {"SPLIT", 1, 1, kAny, InferSplit, PrepareSplit},
    {"SPLIT_V", 1, 1, kAny, InferSplitV, PrepareSplitV},
    {"PACK", 1, kMany, kAny, InferPack, PreparePack},
    {"UNPACK", 1, 1, kAny, InferUnpack, PrepareUnpack},
    {"SLICE", 1, 1, kAny, InferSlice, PrepareSlice},
    {"STRIDED_SLICE", 1, 1, kAny, InferStridedSlice, PrepareStridedSlice},
    {"GATHER", 2, 2, kAny, InferGather, PrepareGather},
    {"GATHER_ND", 2, 2, kAny, InferGatherNd, PrepareGatherNd},
    {"EMBEDDING_LOOKUP", 2, 2, SetOf(Type::kInt32), InferEmbeddingLookup, PrepareEmbeddingLookup},
    {"TILE", 1, 1, kAny, InferTile, PrepareTile},
    {"BROADCAST_TO", 1, 1, kAny, InferBroadcastTo, PrepareBroadcastTo},
    {"FILL", 1, 1, kAny, InferFill, PrepareFill},
    {"SHAPE", 1, 1, kAny, InferShapeOf, PrepareShapeOf},
    {"RANGE", 3, 3, kInteger | kFloat, InferSequence, PrepareSequence},
    {"CAST", 1, 1, kAny, InferUnary, PrepareCast},
    {"ONE_HOT", 3, 3, kInteger, InferOneHot, PrepareOneHot},
    {"TOPK_V2", 1, 1, kQuantized | kInteger | kFloat, InferTopK, PrepareTopK},
    {"RESIZE_BILINEAR", 1, 1, kQuantized | kFloat, InferResizeBilinear, PrepareResizeBilinear},
    {"RESIZE_NEAREST_NEIGHBOR", 1, 1, kAny, InferResizeNearestNeighbor,
     PrepareResizeNearestNeighbor},
    {"SPACE_TO_DEPTH", 1, 1, kAny, InferSpaceToDepth, PrepareSpaceToDepth},
    {"DEPTH_TO_SPACE", 1, 1, kAny, InferDepthToSpace, PrepareDepthToSpace},
    {"SPACE_TO_BATCH_ND", 1, 1, kAny, InferSpaceToBatch, PrepareSpaceToBatch},
    {"BATCH_TO_SPACE_ND", 1, 1, kAny, InferBatchToSpace, PrepareBatchToSpace},
    {"REVERSE_V2", 1, 1, kAny, InferReverse, PrepareReverse},
    {"ARG_MAX", 1, 1, kArgTypes, InferArgMax, PrepareArgMax},
    {"ARG_MIN", 1, 1, kArgTypes, InferArgMin, PrepareArgMin},
    {"SELECT", 3, 3, SetOf(Type::kBool), InferSelect, PrepareSelect},
    {"SELECT_V2", 3, 3, SetOf(Type::kBool), InferBroadcast, PrepareSelectV2},
    {"CUMSUM", 1, 1, kInteger | kFloat, InferCumsum, PrepareCumsum},
};
static_assert(std::variant_size_v<Operator> == std::size(kRows));

// "int8 or uint8"
std::string NamesOf(TypeSet types) {
  std::string text;
  for (int type = static_cast<int>(Type::kBool); type >= 0; --type) {
    if ((types & SetOf(static_cast<Type>(type))) == 0) continue;
    const char* const separator = text.empty()                     ? ""
                                  : text.find(" or ") == text.npos ? " or "
                                                                   : ", ";
    text = std::string(NameOf(static_cast<Type>(type))) + separator + text;
  }
  return text;
}

}  // namespace

const OperatorRow& RowOf(const Operator& op) { return kRows[op.index()]; }

Result<std::vector<Shape>> Infer(const LayerView& layer) {
  const OperatorRow& row = RowOf(layer.layer().op);
  const size_t count = layer.input_count();
  if (count < row.min_inputs || count > row.max_inputs) {
    std::string expected = std::to_string(row.min_inputs);
    if (row.max_inputs > row.min_inputs) expected += " to " + std::to_string(row.max_inputs);
    return layer.Invalid("has " + std::to_string(count) + " inputs; " + expected + " expected");
  }
  for (size_t i = 0; i < row.min_inputs; ++i) {
    if (!layer.has_input(i)) return layer.Invalid("input " + std::to_string(i) + " is absent");
  }
  return row.infer(layer);
}

Result<PreparedLayer> Prepare(const LayerView& layer, const LayerOptions& options) {
  const OperatorRow& row = RowOf(layer.layer().op);
  const Tensor& input = layer.input(0);
  if ((row.types & SetOf(input.type)) == 0) {
    return layer.Unsupported("input '" + input.name + "' is " + NameOf(input.type) + "; " +
                             NamesOf(row.types) + " is supported");
  }
  return row.prepare(layer, options);
}

}  // namespace intaglio::nn
