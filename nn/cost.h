// What a layer costs, known before it is prepared or run. The limits use it (nn/limits.h).
#ifndef INTAGLIO_NN_COST_H_
#define INTAGLIO_NN_COST_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/nn/layer.h"

namespace intaglio::nn {

// An upper bound of the bytes that any routine of the layer allocates while it is prepared: packed
// weights, tables, lists, copies. Graphs inside the layer are not included.
size_t BoundPreparation(const LayerView& layer);

// An upper bound of the bytes that the layer's routine keeps besides PreparedLayer::constant_bytes:
// objects, and copies per channel and per scale.
size_t BoundKept(const LayerView& layer);

// The steps of one run (Limits::max_work): multiply-accumulates, if known, plus the steps for
// elements that are read, written, pooled, normalized or compared. Saturates.
int64_t CountWork(const LayerView& layer, int64_t macs);

// The bytes of all constants, including those of graphs inside layers. Tensors may share bytes;
// each byte counts once.
size_t CountConstants(const Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_COST_H_
