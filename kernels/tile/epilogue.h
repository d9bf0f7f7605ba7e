// What a kernel does with its accumulators: the standard pipeline in the order of a panel's lanes.
#ifndef INTAGLIO_KERNELS_TILE_EPILOGUE_H_
#define INTAGLIO_KERNELS_TILE_EPILOGUE_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/fixedpoint/type.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pack/validate.h"

namespace intaglio {

// How accumulators are scaled. The bounded forms are cheaper, and right only where the accumulators
// and multipliers of a panel are known to stay within the bounds of fixedpoint/requantize.h.
enum class ScalingForm : uint8_t {
  kNone,
  kDoubleRounding,
  kDoubleRoundingBounded,
  kDoubleRoundingFitted,     // by fixedpoint/fit_double_rounding.h, all stretches 1
  kDoubleRoundingStretched,  // the same, any stretches
  kSingleRounding,
  kSingleRoundingBounded,
  kFloatHalfEven,
  kFloatHalfEvenBounded,
  kMultiplyAdd,  // any mode to 8 bits, by fixedpoint/fit_multiply_add.h
  kToFloat,
  kByVector,  // each vector by its own form of double rounding
};

// What all channels of a panel share.
struct PanelForm {
  ScalingForm form = ScalingForm::kNone;
  ScalingForm vector_form[kMaxPanelVectors] = {};  // of kByVector, and of the double roundings but
                                                   // the general one, whose it is
  bool fits_int16 = false;                         // every scaled accumulator does
};

// Per channel of one panel of at most kWidth, element vector * lanes + lane.
template <int kWidth>
struct ParamsOfWidth : PanelForm {
  static constexpr size_t kAlignment = kWidth < 16 ? kWidth * sizeof(int32_t) : 64;
  alignas(kAlignment) int32_t offset[kWidth];               // bias and zero-point terms
  alignas(kAlignment) int32_t negative_zero_point[kWidth];  // of the panel side; times a row's sum
  alignas(kAlignment) int32_t mantissa[kWidth];
  alignas(kAlignment) int32_t left_shift[kWidth];
  alignas(kAlignment) int32_t right_shift[kWidth];  // kSingleRounding: the total shift
  alignas(kAlignment) float scale[kWidth];
  // Of fits: scales are above, and offsets include the bases. kMultiplyAdd has no more than
  // addends.
  alignas(kAlignment) float stretch[kWidth];
  alignas(kAlignment) float shift[kWidth];
  alignas(kAlignment) float addend[kWidth];
  alignas(kAlignment) int32_t origin[kWidth];  // HoldsZeroPoint
};

// each(array of a, array of b) for every array of two ParamsOfWidth: the one list of them.
template <class A, class B, class Each>
void ForEachArray(A& a, B& b, const Each& each) {
  each(a.offset, b.offset);
  each(a.negative_zero_point, b.negative_zero_point);
  each(a.mantissa, b.mantissa);
  each(a.left_shift, b.left_shift);
  each(a.right_shift, b.right_shift);
  each(a.scale, b.scale);
  each(a.stretch, b.stretch);
  each(a.shift, b.shift);
  each(a.addend, b.addend);
  each(a.origin, b.origin);
}

// Of any panel.
using PanelParams = ParamsOfWidth<kMaxPanelWidth>;

// As the kernel of a vocabulary reads them: of the width of its widest panels, one behind the other
// (params_list.h makes them).
template <class V>
using ParamsOf = ParamsOfWidth<V::kLanes * V::kMaxVectors>;

template <class V, class Args>
INTAGLIO_INLINE const ParamsOf<V>* ParamsIn(const Args& args) {
  return static_cast<const ParamsOf<V>*>(args.params);
}

INTAGLIO_INLINE constexpr bool IsDoubleRounding(ScalingForm form) {
  switch (form) {
    case ScalingForm::kDoubleRounding:
    case ScalingForm::kDoubleRoundingBounded:
    case ScalingForm::kDoubleRoundingFitted:
    case ScalingForm::kDoubleRoundingStretched:
    case ScalingForm::kByVector:
      return true;
    default:
      return false;
  }
}

// Whether a form is bounded; kByVector is where the forms of its vectors are.
INTAGLIO_INLINE constexpr bool IsBounded(ScalingForm form) {
  switch (form) {
    case ScalingForm::kDoubleRoundingBounded:
    case ScalingForm::kDoubleRoundingFitted:
    case ScalingForm::kDoubleRoundingStretched:
    case ScalingForm::kSingleRoundingBounded:
    case ScalingForm::kFloatHalfEvenBounded:
    case ScalingForm::kMultiplyAdd:
    case ScalingForm::kByVector:
      return true;
    default:
      return false;
  }
}

// Whether a panel of `vectors` vectors is scaled by bounded forms alone.
INTAGLIO_INLINE constexpr bool IsBounded(const PanelForm& p, int vectors) {
  if (p.form != ScalingForm::kByVector) return IsBounded(p.form);
  for (int j = 0; j < vectors; ++j) {
    if (p.vector_form[j] == ScalingForm::kDoubleRounding) return false;
  }
  return true;
}

// Whether the origins of a panel's fits are less by the output's zero point, so that nothing is
// left to add: that of its epilogue is 0 then.
INTAGLIO_INLINE constexpr bool HoldsZeroPoint(ScalingForm form) {
  return form == ScalingForm::kDoubleRoundingFitted ||
         form == ScalingForm::kDoubleRoundingStretched;
}
INTAGLIO_INLINE constexpr bool HoldsZeroPoint(const PanelForm& p) { return HoldsZeroPoint(p.form); }

struct EpilogueParams {
  Type output = Type::kInt32;
  int32_t zero_point = 0;
  int32_t clamp_min = INT32_MIN;  // within the output type
  int32_t clamp_max = INT32_MAX;
};

// Whether clamping leaves out any value of the output, a type of bytes.
INTAGLIO_INLINE constexpr bool Clamps(const EpilogueParams& e) {
  return e.clamp_min > LowestOf(e.output) || e.clamp_max < HighestOf(e.output);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_EPILOGUE_H_
