#include "intaglio/nn/formats/tflite/version.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

// The versions that brought int8 and int16, where they were not the first.
struct Row {
  std::string_view name;
  int int8;
  int int16;
};

constexpr Row kRows[] = {
    {"ABS", 2, 2},
    {"ADD", 2, 2},
    {"ARG_MAX", 2, 2},
    {"ARG_MIN", 2, 2},
    {"AVERAGE_POOL_2D", 2, 3},
    {"BATCH_TO_SPACE_ND", 2, 2},
    {"CONCATENATION", 2, 3},
    {"CONV_2D", 3, 4},
    {"DEPTHWISE_CONV_2D", 3, 5},
    {"DEQUANTIZE", 2, 3},
    {"EQUAL", 2, 2},
    {"EXP", 2, 2},
    {"FULLY_CONNECTED", 4, 7},
    {"GATHER", 2, 2},
    {"GREATER", 2, 2},
    {"GREATER_EQUAL", 2, 2},
    {"L2_NORMALIZATION", 2, 2},
    {"LEAKY_RELU", 2, 2},
    {"LESS", 2, 2},
    {"LESS_EQUAL", 2, 2},
    {"LOGISTIC", 2, 3},
    {"LOG_SOFTMAX", 2, 2},
    {"LSTM", 3, 3},
    {"MAXIMUM", 2, 2},
    {"MAX_POOL_2D", 2, 3},
    {"MEAN", 2, 3},
    {"MINIMUM", 2, 2},
    {"MIRROR_PAD", 2, 3},
    {"MUL", 2, 4},
    {"NOT_EQUAL", 2, 2},
    {"PACK", 2, 2},
    {"PAD", 2, 2},
    {"PADV2", 2, 2},
    {"REDUCE_MAX", 2, 3},
    {"REDUCE_MIN", 2, 3},
    {"RELU", 2, 3},
    {"RELU6", 2, 3},
    {"RESIZE_BILINEAR", 3, 3},
    {"RESIZE_NEAREST_NEIGHBOR", 3, 3},
    {"RNN", 2, 2},
    {"RSQRT", 2, 3},
    {"SLICE", 2, 4},
    {"SOFTMAX", 2, 3},
    {"SPACE_TO_BATCH_ND", 2, 2},
    {"SPACE_TO_DEPTH", 2, 2},
    {"SPLIT", 2, 4},
    {"SPLIT_V", 2, 2},
    {"SQUARED_DIFFERENCE", 2, 2},
    {"STRIDED_SLICE", 2, 4},
    {"SUB", 2, 2},
    {"SUM", 2, 2},
    {"SVDF", 3, 3},
    {"TANH", 2, 3},
    {"TOPK_V2", 2, 2},
    {"TRANSPOSE", 2, 4},
    {"TRANSPOSE_CONV", 2, 2},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 2, 2},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", 2, 2},
    {"UNPACK", 2, 3},
};

bool Has(const LayerView& layer, Type type) {
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (layer.has_input(i) && layer.input(i).type == type) return true;
  }
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) {
    if (layer.output(i).type == type) return true;
  }
  return false;
}

}  // namespace

int TfliteVersion(std::string_view name, const LayerView& layer) {
  if (name == "BROADCAST_TO") return 2;  // there is no first one
  if (layer.layer().op.Is<BasicLstm>()) return 2;
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [&](const Row& r) { return r.name == name; });
  if (row == std::end(kRows)) return 1;
  if (Has(layer, Type::kInt16)) return row->int16;
  return Has(layer, Type::kInt8) ? row->int8 : 1;
}

}  // namespace intaglio::nn
