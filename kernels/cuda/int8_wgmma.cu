#include "intaglio/kernels/cuda/wgmma.cuh"

namespace intaglio::cuda {

template cudaError_t LaunchWgmma<Wgmma128x256>(const KernelRow&, const DeviceProduct&,
                                               const StandardFinish&, const LaunchOptions&);
template cudaError_t LaunchWgmma<Wgmma128x128>(const KernelRow&, const DeviceProduct&,
                                               const StandardFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda
