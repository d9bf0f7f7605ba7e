#include "intaglio/nn/cuda/backend.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/cuda/layers.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/adapter.h"
#include "intaglio/nn/routine/candidates.h"
#include "intaglio/nn/routine/memory_plan.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/runtime/backend.h"

namespace intaglio::nn::cuda {
namespace {

class CudaTransfer final : public Transfer {
 public:
  explicit CudaTransfer(const Stream& stream) : stream_(stream) {}
  Status ToHost(void* to, const void* from, size_t bytes) const override {
    return device::Copy(stream_, to, from, bytes);
  }
  Status ToDevice(void* to, const void* from, size_t bytes) const override {
    return device::Copy(stream_, to, from, bytes);
  }
  Status Wait() const override { return device::Wait(stream_); }

 private:
  Stream stream_;
};

struct CudaDevice final : Device {
  explicit CudaDevice(const Stream& s) : stream(s), transfer(new CudaTransfer(s)) {}

  Stream stream;
  std::shared_ptr<const Transfer> transfer;
};

const CudaDevice& DeviceOf(const LayerOptions& options) {
  return static_cast<const CudaDevice&>(*options.device);
}

template <class... Ops>
bool Holds(const LayerView& layer) {
  return (layer.layer().op.Is<Ops>() || ...);
}

bool Fits(const Tensor& tensor, bool may_be_real) {
  return (kEightBit & SetOf(tensor.type)) != 0 || (may_be_real && tensor.type == Type::kFloat32);
}

// The inputs that a routine finds in the arena: all but weights and biases.
size_t DataInputs(const LayerView& layer) {
  return Holds<Conv2D, DepthwiseConv2D, FullyConnected>(layer) ? 1 : layer.input_count();
}

const char* WhyNotOnDevice(const LayerView& layer, const LayerOptions&) {
  constexpr const char* kOtherTypes = "the device computes int8 and uint8";
  if (IsOnnx(layer.numerics().scaling)) return "the device has TFLite's rules alone";
  const bool may_be_constant = Holds<Add, Sub, Mul, Concatenation>(layer);
  for (size_t i = 0; i < DataInputs(layer); ++i) {
    if (!layer.has_input(i)) continue;
    const Tensor& input = layer.input(i);
    if (!Fits(input, Holds<Quantize>(layer))) return kOtherTypes;
    if ((input.constant && !may_be_constant) || input.variable) {
      return "the device reads no constant or variable here";
    }
  }
  return Fits(layer.output(), Holds<Dequantize>(layer)) ? nullptr : kOtherTypes;
}

// From here to the end of the network there is only SOFTMAX of real numbers, whose exponential is
// the CPU's.
const char* NeedsRealTail(const LayerView& layer, const LayerOptions&) {
  const Graph& graph = layer.graph();
  const ptrdiff_t index = &layer.layer() - graph.layers.data();
  const bool tail =
      std::all_of(graph.layers.begin() + index, graph.layers.end(), [&](const Layer& l) {
        return l.op.Is<Softmax>() &&
               graph.tensors[static_cast<size_t>(l.inputs[0])].type == Type::kFloat32;
      });
  return tail ? nullptr : "the device's layers follow";
}

// A candidate's prepare, of a function that wants the stream.
template <auto kPrepare>
Result<PreparedLayer> WithStream(const LayerView& layer, const LayerOptions& options) {
  return kPrepare(DeviceOf(options).stream, layer);
}

Result<PreparedLayer> PrepareOnHost(const LayerView& layer, const LayerOptions& options) {
  Result<PreparedLayer> on_host = nn::Prepare(layer, LayerOptions{});
  if (!on_host.ok()) return on_host;
  return ThroughTransfers(layer, std::move(*on_host), DeviceOf(options).transfer);
}

template <auto kPrepare>
constexpr Candidate OnDevice(const char* algorithm, TypeSet types = kEightBit) {
  return {.algorithm = algorithm,
          .prepare = WithStream<kPrepare>,
          .types = types,
          .why_not = WhyNotOnDevice,
          .bounded = 0,
          .backend = "cuda"};
}

constexpr Candidate kQuantizeWays[] = {OnDevice<PrepareQuantize>("quantize", kFloat),
                                       OnDevice<PrepareTable>("table")};
constexpr Candidate kSoftmaxWays[] = {OnDevice<PrepareSoftmax>("softmax"),
                                      {"softmax", PrepareOnHost, kFloat, NeedsRealTail}};
constexpr Candidate kTable = OnDevice<PrepareTable>("table");
constexpr Candidate kAlias = OnDevice<PrepareAlias>("copy");

// The candidates of the device for each operator.
struct DeviceRow {
  const OperatorRow* op;
  Candidates candidates;
};

constexpr DeviceRow kRows[] = {
    {&Conv2D::kRow, OnDevice<PrepareConv2D>("gemm")},
    {&DepthwiseConv2D::kRow, OnDevice<PrepareDepthwiseConv2D>("depthwise")},
    {&FullyConnected::kRow, OnDevice<PrepareFullyConnected>("gemm")},
    {&Add::kRow, OnDevice<PrepareAdd>("add")},
    {&Sub::kRow, OnDevice<PrepareSub>("sub")},
    {&Mul::kRow, OnDevice<PrepareProduct>("mul")},
    {&Concatenation::kRow, OnDevice<PrepareConcatenation>("copy")},
    {&Quantize::kRow, kQuantizeWays},
    {&Dequantize::kRow, OnDevice<PrepareDequantize>("dequantize")},
    {&Softmax::kRow, kSoftmaxWays},
    {&AveragePool2D::kRow, OnDevice<PrepareAveragePool2D>("average_pool")},
    {&MaxPool2D::kRow, OnDevice<PrepareMaxPool2D>("max_pool")},
    {&Mean::kRow, OnDevice<PrepareMean>("mean")},
    {&Pad::kRow, OnDevice<PreparePad>("pad")},
    {&Reshape::kRow, kAlias},
    {&Squeeze::kRow, kAlias},
    {&ExpandDims::kRow, kAlias},
    {&Logistic::kRow, kTable},
    {&Tanh::kRow, kTable},
    {&Relu::kRow, kTable},
    {&Relu6::kRow, kTable},
    {&ReluN1To1::kRow, kTable},
    {&HardSwish::kRow, kTable},
    {&Elu::kRow, kTable},
    {&Gelu::kRow, kTable},
    {&LeakyRelu::kRow, kTable},
};

std::span<const Candidate> CandidatesOf(const LayerView& layer) {
  for (const DeviceRow& row : kRows) {
    if (row.op == &layer.layer().op.row()) return row.candidates.list();
  }
  return {};
}

class CudaBackend final : public Backend {
 public:
  CudaBackend(const Stream& stream, const BackendOptions& options)
      : device_(stream), options_(options) {}

