// Finishing what lies in memory as accumulators: the sums of a product that was split over its
// depth, and pipelines that are not run in the kernels' registers.
#ifndef INTAGLIO_KERNELS_CUDA_FINISH_SPLIT_H_
#define INTAGLIO_KERNELS_CUDA_FINISH_SPLIT_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/requantize_real64.h"
#include "intaglio/kernels/cuda/finish_run.h"
#include "intaglio/kernels/cuda/product.h"

namespace intaglio::cuda {

// Accumulators of a batch, each product in `splits` parts to be added: row-major, rows padded to
// whole groups of channels.
struct Partials {
  const int32_t* data;
  int splits;
  ptrdiff_t row_stride;
  ptrdiff_t slice_stride;
};

// The same memory as a kernel's dst.
INTAGLIO_INLINE DeviceProduct IntoPartials(DeviceProduct p, int32_t* partials) {
  p.params = nullptr;
  p.row_sums = nullptr;
  p.dst = partials;
  p.dst_row_stride = static_cast<ptrdiff_t>(p.groups()) * kChannelGroup;
  p.dst_channel_stride = 1;
  p.dst_batch = p.row_count * p.dst_row_stride;
  p.wide_stores = true;
  return p;
}
INTAGLIO_INLINE Partials PartialsOf(const DeviceProduct& p) {
  return {static_cast<const int32_t*>(p.dst), p.splits, p.dst_row_stride, p.dst_batch};
}

inline constexpr int kFinishRun = 4;  // channels that a thread finishes

// The `index`-th run of 4 channels of product b. `p` is not split.
template <class Finish>
INTAGLIO_INLINE void FinishPartials(const DeviceProduct& p, const Partials& partials,
                                    const Finish& finish, int b, long long index) {
  const int runs = DivideUp(p.channel_count, kFinishRun);
  const auto row = static_cast<int>(index / runs);
  const int channel = static_cast<int>(index % runs) * kFinishRun;
  const int32_t* from = partials.data + row * partials.row_stride + channel +
                        static_cast<ptrdiff_t>(b) * partials.splits * partials.slice_stride;
  int32_t acc[1][kFinishRun] = {};
  for (int s = 0; s < partials.splits; ++s, from += partials.slice_stride) {
    const auto v = *reinterpret_cast<const WordVector<kFinishRun>*>(from);
    INTAGLIO_UNROLL
    for (int j = 0; j < kFinishRun; ++j) {
      acc[0][j] = Cuda::Add(acc[0][j], static_cast<int32_t>(v.word[j]));
    }
  }
  FinishRun(p, SliceOf(p, b), finish, {row, 1, channel}, acc);
}

// The standard pipeline as its definition says, for the cases that the kernels leave out:
// parameters along the rows of the canonical form, and kReal64. Arrays are in device memory; single
// multipliers are in `mantissa` to `real`. Offsets in the product's params are of zero points
// alone.
struct PlainFinish {
  StandardPipeline standard;
  int32_t mantissa = 0;
  int32_t exponent = 0;
  float scale = 0;
  double real = 0;

  INTAGLIO_INLINE Type output() const { return standard.output; }

  INTAGLIO_INLINE int32_t Scaled(int32_t acc, int at) const {
    const StandardPipeline& s = standard;
    const bool many = s.per_channel;
    switch (s.scaling) {
      case Scaling::kDoubleRounding:
      case Scaling::kSingleRounding: {
        const QuantizedMultiplier m{many ? s.mantissa[at] : mantissa,
                                    many ? s.exponent[at] : exponent};
        return s.scaling == Scaling::kDoubleRounding
                   ? RequantizeDoubleRounding<Cuda>(acc, m.mantissa, m.left_shift(),
                                                    m.right_shift())
                   : RequantizeSingleRounding<Cuda>(acc, m.mantissa, m.total_shift());
      }
      case Scaling::kFloatHalfEven:
        return RequantizeFloatHalfEven<Cuda>(acc, many ? s.scale[at] : scale);
      case Scaling::kReal64:
        return RequantizeReal64(acc, many ? s.real[at] : real);
      case Scaling::kToFloat:
        return Cuda::FloatBits(Cuda::MulF(Cuda::ToFloat(acc), many ? s.scale[at] : scale));
      case Scaling::kNone:
        break;
    }
    return acc;
  }

  template <int kRows, int kRun>
  INTAGLIO_INLINE void Apply(const DeviceProduct& p, const Slice&, const RunPlace& at,
                             int32_t (&acc)[kRows][kRun]) const {
    const EpilogueParams epilogue{standard.output, standard.zero_point, standard.clamp_min,
                                  standard.clamp_max};
    for (int r = 0; r < kRows; ++r) {
      for (int j = 0; j < kRun; ++j) {
        const int row = Cuda::Min(at.row + r * at.row_step, p.row_count - 1);
        const int channel = Cuda::Min(at.channel + j, p.channel_count - 1);
        const int parameter = standard.axis == p.channels_along ? channel : row;
        int32_t x = acc[r][j];
        if (standard.bias != nullptr) x = Cuda::Add(x, standard.bias[parameter]);
        x = Scaled(x, parameter);
        acc[r][j] = standard.output == Type::kFloat32 ? x : ShiftAndClamp<Cuda>(x, epilogue);
      }
    }
  }
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_FINISH_SPLIT_H_
