// EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR,
// MAXIMUM, MINIMUM.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

constexpr TypeSet kComparable = kNumbers | kUInt16;

// A quantized number on the scale that comparisons share: 256 times its real value, in fixed point.
struct Comparable {
  int32_t zero_point = 0;
  QuantizedMultiplier scale;

  int32_t operator()(int32_t x) const { return Requantize((x - zero_point) * 256, scale); }
};

Result<Comparable> ComparableOf(const LayerView& layer, size_t i) {
  const Result<Affine> q = AffineOf(layer, layer.input(i));
  if (!q.ok()) return q.status();
  const Result<QuantizedMultiplier> scale = MakeMultiplier(layer, static_cast<double>(q->scale));
  if (!scale.ok()) return scale.status();
  if (scale->exponent <= 0) return Comparable{q->zero_point, *scale};
  return layer.Unsupported("compares numbers with the scale " + std::to_string(q->scale) +
                           "; scales below 1 are supported");
}

template <class Better>
Result<PreparedLayer> PrepareQuantizedComparison(const LayerView& layer) {
  const Result<Comparable> first = ComparableOf(layer, 0);
  if (!first.ok()) return first.status();
  const Result<Comparable> second = ComparableOf(layer, 1);
  if (!second.ok()) return second.status();
  return PrepareBinary(
      layer, VisitType<int8_t, uint8_t, int16_t>(layer.input(0).type, [&](auto zero) {
        using T = decltype(zero);
        return BinaryRoutine<T, T, uint8_t>(
            layer, [a = *first, b = *second](T x, T y) { return Better()(a(x), b(y)) ? 1 : 0; });
      }));
}

template <class Better>
Result<PreparedLayer> PreparePlainComparison(const LayerView& layer) {
  const Type type = layer.input(0).type == Type::kBool ? Type::kUInt8 : layer.input(0).type;
  return PrepareBinary(
      layer,
      VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(type, [&](auto zero) {
        using T = decltype(zero);
        return BinaryRoutine<T, T, uint8_t>(layer, [](T x, T y) { return Better()(x, y) ? 1 : 0; });
      }));
}

// TFLite compares int16 by order as it is, and for equality as quantized numbers where it is.
template <class Better>
Result<PreparedLayer> PrepareComparison(const LayerView& layer, bool of_order) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kBool));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(1), layer.input(0).type));
  const Type type = layer.input(0).type;
  const bool quantized =
      ((type == Type::kInt8 || type == Type::kUInt8 || type == Type::kUInt16) && !IsPlain(layer)) ||
      (type == Type::kInt16 && !of_order && layer.input(0).quantization.quantized());
  if (quantized) return PrepareQuantizedComparison<Better>(layer);
  return PreparePlainComparison<Better>(layer);
}

template <class Function>
Result<PreparedLayer> PrepareLogical(const LayerView& layer, const Function& f) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareBinary(layer, BinaryRoutine<uint8_t, uint8_t, uint8_t>(layer, f));
}

// x is better than y or is NaN; where y is NaN, it is not.
template <class Choice>
struct OrNan {
  template <class T>
  bool operator()(T x, T y) const {
    return Choice()(x, y) || x != x;
  }
};

// Numbers of one type as they are.
template <class Choice>
Result<PreparedLayer> PrepareChoice(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  return PrepareBinary(layer,
                       VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(
                           layer.input(0).type, [&](auto zero) {
                             using T = decltype(zero);
                             return BinaryRoutine<T, T, T>(
                                 layer, [](T x, T y) { return Choice()(x, y) ? x : y; });
                           }));
}

Result<PreparedLayer> PrepareEqual(const LayerView& layer, const LayerOptions&) {
  return PrepareComparison<std::equal_to<>>(layer, false);
}

Result<PreparedLayer> PrepareNotEqual(const LayerView& layer, const LayerOptions&) {
  return PrepareComparison<std::not_equal_to<>>(layer, false);
}

Result<PreparedLayer> PrepareLess(const LayerView& layer, const LayerOptions&) {
  return PrepareComparison<std::less<>>(layer, true);
}

