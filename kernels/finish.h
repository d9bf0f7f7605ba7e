// The epilogue of every kernel, written once over the register vocabulary.
//
// V is a *kernel vocabulary*: a register vocabulary with, for panels of kVectors vectors,
//   StoreRuns(int32_t* p, ptrdiff_t step, I32 a)         runs of min(4, kLanes) lanes, `step` apart
//   StoreBytes<kVectors, kSigned>(void*, const I32*, zero_point, min, max)   saturating
//   StoreInt16<kVectors>(int16_t*, const I32*)           of values that fit
//   FloatBits(F32)                                       the same bits as an I32
//   StoreInt32<kVectors>(int32_t*, const I32*)           if that is faster than StoreRuns
//   StoreLowBytes<kVectors, kSigned, kClamps>(void*, const F32*, min, max)   where its kernel takes
//                                                        kMultiplyAdd: of the low 16 bits,
//                                                        saturated
// and, where it has kStoresPairs, StoreBytes for two rows of either signedness at once,
//   StoreBytePair<kVectors>(char*, char*, const I32*, const I32*, const EpilogueParams&)
#ifndef INTAGLIO_KERNELS_FINISH_H_
#define INTAGLIO_KERNELS_FINISH_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/kernels/double_rounding.h"
#include "intaglio/kernels/epilogue.h"

namespace intaglio {

// Whether a kernel's panels may have fits (Kernel::has_fma): V has kHasFma.
template <class V>
inline constexpr bool kTakesFits = requires {
  V::kHasFma;
};

// Whether a kernel's panels may have kMultiplyAdd (Kernel::takes_multiply_add).
template <class V>
inline constexpr bool kTakesMultiplyAdd = requires {
  V::kHasMultiplyAdd;
};

// acc = scaled(acc) for kRows rows of one panel, from lane `first` on. make(at) gives the function
// for the lanes from `at`.
template <class V, int kVectors, int kRows, class Make>
INTAGLIO_INLINE void ScaleRows(typename V::I32 (&acc)[kRows][kVectors], int first,
                               const Make& make) {
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) ScaleVector(acc, j, make(first + j * V::kLanes));
}

// use(make) if the form of a panel is a bounded one, as nearly all are; else false.
template <class V, class Use>
INTAGLIO_INLINE bool WithBoundedScaling(const PanelParams& p, const Use& use) {
  switch (p.form) {
    case ScalingForm::kDoubleRoundingBounded:
      use([&](int at) { return Bounded<V>(p, at); });
      return true;
    case ScalingForm::kDoubleRoundingFitted:
      use([&](int at) { return Fitted<V, false>(p, at); });
      return true;
    case ScalingForm::kDoubleRoundingStretched:
      use([&](int at) { return Fitted<V, true>(p, at); });
      return true;
    case ScalingForm::kSingleRoundingBounded:
      use([&](int at) {
        return SingleRoundingBounded<V>(V::Load(p.mantissa + at), V::Load(p.right_shift + at));
      });
      return true;
    case ScalingForm::kFloatHalfEvenBounded:
      use([&](int at) {
        const auto scale = V::LoadF(p.scale + at);
        return [=](typename V::I32 a) { return RequantizeFloatHalfEvenBounded<V>(a, scale); };
      });
      return true;
    default:
      return false;
  }
}

template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void ApplyScaling(const PanelParams& p, typename V::I32 (&acc)[kRows][kVectors],
                                  int first = 0) {
  using I32 = typename V::I32;
  switch (p.form) {
    case ScalingForm::kNone:
    case ScalingForm::kMultiplyAdd:  // StoreMultiplyAdd's
      return;
    case ScalingForm::kDoubleRounding:
      return ScaleRows<V>(acc, first, [&](int at) { return General<V>(p, at); });
    case ScalingForm::kDoubleRoundingBounded:
      return ScaleRows<V>(acc, first, [&](int at) { return Bounded<V>(p, at); });
    case ScalingForm::kDoubleRoundingFitted:
      if constexpr (kTakesFits<V>) {
        ScaleRows<V>(acc, first, [&](int at) { return Fitted<V, false>(p, at); });
      }
      return;
    case ScalingForm::kDoubleRoundingStretched:
      if constexpr (kTakesFits<V>) {
        ScaleRows<V>(acc, first, [&](int at) { return Fitted<V, true>(p, at); });
      }
      return;
    case ScalingForm::kByVector:
      if constexpr (kTakesFits<V>) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) ScaleByVector<V>(p, acc, j, first);
      }
      return;
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

// Scales and writes kRows rows of bytes, two at a time: the dependent steps of two rows fit into
// the scheduler of a CPU beside the products of the next tile, those of all rows do not. scaled[j]
// scales vector j.
template <class V, int kVectors, int kRows, class Scaled>
INTAGLIO_INLINE void FinishBytes(const EpilogueParams& e,
                                 const typename V::I32 (&acc)[kRows][kVectors],
                                 const Scaled (&scaled)[kVectors], char* row, ptrdiff_t stride) {
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; r += 2) {
    typename V::I32 a[kVectors];
    typename V::I32 b[kVectors];
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      a[j] = scaled[j](acc[r][j]);
      b[j] = scaled[j](acc[r + 1][j]);
    }
    V::template StoreBytePair<kVectors>(row + r * stride, row + (r + 1) * stride, a, b, e);
  }
}

// Scales kRows rows by kMultiplyAdd and writes them.
template <class V, bool kSigned, bool kClamps, int kVectors, int kRows>
INTAGLIO_INLINE void MultiplyAddRows(const PanelParams& p, const EpilogueParams& e,
                                     const typename V::I32 (&acc)[kRows][kVectors], char* row,
                                     ptrdiff_t stride) {
  typename V::F32 scale[kVectors];
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) scale[j] = V::LoadF(p.scale + j * V::kLanes);
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    typename V::F32 x[kVectors];
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const auto addend = V::LoadF(p.addend + j * V::kLanes);
      x[j] = V::FusedMulAdd(V::FloatOfBits(acc[r][j]), scale[j], addend);
    }
    V::template StoreLowBytes<kVectors, kSigned, kClamps>(row + r * stride, x, e.clamp_min,
                                                          e.clamp_max);
  }
}

template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void StoreMultiplyAdd(const PanelParams& p, const EpilogueParams& e,
                                      const typename V::I32 (&acc)[kRows][kVectors], char* dst,
                                      ptrdiff_t stride) {
  const bool clamps = e.clamp_max - e.clamp_min < 255;
  if (e.output == Type::kInt8) {
    if (clamps) return MultiplyAddRows<V, true, true>(p, e, acc, dst, stride);
    return MultiplyAddRows<V, true, false>(p, e, acc, dst, stride);
  }
  if (clamps) return MultiplyAddRows<V, false, true>(p, e, acc, dst, stride);
  return MultiplyAddRows<V, false, false>(p, e, acc, dst, stride);
}

// Writes kRows rows of scaled accumulators.
template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void StoreRows(const EpilogueParams& e, typename V::I32 (&acc)[kRows][kVectors],
                               void* dst, ptrdiff_t dst_stride) {
  auto* row = static_cast<char*>(dst);
  const bool is_plain = e.output == Type::kFloat32 ||
                        (e.zero_point == 0 && e.clamp_min == INT32_MIN && e.clamp_max == INT32_MAX);
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r, row += dst_stride) {
    if (e.output == Type::kInt8) {
      V::template StoreBytes<kVectors, true>(row, acc[r], e.zero_point, e.clamp_min, e.clamp_max);
    } else if (e.output == Type::kUInt8) {
      V::template StoreBytes<kVectors, false>(row, acc[r], e.zero_point, e.clamp_min, e.clamp_max);
    } else {
      if (!is_plain) {
        INTAGLIO_UNROLL
        for (int j = 0; j < kVectors; ++j) acc[r][j] = ShiftAndClamp<V>(acc[r][j], e);
      }
      if (e.output == Type::kInt16) {
        V::template StoreInt16<kVectors>(reinterpret_cast<int16_t*>(row), acc[r]);
      } else if constexpr (requires { V::template StoreInt32<kVectors>(nullptr, acc[r]); }) {
        V::template StoreInt32<kVectors>(reinterpret_cast<int32_t*>(row), acc[r]);
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
