// Checks that many operators make.
#ifndef INTAGLIO_NN_OPS_SUPPORT_CHECKS_H_
#define INTAGLIO_NN_OPS_SUPPORT_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The dimension that an axis names; negative ones count from the end of a shape of this rank.
Result<size_t> AxisOf(const LayerView& layer, int axis, size_t rank);

// Per dimension of input 0, whether one of the axes names it.
Result<std::vector<bool>> AxesOf(const LayerView& layer, const std::vector<int>& axes);

// All inputs from `first` on and all outputs have one type.
Status CheckOneType(const LayerView& layer, size_t first = 0);

// No tensor of the layer is quantized.
bool IsPlain(const LayerView& layer);
Status CheckPlain(const LayerView& layer);

// An input or output of the layer has this type.
Status CheckType(const LayerView& layer, const Tensor& tensor, Type type);

// An extent that has been computed, as one of a shape.
Result<int> CheckExtent(const LayerView& layer, int64_t extent);

// Input 0 has one scale and zero point for each index of an axis: the elements from one index to
// the next.
Result<size_t> QuantizedStride(const LayerView& layer);

// [N, H, W, C].
Status CheckImage(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_CHECKS_H_
