// Which kernel serves.
#ifndef INTAGLIO_GEMM_PLAN_DISPATCH_H_
#define INTAGLIO_GEMM_PLAN_DISPATCH_H_

#include <span>
#include <string>
#include <string_view>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio {

// The rows of the kernel table that serve all operands, in the order in which this CPU prefers
// them: the table's own, but rows with a preference (kPreferences) that it does not meet come just
// before the last.
std::span<const Kernel* const> RankedKernels();

// Why this process does not use a kernel; empty where it may.
std::string WhyNot(const Kernel& kernel);

// Whether INTAGLIO_ISA is set.
bool IsaIsNamed();

// The first of these that may be used. INTAGLIO_ISA names the best one allowed: the rows
// before it are passed over. A name that no kernel has is an error.
Result<const Kernel*> BestKernel();

// The kernel of that name, whether or not INTAGLIO_ISA allows it; the best one for an empty name.
// If INTAGLIO_ISA names no kernel, the result is that error, for every name.
Result<const Kernel*> KernelNamed(std::string_view name);

// The best usable kernel that reads panels of this format. Returns the same error.
Result<const Kernel*> KernelFor(const PanelFormat& format);

// One line to stderr where INTAGLIO_VERBOSE=1.
bool Verbose();

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_DISPATCH_H_
