#include "intaglio/test/cuda/own_pipeline.cuh"

namespace intaglio::cuda {

template cudaError_t LaunchWgmma<Wgmma128x256>(const KernelRow&, const DeviceProduct&,
                                               const test::OwnFinish&, const LaunchOptions&);
template cudaError_t LaunchWgmma<Wgmma128x128>(const KernelRow&, const DeviceProduct&,
                                               const test::OwnFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda
