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
#ifndef INTAGLIO_KERNELS_TILE_FINISH_H_
#define INTAGLIO_KERNELS_TILE_FINISH_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/kernels/tile/store_words.h"
#include "intaglio/kernels/tile/with_form.h"

namespace intaglio {

// Whether a kernel's panels may have kMultiplyAdd (Kernel::takes_multiply_add).
template <class V>
inline constexpr bool kTakesMultiplyAdd = requires {
  V::kHasMultiplyAdd;
};

// acc = scaled(acc) for all vectors of kRows rows of one panel, from lane `first` on.
template <class V, class Form, int kVectors, int kRows>
INTAGLIO_INLINE void ScaleRows(Form form, const auto& p, typename V::I32 (&acc)[kRows][kVectors],
                               int first) {
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) ScaleVector(acc, j, form(p, first + j * V::kLanes));
}

template <class V>
struct ScaleByForm {
  template <class Form, class I32, int kVectors, int kRows>
  INTAGLIO_INLINE bool operator()(Form form, const auto& p, I32 (&acc)[kRows][kVectors],
                                  int first) const {
    if constexpr (Form::kForm == ScalingForm::kByVector) {
      ScaleByVector<V>(p, acc, first);
    } else if constexpr (Form::kForm != ScalingForm::kNone) {
      ScaleRows<V>(form, p, acc, first);
    }
    return true;
  }
};

template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void ApplyScaling(const auto& p, typename V::I32 (&acc)[kRows][kVectors],
                                  int first = 0) {
  WithForm<V>(p, ScaleByForm<V>(), p, acc, first);
}

// Scales kRows rows by kMultiplyAdd and writes them.
template <class V, bool kSigned, bool kClamps, int kVectors, int kRows>
INTAGLIO_INLINE void MultiplyAddRows(const auto& p, const EpilogueParams& e,
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
INTAGLIO_INLINE void StoreMultiplyAdd(const auto& p, const EpilogueParams& e,
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
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r, row += dst_stride) {
    if (e.output == Type::kInt8) {
      V::template StoreBytes<kVectors, true>(row, acc[r], e.zero_point, e.clamp_min, e.clamp_max);
    } else if (e.output == Type::kUInt8) {
      V::template StoreBytes<kVectors, false>(row, acc[r], e.zero_point, e.clamp_min, e.clamp_max);
    } else {
      StoreWords<V, kVectors>(e, acc[r], row);
    }
  }
}

// Scales a row in memory, vector by vector: the same code for panels of all widths.
template <class V>
__attribute__((noinline)) void ScaleInMemory(const auto& params, int32_t* row, int width) {
  for (int at = 0; at < width; at += V::kLanes) {
    typename V::I32 acc[1][1] = {{V::Load(row + at)}};
    ApplyScaling<V, 1, 1>(params, acc, at);
    V::Store(row + at, acc[0][0]);
  }
}

// Finishes rows of accumulators that lie in memory, any scaling and output.
template <class V, int kVectors>
__attribute__((noinline)) void FinishRows(const auto& params, const EpilogueParams& epilogue,
                                          int32_t* tile, int count, char* dst,
                                          ptrdiff_t dst_stride) {
  for (; count > 0; --count, dst += dst_stride) {
    ScaleInMemory<V>(params, tile, kVectors * V::kLanes);
    typename V::I32 acc[1][kVectors];
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j, tile += V::kLanes) acc[0][j] = V::Load(tile);
    StoreRows<V, kVectors, 1>(epilogue, acc, dst, dst_stride);
  }
}

// Whether tiles of kRows rows are finished by FinishByMemory: where whole tiles have code of their
// own (ByteStore), and where V says that tiles of fewer rows share theirs (kSharesTails).
template <class V, int kRows>
inline constexpr bool kByMemory = requires {
  typename V::template ByteStore<true>;
}
|| (kRows < V::kMaxRows && requires { V::kSharesTails; });

// Finishes rows in registers by way of memory: what is seldom needed is not worth an instance for
// each number of rows.
template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void FinishByMemory(const auto& params, const EpilogueParams& epilogue,
                                    const typename V::I32 (&acc)[kRows][kVectors], char* dst,
                                    ptrdiff_t dst_stride) {
  alignas(64) int32_t tile[kRows * kVectors * V::kLanes];
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) V::Store(tile + (r * kVectors + j) * V::kLanes, acc[r][j]);
  }
  FinishRows<V, kVectors>(params, epilogue, tile, kRows, dst, dst_stride);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_FINISH_H_
