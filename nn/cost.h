// What a layer costs, known before it is prepared or run: for the limits (nn/limits.h).
#ifndef INTAGLIO_NN_COST_H_
#define INTAGLIO_NN_COST_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/nn/layer.h"

namespace intaglio::nn {

// At least the bytes that any routine of the layer allocates while it is prepared: packed weights,
// tables, lists, copies. Not those of graphs inside of the layer.
size_t BoundPreparation(const LayerView& layer);

// At least the bytes that the layer's routine keeps beside PreparedLayer::constant_bytes: objects,
// and copies per channel and per scale.
size_t BoundKept(const LayerView& layer);

// The steps of one run (Limits::max_work): multiply-accumulates, if they are known, and what
// elements take that are read, written, pooled, normalized or compared. Saturates.
int64_t CountWork(const LayerView& layer, int64_t macs);

// Bytes of all constants, those of graphs inside of layers among them, each byte once: tensors may
// share them.
size_t CountConstants(const Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_COST_H_
