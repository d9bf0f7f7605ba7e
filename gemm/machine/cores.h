// Machines whose cores are of two kinds (big.LITTLE): which form of a kernel each of them takes.
//
// A thread may be moved at any time, in the midst of a task too. That is never wrong: the forms of
// a kernel read the same panels and rows, and give the same bits.
#ifndef INTAGLIO_GEMM_MACHINE_CORES_H_
#define INTAGLIO_GEMM_MACHINE_CORES_H_

#include <vector>

#include "intaglio/kernels/kernel_table.h"

namespace intaglio {

struct MixedCores {
  // Whether each CPU issues in order, indexed by the CPU's number. Empty if the machine has one
  // kind of core, or if the process uses the same form on all cores.
  std::vector<bool> in_order;
  int (*current)();  // the CPU that the calling thread is on; negative where unknown
  KernelList rows;   // of the kernel table
};

// The form that cores which issue in order take of a kernel; null where all cores take the kernel
// itself: it has no such form, the process may run on cores of one kind only, or INTAGLIO_ISA is
// set.
const Kernel* InOrderForm(const Kernel& kernel);

// The form of a kernel for the core that the calling thread is on. The OS is asked only where
// InOrderForm is not null.
const Kernel& KernelForThisCore(const Kernel& kernel);

// For tests: sets the machine that these functions see from now on, and returns the previous one.
// No product may run during the call.
const MixedCores* ReplaceCores(const MixedCores* cores);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_MACHINE_CORES_H_
