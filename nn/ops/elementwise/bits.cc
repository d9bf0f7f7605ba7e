// BITWISE_AND, BITWISE_OR, BITWISE_XOR, BITWISE_NOT, BIT_SHIFT.
#include <cstdint>
#include <type_traits>

#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/unary.h"

namespace intaglio::nn {
namespace {

constexpr TypeSet kIntegers = kQuantized | kUInt16 | kInteger;

// f on two numbers of any one type of integers.
template <class Function>
Result<PreparedLayer> PrepareBits(const LayerView& layer, const Function& f) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  INTAGLIO_RETURN_IF_ERROR(CheckPlain(layer));
  return PrepareBinary(layer, VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>(
                                  layer.output().type, [&](auto zero) {
                                    using T = decltype(zero);
                                    return BinaryRoutine<T, T, T>(layer, f);
                                  }));
}

template <class T, bool kRight>
T Shift(T bits, T places) {
  using U = std::make_unsigned_t<T>;
  constexpr U kBits = 8 * sizeof(T);
  const U count = static_cast<U>(places);
  if (count >= kBits) return 0;  // negative numbers, too
  const auto wide = static_cast<uint64_t>(static_cast<U>(bits));
  return static_cast<T>(kRight ? wide >> count : wide << count);
}

Result<PreparedLayer> PrepareAnd(const LayerView& layer, const LayerOptions&) {
  return PrepareBits(layer, [](auto x, auto y) { return x & y; });
}

Result<PreparedLayer> PrepareOr(const LayerView& layer, const LayerOptions&) {
  return PrepareBits(layer, [](auto x, auto y) { return x | y; });
}

Result<PreparedLayer> PrepareXor(const LayerView& layer, const LayerOptions&) {
  return PrepareBits(layer, [](auto x, auto y) { return x ^ y; });
}

Result<PreparedLayer> PrepareShift(const LayerView& layer, const LayerOptions&) {
  if (layer.op<BitShift>().right) {
    return PrepareBits(layer, [](auto x, auto y) { return Shift<decltype(x), true>(x, y); });
  }
  return PrepareBits(layer, [](auto x, auto y) { return Shift<decltype(x), false>(x, y); });
}

Result<PreparedLayer> PrepareNot(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  INTAGLIO_RETURN_IF_ERROR(CheckPlain(layer));
  return PrepareUnary(VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>(
      layer.output().type, [&](auto zero) {
        using T = decltype(zero);
        return UnaryRoutine<T, T>(layer, [](T x) { return static_cast<T>(~x); });
      }));
}

}  // namespace

constinit const OperatorRow BitwiseAnd::kRow =
    BinaryRow("BITWISE_AND", kIntegers, Candidate{"elementwise", PrepareAnd}, "not quantized");

constinit const OperatorRow BitwiseOr::kRow =
    BinaryRow("BITWISE_OR", kIntegers, Candidate{"elementwise", PrepareOr}, "not quantized");

constinit const OperatorRow BitwiseXor::kRow =
    BinaryRow("BITWISE_XOR", kIntegers, Candidate{"elementwise", PrepareXor}, "not quantized");

constinit const OperatorRow BitwiseNot::kRow =
    UnaryRow("BITWISE_NOT", kIntegers, Candidate{"elementwise", PrepareNot}, "not quantized");

constinit const OperatorRow BitShift::kRow =
    BinaryRow("BIT_SHIFT", kIntegers, Candidate{"elementwise", PrepareShift}, "not quantized");

}  // namespace intaglio::nn
