// The kernel table: every micro-kernel of this build, fastest first. Dispatch, tests and benchmarks
// iterate it. A new kernel is its file and a row here.
#ifndef INTAGLIO_KERNELS_KERNEL_TABLE_H_
#define INTAGLIO_KERNELS_KERNEL_TABLE_H_

#include <span>

#include "intaglio/kernels/kernel.h"

namespace intaglio {

std::span<const Kernel* const> KernelTable();

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_KERNEL_TABLE_H_
