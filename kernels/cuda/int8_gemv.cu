#include "intaglio/kernels/cuda/gemv.cuh"

namespace intaglio::cuda {

template cudaError_t LaunchGemv<Gemv1>(const KernelRow&, const DeviceProduct&,
                                       const StandardFinish&, const LaunchOptions&);
template cudaError_t LaunchGemv<Gemv4>(const KernelRow&, const DeviceProduct&,
                                       const StandardFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda
