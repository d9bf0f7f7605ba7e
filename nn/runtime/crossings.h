// Layers of one model on the CPU and on a device: which tensors cross between the two memories, and
// when. Each tensor has the same place in the arenas of both, so the plan of memory need not know
// where layers run.
#ifndef INTAGLIO_NN_RUNTIME_CROSSINGS_H_
#define INTAGLIO_NN_RUNTIME_CROSSINGS_H_

#include <vector>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

struct Crossings {
  // What is done before a layer.
  struct Step {
    std::vector<TensorId> to_host;
    std::vector<TensorId> to_device;
    // For the device, because it may still read memory that the layer writes.
    bool waits = false;
  };

  std::vector<bool> on_device;  // by layer
  std::vector<Step> steps;      // before each layer, and one behind the last

  bool OnDevice(size_t layer) const { return !on_device.empty() && on_device[layer]; }
  // Whether output 0 of the layer is read by layers of the same memory alone.
  bool StaysInMemory(const Graph& graph, size_t layer) const;
};

// A tensor is copied once, before the first layer of the other memory that reads it. Outputs of the
// graph, and all tensors if they are kept, are on the host in the end.
Crossings FindCrossings(const Graph& graph, std::vector<bool> on_device, bool keep_all_tensors);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_RUNTIME_CROSSINGS_H_
