#include "intaglio/kernels/cuda/mma.cuh"

namespace intaglio::cuda {

template cudaError_t LaunchMma<Mma128x128>(const KernelRow&, const DeviceProduct&,
                                           const StandardFinish&, const LaunchOptions&);
template cudaError_t LaunchMma<Mma64x64>(const KernelRow&, const DeviceProduct&,
                                         const StandardFinish&, const LaunchOptions&);
template cudaError_t LaunchMma<Mma16x128>(const KernelRow&, const DeviceProduct&,
                                          const StandardFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda
