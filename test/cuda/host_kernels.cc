// The device's kernels on the host, behind the functions that launch them: products by the emulator
// of whole blocks, jobs thread by thread, and the small kernels around a product by their
// definitions.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <variant>

#include "intaglio/kernels/cuda/launch_job.cuh"
#include "intaglio/kernels/cuda/prepare.cuh"
#include "intaglio/kernels/cuda/standard.cuh"
#include "intaglio/test/cuda/host_runtime.cuh"
#include "intaglio/test/cuda/verify.h"
#include "intaglio/test/kernels/cuda_emulator.h"
#include "intaglio/test/kernels/cuda_softmax.h"

namespace intaglio::cuda {
namespace {

using test::Enqueue;

int NumberOf(uint8_t byte, bool is_signed) { return is_signed ? static_cast<int8_t>(byte) : byte; }

void RunPack(const PackJob& job) {
  for (int b = 0; b < job.batch; ++b) {
    const auto* src = static_cast<const uint8_t*>(job.src) + b * job.src_batch;
    auto* dst = static_cast<uint8_t*>(job.dst) + b * job.dst_batch;
    for (int line = 0; line < job.dst_lines; ++line) {
      const int from = job.reorder ? ChannelOfLine(line) : line;
      for (int d = 0; d < job.dst_stride; ++d) {
        uint8_t value = 0;
        if (from < job.lines && d < job.depth) {
          value = src[from * job.line_stride + d * job.depth_stride];
          if (job.flip) value ^= 0x80;
        }
        dst[line * job.dst_stride + d] = value;
      }
    }
  }
}

void RunSum(const SumJob& job) {
  for (int b = 0; b < job.batch; ++b) {
    const auto* data = static_cast<const uint8_t*>(job.data) + b * job.data_batch;
    for (int line = 0; line < job.lines; ++line) {
      const auto* at = data + (job.reordered ? LineOfChannel(line) : line) * job.stride;
      int32_t sum = 0;
      for (int d = 0; d < job.depth; ++d) sum += NumberOf(at[d], job.is_signed);
      job.sums[b * job.lines + line] = sum;
    }
  }
}

void RunSumWindows(const DeviceProduct& p, int32_t* sums) {
  for (int row = 0; row < p.row_count; ++row) {
    const ImageLines<1> line(p, row, 0);
    int32_t sum = 0;
    for (int at = 0; at < p.depth; at += kChunk) {
      const Chunk chunk = line.Load(0, at);
      for (int i = 0; i < std::min(kChunk, p.depth - at); ++i) {
        sum +=
            NumberOf(static_cast<uint8_t>(chunk.word[i / 4] >> (8 * (i % 4))), p.rows_are_signed);
      }
    }
    sums[row] = sum;
  }
}

void RunInspect(const ParamsJob& job, PipelineFacts& facts) {
  for (int c = 0; c < job.channels; ++c) {
    if (job.bias != nullptr) facts.bias_bits |= job.bias[c] ^ (job.bias[c] >> 31);
    const Multiplier m = MultiplierOf(job, c);
    if (!IsInRange(job, m)) {
      facts.bad_channel = std::max(facts.bad_channel, job.channels - c);
      continue;
    }
    if (job.mantissa != nullptr) {
      facts.exponent_plus_32 = std::max(facts.exponent_plus_32, m.exponent + 32);
    }
    if (job.scale == nullptr) continue;
    int32_t bits = 0;
    std::memcpy(&bits, &m.scale, sizeof bits);
    facts.scale_bits = std::max(facts.scale_bits, bits & INT32_MAX);
  }
}

template <class Job>
void RunJob(const Job& job) {
  for (long long i = 0; i < job.count(); ++i) job.Run(i);
}
void RunJob(const SoftmaxJob& job) { test::RunOnHost(job); }

}  // namespace

cudaError_t Pack(const PackJob& job, cudaStream_t) {
  return Enqueue([=] { RunPack(job); });
}
cudaError_t Sum(const SumJob& job, cudaStream_t) {
  return Enqueue([=] { RunSum(job); });
}
cudaError_t SumWindows(const DeviceProduct& p, int32_t* sums, cudaStream_t) {
  return Enqueue([=] { RunSumWindows(p, sums); });
}
cudaError_t Magnitude(const int8_t* lines, ptrdiff_t stride, int channels, int depth,
                      const int32_t* zero_points, unsigned long long* magnitude, cudaStream_t) {
  return Enqueue([=] {
    for (int c = 0; c < channels; ++c) {
      const int32_t zero = zero_points == nullptr ? 0 : zero_points[c];
      unsigned long long sum = 0;
      for (int d = 0; d < depth; ++d) {
        sum +=
            static_cast<unsigned long long>(std::abs(lines[LineOfChannel(c) * stride + d] - zero));
      }
      *magnitude = std::max(*magnitude, sum);
    }
  });
}
cudaError_t MakeParams(const ParamsJob& job, cudaStream_t) {
  return Enqueue([=] {
    for (int b = 0; b < job.batch; ++b) {
      for (int c = 0; c < RoundUp(job.channels, kChannelGroup); ++c) {
        FillParams(job, b, c / kChannelGroup, c % kChannelGroup);
      }
    }
  });
}
cudaError_t Inspect(const ParamsJob& job, PipelineFacts* facts, cudaStream_t) {
  return Enqueue([=] { RunInspect(job, *facts); });
}

cudaError_t LaunchStandard(const KernelRow& row, const DeviceProduct& p,
                           const StandardFinish& finish, const LaunchOptions& options) {
  if (options.only_ask) return cudaSuccess;
  return Enqueue([=] { test::Emulate(row.id, p, finish); });
}
cudaError_t FinishStandard(const DeviceProduct& p, const Partials& partials,
                           const StandardFinish& finish, cudaStream_t) {
  return Enqueue([=] { test::EmulateFinish(p, partials, finish); });
}
cudaError_t FinishPlain(const DeviceProduct& p, const Partials& partials, const PlainFinish& finish,
                        cudaStream_t) {
  return Enqueue([=] { test::EmulateFinish(p, partials, finish); });
}
cudaError_t LaunchJob(const AnyJob& job, cudaStream_t) {
  return Enqueue([=] { std::visit([](const auto& one) { RunJob(one); }, job); });
}

}  // namespace intaglio::cuda

namespace intaglio::test {

// Pipelines of one's own are for nvcc.
Tally VerifyStages(cuda::Stream&, int) { return {}; }
Tally VerifyFused(cuda::Stream&, const cuda::KernelRow&, int) { return {}; }

}  // namespace intaglio::test
