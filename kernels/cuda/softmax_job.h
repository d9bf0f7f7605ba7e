// SOFTMAX over rows of bytes, a warp for each: its lanes take every 32nd element. Between the three
// steps the warp exchanges what its lanes found; the host runs the same steps.
#ifndef INTAGLIO_KERNELS_CUDA_SOFTMAX_JOB_H_
#define INTAGLIO_KERNELS_CUDA_SOFTMAX_JOB_H_

#include <cstdint>
#include <limits>

#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/kernels/cuda/elementwise_jobs.h"
#include "intaglio/kernels/cuda/quad.h"

namespace intaglio::cuda {

// The output is 0 to 255/256 in steps of 1/256, of the input's type.
struct SoftmaxJob {
  static constexpr int kLanes = 32;
  static constexpr int kSumIntegers =
      12;  // of sums of exponentials; the other 19 bits are fraction

  const int32_t* exps;  // by the distance to the row's largest, 256, with 31 fraction bits
  const uint8_t* in;
  uint8_t* out;
  long long rows;
  int depth;
  bool is_signed;

  // What turns an exponential into a result.
  struct Quotient {
    int32_t reciprocal;  // of the sum, which is 2^bits times a number in [1, 2)
    int32_t shift;       // over 31: results are 0
  };

  // Of the lane's elements of a row, in [0, 255].
  INTAGLIO_INLINE int32_t LargestOf(long long row, int lane) const {
    int32_t largest = 0;
    for (int i = lane; i < depth; i += kLanes) largest = Cuda::Max(largest, At(row, i));
    return largest;
  }
  INTAGLIO_INLINE long long SumOf(long long row, int lane, int32_t largest) const {
    long long sum = 0;
    for (int i = lane; i < depth; i += kLanes) {
      sum += RoundingDivideByPowerOfTwo<Cuda, kSumIntegers>(exps[largest - At(row, i)]);
    }
    return sum;
  }
  static INTAGLIO_INLINE Quotient QuotientOf(long long sum) {
    if (sum > std::numeric_limits<int32_t>::max()) return {0, 32};
    const auto bits = static_cast<uint32_t>(sum);
    const int zeros = Cuda::LeadingZeros(bits);
    const auto fraction = static_cast<int32_t>((bits << zeros) - (uint32_t{1} << 31));
    return {OneOverOnePlusX(FixedPoint<Cuda, 0>::FromRaw(fraction)).raw(),
            kSumIntegers - zeros + 31 - 8};
  }
  INTAGLIO_INLINE void Finish(long long row, int lane, int32_t largest, const Quotient& q) const {
    const int32_t lowest = is_signed ? -128 : 0;
    const LineOutput output{is_signed, lowest, lowest, lowest + 255};
    for (int i = lane; i < depth; i += kLanes) {
      int32_t scaled = 0;
      if (q.shift <= 31) {
        const int32_t product =
            SaturatingRoundingDoublingHighMul<Cuda>(q.reciprocal, exps[largest - At(row, i)]);
        scaled = RoundingDivideByPowerOfTwo<Cuda>(product, q.shift);
      }
      out[row * depth + i] = static_cast<uint8_t>(OutputByte(output, scaled));
    }
  }

 private:
  INTAGLIO_INLINE int32_t At(long long row, int i) const {
    return ByteOf(in[row * depth + i] ^ ByteType{is_signed}.flip(), 0);
  }
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_SOFTMAX_JOB_H_
