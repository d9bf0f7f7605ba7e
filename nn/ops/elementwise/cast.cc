// CAST.
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/unary.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

template <class To, class From>
To Cast(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // 2^(bits of To) is exact in float32, To's greatest value may not be.
    constexpr From kAbove = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    constexpr From kLowest = static_cast<From>(std::numeric_limits<To>::lowest());
    if (!(value < kAbove)) return std::numeric_limits<To>::max();
    return value <= kLowest ? std::numeric_limits<To>::lowest() : static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// bool as an operand of casts: its bytes count as 0 and 1.
struct Truth {
  uint8_t byte;
};
template <class To>
To CastFrom(Truth value) {
  return static_cast<To>(value.byte != 0 ? 1 : 0);
}
template <class To, class From>
To CastFrom(From value) {
  return Cast<To>(value);
}

template <class From, class To, bool kToBool>
std::shared_ptr<const Routine> CastRoutine(size_t count) {
  return RoutineOf([count](const RunArguments& arguments) {
    const auto* const in = static_cast<const From*>(arguments.inputs[0]);
    auto* const out = static_cast<To*>(arguments.outputs[0]);
    for (size_t i = 0; i < count; ++i) {
      if constexpr (!kToBool) {
        out[i] = CastFrom<To>(in[i]);
      } else if constexpr (std::is_same_v<From, Truth>) {
        out[i] = in[i].byte != 0 ? 1 : 0;
      } else {
        out[i] = in[i] != 0 ? 1 : 0;
      }
    }
  });
}

template <class From>
std::shared_ptr<const Routine> CastRoutineFrom(Type to, size_t count) {
  if (to == Type::kBool) return CastRoutine<From, uint8_t, true>(count);
  return VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(
      to, [&](auto zero) { return CastRoutine<From, decltype(zero), false>(count); });
}

std::shared_ptr<const Routine> FloatToBytes(const LayerView& layer, const LayerOptions& options) {
  const Range range = RangeOf(layer.output().type);
  const auto truncate = FloatLoopsOf(options.kernel).truncate;
  return LineRoutine<float, uint8_t>(
      layer, [range, truncate](const float* x, ptrdiff_t count, uint8_t* to) {
        truncate(range.min, range.max, x, count, to);
      });
}

Result<PreparedLayer> PrepareCast(const LayerView& layer, const LayerOptions& options) {
  const Type from = layer.input(0).type;
  const Type to = layer.output().type;
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  PreparedLayer prepared;
  if (from == Type::kFloat32 && (SetOf(to) & kEightBit) != 0) {
    prepared.routine = FloatToBytes(layer, options);
  } else if (from == Type::kBool) {
    prepared.routine = CastRoutineFrom<Truth>(to, count);
  } else {
    prepared.routine = VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(
        from, [&](auto zero) { return CastRoutineFrom<decltype(zero)>(to, count); });
  }
  return prepared;
}

}  // namespace

constinit const OperatorRow Cast::kRow =
    UnaryRow("CAST", kAnyType, Candidate{"cast", PrepareCast}, "every pair of types");

}  // namespace intaglio::nn
