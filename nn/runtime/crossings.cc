#include "intaglio/nn/runtime/crossings.h"

#include <algorithm>
#include <utility>

#include "intaglio/nn/runtime/check_buffers.h"

namespace intaglio::nn {
namespace {

class Finder {
 public:
  Finder(const Graph& graph, Crossings& crossings)
      : graph_(graph),
        crossings_(crossings),
        written_on_device_(graph.tensors.size(), false),
        is_copied_(graph.tensors.size(), false),
        exists_(graph.tensors.size(), false) {
    crossings_.steps.resize(graph.layers.size() + 1);
    for (const TensorId id : graph.inputs) exists_[static_cast<size_t>(id)] = true;
  }

  void Find(bool keep_all_tensors) {
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      const bool on_device = crossings_.on_device[i];
      for (const TensorId id : graph_.layers[i].inputs) Read(id, i, on_device);
      WaitIfNeeded(i, on_device);
      enqueued_ = enqueued_ || on_device;
      for (const TensorId id : graph_.layers[i].outputs) {
        exists_[static_cast<size_t>(id)] = true;
        written_on_device_[static_cast<size_t>(id)] = on_device;
      }
    }
    const size_t end = graph_.layers.size();
    for (const TensorId id : graph_.outputs) Read(id, end, false);
    for (size_t i = 0; keep_all_tensors && i < graph_.tensors.size(); ++i) {
      Read(static_cast<TensorId>(i), end, false);
    }
    // So that errors of the device are seen, and the next run may write the arena.
    crossings_.steps[end].waits = enqueued_ && crossings_.steps[end].to_host.empty();
  }

 private:
  void Read(TensorId id, size_t step, bool on_device) {
    if (id == kNoTensor) return;
    const auto index = static_cast<size_t>(id);
    const Tensor& tensor = graph_.tensors[index];
    if (tensor.constant || tensor.variable || !exists_[index] || TensorBytes(tensor) == 0) return;
    if (is_copied_[index] || written_on_device_[index] == on_device) return;
    is_copied_[index] = true;
    Crossings::Step& to = crossings_.steps[step];
    (on_device ? to.to_device : to.to_host).push_back(id);
  }

  // A layer of the host waits if copies to the device were enqueued since the host last waited.
  // Copies to the host wait anyway.
  void WaitIfNeeded(size_t layer, bool on_device) {
    Crossings::Step& step = crossings_.steps[layer];
    if (!step.to_device.empty()) reads_host_ = enqueued_ = true;
    if (on_device) return;
    step.waits = reads_host_ && step.to_host.empty();
    if (step.waits || !step.to_host.empty()) reads_host_ = enqueued_ = false;
  }

  const Graph& graph_;
  Crossings& crossings_;
  std::vector<bool> written_on_device_;  // by tensor
  std::vector<bool> is_copied_;          // by tensor: to the other memory
  std::vector<bool> exists_;             // by tensor: an input, or written by a layer so far
  bool reads_host_ = false;              // the device may still read memory of the host
  bool enqueued_ = false;                // the device may still be at work
};

}  // namespace

bool Crossings::StaysInMemory(const Graph& graph, size_t layer) const {
  if (on_device.empty() || graph.layers[layer].outputs.empty()) return true;
  const TensorId output = graph.layers[layer].outputs[0];
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (on_device[i] == on_device[layer]) continue;
    const std::vector<TensorId>& inputs = graph.layers[i].inputs;
    if (std::find(inputs.begin(), inputs.end(), output) != inputs.end()) return false;
  }
  return true;
}

Crossings FindCrossings(const Graph& graph, std::vector<bool> on_device, bool keep_all_tensors) {
  Crossings crossings;
  crossings.on_device = std::move(on_device);
  if (!crossings.on_device.empty()) Finder(graph, crossings).Find(keep_all_tensors);
  return crossings;
}

}  // namespace intaglio::nn
