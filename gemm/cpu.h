// What the machine at hand offers.
#ifndef INTAGLIO_GEMM_CPU_H_
#define INTAGLIO_GEMM_CPU_H_

#include <cstddef>
#include <cstdint>

namespace intaglio {

struct CpuInfo {
  uint32_t features;  // CpuFeature bits of kernels/kernel.h, as far as the OS saves the registers
  size_t l1_bytes;    // data caches of one core
  size_t l2_bytes;
};

// Asked once, on first use.
const CpuInfo& Cpu();

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_CPU_H_
