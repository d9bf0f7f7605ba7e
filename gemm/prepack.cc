#include "intaglio/gemm/prepack.h"

#include "intaglio/gemm/dispatch.h"
#include "intaglio/pack/safe_pairs.h"
#include "intaglio/pack/validate.h"

namespace intaglio {

Result<PackedMatrix> Prepack(Side side, const ConstMatrix& matrix, const PackOptions& options) {
  auto kernel = KernelNamed(options.kernel);
  if (!kernel.ok()) return kernel.status();
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(matrix, "the matrix to pack"));
  const Kernel* safe_pairs = (*kernel)->for_safe_pairs;
  if (safe_pairs != nullptr && PairsAreSafe(side == Side::kLhs ? matrix : Transposed(matrix))) {
    kernel = safe_pairs;
  }
  return PackedMatrix::Pack(side, matrix, (*kernel)->panel, options.channel_zero_points,
                            (*kernel)->pack);
}

}  // namespace intaglio
