// The element-wise operators of networks on the device. A *job* is the work of one kernel: count()
// threads' worth of it, of which Run(i) is the i-th. The host can run it as well.
#ifndef INTAGLIO_KERNELS_CUDA_ELEMENTWISE_JOBS_H_
#define INTAGLIO_KERNELS_CUDA_ELEMENTWISE_JOBS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/sum_of_bytes.h"
#include "intaglio/kernels/cuda/quad.h"
#include "intaglio/kernels/line_args.h"

namespace intaglio::cuda {

// x + zero point, clamped, as a byte; exact for every x.
INTAGLIO_INLINE uint32_t OutputByte(const LineOutput& output, int32_t x) {
  const int32_t sum = Cuda::Min(Cuda::Max(x, -32768), 32767) + output.zero_point;
  return static_cast<uint8_t>(Cuda::Min(Cuda::Max(sum, output.clamp_min), output.clamp_max));
}

// out[i] = a[i] + b[i], or the difference.
struct AddJob {
  SumOfBytes sum;
  LineOutput output;
  const uint8_t* a;
  const uint8_t* b;
  uint8_t* out;
  long long bytes;

  INTAGLIO_INLINE long long count() const { return (bytes + kQuad - 1) / kQuad; }
  INTAGLIO_INLINE void Run(long long i) const {
    const long long at = i * kQuad;
    const int left = bytes - at < kQuad ? static_cast<int>(bytes - at) : kQuad;
    const uint32_t flip = ByteType{output.is_signed}.flip();
    const uint32_t x = LoadQuad(a + at, left) ^ flip;
    const uint32_t y = LoadQuad(b + at, left) ^ flip;
    const DefinedSumOfBytes<Cuda> add(sum);
    uint32_t result = 0;
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) {
      result |= OutputByte(output, add(ByteOf(x, j), ByteOf(y, j))) << (8 * j);
    }
    StoreQuad(result, out + at, left);
  }
};

// out[i] = table[in[i]].
struct TableJob {
  uint8_t table[256];
  const uint8_t* in;
  uint8_t* out;
  long long bytes;

  INTAGLIO_INLINE long long count() const { return (bytes + kQuad - 1) / kQuad; }
  INTAGLIO_INLINE void Run(long long i) const {
    const long long at = i * kQuad;
    const int left = bytes - at < kQuad ? static_cast<int>(bytes - at) : kQuad;
    const uint32_t x = LoadQuad(in + at, left);
    uint32_t result = 0;
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) {
      result |= static_cast<uint32_t>(table[ByteOf(x, j)]) << (8 * j);
    }
    StoreQuad(result, out + at, left);
  }
};

// A tensor of bytes within a larger one, the rest of which is `fill`.
struct PadJob {
  static constexpr int kRank = 4;
  const uint8_t* in;
  uint8_t* out;
  int in_extent[kRank];
  int before[kRank];
  int out_extent[kRank];
  uint8_t fill;

  INTAGLIO_INLINE long long count() const {
    long long all = 1;
    for (int d = 0; d < kRank; ++d) all *= out_extent[d];
    return all;
  }
  INTAGLIO_INLINE void Run(long long i) const {
    long long rest = i;
    long long from = 0;
    long long stride = 1;
    bool inside = true;
    INTAGLIO_UNROLL
    for (int d = kRank - 1; d >= 0; --d) {
      const int at = static_cast<int>(rest % out_extent[d]) - before[d];
      rest /= out_extent[d];
      inside = inside && at >= 0 && at < in_extent[d];
      from += at * stride;
      stride *= in_extent[d];
    }
    out[i] = inside ? in[from] : fill;
  }
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_ELEMENTWISE_JOBS_H_
