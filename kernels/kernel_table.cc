#include "intaglio/kernels/kernel_table.h"

// The kernels, fastest first: the name of each is the one that its file defines.
#if defined(__x86_64__)
#define INTAGLIO_ARCH_KERNELS(ROW) \
  ROW(kKernelAmx)                  \
  ROW(kKernelAvx512Vnni)           \
  ROW(kKernelAvxVnni)              \
  ROW(kKernelAvx512Bw)             \
  ROW(kKernelAvx2)                 \
  ROW(kKernelSse41)
#elif defined(__aarch64__)
#define INTAGLIO_ARCH_KERNELS(ROW) \
  ROW(kKernelI8mm)                 \
  ROW(kKernelDotprodA55)           \
  ROW(kKernelDotprod)              \
  ROW(kKernelNeonA53)              \
  ROW(kKernelNeon)
#elif defined(__arm__)
#define INTAGLIO_ARCH_KERNELS(ROW) ROW(kKernelNeon)
#else
#define INTAGLIO_ARCH_KERNELS(ROW)
#endif

#define INTAGLIO_KERNELS(ROW) INTAGLIO_ARCH_KERNELS(ROW) ROW(kKernelScalar)

namespace intaglio {

#define INTAGLIO_DECLARE(kernel) extern const Kernel kernel;
INTAGLIO_KERNELS(INTAGLIO_DECLARE)
#undef INTAGLIO_DECLARE

std::span<const Kernel* const> KernelTable() {
#define INTAGLIO_ADDRESS(kernel) &kernel,
  static constexpr const Kernel* kTable[] = {INTAGLIO_KERNELS(INTAGLIO_ADDRESS)};
#undef INTAGLIO_ADDRESS
  return kTable;
}

}  // namespace intaglio
