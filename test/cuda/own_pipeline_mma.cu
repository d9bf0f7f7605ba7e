#include "intaglio/test/cuda/own_pipeline.cuh"

namespace intaglio::cuda {

template cudaError_t LaunchMma<Mma128x128>(const KernelRow&, const DeviceProduct&,
                                           const test::OwnFinish&, const LaunchOptions&);
template cudaError_t LaunchMma<Mma64x64>(const KernelRow&, const DeviceProduct&,
                                         const test::OwnFinish&, const LaunchOptions&);
template cudaError_t LaunchMma<Mma16x128>(const KernelRow&, const DeviceProduct&,
                                          const test::OwnFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda
