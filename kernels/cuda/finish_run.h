// The end of every kernel: a thread's accumulators through the output pipeline to dst. Written over
// the register vocabulary Cuda, which on the host is the scalar one.
//
// A *finish* is what a kernel is compiled with:
//   Type output() const
//   void Apply(product, slice, place, acc) const   accumulators to results, float32 as bits
#ifndef INTAGLIO_KERNELS_CUDA_FINISH_RUN_H_
#define INTAGLIO_KERNELS_CUDA_FINISH_RUN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "intaglio/fixedpoint/type.h"
#include "intaglio/kernels/cuda/product.h"
#include "intaglio/kernels/cuda/registers_cuda.h"
#include "intaglio/kernels/tile/finish.h"
#include "intaglio/pipeline/pipeline.h"

namespace intaglio::cuda {

// Where acc[r][j] of a thread stands: row `row` + r * row_step, channel `channel` + j. The channel
// is a multiple of the number of consecutive ones.
struct RunPlace {
  int row;
  int row_step;
  int channel;
};

// The parameters of a run's group, and the place of the run in it: a multiple of kRun, said such
// that the compiler makes vector loads of it.
struct RunParams {
  const PanelParams* group;
  int first;
};
template <int kRun>
INTAGLIO_INLINE RunParams ParamsOf(const Slice& s, const RunPlace& at) {
  const auto channel = static_cast<unsigned>(at.channel);
  const void* groups = __builtin_assume_aligned(s.params, alignof(PanelParams));
  return {static_cast<const PanelParams*>(groups) + channel / kChannelGroup,
          static_cast<int>(channel % kChannelGroup / kRun * kRun)};
}

// acc + offset - zero_point * sum of the row: what panel_params.h takes out of the sum.
template <int kRows, int kRun>
INTAGLIO_INLINE void AddOffsets(const DeviceProduct& p, const Slice& s, const RunPlace& at,
                                int32_t (&acc)[kRows][kRun]) {
  if (s.params == nullptr) return;
  const auto [group, first] = ParamsOf<kRun>(s, at);
  INTAGLIO_UNROLL
  for (int j = 0; j < kRun; ++j) {
    const int32_t offset = Cuda::Load(group->offset + first + j);
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) acc[r][j] = Cuda::Add(acc[r][j], offset);
  }
  if (s.row_sums == nullptr) return;
  int32_t sums[kRows];
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    sums[r] = s.row_sums[Cuda::Min(at.row + r * at.row_step, p.row_count - 1)];
  }
  INTAGLIO_UNROLL
  for (int j = 0; j < kRun; ++j) {
    const int32_t negative = Cuda::Load(group->negative_zero_point + first + j);
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) acc[r][j] = Cuda::Add(acc[r][j], Cuda::Mul(negative, sums[r]));
  }
}

// The standard pipeline, or, where the product has no params, the accumulators as they are.
struct StandardFinish {
  EpilogueParams epilogue;

  INTAGLIO_INLINE Type output() const { return epilogue.output; }

  template <int kRows, int kRun>
  INTAGLIO_INLINE void Apply(const DeviceProduct&, const Slice& s, const RunPlace& at,
                             int32_t (&acc)[kRows][kRun]) const {
    if (s.params == nullptr) return;
    const auto [group, first] = ParamsOf<kRun>(s, at);
    ApplyScaling<Cuda>(*group, acc, first);
    if (epilogue.output == Type::kFloat32) return;
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      INTAGLIO_UNROLL
      for (int j = 0; j < kRun; ++j) acc[r][j] = ShiftAndClamp<Cuda>(acc[r][j], epilogue);
    }
  }
};

// Any Pipeline<Stages...>. Its stages see places inside of the result only, also where a thread's
// accumulators reach beyond: what comes of those is not stored.
template <class AnyPipeline>
struct PipelineFinish {
  using Output = typename AnyPipeline::Output;
  AnyPipeline pipeline;

  INTAGLIO_INLINE Type output() const { return TypeOf<Output>; }

