#include "intaglio/nn/operator_table.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <variant>

#include "intaglio/nn/cost.h"
#include "intaglio/nn/nested_graphs.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/ops/reduce.h"
#include "intaglio/nn/ops/routine.h"

namespace intaglio::nn {
namespace {

constexpr TypeSet kEightBit = SetOf(Type::kInt8) | SetOf(Type::kUInt8);
constexpr TypeSet kQuantized = kEightBit | SetOf(Type::kInt16);
constexpr TypeSet kInteger = SetOf(Type::kInt32) | SetOf(Type::kInt64);
constexpr TypeSet kFloat = SetOf(Type::kFloat32);
constexpr TypeSet kBool = SetOf(Type::kBool);
constexpr TypeSet kNumbers = kQuantized | kInteger | kFloat;
constexpr TypeSet kSigned = SetOf(Type::kInt8) | SetOf(Type::kInt16) | SetOf(Type::kInt32) | kFloat;
constexpr TypeSet kReal = SetOf(Type::kInt8) | SetOf(Type::kInt16) | kFloat;
constexpr TypeSet kArgTypes = kEightBit | SetOf(Type::kInt32) | SetOf(Type::kBool) | kFloat;
constexpr TypeSet kAny = ~TypeSet{0};
constexpr size_t kMany = 1 << 20;
constexpr uint32_t kAllInputs = ~uint32_t{0};
constexpr uint32_t kAllButFirst = kAllInputs << 1;
constexpr uint32_t kWeights = 1 << 1;
constexpr uint32_t kWeightsAndBias = kWeights | 1 << 2;
constexpr char kLstmRemark[] =
    "int8 with int16 cells; float32 also with int8 weights; the basic form of uint8 and float32";

// In the order of the variant Operator.
constexpr OperatorRow kRows[] = {
    {"CONV_2D", 2, 3, kQuantized | kFloat, InferConv2D, PrepareConv2D,
     "weights int8 with int16, also int8 with float32; grouped and dilated too", kWeightsAndBias},
    {"DEPTHWISE_CONV_2D", 2, 3, kQuantized | kFloat, InferDepthwiseConv2D, PrepareDepthwiseConv2D,
     "weights int8 with int16, also int8 with float32", kWeightsAndBias},
    {"FULLY_CONNECTED", 2, 3, kQuantized | kFloat, InferFullyConnected, PrepareFullyConnected,
     "weights int8 with int16, also int8 with float32", kWeightsAndBias},
    {"ADD", 2, 2, kNumbers, InferBroadcast, PrepareAdd, "int16 with zero points 0"},
    {"AVERAGE_POOL_2D", 1, 1, kQuantized | kFloat, InferAveragePool2D, PrepareAveragePool2D},
    {"MAX_POOL_2D", 1, 1, kQuantized | kFloat, InferMaxPool2D, PrepareMaxPool2D},
    {"PAD", 1, 1, kAny, InferPad, PreparePad,
     "PADV2's value is constant and quantized as the input"},
    {"RESHAPE", 1, 1, kAny, InferReshape, PrepareReshape},
    {"SOFTMAX", 1, 1, kQuantized | kFloat, InferUnary, PrepareSoftmax,
     "output of 8 bits in steps of 1/256, of 16 in steps of 2^-15; int8 also to int16"},
    {"LOGISTIC", 1, 1, kQuantized | kFloat, InferUnary, PrepareLogistic,
     "int16 of scales to 5.33, zero points 0, to the scale 2^-15"},
    {"TANH", 1, 1, kQuantized | kFloat, InferUnary, PrepareTanh,
     "int16 of scales to 5.33, zero points 0, to the scale 2^-15"},
    {"RELU", 1, 1, kQuantized | kFloat, InferUnary, PrepareRelu},
    {"RELU6", 1, 1, kQuantized | kFloat, InferUnary, PrepareRelu6},
    {"MEAN", 1, 1, kQuantized | kFloat, InferReduce<Mean>, PrepareMean},
    {"CONCATENATION", 1, kMany, kAny, InferConcatenation, PrepareConcatenation,
     "uint8 is requantized where quantizations differ; other types need one"},
    {"QUANTIZE", 1, 1, kQuantized | SetOf(Type::kInt32) | kFloat, InferUnary, PrepareQuantize,
     "to int8, uint8, int16; int16 to int32"},
    {"DEQUANTIZE", 1, 1, kQuantized | kFloat, InferUnary, PrepareDequantize, "to float32"},
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
    {"GATHER", 2, 2, kAny, InferGather, PrepareGather, "indices int16, int32, int64"},
    {"GATHER_ND", 2, 2, kAny, InferGatherNd, PrepareGatherNd, "indices int16, int32, int64"},
    {"EMBEDDING_LOOKUP", 2, 2, SetOf(Type::kInt32), InferEmbeddingLookup, PrepareEmbeddingLookup,
     "the indices; rows of any type, or int8 and uint8 to float32"},
    {"TILE", 1, 1, kAny, InferTile, PrepareTile},
    {"BROADCAST_TO", 1, 1, kAny, InferBroadcastTo, PrepareBroadcastTo},
    {"FILL", 1, 1, kAny, InferFill, PrepareFill},
    {"SHAPE", 1, 1, kAny, InferShapeOf, PrepareShapeOf},
    {"RANGE", 3, 3, kInteger | kFloat, InferSequence, PrepareSequence, "constants", kAllInputs},
    {"CAST", 1, 1, kAny, InferUnary, PrepareCast, "every pair of types"},
    {"ONE_HOT", 3, 3, kInteger, InferOneHot, PrepareOneHot, "the indices; values of any type"},
    {"TOPK_V2", 1, 1, kQuantized | kInteger | kFloat, InferTopK, PrepareTopK},
    {"RESIZE_BILINEAR", 1, 1, kQuantized | kFloat, InferResizeBilinear, PrepareResizeBilinear},
    {"RESIZE_NEAREST_NEIGHBOR", 1, 1, kAny, InferResizeNearestNeighbor,
     PrepareResizeNearestNeighbor},
    {"SPACE_TO_DEPTH", 1, 1, kAny, InferSpaceToDepth, PrepareSpaceToDepth},
    {"DEPTH_TO_SPACE", 1, 1, kAny, InferDepthToSpace, PrepareDepthToSpace},
    {"SPACE_TO_BATCH_ND", 1, 1, kAny, InferSpaceToBatch, PrepareSpaceToBatch,
     "at most 65536 blocks"},
    {"BATCH_TO_SPACE_ND", 1, 1, kAny, InferBatchToSpace, PrepareBatchToSpace,
     "at most 65536 blocks"},
    {"REVERSE_V2", 1, 1, kAny, InferReverse, PrepareReverse},
    {"ARG_MAX", 1, 1, kArgTypes, InferArgMax, PrepareArgMax},
    {"ARG_MIN", 1, 1, kArgTypes, InferArgMin, PrepareArgMin},
    {"SELECT", 3, 3, SetOf(Type::kBool), InferSelect, PrepareSelect,
     "the condition; values of any type"},
    {"SELECT_V2", 3, 3, SetOf(Type::kBool), InferBroadcast, PrepareSelectV2,
     "the condition; values of any type"},
    {"CUMSUM", 1, 1, kInteger | kFloat, InferCumsum, PrepareCumsum},
    {"SUB", 2, 2, kNumbers, InferBroadcast, PrepareSub, "int16 with zero points 0"},
    {"MUL", 2, 2, kNumbers, InferBroadcast, PrepareMul},
    {"DIV", 2, 2, kQuantized | SetOf(Type::kInt32) | kFloat, InferBroadcast, PrepareDiv,
     "quantized scales a / (b * output) below 2^14"},
    {"MAXIMUM", 2, 2, kNumbers, InferBroadcast, PrepareMaximum, "one quantization"},
    {"MINIMUM", 2, 2, kNumbers, InferBroadcast, PrepareMinimum, "one quantization"},
    {"SQUARED_DIFFERENCE", 2, 2, SetOf(Type::kInt8) | SetOf(Type::kInt32) | kFloat, InferBroadcast,
     PrepareSquaredDifference},
    {"FLOOR_DIV", 2, 2, kSigned, InferBroadcast, PrepareFloorDiv, "not quantized"},
    {"FLOOR_MOD", 2, 2, kSigned | SetOf(Type::kInt64), InferBroadcast, PrepareFloorMod,
     "not quantized"},
    {"POW", 2, 2, SetOf(Type::kInt32) | kFloat, InferBroadcast, PreparePow},
    {"EQUAL", 2, 2, kNumbers | kBool, InferBroadcast, PrepareEqual, "quantized scales below 1"},
    {"NOT_EQUAL", 2, 2, kNumbers | kBool, InferBroadcast, PrepareNotEqual,
     "quantized scales below 1"},
    {"LESS", 2, 2, kNumbers, InferBroadcast, PrepareLess, "quantized scales below 1"},
    {"LESS_EQUAL", 2, 2, kNumbers, InferBroadcast, PrepareLessEqual, "quantized scales below 1"},
    {"GREATER", 2, 2, kNumbers, InferBroadcast, PrepareGreater, "quantized scales below 1"},
    {"GREATER_EQUAL", 2, 2, kNumbers, InferBroadcast, PrepareGreaterEqual,
     "quantized scales below 1"},
    {"LOGICAL_AND", 2, 2, kBool, InferBroadcast, PrepareLogicalAnd},
    {"LOGICAL_OR", 2, 2, kBool, InferBroadcast, PrepareLogicalOr},
    {"LOGICAL_NOT", 1, 1, kBool, InferUnary, PrepareLogicalNot},
    {"ABS", 1, 1, kSigned, InferUnary, PrepareAbs},
    {"NEG", 1, 1, kInteger | kFloat, InferUnary, PrepareNeg},
    {"EXP", 1, 1, kReal, InferUnary, PrepareExp},
    {"LOG", 1, 1, kReal, InferUnary, PrepareLog},
    {"SQRT", 1, 1, kReal, InferUnary, PrepareSqrt},
    {"RSQRT", 1, 1, kReal, InferUnary, PrepareRsqrt},
    {"SQUARE", 1, 1, kFloat, InferUnary, PrepareSquare},
    {"FLOOR", 1, 1, kFloat, InferUnary, PrepareFloor},
    {"CEIL", 1, 1, kFloat, InferUnary, PrepareCeil},
    {"ROUND", 1, 1, kFloat, InferUnary, PrepareRound},
    {"SIN", 1, 1, kFloat, InferUnary, PrepareSin},
    {"COS", 1, 1, kFloat, InferUnary, PrepareCos},
    {"RELU_N1_TO_1", 1, 1, kQuantized | kFloat, InferUnary, PrepareReluN1To1},
    {"HARD_SWISH", 1, 1, kEightBit | kFloat, InferUnary, PrepareHardSwish},
    {"ELU", 1, 1, SetOf(Type::kInt8) | kFloat, InferUnary, PrepareElu},
    {"GELU", 1, 1, kQuantized | kFloat, InferUnary, PrepareGelu},
    {"LEAKY_RELU", 1, 1, kQuantized | kFloat, InferUnary, PrepareLeakyRelu},
    {"PRELU", 2, 2, kQuantized | kFloat, InferPrelu, PreparePrelu, "int16 with int8 slopes",
     kWeights},
    {"LOG_SOFTMAX", 1, 1, kEightBit | kFloat, InferRows, PrepareLogSoftmax,
     "output of 8 bits in steps of 1/16"},
    {"L2_NORMALIZATION", 1, 1, kEightBit | kFloat, InferRows, PrepareL2Normalization,
     "output in steps of 1/128"},
    {"SUM", 1, 1, kNumbers, InferReduce<Sum>, PrepareSum},
    {"REDUCE_MAX", 1, 1, kNumbers, InferReduce<ReduceMax>, PrepareReduceMax, "one quantization"},
    {"REDUCE_MIN", 1, 1, kNumbers, InferReduce<ReduceMin>, PrepareReduceMin, "one quantization"},
    {"REDUCE_PROD", 1, 1, kReal | kInteger, InferReduce<ReduceProd>, PrepareReduceProd,
     "of at least one element"},
    {"REDUCE_ANY", 1, 1, kBool, InferReduce<ReduceAny>, PrepareReduceAny},
    {"REDUCE_ALL", 1, 1, kBool, InferReduce<ReduceAll>, PrepareReduceAll},
    {"TRANSPOSE_CONV", 2, 4, kQuantized | kFloat, InferTransposeConv, PrepareTransposeConv,
     "constant weights, int8 with int16; not hybrid, as in TFLite", kWeightsAndBias},
    {"BATCH_MATMUL", 2, 2, kReal, InferBatchMatMul, PrepareBatchMatMul,
     "int16 with zero points 0; float32 also with constant int8", kWeights},
    {"LSTM", 1, 24, SetOf(Type::kInt8) | kFloat, InferLstm, PrepareLstm, kLstmRemark, kAllButFirst},
    {"LSTM", 5, 5, SetOf(Type::kUInt8) | kFloat, InferBasicLstm, PrepareBasicLstm, "",
     kAllButFirst},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 1, 24, SetOf(Type::kInt8) | kFloat, InferLstm, PrepareLstm,
     "int8 with int16 cells; float32 also with int8 weights; not diagonal", kAllButFirst},
    {"RNN", 5, 5, kFloat, InferRnn, PrepareRnn, "also with int8 weights", kAllButFirst},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", 5, 5, kFloat, InferRnn, PrepareUnidirectionalSequenceRnn,
     "also with int8 weights", kAllButFirst},
    {"SVDF", 3, 5, SetOf(Type::kInt8) | kFloat, InferSvdf, PrepareSvdf,
     "int8 with int16 or int8 states; float32 also with int8 weights", kAllButFirst},
    {"TFLite_Detection_PostProcess", 3, 3, kEightBit | kFloat, InferDetectionPostProcess,
     PrepareDetectionPostProcess, "custom; anchors and scores of the same types"},
    {"L2_POOL_2D", 1, 1, kFloat, InferL2Pool2D, PrepareL2Pool2D},
    {"LOCAL_RESPONSE_NORMALIZATION", 1, 1, kFloat, InferRows, PrepareLocalResponseNormalization},
    {"READ_VARIABLE", 1, 1, kAny, InferReadVariable, PrepareReshape},
    {"ASSIGN_VARIABLE", 2, 2, kAny, InferAssignVariable, PrepareAssignVariable},
    {"WHILE", 1, kMany, kAny, InferWhile, PrepareWhile,
     "any state whose shapes stay; PrepareOptions bounds the rounds of a run"},
    {"IF", 1, kMany, kBool, InferIf, PrepareIf, "the condition; branches of the same shapes"},
    {"DYNAMIC_UPDATE_SLICE", 3, 3, kAny, InferDynamicUpdateSlice, PrepareDynamicUpdateSlice,
     "indices int32, int64"},
    {"SLICE", 2, 2, kAny, InferDynamicSlice, PrepareDynamicSlice},
    {"SCATTER_ND", 2, 2, SetOf(Type::kInt32), InferScatterNd, PrepareScatterNd,
     "the indices; updates int8, uint8, int32, int64, float32"},
};
static_assert(std::variant_size_v<OperatorVariant> == std::size(kRows));

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

