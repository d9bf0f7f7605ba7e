// What Linux tells about Arm CPUs, 64 and 32 bits, and what it means. Nothing here asks the machine
// by itself, and all of it is compiled for every architecture, so that tests can play any CPU.
#ifndef INTAGLIO_GEMM_MACHINE_CPU_ARM_H_
#define INTAGLIO_GEMM_MACHINE_CPU_ARM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/gemm/machine/cpu.h"

namespace intaglio {

struct ArmReport {
  bool aarch64;
  uint64_t hwcap;         // getauxval(AT_HWCAP), of which the meaning depends on `aarch64`
  uint64_t hwcap2;        // getauxval(AT_HWCAP2)
  uint64_t midr;          // the main ID register of the core at hand; 0 where it cannot be read
  std::string sysfs;      // /sys/devices/system/cpu
  std::vector<int> cpus;  // the numbers of those that the process may run on
};

// Features are what all cores have (HWCAP is the kernel's common denominator). kInOrder holds where
// every one of `cpus` is known to be an in-order core, in_order_cpus where some are. The cache
// sizes are the smallest ones of `cpus`, and those of CpuInfo's defaults where sysfs has no Arm
// cores, as in an emulator on another machine.
CpuInfo Interpret(const ArmReport& report);

// Whether the core with this MIDR_EL1 issues instructions in program order.
bool IsInOrder(uint64_t midr);

// "0x00000000410fd034\n": a number with its prefix, or 0.
uint64_t ParseMidr(std::string_view text);

// "32K\n", "1M\n", "512\n" in bytes, or 0.
size_t ParseCacheSize(std::string_view text);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_MACHINE_CPU_ARM_H_
