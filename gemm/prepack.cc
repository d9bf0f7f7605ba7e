#include "intaglio/gemm/prepack.h"

#include <algorithm>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/kernels/kernel_table.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// Whether kernel rows that do not end with depth groups are padded until they do.
bool PadsKernelRows(Side side, const ConstMatrix& matrix, const PackOptions& options,
                    const Kernel& kernel) {
  if (!kernel.takes_windows || side != Side::kRhs || options.kernel_height <= 1 ||
      matrix.type != Type::kInt8 || matrix.order != Order::kColMajor || matrix.rows == 0 ||
      matrix.rows % options.kernel_height != 0) {
    return false;
  }
  const int step = kernel.panel.depth_step;
  if (matrix.rows > kMaxExtent / step) return false;  // padded, an int might not count it
  const std::vector<int32_t>& zero_points = options.channel_zero_points;
  const bool symmetric =
      zero_points.empty()
          ? matrix.zero_point == 0
          : std::all_of(zero_points.begin(), zero_points.end(), [](int32_t z) { return z == 0; }) &&
                zero_points.size() == static_cast<size_t>(matrix.cols);
  return symmetric && matrix.rows / options.kernel_height % step != 0;
}

}  // namespace

Result<PackedMatrix> Prepack(Side side, const ConstMatrix& matrix, const PackOptions& options) {
  auto kernel = KernelNamed(options.kernel);
  if (!kernel.ok()) return kernel.status();
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(matrix, "the matrix to pack"));
  const ConstMatrix channels = side == Side::kLhs ? matrix : Transposed(matrix);
  for (const Kernel* row : CandidatesOf(**kernel)) {
    if (row->serves_constant != nullptr && row->serves_constant(channels, Cpu().multiplies_once)) {
      kernel = row;
    }
  }
  if (PadsKernelRows(side, matrix, options, **kernel)) {
    return PackedMatrix::PackRuns(matrix, options.kernel_height, (*kernel)->panel, (*kernel)->pack);
  }
  return PackedMatrix::Pack(side, matrix, (*kernel)->panel, options.channel_zero_points,
                            (*kernel)->pack);
}

}  // namespace intaglio
