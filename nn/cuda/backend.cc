#include "intaglio/nn/cuda/backend.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/cuda/layers.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/routine/memory_plan.h"
#include "intaglio/nn/runtime/backend.h"

namespace intaglio::nn::cuda {
namespace {

// What the device computes, by operator.
struct DeviceRow {
  const OperatorRow* op;
  Result<PreparedLayer> (*prepare)(const Stream& stream, const LayerView& layer);
};

Result<PreparedLayer> PrepareAdd(const Stream& stream, const LayerView& layer) {
  return PrepareSum(stream, layer, 1);
}

Result<PreparedLayer> PrepareSub(const Stream& stream, const LayerView& layer) {
  return PrepareSum(stream, layer, -1);
}

constexpr DeviceRow kRows[] = {
    {&Conv2D::kRow, PrepareConv2D},
    {&DepthwiseConv2D::kRow, PrepareDepthwiseConv2D},
    {&FullyConnected::kRow, PrepareFullyConnected},
    {&Add::kRow, PrepareAdd},
    {&Sub::kRow, PrepareSub},
    {&Mul::kRow, PrepareProduct},
    {&Concatenation::kRow, PrepareConcatenation},
    {&Quantize::kRow, PrepareQuantize},
    {&Dequantize::kRow, PrepareDequantize},
    {&Softmax::kRow, PrepareSoftmax},
    {&AveragePool2D::kRow, PrepareAveragePool2D},
    {&MaxPool2D::kRow, PrepareMaxPool2D},
    {&Mean::kRow, PrepareMean},
    {&Pad::kRow, PreparePad},
    {&Reshape::kRow, PrepareAlias},
    {&Squeeze::kRow, PrepareAlias},
    {&ExpandDims::kRow, PrepareAlias},
    {&Logistic::kRow, PrepareTable},
    {&Tanh::kRow, PrepareTable},
    {&Relu::kRow, PrepareTable},
    {&Relu6::kRow, PrepareTable},
    {&ReluN1To1::kRow, PrepareTable},
    {&HardSwish::kRow, PrepareTable},
    {&Elu::kRow, PrepareTable},
    {&Gelu::kRow, PrepareTable},
    {&LeakyRelu::kRow, PrepareTable},
};

Result<PreparedLayer> PrepareByRow(const Stream& stream, const LayerView& layer) {
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows), [&](const DeviceRow& r) {
    return r.op == &layer.layer().op.row();
  });
  if (row != std::end(kRows)) return row->prepare(stream, layer);
  return layer.Unsupported("the CUDA backend does not have this operator");
}

bool Fits(const Tensor& tensor, bool may_be_real) {
  return tensor.type == Type::kInt8 || tensor.type == Type::kUInt8 ||
         (may_be_real && tensor.type == Type::kFloat32);
}

template <class... Ops>
bool Holds(const LayerView& layer) {
  return (layer.layer().op.Is<Ops>() || ...);
}

// The inputs that a routine finds in the arena: all but weights and biases.
size_t DataInputs(const LayerView& layer) {
  return Holds<Conv2D, DepthwiseConv2D, FullyConnected>(layer) ? 1 : layer.input_count();
}

Status CheckTensors(const LayerView& layer) {
  const bool from_real = Holds<Quantize>(layer);
  const bool to_real = Holds<Dequantize>(layer);
  const bool may_be_constant = Holds<Add, Sub, Mul, Concatenation>(layer);
  for (size_t i = 0; i < DataInputs(layer); ++i) {
    if (!layer.has_input(i)) continue;
    const Tensor& input = layer.input(i);
    if (!Fits(input, from_real)) {
      return layer.Unsupported("the CUDA backend computes int8 and uint8; input '" + input.name +
                               "' is " + NameOf(input.type));
    }
    if ((input.constant && !may_be_constant) || input.variable) {
      return layer.Unsupported("the CUDA backend reads no constant or variable, as input '" +
                               input.name + "' is");
    }
  }
  if (Fits(layer.output(), to_real)) return {};
  return layer.Unsupported("the CUDA backend computes int8 and uint8; output '" +
                           layer.output().name + "' is " + NameOf(layer.output().type));
}