  template <int kRows, int kRun>
  INTAGLIO_INLINE void Apply(const DeviceProduct& p, const Slice&, const RunPlace& at,
                             int32_t (&acc)[kRows][kRun]) const {
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const int row = Cuda::Min(at.row + r * at.row_step, p.row_count - 1);
      INTAGLIO_UNROLL
      for (int j = 0; j < kRun; ++j) {
        const int channel = Cuda::Min(at.channel + j, p.channel_count - 1);
        const Place place = p.channels_along == Axis::kCols ? Place{row, channel, Axis::kCols}
                                                            : Place{channel, row, Axis::kRows};
        const auto value = pipeline.template Apply<Cuda>(acc[r][j], place);
        if constexpr (std::is_same_v<Output, float>) {
          acc[r][j] = Cuda::FloatBits(value);
        } else {
          acc[r][j] = Cuda::Min(Cuda::Max(value, std::numeric_limits<Output>::min()),
                                std::numeric_limits<Output>::max());
        }
      }
    }
  }
};

// `kCount` results, narrowed to Element, as words in memory order.
template <class Element, int kCount>
struct Narrowed {
  static constexpr int kPerWord = 4 / static_cast<int>(sizeof(Element));
  static constexpr int kWords = kCount / kPerWord;
  uint32_t word[kWords];

  INTAGLIO_INLINE explicit Narrowed(const int32_t (&values)[kCount]) {
    INTAGLIO_UNROLL
    for (int w = 0; w < kWords; ++w) {
      word[w] = 0;
      INTAGLIO_UNROLL
      for (int i = 0; i < kPerWord; ++i) {
        word[w] |= static_cast<uint32_t>(static_cast<Element>(values[w * kPerWord + i]))
                   << (8 * static_cast<int>(sizeof(Element)) * i);
      }
    }
  }
};

template <int kWords>
struct alignas(kWords * 4) WordVector {
  uint32_t word[kWords];
};

// Stores words at an address that is a multiple of min(16, their size).
template <int kWords>
INTAGLIO_INLINE void StoreWords(const uint32_t (&words)[kWords], void* dst) {
  constexpr int kStep = kWords < 4 ? kWords : 4;
  INTAGLIO_UNROLL
  for (int w = 0; w < kWords; w += kStep) {
    WordVector<kStep> v;
    INTAGLIO_UNROLL
    for (int i = 0; i < kStep; ++i) v.word[i] = words[w + i];
    static_cast<WordVector<kStep>*>(dst)[w / kStep] = v;
  }
}

template <class Element, int kRows, int kRun>
INTAGLIO_INLINE void StoreRun(const DeviceProduct& p, const Slice& s, const RunPlace& at,
                              const int32_t (&acc)[kRows][kRun]) {
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const int row = at.row + r * at.row_step;
    if (row < p.row_count) {
      Element* dst = static_cast<Element*>(p.dst) + s.dst_offset + row * p.dst_row_stride +
                     at.channel * p.dst_channel_stride;
      if (kRun * sizeof(Element) >= 4 && p.wide_stores && at.channel + kRun <= p.channel_count) {
        if constexpr (kRun * sizeof(Element) >= 4) {
          StoreWords(Narrowed<Element, kRun>(acc[r]).word, dst);
        }
      } else {
        INTAGLIO_UNROLL
        for (int j = 0; j < kRun; ++j) {
          if (at.channel + j < p.channel_count) {
            dst[j * p.dst_channel_stride] = static_cast<Element>(acc[r][j]);
          }
        }
      }
    }
  }
}

// Finishes a thread's accumulators. Whatever of them lies outside of the result is ignored.
template <class Finish, int kRows, int kRun>
INTAGLIO_INLINE void FinishRun(const DeviceProduct& p, const Slice& s, const Finish& finish,
                               const RunPlace& at, int32_t (&acc)[kRows][kRun]) {
  if (at.row >= p.row_count || at.channel >= p.channel_count) return;
  AddOffsets(p, s, at, acc);
  finish.Apply(p, s, at, acc);
  switch (SizeOf(finish.output())) {
    case 1:
      return StoreRun<uint8_t>(p, s, at, acc);
    case 2:
      return StoreRun<uint16_t>(p, s, at, acc);
    default:
      return StoreRun<uint32_t>(p, s, at, acc);
  }
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_FINISH_RUN_H_
