// The instructions of Hopper that C++ has no name for.
#ifndef INTAGLIO_KERNELS_CUDA_HOPPER_CUH_
#define INTAGLIO_KERNELS_CUDA_HOPPER_CUH_

#include <cuda.h>

#include <cstdint>

namespace intaglio::cuda::hopper {

__device__ __forceinline__ uint32_t SharedAddress(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// Barriers in shared memory. A phase ends when `arrivals` have arrived and all bytes that they
// announced have come.
__device__ __forceinline__ void InitBarrier(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes what this thread has stored in shared memory visible to the copy engine and to wgmma.
__device__ __forceinline__ void FenceShared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// Makes initialized barriers visible to the copy engine.
__device__ __forceinline__ void FenceBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  FenceShared();
}
__device__ __forceinline__ void Arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void ArriveAndExpect(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
// Until the phase of this parity has ended.
__device__ __forceinline__ void Wait(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

// The box of a tensor map at (depth, line, batch) to shared memory; its bytes count at `barrier`.
__device__ __forceinline__ void CopyBox(const CUtensorMap& map, uint32_t dst, uint32_t barrier,
                                        int depth, int line, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(dst),
      "l"(&map), "r"(barrier), "r"(depth), "r"(line), "r"(batch)
      : "memory");
}
__device__ __forceinline__ void PrefetchMap(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// threadIdx.x, read at every call: what is derived from it need not wait in a register while all of
// them hold accumulators.
__device__ __forceinline__ int ThreadOfBlock() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

// Registers that a thread of the calling warpgroup may have from here on.
template <int kRegisters>
__device__ __forceinline__ void LowerRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void RaiseRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// wgmma runs beside its thread. Between the fence and a wait that covers it, nothing else may touch
// the accumulators.
__device__ __forceinline__ void WgmmaFence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void WgmmaCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void WgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Keeps the compiler from moving what it does with accumulators over this point.
template <int kGroups>
__device__ __forceinline__ void Pin(int32_t (&d)[kGroups][8][4]) {
#pragma unroll
  for (int i = 0; i < kGroups * 32; ++i) {
    asm volatile("" : "+r"(d[i / 32][i / 4 % 8][i % 4])::"memory");
  }
}

// clang-format off
#define INTAGLIO_WGMMA_BLOCK(g, i) \
  "+r"(d[g][i][0]), "+r"(d[g][i][1]), "+r"(d[g][i][2]), "+r"(d[g][i][3])
#define INTAGLIO_WGMMA_GROUP(g)                                                             \
  INTAGLIO_WGMMA_BLOCK(g, 0), INTAGLIO_WGMMA_BLOCK(g, 1), INTAGLIO_WGMMA_BLOCK(g, 2),       \
      INTAGLIO_WGMMA_BLOCK(g, 3), INTAGLIO_WGMMA_BLOCK(g, 4), INTAGLIO_WGMMA_BLOCK(g, 5),   \
      INTAGLIO_WGMMA_BLOCK(g, 6), INTAGLIO_WGMMA_BLOCK(g, 7)

#define INTAGLIO_WGMMA_256(type)                                                             \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"                                            \
  "wgmma.mma_async.sync.aligned.m64n256k32.s32." type ".s8 {"                               \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127" \
  "}, %128, %129, p;\n}\n"

#define INTAGLIO_WGMMA_128(type)                                                             \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"                                            \
  "wgmma.mma_async.sync.aligned.m64n128k32.s32." type ".s8 {"                               \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63" \
  "}, %64, %65, p;\n}\n"
// clang-format on

// d = rows x channels over 32 depths, + d where `add` is not 0: 64 rows by 64 kGroups channels, the
// operands as DescribeShared says. Accumulator r of block i of group g is d[g][i][r] (layout.h).
template <bool kSignedRows>
__device__ __forceinline__ void Wgmma(uint64_t rows, uint64_t channels, int add,
                                      int32_t (&d)[4][8][4]) {
  if constexpr (kSignedRows) {
    asm volatile(INTAGLIO_WGMMA_256("s8")
                 : INTAGLIO_WGMMA_GROUP(0), INTAGLIO_WGMMA_GROUP(1), INTAGLIO_WGMMA_GROUP(2),
                   INTAGLIO_WGMMA_GROUP(3)
                 : "l"(rows), "l"(channels), "r"(add));
  } else {
    asm volatile(INTAGLIO_WGMMA_256("u8")
                 : INTAGLIO_WGMMA_GROUP(0), INTAGLIO_WGMMA_GROUP(1), INTAGLIO_WGMMA_GROUP(2),
                   INTAGLIO_WGMMA_GROUP(3)
                 : "l"(rows), "l"(channels), "r"(add));
  }
}
template <bool kSignedRows>
__device__ __forceinline__ void Wgmma(uint64_t rows, uint64_t channels, int add,
                                      int32_t (&d)[2][8][4]) {
  if constexpr (kSignedRows) {
    asm volatile(INTAGLIO_WGMMA_128("s8")
                 : INTAGLIO_WGMMA_GROUP(0), INTAGLIO_WGMMA_GROUP(1)
                 : "l"(rows), "l"(channels), "r"(add));
  } else {
    asm volatile(INTAGLIO_WGMMA_128("u8")
                 : INTAGLIO_WGMMA_GROUP(0), INTAGLIO_WGMMA_GROUP(1)
                 : "l"(rows), "l"(channels), "r"(add));
  }
}

#undef INTAGLIO_WGMMA_BLOCK
#undef INTAGLIO_WGMMA_GROUP
#undef INTAGLIO_WGMMA_256
#undef INTAGLIO_WGMMA_128

}  // namespace intaglio::cuda::hopper

#endif  // INTAGLIO_KERNELS_CUDA_HOPPER_CUH_
