// A pipeline that is not the standard one, to be run in the kernels' registers. The kernels that
// take long to compile for it are in files of their own.
#ifndef INTAGLIO_TEST_CUDA_OWN_PIPELINE_CUH_
#define INTAGLIO_TEST_CUDA_OWN_PIPELINE_CUH_

#include <cuda_runtime.h>

#include "intaglio/gemm/cuda/gemm.cuh"
#include "intaglio/test/pipeline/composition_list.h"

namespace intaglio::test {

inline auto OwnPipeline(const int32_t* bias, const int32_t* mantissa, const int32_t* exponent,
                        const int8_t* residual, int stride) {
  return Pipeline(AddBias{bias}, RequantizeChannels{mantissa, exponent},
                  AddResidual<int8_t>{residual, stride, 1, 3, {1 << 30, 1}}, FlipOdd{},
                  AddZeroPoint{-5}, CastTo<int8_t>{});
}

using OwnFinish =
    cuda::PipelineFinish<decltype(OwnPipeline(nullptr, nullptr, nullptr, nullptr, 0))>;

}  // namespace intaglio::test

namespace intaglio::cuda {

extern template cudaError_t LaunchMma<Mma128x128>(const KernelRow&, const DeviceProduct&,
                                                  const test::OwnFinish&, const LaunchOptions&);
extern template cudaError_t LaunchMma<Mma64x64>(const KernelRow&, const DeviceProduct&,
                                                const test::OwnFinish&, const LaunchOptions&);
extern template cudaError_t LaunchMma<Mma16x128>(const KernelRow&, const DeviceProduct&,
                                                 const test::OwnFinish&, const LaunchOptions&);
extern template cudaError_t LaunchWgmma<Wgmma128x256>(const KernelRow&, const DeviceProduct&,
                                                      const test::OwnFinish&, const LaunchOptions&);
extern template cudaError_t LaunchWgmma<Wgmma128x128>(const KernelRow&, const DeviceProduct&,
                                                      const test::OwnFinish&, const LaunchOptions&);

}  // namespace intaglio::cuda

#endif  // INTAGLIO_TEST_CUDA_OWN_PIPELINE_CUH_
