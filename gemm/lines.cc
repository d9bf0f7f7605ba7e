#include "intaglio/gemm/lines.h"

#include "intaglio/gemm/cpu.h"
#include "intaglio/gemm/dispatch.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {

Result<const LineRoutines*> LinesOf(std::string_view name) {
  const auto kernel = KernelNamed(name);
  if (!kernel.ok()) return kernel.status();
  bool reached = false;
  for (const Kernel* k : RankedKernels()) {
    reached = reached || k == *kernel;
    if (reached && k->lines != nullptr && MayUse(k->needs)) return k->lines;
  }
  return KernelTable().back()->lines;  // the scalar kernel's
}

}  // namespace intaglio
