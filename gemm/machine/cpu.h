// What the machine at hand offers.
#ifndef INTAGLIO_GEMM_MACHINE_CPU_H_
#define INTAGLIO_GEMM_MACHINE_CPU_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace intaglio {

struct CpuInfo {
  uint32_t
      features;  // CpuFeature bits of kernels/cpu_feature.h, as far as the OS saves the registers
  size_t l1_bytes;  // data caches of one core
  size_t l2_bytes;
  // Whether to ask for what streams from beyond L2. A Zen 4 reads ahead as fast as it can, and
  // hints only take the place of loads: 98 GB/s from L3 without them, 77 with them. A Zen 5 reads 2
  // MiB for a single row by 118 without them, by 130 with them; 16 MiB by 129 and 125, and tiles of
  // six rows are slower with them.
  enum class Hints : uint8_t { kAlways, kForVectors, kNever };
  Hints hints = Hints::kAlways;
  // Whether it multiplies fewer vectors of int16 in a cycle than it adds, and is not held up by the
  // number of instructions before that: Zen to Zen 4 (one or two of three or four), Haswell and
  // Broadwell (one of two). Skylake and later do neither.
  bool multiplies_are_scarce = false;
  // Whether that is one vector of 32 bytes in a cycle: Zen, Zen 2, Haswell and Broadwell.
  bool multiplies_once = false;
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

#endif  // INTAGLIO_GEMM_MACHINE_CPU_H_
