#include "intaglio/gemm/word_panels.h"

#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/kernels/kernel_table.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// The row that packs such panels in front of this kernel, or null.
const Kernel* RowForWords(const Kernel& kernel) {
  for (const Kernel* row : CandidatesOf(kernel)) {
    if (row->serves_words != nullptr) return row;
  }
  return nullptr;
}

const Kernel* RowForWords(const std::string& kernel) {
  const auto named = KernelNamed(kernel);
  return named.ok() ? RowForWords(**named) : nullptr;
}

}  // namespace

const char* WhyNoWordPanels(const std::string& kernel) {
  return RowForWords(kernel) == nullptr ? "the kernel has no panels for int32 results" : nullptr;
}

const char* WhyNotWordPanels(const std::string& kernel, int64_t rows, int channels, int depth) {
  const Kernel* const row = RowForWords(kernel);
  if (row == nullptr) return WhyNoWordPanels(kernel);
  if (row->serves_words({rows, channels, row->panel.Groups(depth)})) return nullptr;
  return "it is not known to be faster there; its name is asked for";
}

Result<PackedMatrix> PrepackForWords(Side side, const ConstMatrix& matrix,
                                     const PackOptions& options) {
  const auto kernel = KernelNamed(options.kernel);
  if (!kernel.ok()) return kernel.status();
  const Kernel* const row = RowForWords(**kernel);
  if (row == nullptr) return Prepack(side, matrix, options);
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(matrix, "the matrix to pack"));
  return PackedMatrix::Pack(side, matrix, row->panel, options.channel_zero_points, row->pack);
}

}  // namespace intaglio
