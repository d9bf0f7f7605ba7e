// Panels for products whose results are int32 as they are.
#ifndef INTAGLIO_GEMM_WORD_PANELS_H_
#define INTAGLIO_GEMM_WORD_PANELS_H_

#include <cstdint>
#include <string>

#include "intaglio/gemm/prepack.h"

namespace intaglio {

// Why a kernel (PackOptions::kernel) has no such panels, or they are not known to be faster than
// others for products of this size; null where they are. The words may be shown.
const char* WhyNoWordPanels(const std::string& kernel);
const char* WhyNotWordPanels(const std::string& kernel, int64_t rows, int channels, int depth);

// As Prepack, in panels for int32 results where the kernel has such. They serve all products, but
// give any other results later.
Result<PackedMatrix> PrepackForWords(Side side, const ConstMatrix& matrix,
                                     const PackOptions& options = {});

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_WORD_PANELS_H_
