// Inside the partition: raw numbers of a sensor as inputs of a model.
#ifndef INTAGLIO_NN_PASSES_SENSOR_INPUT_H_
#define INTAGLIO_NN_PASSES_SENSOR_INPUT_H_

#include <cstddef>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/passes/partition.h"

namespace intaglio::nn {

// Makes input `index` of the graph one of raw numbers, which integer layers bring to what the other
// layers expect.
Status FoldSensor(Graph& graph, size_t index, const Sensor& sensor);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_SENSOR_INPUT_H_