  std::string name() const override { return "cuda"; }
  std::string hardware() const override { return device_.stream.device().name; }

  Result<PreparedLayer> Prepare(const Graph& graph, size_t index,
                                const LayerChoice& choice) const override {
    const LayerView layer(graph, index);
    if (!choice.kernel.empty() || choice.threads != 0) {
      return layer.Unsupported("a device chooses its kernels and threads itself");
    }
    const LayerOptions options = OptionsOf(choice.routine);
    const Result<const Candidate*> chosen = ChooseCandidate(CandidatesOf(layer), layer, options);
    if (chosen.ok()) return PrepareCandidate(**chosen, layer, options);
    if (!options_.others_on_host || !choice.routine.empty()) return chosen.status();
    return PrepareOnHost(layer, options);
  }

  std::vector<CandidateInfo> ListCandidates(const Graph& graph, size_t index) const override {
    const LayerView layer(graph, index);
    return nn::ListCandidates(CandidatesOf(layer), layer, OptionsOf({}));
  }

  bool prepares_at_once() const override { return false; }

  Result<std::shared_ptr<std::byte>> Allocate(size_t bytes) const override {
    static_assert(256 % kArenaAlignment == 0);
    auto memory = device::Allocate(bytes);
    if (!memory.ok()) return memory.status();
    INTAGLIO_RETURN_IF_ERROR(device::Fill(device_.stream, memory->get(), 0, bytes));
    return std::shared_ptr<std::byte>(*memory, static_cast<std::byte*>(memory->get()));
  }

  Status CopyIn(std::byte* to, const void* from, size_t bytes) const override {
    return device::Copy(device_.stream, to, from, bytes);
  }
  Status CopyOut(void* to, const void* from, size_t bytes) const override {
    INTAGLIO_RETURN_IF_ERROR(device::Copy(device_.stream, to, from, bytes));
    return device::Wait(device_.stream);
  }
  Status Fill(std::byte* to, int byte, size_t bytes) const override {
    return device::Fill(device_.stream, to, byte, bytes);
  }
  Status Wait() const override { return device::Wait(device_.stream); }

 private:
  LayerOptions OptionsOf(const std::string& routine) const {
    LayerOptions options;
    options.routine = routine;
    options.device = &device_;
    return options;
  }

  CudaDevice device_;
  BackendOptions options_;
};

}  // namespace

Result<std::shared_ptr<const Backend>> MakeBackend(CUstream_st* stream,
                                                   const BackendOptions& options) {
  auto wrapped = Stream::Wrap(stream);
  if (!wrapped.ok()) return wrapped.status();
  return std::shared_ptr<const Backend>(std::make_shared<const CudaBackend>(*wrapped, options));
}

}  // namespace intaglio::nn::cuda
