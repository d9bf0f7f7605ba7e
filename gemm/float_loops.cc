#include "intaglio/gemm/float_loops.h"

#include <cstdint>

#include "intaglio/kernels/float_table.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {

const FloatLoops& FloatLoopsOf(std::string_view name, FloatSums sums) {
  uint32_t features = 0;
  for (const Kernel* kernel : KernelTable()) {
    if (name == kernel->name) features = kernel->needs;
  }
  return FloatLoopsFor(features, sums);
}

}  // namespace intaglio
