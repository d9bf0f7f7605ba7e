#include "intaglio/gemm/cuda/jobs.h"

#include "intaglio/gemm/cuda/error.cuh"
#include "intaglio/kernels/cuda/jobs.cuh"

namespace intaglio::cuda {

Status Enqueue(const Stream& stream, const AddJob& job) {
  return ToStatus(LaunchJob(job, stream.get()), "launching an addition");
}
Status Enqueue(const Stream& stream, const TableJob& job) {
  return ToStatus(LaunchJob(job, stream.get()), "launching a table");
}
Status Enqueue(const Stream& stream, const PadJob& job) {
  return ToStatus(LaunchJob(job, stream.get()), "launching a padding");
}
Status Enqueue(const Stream& stream, const DepthwiseJob& job) {
  return ToStatus(LaunchJob(job, stream.get()), "launching a depthwise convolution");
}
Status Enqueue(const Stream& stream, const PoolJob& job) {
  return ToStatus(LaunchJob(job, stream.get()), "launching a pool");
}
Status Enqueue(const Stream& stream, const MeanJob& job) {
  return ToStatus(LaunchJob(job, stream.get()), "launching a mean");
}

}  // namespace intaglio::cuda
