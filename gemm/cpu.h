// What the machine at hand offers.
#ifndef INTAGLIO_GEMM_CPU_H_
#define INTAGLIO_GEMM_CPU_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace intaglio {

struct CpuInfo {
  uint32_t
      features;  // CpuFeature bits of kernels/cpu_feature.h, as far as the OS saves the registers
  size_t l1_bytes;  // data caches of one core
  size_t l2_bytes;
  // Memory that streams from beyond L2 is read ahead as fast as it comes, and hints to do so only
  // take the place of loads: 98 GB/s from a Zen 4's L3 without them, 77 with them.
  bool streams_by_itself = false;
  // By the number of the CPU, where the process may run on cores that issue in program order and on
  // others; else empty.
  std::vector<bool> in_order_cpus = {};
};

// Where the machine does not tell.
inline constexpr size_t kDefaultL1Bytes = 32 << 10;
inline constexpr size_t kDefaultL2Bytes = 512 << 10;

// Asked once, on first use.
const CpuInfo& Cpu();

// Whether this process may run what needs these features. For AMX that asks Linux (5.16 and later)
// for its tile registers, once for the whole process and for good: signal stacks that are too small
// to save them, 8 KiB, are refused from then on.
bool MayUse(uint32_t features);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_CPU_H_
