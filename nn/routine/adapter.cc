#include "intaglio/nn/routine/adapter.h"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "intaglio/pack/aligned_buffer.h"

namespace intaglio::nn {
namespace {

using Buffer = std::vector<std::byte>;

size_t BytesOf(const Tensor& tensor) { return *CountBytes(tensor.shape, tensor.type); }

class TransferringRoutine final : public Routine {
 public:
  TransferringRoutine(const LayerView& layer, PreparedLayer on_host,
                      std::shared_ptr<const Transfer> transfer)
      : transfer_(std::move(transfer)),
        on_host_(std::move(on_host)),
        scratch_(AlignedBuffer::Allocate(on_host_.scratch_bytes)) {
    if (scratch_.data() == nullptr && on_host_.scratch_bytes > 0) throw std::bad_alloc();
    for (size_t i = 0; i < layer.input_count(); ++i) {
      const bool comes = layer.has_input(i) && !layer.input(i).constant;
      inputs_.emplace_back(comes ? BytesOf(layer.input(i)) : 0);
    }
    for (size_t i = 0; i < layer.layer().outputs.size(); ++i) {
      outputs_.emplace_back(BytesOf(layer.output(i)));
    }
    if (!outputs_.empty()) stride_ = LineBytes(layer.output());
  }

  Status Run(const RunArguments& arguments) const override {
    const std::lock_guard lock(mutex_);
    std::vector<const void*> inputs(arguments.inputs.begin(), arguments.inputs.end());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs_[i].empty()) continue;
      INTAGLIO_RETURN_IF_ERROR(transfer_->ToHost(inputs_[i].data(), inputs[i], inputs_[i].size()));
      inputs[i] = inputs_[i].data();
    }
    INTAGLIO_RETURN_IF_ERROR(transfer_->Wait());
    std::vector<void*> outputs;
    for (Buffer& output : outputs_) outputs.push_back(output.data());
    INTAGLIO_RETURN_IF_ERROR(
        on_host_.routine->Run({arguments.context, inputs, outputs, scratch_.data(),
                               arguments.variables, stride_, arguments.rounds_left}));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      INTAGLIO_RETURN_IF_ERROR(
          transfer_->ToDevice(arguments.outputs[i], outputs_[i].data(), outputs_[i].size()));
    }
    return {};
  }

 private:
  std::shared_ptr<const Transfer> transfer_;
  PreparedLayer on_host_;
  mutable std::mutex mutex_;
  mutable std::vector<Buffer> inputs_;  // empty where nothing is copied
  mutable std::vector<Buffer> outputs_;
  AlignedBuffer scratch_;
  ptrdiff_t stride_ = 0;
};

}  // namespace

Result<PreparedLayer> ThroughTransfers(const LayerView& layer, PreparedLayer on_host,
                                       std::shared_ptr<const Transfer> transfer) {
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (layer.has_input(i) && layer.input(i).variable) {
      return layer.Unsupported("the host cannot reach the variable '" + layer.input(i).name + "'");
    }
  }
  PreparedLayer prepared;
  prepared.name = on_host.name;
  prepared.kernel = on_host.kernel;
  prepared.macs = on_host.macs;
  prepared.work = on_host.work;
  prepared.round_work = on_host.round_work;
  prepared.constant_bytes = on_host.constant_bytes;
  prepared.routine =
      std::make_shared<const TransferringRoutine>(layer, std::move(on_host), std::move(transfer));
  return prepared;
}

}  // namespace intaglio::nn
