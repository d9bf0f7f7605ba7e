// SOFTMAX as the device computes it (kernels/cuda/softmax_job.h), on the host.
#ifndef INTAGLIO_TEST_KERNELS_CUDA_SOFTMAX_H_
#define INTAGLIO_TEST_KERNELS_CUDA_SOFTMAX_H_

#include <algorithm>

#include "intaglio/kernels/cuda/softmax_job.h"

namespace intaglio::test {

// Lane by lane.
inline void RunOnHost(const cuda::SoftmaxJob& job) {
  for (long long row = 0; row < job.rows; ++row) {
    int32_t largest = 0;
    long long sum = 0;
    constexpr int kLanes = cuda::SoftmaxJob::kLanes;
    for (int i = 0; i < kLanes; ++i) largest = std::max(largest, job.LargestOf(row, i));
    for (int i = 0; i < kLanes; ++i) sum += job.SumOf(row, i, largest);
    const auto quotient = cuda::SoftmaxJob::QuotientOf(sum);
    for (int i = 0; i < kLanes; ++i) job.Finish(row, i, largest, quotient);
  }
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_KERNELS_CUDA_SOFTMAX_H_
