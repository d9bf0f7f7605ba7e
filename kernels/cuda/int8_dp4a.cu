#include "intaglio/kernels/cuda/dp4a.cuh"

namespace intaglio::cuda {

template cudaError_t LaunchDp4a(const KernelRow&, const DeviceProduct&, const StandardFinish&,
                                const LaunchOptions&);

}  // namespace intaglio::cuda
