// The element-wise operators of networks on the device. A *job* is the work of one kernel: count()
// threads' worth of it, of which Run(i) is the i-th. The host can run it as well.
#ifndef INTAGLIO_KERNELS_CUDA_ELEMENTWISE_JOBS_H_
#define INTAGLIO_KERNELS_CUDA_ELEMENTWISE_JOBS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/sum_of_bytes.h"
#include "intaglio/kernels/cuda/quad.h"
#include "intaglio/kernels/elementwise/line_args.h"

namespace intaglio::cuda {

// x + zero point, clamped, as a byte; exact for every x.
INTAGLIO_INLINE uint32_t OutputByte(const LineOutput& output, int32_t x) {
  const int32_t sum = Cuda::Min(Cuda::Max(x, -32768), 32767) + output.zero_point;
  return static_cast<uint8_t>(Cuda::Min(Cuda::Max(sum, output.clamp_min), output.clamp_max));
}

// out[i] = f(in[i]); f says what it takes and gives.
template <class Function>
struct MapJob {
  Function f;
  const typename Function::From* in;
  typename Function::To* out;
  long long elements;

  INTAGLIO_INLINE long long count() const { return (elements + kQuad - 1) / kQuad; }
  INTAGLIO_INLINE void Run(long long i) const {
    const long long at = i * kQuad;
    const auto x = LoadElements(in + at, elements - at);
    Elements<typename Function::To> y;
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) y.of[j] = f(x.of[j]);
    StoreElements(y, out + at, elements - at);
  }
};

struct Lookup {
  using From = uint8_t;
  using To = uint8_t;
  const uint8_t* table;  // 256

  INTAGLIO_INLINE uint8_t operator()(uint8_t x) const { return table[x]; }
};

// x / scale to nearest, ties away from zero; NaN gives the zero point.
struct FromReal {
  using From = float;
  using To = uint8_t;
  float scale;
  LineOutput output;

  INTAGLIO_INLINE uint8_t operator()(float x) const {
    constexpr float kLimit = 1 << 22;              // beyond every result, and exact with a half
    constexpr float kAlmostHalf = 0x1.fffffep-2f;  // rounds no more than a half does, but for ties
    float y = Cuda::DivF(x, scale);
    y = y > kLimit ? kLimit : y < -kLimit ? -kLimit : y == y ? y : 0;
    y = Cuda::AddF(y, y < 0 ? -kAlmostHalf : kAlmostHalf);
    return static_cast<uint8_t>(OutputByte(output, Cuda::TruncateToInt(y)));
  }
};

// scale * (x - zero point).
struct ToReal {
  using From = uint8_t;
  using To = float;
  bool is_signed;
  int32_t zero_point;
  float scale;

  INTAGLIO_INLINE float operator()(uint8_t x) const {
    const int32_t number = is_signed ? static_cast<int8_t>(x) : x;
    return Cuda::MulF(scale, Cuda::ToFloat(number - zero_point));
  }
};

// scale * (x - zero point), each of the index along an axis whose elements are `inner` apart.
struct AxisToRealJob {
  const float* scales;
  const int32_t* zero_points;
  const uint8_t* in;
  float* out;
  bool is_signed;
  long long elements;
  long long inner;
  int extent;  // of the axis

  INTAGLIO_INLINE long long count() const { return elements; }
  INTAGLIO_INLINE void Run(long long i) const {
    const long long at = i / inner % extent;
    out[i] = ToReal{is_signed, zero_points[at], scales[at]}(in[i]);
  }
};

// The elements of two operands that broadcast to an output, line by line: an operand has as many
// neighbouring elements as the output's line, or one for all of it.
struct BroadcastLines {
  static constexpr int kOuter = 4;
  long long line = 0;                       // elements of one
  long long lines = 1;                      // the product of the extents
  long long extent[kOuter] = {1, 1, 1, 1};  // innermost first
  long long stride[2][kOuter] = {};         // of the operands, from line to line
  bool repeats[2] = {};                     // one element for a line

  INTAGLIO_INLINE long long QuadsPerLine() const { return (line + kQuad - 1) / kQuad; }
};

// out = f(a, b) on bytes; f takes them as numbers in [0, 255] and gives the scaled result.
template <class Function>
struct PairJob {
  Function f;
  LineOutput output;
  BroadcastLines lines;
  const uint8_t* a;
  const uint8_t* b;
  uint8_t* out;

  INTAGLIO_INLINE long long count() const { return lines.QuadsPerLine() * lines.lines; }
  INTAGLIO_INLINE void Run(long long i) const {
    const uint8_t* from[2] = {a, b};
    uint8_t* to = out;
    long long at = i * kQuad;
    if (lines.lines > 1) {
      const long long index = i / lines.QuadsPerLine();
      at -= index * lines.QuadsPerLine() * kQuad;
      to += index * lines.line;
      MoveToLine(index, from);
    }
    const long long left = lines.line - at;
    const uint32_t x = LoadOperand(from[0], lines.repeats[0], at, left);
    const uint32_t y = LoadOperand(from[1], lines.repeats[1], at, left);
    uint32_t result = 0;
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) {
      result |= OutputByte(output, f(ByteOf(x, j), ByteOf(y, j))) << (8 * j);
    }
    StoreQuad(result, to + at, left);
  }

 private:
  INTAGLIO_INLINE void MoveToLine(long long index, const uint8_t* (&from)[2]) const {
    INTAGLIO_UNROLL
    for (int d = 0; d < BroadcastLines::kOuter; ++d) {
      const long long here = index % lines.extent[d];
      index /= lines.extent[d];
      from[0] += here * lines.stride[0][d];
      from[1] += here * lines.stride[1][d];
    }
  }
  INTAGLIO_INLINE uint32_t LoadOperand(const uint8_t* p, bool repeats, long long at,
                                       long long left) const {
    const uint32_t flip = ByteType{output.is_signed}.flip();
    return (repeats ? *p * 0x01010101u : LoadQuad(p + at, left)) ^ flip;
  }
};

// ADD and SUB.
struct SumOfPair {
  SumOfBytes sum;

  INTAGLIO_INLINE int32_t operator()(int32_t x, int32_t y) const {
    return DefinedSumOfBytes<Cuda>(sum)(x, y);
  }
};

// MUL; the multiplier may have a left shift.
struct ProductOfPair {
  ProductOfBytes product;

  INTAGLIO_INLINE int32_t operator()(int32_t x, int32_t y) const {
    const QuantizedMultiplier& m = product.scale;
    return RequantizeDoubleRounding<Cuda>((x - product.zero_a) * (y - product.zero_b), m.mantissa,
                                          m.left_shift(), m.right_shift());
  }
};

// Lines of bytes to lines that are `stride` apart: one operand of a concatenation.
struct JoinJob {
  const uint8_t* table;  // 256, what becomes of each byte; null: itself
  const uint8_t* in;
  uint8_t* out;
  long long line;  // bytes
  long long lines;
  long long stride;

  INTAGLIO_INLINE long long QuadsPerLine() const { return (line + kQuad - 1) / kQuad; }
  INTAGLIO_INLINE long long count() const { return lines * QuadsPerLine(); }
  INTAGLIO_INLINE void Run(long long i) const {
    const long long index = i / QuadsPerLine();
    const long long at = (i - index * QuadsPerLine()) * kQuad;
    auto bytes = LoadElements(in + index * line + at, line - at);
    if (table != nullptr) {
      INTAGLIO_UNROLL
      for (int j = 0; j < kQuad; ++j) bytes.of[j] = table[bytes.of[j]];
    }
    StoreElements(bytes, out + index * stride + at, line - at);
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
