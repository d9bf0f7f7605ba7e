#include "intaglio/kernels/cuda/launch.cuh"
#include "intaglio/kernels/cuda/standard.cuh"

namespace intaglio::cuda {

cudaError_t LaunchStandard(const KernelRow& row, const DeviceProduct& p,
                           const StandardFinish& finish, const LaunchOptions& options) {
  return LaunchKernel(row, p, finish, options);
}

cudaError_t FinishStandard(const DeviceProduct& p, const Partials& partials,
                           const StandardFinish& finish, cudaStream_t stream) {
  return LaunchFinish(p, partials, finish, stream);
}

cudaError_t FinishPlain(const DeviceProduct& p, const Partials& partials, const PlainFinish& finish,
                        cudaStream_t stream) {
  return LaunchFinish(p, partials, finish, stream);
}

}  // namespace intaglio::cuda
