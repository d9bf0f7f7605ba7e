#include "intaglio/gemm/byte_elementwise.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/plan/dispatch.h"
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

ProductOfBytes WithFit(ProductOfBytes product, const LineOutput& output) {
  const auto [a, b] = std::pair(int64_t{product.zero_a}, int64_t{product.zero_b});
  const auto [least, most] =
      std::minmax({a * b, -a * (255 - b), -b * (255 - a), (255 - a) * (255 - b)});
  const DoubleRoundingTask task{product.scale.mantissa,
                                product.scale.right_shift(),
                                least,
                                most,
                                output.clamp_min - output.zero_point,
                                output.clamp_max - output.zero_point};
  const auto fit = FitDoubleRounding(task);
  product.fitted = fit.has_value();
  if (product.fitted) product.fit = *fit;
  return product;
}

}  // namespace intaglio
