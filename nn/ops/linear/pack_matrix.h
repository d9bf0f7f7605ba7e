// Packs constants as the right-hand sides of products. Each is packed once, however many layers of
// a model use it.
#ifndef INTAGLIO_NN_OPS_LINEAR_PACK_MATRIX_H_
#define INTAGLIO_NN_OPS_LINEAR_PACK_MATRIX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/routine/packed_once.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

enum class PanelsFor : uint8_t { kAny, kWords };  // gemm/word_panels.h

// Errors name the layer.
Result<PackedOf<PackedMatrix>> PackMatrix(const LayerView& layer, const LayerOptions& options,
                                          const ConstMatrix& matrix,
                                          const std::vector<int32_t>& zero_points = {},
                                          PanelsFor results = PanelsFor::kAny);

// Packs a matrix that has no data yet. copy() makes its data if no earlier layer has done so.
// `from` identifies what the data are made from.
Result<PackedOf<PackedMatrix>> PackCopied(const LayerView& layer, const LayerOptions& options,
                                          const ConstMatrix& matrix, const PackedOnce::Key& from,
                                          const std::function<std::vector<std::byte>()>& copy);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_PACK_MATRIX_H_
