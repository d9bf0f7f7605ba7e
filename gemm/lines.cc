#include "intaglio/gemm/lines.h"

#include "intaglio/gemm/dispatch.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {

namespace {

template <class Routines>
Result<const Routines*> RoutinesOf(std::string_view name, const Routines* Kernel::*routines) {
  const auto kernel = KernelNamed(name);
  if (!kernel.ok()) return kernel.status();
  if ((*kernel)->*routines != nullptr) return (*kernel)->*routines;
  return KernelTable().back()->*routines;  // the scalar kernel's
}

}  // namespace

Result<const LineRoutines*> LinesOf(std::string_view name) {
  return RoutinesOf(name, &Kernel::lines);
}

Result<const LookupRoutines*> LookupsOf(std::string_view name) {
  return RoutinesOf(name, &Kernel::lookups);
}

}  // namespace intaglio
