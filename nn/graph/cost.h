// What a layer costs, known before it is prepared or run. The limits use it (nn/graph/limits.h).
#ifndef INTAGLIO_NN_GRAPH_COST_H_
#define INTAGLIO_NN_GRAPH_COST_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/nn/graph/layer_view.h"

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

// The elements of a tensor, or the greatest number where they are too many to count.
int64_t CountOrMax(const Tensor& tensor);

// How operators see a constant that they pack (Packing::matrices): dimension 0, or the last one,
// holds the channels.
MatrixCounts RowsAsChannels(const LayerView& layer, const Tensor& constant);
MatrixCounts ColumnsAsChannels(const LayerView& layer, const Tensor& constant);

// Bounds a list with an entry for each place along each axis of output 0 (OperatorRow::list_bytes).
int64_t BoundPlaces(const LayerView& layer);

// The bytes of all constants, including those of graphs inside layers. Tensors may share bytes;
// each byte counts once.
size_t CountConstants(const Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_COST_H_
