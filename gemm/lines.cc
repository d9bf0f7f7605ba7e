#include "intaglio/gemm/lines.h"

#include "intaglio/gemm/cpu.h"
#include "intaglio/gemm/dispatch.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {

Result<const LineRoutines*> LinesOf(std::string_view name) {
  const auto kernel = KernelNamed(name);
  if (!kernel.ok()) return kernel.status();
  return (*kernel)->lines != nullptr ? (*kernel)->lines : KernelTable().back()->lines;
}

Result<const LookupRoutines*> LookupsOf(std::string_view name) {
  const auto kernel = KernelNamed(name);
  if (!kernel.ok()) return kernel.status();
  const bool has = (*kernel)->lookups != nullptr && MayUse((*kernel)->lookups_need);
  return has ? (*kernel)->lookups : KernelTable().back()->lookups;
}

}  // namespace intaglio
