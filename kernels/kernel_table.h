// The kernel table: every micro-kernel of this build, fastest first. Dispatch, tests and benchmarks
// iterate it. A new kernel is its file and a row here.
//
// A row that serves some operands only stands in front of the row that serves the others. A row
// that asks for cores which issue in order takes the place there of the row that needs all else
// that it does.
#ifndef INTAGLIO_KERNELS_KERNEL_TABLE_H_
#define INTAGLIO_KERNELS_KERNEL_TABLE_H_

#include <span>

#include "intaglio/kernels/kernel.h"

namespace intaglio {

using KernelList = std::span<const Kernel* const>;

KernelList KernelTable();

// `kernel`, a row that serves all operands, behind those that stand in front of it. A row that
// serves some only: itself.
KernelList CandidatesOf(const Kernel& kernel);

// The one of `candidates` (CandidatesOf) that takes a product by rows of such a type. The other
// operand was packed for the last of them.
inline const Kernel* ForProduct(Type rows, const ProductSize& size, KernelList candidates) {
  for (const Kernel* kernel : candidates.first(candidates.size() - 1)) {
    if (kernel->serves_product != nullptr && kernel->serves_product(rows, size)) return kernel;
  }
  return candidates.back();
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_KERNEL_TABLE_H_
