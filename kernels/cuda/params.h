// The parameters of the epilogue, made on the device, where the pipeline's arrays are.
#ifndef INTAGLIO_KERNELS_CUDA_PARAMS_H_
#define INTAGLIO_KERNELS_CUDA_PARAMS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/cuda/layout.h"
#include "intaglio/kernels/cuda/registers_cuda.h"
#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio::cuda {

struct Multiplier {
  int32_t mantissa;
  int32_t exponent;
  float scale;
};

// Pointers are to device memory; where a pipeline has one multiplier for all channels, it stands in
// `one`.
struct ParamsJob {
  int channels;
  int batch;
  int depth;
  const int32_t* sums;         // per product; not read where rows_zero_point is 0
  const int32_t* zero_points;  // of the channels, as they are stored; null: zero_point for all
  int32_t zero_point;
  int32_t rows_zero_point;
  const int32_t* bias;  // or null
  Scaling scaling;
  bool per_channel;
  const int32_t* mantissa;
  const int32_t* exponent;
  const float* scale;
  Multiplier one;
  ScalingForm form;
  PanelParams* params;  // one per group of channels and product
};

INTAGLIO_INLINE Multiplier MultiplierOf(const ParamsJob& job, int channel) {
  Multiplier m = job.one;
  if (!job.per_channel) return m;
  if (job.mantissa != nullptr) m.mantissa = job.mantissa[channel];
  if (job.exponent != nullptr) m.exponent = job.exponent[channel];
  if (job.scale != nullptr) m.scale = job.scale[channel];
  return m;
}

// Whether a channel's multiplier is one that scaling is defined for.
INTAGLIO_INLINE bool IsInRange(const ParamsJob& job, const Multiplier& m) {
  const bool fixed =
      (m.mantissa == 0 || m.mantissa >= 1 << 30) && m.exponent >= -31 && m.exponent <= 30;
  const bool real = m.scale >= 0 && m.scale <= 3.402823466e38f;  // and not NaN
  return (job.mantissa == nullptr || fixed) && (job.scale == nullptr || real);
}

// bias + depth zr zc - zr * sum of the channel: all of Jacob et al., eq. 7, that is known per
// channel.
INTAGLIO_INLINE int32_t OffsetOf(const ParamsJob& job, int b, int channel, int32_t zero_point) {
  int32_t offset = job.bias == nullptr ? 0 : job.bias[channel];
  if (job.rows_zero_point != 0) {
    const int32_t sum = job.sums[static_cast<ptrdiff_t>(b) * job.channels + channel];
    const int32_t term = Cuda::Sub(Cuda::Mul(zero_point, job.depth), sum);
    offset = Cuda::Add(offset, Cuda::Mul(job.rows_zero_point, term));
  }
  return offset;
}

// The `lane`-th channel of a group, for product b.
INTAGLIO_INLINE void FillParams(const ParamsJob& job, int b, int group, int lane) {
  const int groups = DivideUp(job.channels, kChannelGroup);
  PanelParams& out = job.params[static_cast<ptrdiff_t>(b) * groups + group];
  if (lane == 0) out.form = job.form;
  const int channel = group * kChannelGroup + lane;
  const bool inside = channel < job.channels;
  Multiplier m{0, 0, 0};
  int32_t zero_point = 0;
  if (inside) {
    m = MultiplierOf(job, channel);
    zero_point = job.zero_points == nullptr ? job.zero_point : job.zero_points[channel];
  }
  // An exponent out of its range must not lead to a shift out of its own.
  const int32_t exponent = Cuda::Min(Cuda::Max(m.exponent, -31), 30);
  const bool single = job.scaling == Scaling::kSingleRounding;
  out.offset[lane] = inside ? OffsetOf(job, b, channel, zero_point) : 0;
  out.negative_zero_point[lane] = -zero_point;
  out.mantissa[lane] = m.mantissa;
  out.left_shift[lane] = Cuda::Max(exponent, 0);
  out.right_shift[lane] = single ? 31 - exponent : Cuda::Max(-exponent, 0);
  out.scale[lane] = m.scale;
}

// What a pipeline's per-channel arrays hold, as far as the choice of a ScalingForm and the check of
// the multipliers ask for it. To be zeroed before.
struct PipelineFacts {
  int32_t bias_bits;         // of every |bias|, or |bias| - 1
  int32_t exponent_plus_32;  // the highest exponent + 32
  int32_t scale_bits;        // of the highest scale
  int32_t bad_channel;       // channels - its index, for the first bad multiplier; 0: none is bad
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_PARAMS_H_
