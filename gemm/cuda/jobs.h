// The operators of networks that are no matrix products, on NVIDIA GPUs: a job
// (kernels/cuda/elementwise_jobs.h, softmax_job.h, window_jobs.h) says what, Enqueue has the device
// do it.
#ifndef INTAGLIO_GEMM_CUDA_JOBS_H_
#define INTAGLIO_GEMM_CUDA_JOBS_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/cuda/stream.h"
#include "intaglio/kernels/cuda/elementwise_jobs.h"
#include "intaglio/kernels/cuda/params.h"
#include "intaglio/kernels/cuda/softmax_job.h"
#include "intaglio/kernels/cuda/window_jobs.h"

namespace intaglio::cuda {

// For the jobs of those headers. Waits for nothing and allocates nothing. What a job points to is
// in device memory. Jobs are not checked: who makes one has done so.
template <class Job>
Status Enqueue(const Stream& stream, const Job& job);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_GEMM_CUDA_JOBS_H_
