// Copies that pick, per dimension, a list of indices: out[i, j, ...] = in[a[i], b[j], ...].
#ifndef INTAGLIO_NN_OPS_SUPPORT_INDEXED_H_
#define INTAGLIO_NN_OPS_SUPPORT_INDEXED_H_

#include <vector>

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The layer as such a copy of input 0 to output 0. One list per dimension, as long as that of the
// output, with indices of the input.
Result<PreparedLayer> PrepareIndexed(const LayerView& layer,
                                     const std::vector<std::vector<int>>& indices);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_INDEXED_H_
