#include "intaglio/nn/operator_table.h"

#include <iterator>
#include <string>
#include <variant>

#include "intaglio/nn/ops/ops.h"

namespace intaglio::nn {
namespace {

constexpr TypeSet kEightBit = SetOf(Type::kInt8) | SetOf(Type::kUInt8);
constexpr TypeSet kQuantized = kEightBit | SetOf(Type::kInt16);
constexpr TypeSet kAny = ~TypeSet{0};
constexpr size_t kMany = 1 << 20;

// In the order of the variant Operator.
constexpr OperatorRow kRows[] = {
    {"CONV_2D", 2, 3, kEightBit, InferConv2D, PrepareConv2D},
    {"DEPTHWISE_CONV_2D", 2, 3, kEightBit, InferDepthwiseConv2D, PrepareDepthwiseConv2D},
    {"FULLY_CONNECTED", 2, 3, kEightBit, InferFullyConnected, PrepareFullyConnected},
    {"ADD", 2, 2, kEightBit, InferAdd, PrepareAdd},
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
    {"QUANTIZE", 1, 1, kQuantized | SetOf(Type::kInt32) | SetOf(Type::kFloat32), InferUnary,
     PrepareQuantize},
    {"DEQUANTIZE", 1, 1, kQuantized, InferUnary, PrepareDequantize},
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
