#include "intaglio/kernels/kernel_table.h"

#include <algorithm>

// The kernels, fastest first: the name of each is the one that its file defines.
#if defined(__x86_64__)
#define INTAGLIO_ARCH_KERNELS(ROW) \
  ROW(kKernelAmxWords)             \
  ROW(kKernelAmxLittle)            \
  ROW(kKernelAmxInt8Rows)          \
  ROW(kKernelAmx)                  \
  ROW(kKernelAvx512Vnni)           \
  ROW(kKernelAvxVnni)              \
  ROW(kKernelAvx512Bw)             \
  ROW(kKernelAvx2SafePairs)        \
  ROW(kKernelAvx2FastProducts)     \
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

KernelList KernelTable() {
#define INTAGLIO_ADDRESS(kernel) &kernel,
  static constexpr const Kernel* kTable[] = {INTAGLIO_KERNELS(INTAGLIO_ADDRESS)};
#undef INTAGLIO_ADDRESS
  return kTable;
}

KernelList CandidatesOf(const Kernel& kernel) {
  const KernelList table = KernelTable();
  const auto last = std::find(table.begin(), table.end(), &kernel);
  auto first = last;
  while (ServesAll(kernel) && first != table.begin() && !ServesAll(**std::prev(first))) --first;
  return {first, std::next(last)};
}

}  // namespace intaglio
