// Groups of asynchronous copies (copy_lines.h).
#ifndef INTAGLIO_KERNELS_CUDA_ASYNC_COPY_CUH_
#define INTAGLIO_KERNELS_CUDA_ASYNC_COPY_CUH_

namespace intaglio::cuda {

// The copies that this thread has started since the last group are one more.
__device__ __forceinline__ void CommitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until only the last kPending groups of this thread may be on their way.
template <int kPending>
__device__ __forceinline__ void WaitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_ASYNC_COPY_CUH_
