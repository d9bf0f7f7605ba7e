// The launch of a job (elementwise_jobs.h). Asynchronous in `stream`; returns the launch's error.
#ifndef INTAGLIO_KERNELS_CUDA_JOBS_CUH_
#define INTAGLIO_KERNELS_CUDA_JOBS_CUH_

#include <cuda_runtime_api.h>

#include "intaglio/kernels/cuda/elementwise_jobs.h"
#include "intaglio/kernels/cuda/softmax_job.h"
#include "intaglio/kernels/cuda/window_jobs.h"

namespace intaglio::cuda {

// For the jobs of those headers.
template <class Job>
cudaError_t LaunchJob(const Job& job, cudaStream_t stream);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_JOBS_CUH_