// From here to the end of the network there is only SOFTMAX of real numbers, whose exponential is
// the CPU's.
bool IsRealTail(const Graph& graph, size_t layer) {
  return std::all_of(graph.layers.begin() + static_cast<ptrdiff_t>(layer), graph.layers.end(),
                     [&](const Layer& l) {
                       return l.op.Is<Softmax>() &&
                              graph.tensors[static_cast<size_t>(l.inputs[0])].type ==
                                  Type::kFloat32;
                     });
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const Stream& stream)
      : stream_(stream), host_(MakeHostBackend(LayerOptions{})) {}

  Result<PreparedLayer> Prepare(const Graph& graph, size_t index) const override {
    const LayerView layer(graph, index);
    if (IsRealTail(graph, index)) {
      Result<PreparedLayer> on_host = host_->Prepare(graph, index);
      if (!on_host.ok()) return on_host;
      return PrepareOnHost(stream_, layer, std::move(*on_host));
    }
    INTAGLIO_RETURN_IF_ERROR(CheckTensors(layer));
    return PrepareByRow(stream_, layer);
  }

  bool prepares_at_once() const override { return false; }

  Result<std::shared_ptr<std::byte>> Allocate(size_t bytes) const override {
    static_assert(256 % kArenaAlignment == 0);
    auto memory = device::Allocate(bytes);
    if (!memory.ok()) return memory.status();
    INTAGLIO_RETURN_IF_ERROR(device::Fill(stream_, memory->get(), 0, bytes));
    return std::shared_ptr<std::byte>(*memory, static_cast<std::byte*>(memory->get()));
  }

  Status CopyIn(std::byte* to, const void* from, size_t bytes) const override {
    return device::Copy(stream_, to, from, bytes);
  }
  Status CopyOut(void* to, const void* from, size_t bytes) const override {
    INTAGLIO_RETURN_IF_ERROR(device::Copy(stream_, to, from, bytes));
    return device::Wait(stream_);
  }
  Status Fill(std::byte* to, int byte, size_t bytes) const override {
    return device::Fill(stream_, to, byte, bytes);
  }

 private:
  Stream stream_;
  std::shared_ptr<const Backend> host_;
};

// A layer of one input on the CPU, between two copies.
class HostRoutine final : public Routine {
 public:
  HostRoutine(const Stream& stream, const LayerView& layer, PreparedLayer on_host)
      : stream_(stream),
        on_host_(std::move(on_host)),
        input_(*CountBytes(layer.input(0).shape, layer.input(0).type)),
        output_(*CountBytes(layer.output().shape, layer.output().type)),
        output_stride_(LineBytes(layer.output())),
        scratch_(on_host_.scratch_bytes) {}

  Status Run(const RunArguments& arguments) const override {
    const std::lock_guard lock(mutex_);
    INTAGLIO_RETURN_IF_ERROR(
        device::Copy(stream_, input_.data(), arguments.inputs[0], input_.size()));
    INTAGLIO_RETURN_IF_ERROR(device::Wait(stream_));
    const void* const inputs[] = {input_.data()};
    void* const outputs[] = {output_.data()};
    INTAGLIO_RETURN_IF_ERROR(
        on_host_.routine->Run({arguments.context, inputs, outputs, scratch_.data(),
                               arguments.variables, output_stride_, arguments.rounds_left}));
    return device::Copy(stream_, arguments.outputs[0], output_.data(), output_.size());
  }

 private:
  Stream stream_;
  PreparedLayer on_host_;
  mutable std::mutex mutex_;  // instances of a model share the buffers
  mutable std::vector<std::byte> input_;
  mutable std::vector<std::byte> output_;
  ptrdiff_t output_stride_;
  mutable std::vector<std::byte> scratch_;
};

}  // namespace

std::string DeviceRoutineName(Type type, const char* algorithm) {
  return "cuda" + RoutineName(type, algorithm).substr(3);
}

Result<PreparedLayer> PrepareOnHost(const Stream& stream, const LayerView& layer,
                                    PreparedLayer on_host) {
  PreparedLayer prepared;
  prepared.name = on_host.name;
  prepared.constant_bytes = on_host.constant_bytes;
  prepared.routine = std::make_shared<const HostRoutine>(stream, layer, std::move(on_host));
  return prepared;
}

Result<std::shared_ptr<const Backend>> MakeBackend(CUstream_st* stream) {
  auto wrapped = Stream::Wrap(stream);
  if (!wrapped.ok()) return wrapped.status();
  return std::shared_ptr<const Backend>(std::make_shared<const CudaBackend>(*wrapped));
}

}  // namespace intaglio::nn::cuda
