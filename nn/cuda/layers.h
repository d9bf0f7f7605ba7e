// The layers that the device has, each made ready with its constants uploaded.
#ifndef INTAGLIO_NN_CUDA_LAYERS_H_
#define INTAGLIO_NN_CUDA_LAYERS_H_

#include <memory>
#include <utility>

#include "intaglio/gemm/cuda/jobs.h"
#include "intaglio/gemm/cuda/memory.h"
#include "intaglio/gemm/cuda/stream.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn::cuda {

namespace device = intaglio::cuda;
using device::Stream;

// All tensors have 8-bit types, except the real side of QUANTIZE and DEQUANTIZE. Only weights,
// biases, and operands of sums, products and concatenations may be constants. Errors name the
// layer.
Result<PreparedLayer> PrepareConv2D(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareFullyConnected(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareDepthwiseConv2D(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareAveragePool2D(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareMaxPool2D(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareMean(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareAdd(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareSub(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareProduct(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareQuantize(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareDequantize(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareConcatenation(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareSoftmax(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PreparePad(const Stream& stream, const LayerView& layer);
Result<PreparedLayer> PrepareAlias(const Stream& stream, const LayerView& layer);
// A function of one number: a table of what the CPU's routine gives for each.
Result<PreparedLayer> PrepareTable(const Stream& stream, const LayerView& layer);

// A layer that enqueues make(arguments), a job.
template <class Make>
PreparedLayer PrepareJob(const Stream& stream, Make make) {
  PreparedLayer prepared;
  prepared.routine = RoutineOf([stream, make = std::move(make)](const RunArguments& arguments) {
    return device::Enqueue(stream, make(arguments));
  });
  return prepared;
}

// The same of a job from input 0 to output 0. `kept` owns what else it points to.
template <class Job>
PreparedLayer PrepareUnary(const Stream& stream, const Job& job,
                           std::shared_ptr<const void> kept = nullptr) {
  return PrepareJob(stream, [job, kept = std::move(kept)](const RunArguments& arguments) {
    Job now = job;
    now.in = static_cast<decltype(now.in)>(arguments.inputs[0]);
    now.out = static_cast<decltype(now.out)>(arguments.outputs[0]);
    return now;
  });
}

// Elements on the device. Waits for the copy.
template <class T>
Result<std::shared_ptr<const T>> Upload(const Stream& stream, const T* values, size_t count) {
  auto memory = device::Allocate(count * sizeof(T));
  if (!memory.ok()) return memory.status();
  INTAGLIO_RETURN_IF_ERROR(device::Copy(stream, memory->get(), values, count * sizeof(T)));
  INTAGLIO_RETURN_IF_ERROR(device::Wait(stream));
  return std::shared_ptr<const T>(*memory, static_cast<const T*>(memory->get()));
}

// A constant input on the device; null for one that a run brings.
inline Result<std::shared_ptr<const uint8_t>> ConstantOf(const Stream& stream,
                                                         const LayerView& layer, size_t input) {
  const Tensor& tensor = layer.input(input);
  if (!tensor.constant) return std::shared_ptr<const uint8_t>();
  auto uploaded = Upload(stream, static_cast<const uint8_t*>(tensor.data), tensor.data_bytes);
  return uploaded.ok() ? uploaded : layer.Wrap(uploaded.status());
}

}  // namespace intaglio::nn::cuda

#endif  // INTAGLIO_NN_CUDA_LAYERS_H_
