// Routines of the host for layers whose tensors lie in the memory of a device.
#ifndef INTAGLIO_NN_ROUTINE_ADAPTER_H_
#define INTAGLIO_NN_ROUTINE_ADAPTER_H_

#include <cstddef>
#include <memory>

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// Copies between the memories, in the order of the device's work.
class Transfer {
 public:
  virtual ~Transfer() = default;
  virtual Status ToHost(void* to, const void* from, size_t bytes) const = 0;
  virtual Status ToDevice(void* to, const void* from, size_t bytes) const = 0;
  virtual Status Wait() const = 0;  // until all earlier work of the device is done
};

// Wraps `on_host`, which the host has prepared for the layer, in copies. Each run copies the inputs
// that are not constants to the host, waits, runs the routine, and copies the outputs back. The
// memory for the copies belongs to the routine, so instances of a model take turns. Refuses layers
// with variables, because their state lies on the device.
Result<PreparedLayer> ThroughTransfers(const LayerView& layer, PreparedLayer on_host,
                                       std::shared_ptr<const Transfer> transfer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_ADAPTER_H_
