#include "intaglio/nn/quantize/demands.h"

#include <cmath>
#include <variant>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/expect_finite.h"

namespace intaglio::nn::quantize {
namespace {

constexpr TypeSet kBytes = SetOf(Type::kInt8) | SetOf(Type::kUInt8);
constexpr TypeSet kAll3 = kBytes | SetOf(Type::kInt16);
constexpr TypeSet kInt8And16 = SetOf(Type::kInt8) | SetOf(Type::kInt16);
constexpr uint32_t kBoth = 3;
constexpr uint32_t kAllInputs = ~uint32_t{0};

// Outputs in [0, 1): 256 steps, or 2^15.
Parameters FromZeroToOne(const Levels& levels) {
  if (levels.type == Type::kInt16) return {0x1p-15f, 0};
  return {0x1p-8f, LowestOf(levels)};
}
// Outputs in [-1, 1).
Parameters AroundZero(const Levels& levels) {
  if (levels.type == Type::kInt16) return {0x1p-15f, 0};
  return {0x1p-7f, LowestOf(levels) + 128};
}
// Outputs in [-16, 0].
Parameters BelowZero(const Levels& levels) { return {0x1p-4f, LowestOf(levels) + 255}; }

const char* HasActivation(const LayerView& layer) {
  return layer.op<Concatenation>().activation == Activation::kNone
             ? nullptr
             : "a fused activation, which integers do not have";
}

const char* PadsWithInfinity(const LayerView& layer) {
  const Pad& op = layer.op<Pad>();
  const auto* const value = std::get_if<double>(&op.value);
  const bool finite = !op.has_value || value == nullptr || std::isfinite(*value);
  return finite ? nullptr : "it pads with a number that is not finite";
}

Operator QuantizedPad(const LayerView& layer, const Parameters& output, const Levels& levels) {
  Pad op = layer.op<Pad>();
  if (!op.has_value) return op;
  const auto* const real = std::get_if<double>(&op.value);
  const auto value = static_cast<float>(real != nullptr ? *real : 0);
  op.value = int64_t{QuantizeNumber(value, output, levels)};
  return op;
}

// Integers have no infinities and no NaN, which files could not say that they keep.
Operator Finite(const LayerView& layer, const Parameters&, const Levels&) {
  Operator op = layer.layer().op;
  ExpectFinite(op);
  return op;
}

// Sums of int16 by shifts would need scales that are powers of two.
template <class Op>
Operator FiniteSum(const LayerView& layer, const Parameters&, const Levels& levels) {
  Op op = layer.op<Op>();
  op.keeps_infinities = false;
  if (levels.type == Type::kInt16) op.pot_scale_int16 = false;
  return op;
}

// Input 0 is no part of the data of these: a condition, or indices.
constexpr uint32_t kSecond = 2;
constexpr uint32_t kSecondAndThird = 6;

constexpr Demand Weighted(const OperatorRow* row, int axis, bool hybrid) {
  return {.row = row, .types = kAll3, .weight_axis = axis, .hybrid = hybrid};
}
constexpr Demand Own(const OperatorRow* row, TypeSet types, uint32_t data = 1) {
  return {.row = row, .types = types, .data = data};
}
constexpr Demand Moving(const OperatorRow* row, TypeSet types = kAll3, uint32_t data = 1) {
  return {.row = row, .sharing = Sharing::kInput, .types = types, .data = data};
}
constexpr Demand Joining(const OperatorRow* row, uint32_t data = kBoth) {
  return {.row = row, .sharing = Sharing::kAll, .types = kAll3, .data = data};
}
constexpr Demand Fixed(const OperatorRow* row, TypeSet types,
                       Parameters (*fixed)(const Levels& levels)) {
  return {.row = row, .sharing = Sharing::kFixed, .types = types, .fixed = fixed};
}

// EXP, LOG, SQRT, RSQRT, DIV, POW and comparisons have forms of 8 bits, too. They are missing here:
// one step of their input can be most of their output's range, or outside of their domain.
constexpr Demand kDemands[] = {
    Weighted(&Conv2D::kRow, 0, true),
    Weighted(&DepthwiseConv2D::kRow, 3, true),
    Weighted(&FullyConnected::kRow, 0, true),
    Weighted(&TransposeConv::kRow, 0, false),
    {.row = &BatchMatMul::kRow, .types = kAll3, .data = kBoth, .hybrid = true},

    {.row = &Add::kRow, .types = kAll3, .data = kBoth, .rewrite = FiniteSum<Add>},
    {.row = &Sub::kRow, .types = kAll3, .data = kBoth, .rewrite = FiniteSum<Sub>},
    {.row = &Mul::kRow, .types = kAll3, .data = kBoth, .rewrite = Finite},
    Own(&SquaredDifference::kRow, SetOf(Type::kInt8), kBoth),
    Own(&Prelu::kRow, kBytes, kBoth),
    Own(&Relu::kRow, kAll3),
    Own(&Relu6::kRow, kAll3),
    Own(&ReluN1To1::kRow, kAll3),
    Own(&LeakyRelu::kRow, kAll3),
    Own(&HardSwish::kRow, kBytes),
    Own(&Elu::kRow, SetOf(Type::kInt8)),
    Own(&Gelu::kRow, kAll3),
    Own(&Abs::kRow, kInt8And16),
    Own(&Mean::kRow, kAll3),
    Own(&Sum::kRow, kAll3),

    Fixed(&Softmax::kRow, kAll3, FromZeroToOne),
    Fixed(&Logistic::kRow, kAll3, FromZeroToOne),
    Fixed(&Tanh::kRow, kAll3, AroundZero),
    Fixed(&L2Normalization::kRow, kBytes, AroundZero),
    Fixed(&LogSoftmax::kRow, kBytes, BelowZero),

    {.row = &Concatenation::kRow,
     .sharing = Sharing::kAll,
     .types = kAll3,
     .data = kAllInputs,
     .why_not = HasActivation},
    Joining(&Pack::kRow, kAllInputs),
    {.row = &Maximum::kRow,
     .sharing = Sharing::kAll,
     .types = kAll3,
     .data = kBoth,
     .rewrite = Finite},
    {.row = &Minimum::kRow,
     .sharing = Sharing::kAll,
     .types = kAll3,
     .data = kBoth,
     .rewrite = Finite},
    Joining(&Select::kRow, kSecondAndThird),
    Joining(&SelectV2::kRow, kSecondAndThird),
    Joining(&DynamicUpdateSlice::kRow),

    Moving(&AveragePool2D::kRow),
    Moving(&MaxPool2D::kRow),
    {.row = &ReduceMax::kRow, .sharing = Sharing::kInput, .types = kAll3, .rewrite = Finite},
    {.row = &ReduceMin::kRow, .sharing = Sharing::kInput, .types = kAll3, .rewrite = Finite},
    Moving(&ArgMax::kRow, kBytes),
    Moving(&ArgMin::kRow, kBytes),
    Moving(&TopK::kRow),
    {.row = &Pad::kRow,
     .sharing = Sharing::kInput,
     .types = kAll3,
     .why_not = PadsWithInfinity,
     .rewrite = QuantizedPad},
    Moving(&MirrorPad::kRow),
    Moving(&Reshape::kRow),
    Moving(&Squeeze::kRow),
    Moving(&ExpandDims::kRow),
    Moving(&Transpose::kRow),
    Moving(&Slice::kRow),
    Moving(&StridedSlice::kRow),
    Moving(&DynamicSlice::kRow),
    Moving(&Split::kRow),
    Moving(&SplitV::kRow),
    Moving(&Unpack::kRow),
    Moving(&Gather::kRow),
    Moving(&GatherNd::kRow),
    Moving(&EmbeddingLookup::kRow, kAll3, kSecond),
    Moving(&Tile::kRow),
    Moving(&BroadcastTo::kRow),
    Moving(&SpaceToDepth::kRow),
    Moving(&DepthToSpace::kRow),
    Moving(&SpaceToBatch::kRow),
    Moving(&BatchToSpace::kRow),
    Moving(&Reverse::kRow),
    Moving(&ResizeBilinear::kRow),
    Moving(&ResizeNearestNeighbor::kRow),
};

}  // namespace

std::span<const Demand> ListDemands() { return kDemands; }

const Demand* DemandOf(const Operator& op) {
  for (const Demand& demand : kDemands) {
    if (demand.row == &op.row()) return &demand;
  }
  return nullptr;
}

}  // namespace intaglio::nn::quantize
