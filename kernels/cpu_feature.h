// What a kernel may ask of a CPU.
#ifndef INTAGLIO_KERNELS_CPU_FEATURE_H_
#define INTAGLIO_KERNELS_CPU_FEATURE_H_

#include <cstdint>

namespace intaglio {

enum CpuFeature : uint32_t {
  kSse41 = 1u << 0,
  kAvx2 = 1u << 1,  // with FMA
  kAvxVnni = 1u << 2,
  kAvx512Bw = 1u << 3,  // with F, DQ and VL
  kAvx512Vnni = 1u << 4,
  kAmxInt8 = 1u << 5,  // with AVX512-VBMI; Linux gives it to a process that asks
  kAvx512Vbmi = 1u << 6,
  kNeon = 1u << 8,
  kDotprod = 1u << 9,   // SDOT, UDOT on vectors of 128 bits
  kI8mm = 1u << 10,     // SMMLA, UMMLA, USDOT
  kInOrder = 1u << 11,  // every core that the process may run on issues in program order
};

// A kernel that asks for one of these runs without it as well, but is then ranked behind those that
// do not ask: code scheduled for in-order cores is correct, and slow, on others.
inline constexpr uint32_t kPreferences = kInOrder;

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_CPU_FEATURE_H_
