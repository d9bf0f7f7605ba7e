// What a kernel does with its accumulators: the standard pipeline in the order of a panel's lanes.
#ifndef INTAGLIO_KERNELS_EPILOGUE_H_
#define INTAGLIO_KERNELS_EPILOGUE_H_

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

// Per channel of one panel, element vector * lanes + lane.
struct PanelParams {
  ScalingForm form = ScalingForm::kNone;
  ScalingForm vector_form[kMaxPanelVectors];   // of kByVector, and of the double roundings but the
                                               // general one, whose it is
  bool fits_int16 = false;                     // every scaled accumulator does
  alignas(64) int32_t offset[kMaxPanelWidth];  // bias and zero-point terms
  alignas(64) int32_t negative_zero_point[kMaxPanelWidth];  // of the panel side; times a row's sum
  alignas(64) int32_t mantissa[kMaxPanelWidth];
  alignas(64) int32_t left_shift[kMaxPanelWidth];
  alignas(64) int32_t right_shift[kMaxPanelWidth];  // kSingleRounding: the total shift
  alignas(64) float scale[kMaxPanelWidth];
  // Of fits: scales are above, and offsets include the bases. kMultiplyAdd has no more than
  // addends.
  alignas(64) float stretch[kMaxPanelWidth];
  alignas(64) float shift[kMaxPanelWidth];
  alignas(64) float addend[kMaxPanelWidth];
  alignas(64) int32_t origin[kMaxPanelWidth];
};

// Whether a panel of `vectors` vectors is scaled by bounded forms alone.
INTAGLIO_INLINE constexpr bool IsBounded(const PanelParams& p, int vectors) {
  switch (p.form) {
    case ScalingForm::kDoubleRoundingBounded:
    case ScalingForm::kDoubleRoundingFitted:
    case ScalingForm::kDoubleRoundingStretched:
    case ScalingForm::kSingleRoundingBounded:
    case ScalingForm::kFloatHalfEvenBounded:
    case ScalingForm::kMultiplyAdd:
      return true;
    case ScalingForm::kByVector:
      for (int j = 0; j < vectors; ++j) {
        if (p.vector_form[j] == ScalingForm::kDoubleRounding) return false;
      }
      return true;
    default:
      return false;
  }
}

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

#endif  // INTAGLIO_KERNELS_EPILOGUE_H_
