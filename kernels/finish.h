// The epilogue of every kernel, written once over the register vocabulary.
//
// V is a *kernel vocabulary*: a register vocabulary with, for panels of kVectors vectors,
//   StoreRuns(int32_t* p, ptrdiff_t step, I32 a)         runs of min(4, kLanes) lanes, `step` apart
//   StoreBytes<kVectors, kSigned>(void*, const I32*, zero_point, min, max)   saturating
//   StoreInt16<kVectors>(int16_t*, const I32*)           of values that fit
//   FloatBits(F32)                                       the same bits as an I32
#ifndef INTAGLIO_KERNELS_FINISH_H_
#define INTAGLIO_KERNELS_FINISH_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/kernels/epilogue.h"

namespace intaglio {

// acc = scaled(acc) for kRows rows of one panel, from lane `first` on. make(at) gives the function
// for the lanes from `at`.
template <class V, int kVectors, int kRows, class Make>
INTAGLIO_INLINE void ScaleRows(typename V::I32 (&acc)[kRows][kVectors], int first,
                               const Make& make) {
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) {
    const auto scaled = make(first + j * V::kLanes);
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) acc[r][j] = scaled(acc[r][j]);
  }
}

template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void ApplyScaling(const PanelParams& p, typename V::I32 (&acc)[kRows][kVectors],
                                  int first = 0) {
  using I32 = typename V::I32;
  switch (p.form) {
    case ScalingForm::kNone:
      return;
    case ScalingForm::kDoubleRounding:
      return ScaleRows<V>(acc, first, [&](int at) {
        const I32 mantissa = V::Load(p.mantissa + at);
        const I32 left = V::Load(p.left_shift + at);
        const I32 right = V::Load(p.right_shift + at);
        return [=](I32 a) { return RequantizeDoubleRounding<V>(a, mantissa, left, right); };
      });
    case ScalingForm::kDoubleRoundingBounded:
      return ScaleRows<V>(acc, first, [&](int at) {
        return DoubleRoundingBounded<V>(V::Load(p.mantissa + at), V::Load(p.right_shift + at));
      });
    case ScalingForm::kSingleRounding:
      return ScaleRows<V>(acc, first, [&](int at) {
        const I32 mantissa = V::Load(p.mantissa + at);
        const I32 shift = V::Load(p.right_shift + at);
        return [=](I32 a) { return RequantizeSingleRounding<V>(a, mantissa, shift); };
      });
    case ScalingForm::kSingleRoundingBounded:
      return ScaleRows<V>(acc, first, [&](int at) {
        return SingleRoundingBounded<V>(V::Load(p.mantissa + at), V::Load(p.right_shift + at));
      });
    case ScalingForm::kFloatHalfEven:
      return ScaleRows<V>(acc, first, [&](int at) {
        const auto scale = V::LoadF(p.scale + at);
        return [=](I32 a) { return RequantizeFloatHalfEven<V>(a, scale); };
      });
    case ScalingForm::kFloatHalfEvenBounded:
      return ScaleRows<V>(acc, first, [&](int at) {
        const auto scale = V::LoadF(p.scale + at);
        return [=](I32 a) { return RequantizeFloatHalfEvenBounded<V>(a, scale); };
      });
    case ScalingForm::kToFloat:
      return ScaleRows<V>(acc, first, [&](int at) {
        const auto scale = V::LoadF(p.scale + at);
        return [=](I32 a) { return V::FloatBits(V::MulF(V::ToFloat(a), scale)); };
      });
  }
}

// clamp(acc + zero_point) in int32, where the sum saturates.
template <class V>
INTAGLIO_INLINE typename V::I32 ShiftAndClamp(typename V::I32 acc, const EpilogueParams& e) {
  if (e.zero_point > 0) acc = V::Min(acc, V::Set(INT32_MAX - e.zero_point));
  if (e.zero_point < 0) acc = V::Max(acc, V::Set(INT32_MIN - e.zero_point));
  acc = V::Add(acc, V::Set(e.zero_point));
  return V::Min(V::Max(acc, V::Set(e.clamp_min)), V::Set(e.clamp_max));
}

// Writes kRows rows of scaled accumulators.
template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void StoreRows(const EpilogueParams& e, typename V::I32 (&acc)[kRows][kVectors],
                               void* dst, ptrdiff_t dst_stride) {
  auto* row = static_cast<char*>(dst);
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r, row += dst_stride) {
    if (e.output == Type::kInt8) {
      V::template StoreBytes<kVectors, true>(row, acc[r], e.zero_point, e.clamp_min, e.clamp_max);
    } else if (e.output == Type::kUInt8) {
      V::template StoreBytes<kVectors, false>(row, acc[r], e.zero_point, e.clamp_min, e.clamp_max);
    } else {
      if (e.output != Type::kFloat32) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) acc[r][j] = ShiftAndClamp<V>(acc[r][j], e);
      }
      if (e.output == Type::kInt16) {
        V::template StoreInt16<kVectors>(reinterpret_cast<int16_t*>(row), acc[r]);
      } else {
        constexpr int kRun = V::kLanes < 4 ? V::kLanes : 4;
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) {
          V::StoreRuns(reinterpret_cast<int32_t*>(row) + j * kRun, kRun * kVectors, acc[r][j]);
        }
      }
    }
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_FINISH_H_
