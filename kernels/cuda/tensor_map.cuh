// Tensor maps, which bulk tensor copies take, made by the driver. The driver's library is not
// linked with: the runtime finds the function.
#ifndef INTAGLIO_KERNELS_CUDA_TENSOR_MAP_CUH_
#define INTAGLIO_KERNELS_CUDA_TENSOR_MAP_CUH_

#include <cuda.h>
#include <cuda_runtime.h>

#include "intaglio/kernels/cuda/wgmma_tile.h"

namespace intaglio::cuda {

// Bytes in the 128-byte swizzle, zeros outside. Needs data at a multiple of 16 bytes, strides that
// are multiples of 16, extents of at least 1.
inline cudaError_t MakeTensorMap(const TensorMapArgs& args, CUtensorMap* map) {
  static const auto encode = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry,
                                                               12000, cudaEnableDefault, &found);
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) entry = nullptr;
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  }();
  if (encode == nullptr) return cudaErrorCallRequiresNewerDriver;
  const cuuint64_t extents[] = {args.extent[0], args.extent[1], args.extent[2]};
  const cuuint64_t strides[] = {args.stride[0], args.stride[1]};
  const cuuint32_t element_strides[] = {1, 1, 1};
  const CUresult result =
      encode(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, const_cast<void*>(args.data), extents, strides,
             args.box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_TENSOR_MAP_CUH_
