#include <algorithm>

#include "intaglio/kernels/cuda/jobs.cuh"

namespace intaglio::cuda {
namespace {

constexpr int kThreads = 256;

template <class Job>
__global__ void __launch_bounds__(kThreads) JobKernel(const __grid_constant__ Job job) {
  const long long count = job.count();
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < count;
       i += step) {
    job.Run(i);
  }
}

}  // namespace

template <class Job>
cudaError_t LaunchJob(const Job& job, cudaStream_t stream) {
  const long long blocks = (job.count() + kThreads - 1) / kThreads;
  if (blocks == 0) return cudaSuccess;
  JobKernel<<<static_cast<unsigned>(std::min(blocks, 1LL << 20)), kThreads, 0, stream>>>(job);
  return cudaGetLastError();
}

template cudaError_t LaunchJob(const AddJob&, cudaStream_t);
template cudaError_t LaunchJob(const TableJob&, cudaStream_t);
template cudaError_t LaunchJob(const PadJob&, cudaStream_t);
template cudaError_t LaunchJob(const DepthwiseJob&, cudaStream_t);
template cudaError_t LaunchJob(const PoolJob&, cudaStream_t);
template cudaError_t LaunchJob(const MeanJob&, cudaStream_t);

}  // namespace intaglio::cuda