// Of the outputs that there are.
bool MakesNothing(const LayerView& layer) {
  if (layer.layer().outputs.empty()) return false;
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) {
    if (*CountElements(layer.output(i).shape) > 0) return false;
  }
  return true;
}

// Other dimensions of an empty output may be anything: nobody shall loop over them.
PreparedLayer Nothing() {
  PreparedLayer prepared;
  prepared.name = "cpu:none";
  prepared.routine = RoutineOf([](const RunArguments&) {});
  return prepared;
}

// The part of the bytes charged for a layer that it keeps once it is prepared.
size_t KeptBytes(const LayerView& layer, const Result<PreparedLayer>& prepared) {
  // The layers of nested graphs charge what they keep themselves.
  if (!prepared.ok() || !NestedGraphsOf(layer.layer().op).empty()) return 0;
  return prepared->constant_bytes + BoundKept(layer);
}

// Charges everything that preparing may take before any of it is allocated.
Result<PreparedLayer> PrepareCharged(const OperatorRow& row, const LayerView& layer,
                                     const LayerOptions& options) {
  if (options.ledger == nullptr) return row.prepare(layer, options);
  const size_t bound = BoundPreparation(layer);
  const Status status = options.ledger->Charge(bound);
  if (!status.ok()) return layer.Wrap(status);
  Result<PreparedLayer> prepared = row.prepare(layer, options);
  options.ledger->Return(bound - std::min(bound, KeptBytes(layer, prepared)));
  return prepared;
}

}  // namespace

const OperatorRow* FindRow(std::string_view name) {
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [&](const OperatorRow& r) { return r.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

std::string ListTypes(TypeSet types) {
  if (types == kAny) return "any";
  std::string text;
  for (int type = 0; type <= static_cast<int>(Type::kBool); ++type) {
    if ((types & SetOf(static_cast<Type>(type))) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(NameOf(static_cast<Type>(type)));
  }
  return text;
}

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
  if (MakesNothing(layer)) return Nothing();
  return PrepareCharged(row, layer, options);
}

}  // namespace intaglio::nn
