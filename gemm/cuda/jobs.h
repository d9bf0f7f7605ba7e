// The operators of networks that are no matrix products, on NVIDIA GPUs: a job
// (kernels/cuda/elementwise_jobs.h, window_jobs.h) says what, Enqueue has the device do it.
#ifndef INTAGLIO_GEMM_CUDA_JOBS_H_
#define INTAGLIO_GEMM_CUDA_JOBS_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/cuda/stream.h"
#include "intaglio/kernels/cuda/elementwise_jobs.h"
#include "intaglio/kernels/cuda/params.h"
#include "intaglio/kernels/cuda/window_jobs.h"

namespace intaglio::cuda {

// Waits for nothing and allocates nothing. What a job points to is in device memory. Jobs are not
// checked: who makes one has done so.
Status Enqueue(const Stream& stream, const AddJob& job);
Status Enqueue(const Stream& stream, const TableJob& job);
Status Enqueue(const Stream& stream, const PadJob& job);
Status Enqueue(const Stream& stream, const DepthwiseJob& job);
Status Enqueue(const Stream& stream, const PoolJob& job);
Status Enqueue(const Stream& stream, const MeanJob& job);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_GEMM_CUDA_JOBS_H_