Result<PreparedLayer> PrepareLessEqual(const LayerView& layer, const LayerOptions&) {
  return PrepareComparison<std::less_equal<>>(layer, true);
}

Result<PreparedLayer> PrepareGreater(const LayerView& layer, const LayerOptions&) {
  return PrepareComparison<std::greater<>>(layer, true);
}

Result<PreparedLayer> PrepareGreaterEqual(const LayerView& layer, const LayerOptions&) {
  return PrepareComparison<std::greater_equal<>>(layer, true);
}

Result<PreparedLayer> PrepareLogicalAnd(const LayerView& layer, const LayerOptions&) {
  return PrepareLogical(layer, [](uint8_t x, uint8_t y) { return x != 0 && y != 0 ? 1 : 0; });
}

Result<PreparedLayer> PrepareLogicalOr(const LayerView& layer, const LayerOptions&) {
  return PrepareLogical(layer, [](uint8_t x, uint8_t y) { return x != 0 || y != 0 ? 1 : 0; });
}

Result<PreparedLayer> PrepareLogicalXor(const LayerView& layer, const LayerOptions&) {
  return PrepareLogical(layer, [](uint8_t x, uint8_t y) { return (x != 0) != (y != 0) ? 1 : 0; });
}

Result<PreparedLayer> PrepareMaximum(const LayerView& layer, const LayerOptions&) {
  if (layer.op<Maximum>().keeps_nan) return PrepareChoice<OrNan<std::greater<>>>(layer);
  return PrepareChoice<std::greater<>>(layer);
}

Result<PreparedLayer> PrepareMinimum(const LayerView& layer, const LayerOptions&) {
  if (layer.op<Minimum>().keeps_nan) return PrepareChoice<OrNan<std::less<>>>(layer);
  return PrepareChoice<std::less<>>(layer);
}

}  // namespace

constinit const OperatorRow Maximum::kRow =
    BinaryRow("MAXIMUM", kComparable, Moves("elementwise", PrepareMaximum), "one quantization");

constinit const OperatorRow Minimum::kRow =
    BinaryRow("MINIMUM", kComparable, Moves("elementwise", PrepareMinimum), "one quantization");

constinit const OperatorRow Equal::kRow =
    BinaryRow("EQUAL", kComparable | kBool, Candidate{"elementwise", PrepareEqual},
              "quantized scales below 1; uint16 not quantized");

constinit const OperatorRow NotEqual::kRow =
    BinaryRow("NOT_EQUAL", kComparable | kBool, Candidate{"elementwise", PrepareNotEqual},
              "quantized scales below 1; uint16 not quantized");

constinit const OperatorRow Less::kRow =
    BinaryRow("LESS", kComparable, Candidate{"elementwise", PrepareLess},
              "quantized scales below 1; uint16 not quantized");

constinit const OperatorRow LessEqual::kRow =
    BinaryRow("LESS_EQUAL", kComparable, Candidate{"elementwise", PrepareLessEqual},
              "quantized scales below 1; uint16 not quantized");

constinit const OperatorRow Greater::kRow =
    BinaryRow("GREATER", kComparable, Candidate{"elementwise", PrepareGreater},
              "quantized scales below 1; uint16 not quantized");

constinit const OperatorRow GreaterEqual::kRow =
    BinaryRow("GREATER_EQUAL", kComparable, Candidate{"elementwise", PrepareGreaterEqual},
              "quantized scales below 1; uint16 not quantized");

constinit const OperatorRow LogicalAnd::kRow =
    BinaryRow("LOGICAL_AND", kBool, Candidate{"elementwise", PrepareLogicalAnd});

constinit const OperatorRow LogicalOr::kRow =
    BinaryRow("LOGICAL_OR", kBool, Candidate{"elementwise", PrepareLogicalOr});

constinit const OperatorRow LogicalXor::kRow =
    BinaryRow("LOGICAL_XOR", kBool, Candidate{"elementwise", PrepareLogicalXor});

}  // namespace intaglio::nn
