// Jobs of the device that go over windows (kernels/cuda/window_jobs.h) at random, as in
// cuda_jobs.h.
#ifndef INTAGLIO_TEST_KERNELS_CUDA_WINDOW_JOBS_H_
#define INTAGLIO_TEST_KERNELS_CUDA_WINDOW_JOBS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "intaglio/kernels/cuda/params.h"
#include "intaglio/kernels/cuda/window_jobs.h"
#include "intaglio/test/gemm/image.h"
#include "intaglio/test/kernels/cuda_jobs.h"

namespace intaglio::test {

struct MeanCase {
  explicit MeanCase(Random& random) : type(RandomByteType(random)) {
    job.outer = Uniform(random, 1, 3);
    job.reduced = Uniform(random, 1, 60);
    job.inner = Uniform(random, 1, 20);
    const int zero = RandomZeroPoint(random, type);
    job.zero_sum = zero * job.reduced;
    job.multiplier = RandomMultiplier(random, -7, 1);
    job.output = RandomOutput(random, type);
    in = RandomBytes(random, type, static_cast<size_t>(job.outer * job.reduced * job.inner));
    for (int o = 0; o < job.outer; ++o) {
      for (int c = 0; c < job.inner; ++c) {
        int32_t sum = 0;
        for (int r = 0; r < job.reduced; ++r) {
          const auto at = static_cast<size_t>((o * job.reduced + r) * job.inner + c);
          sum += NumberOf(type, in[at]) - zero;
        }
        want.push_back(Finished(job.output, Scaled(sum, job.multiplier)));
      }
    }
  }

  Type type;
  cuda::MeanJob job{};
  Bytes in, want;
};

// An image whose every window has a pixel of it.
inline TestImage PooledImage(Random& random, Type type) {
  const int stride = Uniform(random, 1, 3);
  const int kernel = Uniform(random, stride, 4);
  const int out = Uniform(random, 1, 5);
  const int pad = Uniform(random, 0, kernel - 1);
  TestImage image(random, type, Uniform(random, 1, 2), (out - 1) * stride + 1,
                  (out - 1) * stride + 2, Uniform(random, 1, 20), 0);
  Im2col& v = image.view();
  v.kernel_height = v.kernel_width = kernel;
  v.stride_height = v.stride_width = stride;
  v.pad_top = v.pad_left = std::min(pad, kernel - 1);
  v.out_height = v.out_width = out;
  return image;
}

struct PoolCase {
  explicit PoolCase(Random& random)
      : type(RandomByteType(random)), image(PooledImage(random, type)) {
    job.image = image.view();
    job.average = random() % 2 == 0;
    job.output = RandomOutput(random, type);
    const Im2col& v = job.image;
    for (int row = 0; row < Rows(v); ++row) {
      for (int c = 0; c < v.channels; ++c) want.push_back(Want(row, c));
    }
  }

  uint8_t Want(int row, int channel) {
    const Im2col& v = job.image;
    const int b = row / (v.out_height * v.out_width);
    const int top = row / v.out_width % v.out_height * v.stride_height - v.pad_top;
    const int left = row % v.out_width * v.stride_width - v.pad_left;
    int best = -1000;
    int sum = 0;
    int taps = 0;
    for (int y = std::max(top, 0); y < std::min(top + v.kernel_height, v.height); ++y) {
      for (int x = std::max(left, 0); x < std::min(left + v.kernel_width, v.width); ++x, ++taps) {
        best = std::max(best, image.Quantized(b, y, x, channel));
        sum += image.Quantized(b, y, x, channel);
      }
    }
    const auto mean = static_cast<int>(std::lround(static_cast<double>(sum) / taps));
    return static_cast<uint8_t>(
        std::clamp(job.average ? mean : best, job.output.clamp_min, job.output.clamp_max));
  }

  Type type;
  TestImage image;
  cuda::PoolJob job{};
  Bytes want;
};

struct DepthwiseCase {
  explicit DepthwiseCase(Random& random)
      : type(RandomByteType(random)),
        image(random, type, Uniform(random, 1, 2), Uniform(random, 1, 7), Uniform(random, 1, 7),
              Uniform(random, 1, 14), RandomZeroPoint(random, type)) {
    image.RandomWindow(random);
    job.p.image = image.view();
    const Im2col& v = job.p.image;
    job.multiplier = random() % 2 == 0 ? 1 : Uniform(random, 2, 3);
    const int channels = v.channels * job.multiplier;
    const int taps = v.kernel_height * v.kernel_width;
    filters = RandomBytes(random, type, static_cast<size_t>(taps * channels));
    job.filter_zero_point = RandomZeroPoint(random, type);
    job.p.rows_are_signed = type == Type::kInt8;
    job.p.row_count = Rows(v);
    job.p.channel_count = channels;
    job.p.dst_row_stride = channels;
    job.p.dst_channel_stride = 1;
    job.p.wide_stores = channels % 4 == 0;
    output = RandomOutput(random, type);
    job.epilogue = {type, output.zero_point, output.clamp_min, output.clamp_max};
    MakeParams(random, channels);
    for (int row = 0; row < Rows(v); ++row) {
      for (int c = 0; c < channels; ++c) {
        int32_t sum = bias[static_cast<size_t>(c)];
        for (int t = 0; t < taps; ++t) {
          const int x = image.Quantized(row, t * v.channels + c / job.multiplier);
          const int w = NumberOf(type, filters[static_cast<size_t>(t * channels + c)]);
          sum += (x - v.zero_point) * (w - job.filter_zero_point);
        }
        want.push_back(Finished(output, Scaled(sum, multipliers[static_cast<size_t>(c)])));
      }
    }
  }

  void MakeParams(Random& random, int channels) {
    std::vector<int32_t> mantissa;
    std::vector<int32_t> exponent;
    for (int c = 0; c < channels; ++c) {
      bias.push_back(Uniform(random, -1000, 1000));
      multipliers.push_back(RandomMultiplier(random, -14, -8));
      mantissa.push_back(multipliers.back().mantissa);
      exponent.push_back(multipliers.back().exponent);
    }
    params.resize(static_cast<size_t>(cuda::DivideUp(channels, cuda::kChannelGroup)));
    cuda::ParamsJob make{};
    make.channels = channels;
    make.batch = 1;
    make.bias = bias.data();
    make.scaling = Scaling::kDoubleRounding;
    make.form = ScalingForm::kDoubleRounding;
    make.per_channel = true;
    make.mantissa = mantissa.data();
    make.exponent = exponent.data();
    make.params = params.data();
    for (int i = 0; i < static_cast<int>(params.size()) * cuda::kChannelGroup; ++i) {
      FillParams(make, 0, i / cuda::kChannelGroup, i % cuda::kChannelGroup);
    }
  }

  Type type;
  TestImage image;
  cuda::DepthwiseJob job{};
  LineOutput output;
  Bytes filters, want;
  std::vector<int32_t> bias;
  std::vector<QuantizedMultiplier> multipliers;
  std::vector<PanelParams> params;
};

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_KERNELS_CUDA_WINDOW_JOBS_H_
