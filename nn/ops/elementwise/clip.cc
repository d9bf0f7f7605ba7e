// CLIP and SIGN, of numbers of any type.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/unary.h"

namespace intaglio::nn {
namespace {

template <class T>
struct Limits {
  T low;
  T high;

  T operator()(T x) const {
    const T above = x < low ? low : x;
    return above > high ? high : above;
  }
};

// The bound as a T, or nothing where it is none.
template <class T>
std::optional<T> Exactly(const Clip::Bound& bound) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto* const real = std::get_if<double>(&bound);
    if (real == nullptr) return std::nullopt;
    const T value = static_cast<T>(*real);
    return value == *real || *real != *real ? std::optional(value) : std::nullopt;
  } else {
    const auto* const integer = std::get_if<int64_t>(&bound);
    if (integer == nullptr || !std::in_range<T>(*integer)) return std::nullopt;
    return static_cast<T>(*integer);
  }
}

template <class T>
Result<T> BoundOf(const LayerView& layer, const std::optional<Clip::Bound>& bound, T none) {
  if (!bound.has_value()) return none;
  const std::optional<T> value = Exactly<T>(*bound);
  if (value.has_value()) return *value;
  return layer.Invalid(
      "the bound " + std::visit([](const auto& number) { return std::to_string(number); }, *bound) +
      " is no number of the type " + NameOf(TypeOf<T>));
}

template <class T>
Result<PreparedLayer> PrepareClipOf(const LayerView& layer) {
  using Numbers = std::numeric_limits<T>;
  const Clip& op = layer.op<Clip>();
  constexpr T kLeast = Numbers::has_infinity ? -Numbers::infinity() : Numbers::lowest();
  constexpr T kGreatest = Numbers::has_infinity ? Numbers::infinity() : Numbers::max();
  const Result<T> low = BoundOf<T>(layer, op.low, kLeast);
  if (!low.ok()) return low.status();
  const Result<T> high = BoundOf<T>(layer, op.high, kGreatest);
  if (!high.ok()) return high.status();
  return PrepareUnary(UnaryRoutine<T, T>(layer, Limits<T>{*low, *high}));
}

// f(T()), a prepared layer, for the type T of input 0, which is that of the output.
template <class Function>
Result<PreparedLayer> PrepareByType(const LayerView& layer, const Function& f) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const auto prepared = VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(
      layer.input(0).type, [&](auto zero) { return std::optional(f(zero)); });
  return *prepared;
}

Result<PreparedLayer> PrepareClip(const LayerView& layer, const LayerOptions&) {
  return PrepareByType(layer, [&](auto zero) { return PrepareClipOf<decltype(zero)>(layer); });
}

template <class T>
T SignOf(T x) {
  if (x != x) return x;
  return static_cast<T>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
}

Result<PreparedLayer> PrepareSign(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckPlain(layer));
  return PrepareByType(layer, [&](auto zero) -> Result<PreparedLayer> {
    using T = decltype(zero);
    return PrepareUnary(UnaryRoutine<T, T>(layer, SignOf<T>));
  });
}

}  // namespace

constinit const OperatorRow Clip::kRow =
    UnaryRow("CLIP", kNumbers | kUInt16, Moves("elementwise", PrepareClip), "one quantization");

constinit const OperatorRow Sign::kRow =
    UnaryRow("SIGN", kNumbers | kUInt16, Candidate{"elementwise", PrepareSign}, "not quantized");

}  // namespace intaglio::nn
