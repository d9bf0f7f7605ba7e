// A graph made ready to run on this machine: shapes and types checked, constants packed,
// multipliers computed, one arena planned. Start reading nn/ here.
#ifndef INTAGLIO_NN_RUNTIME_MODEL_H_
#define INTAGLIO_NN_RUNTIME_MODEL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/winograd_weights.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/routine/candidates.h"

namespace intaglio::nn {

class Backend;

// How one layer shall be computed, where that is not the default.
struct RoutineChoice {
  std::string layer;         // its label, or its number, from 0
  std::string routine = {};  // one of Model::ListRoutines, "cpu:qint8/gemm"; empty: the default
  std::string kernel = {};   // the GEMM kernel of this layer; empty: that of PrepareOptions
  int threads = 0;           // the most that the layer may use; 0: all of them
};

struct PrepareOptions {
  // The number of threads that prepare the layers and run them, including the caller's.
  int threads = 1;
  // Runs them in the caller's pool instead of threads of our own.
  ParallelFor parallel_for = {};
  // The GEMM kernel for all layers (`intaglio cpu` lists them). Empty: the best for this CPU.
  std::string kernel = {};
  // Gives every tensor memory of its own, so that TensorData shows it after a run. For debugging.
  bool keep_all_tensors = false;
  // Refuses what CheckIntegerOnly (nn/passes/integer_only.h) refuses, and runs the rest without a
  // floating-point instruction, for CPUs without such a unit. The results are the same bits.
  bool integer_only = false;
  // How products of float32 are added, in the layers that docs/numerics.md names.
  FloatSums float_sums = FloatSums::kFused;
  // When the weights of 3x3 convolutions are transformed, where `routines` does not say.
  WinogradWeights winograd_weights = WinogradWeights::kBySize;
  // Runs the model elsewhere than on this CPU (nn/cuda/backend.h). The kernel is the backend's
  // choice then.
  std::shared_ptr<const Backend> backend = {};
  // Lets single layers run elsewhere: those for which `routines` names a routine of this backend,
  // such as "cuda:qint8/gemm". All other layers run on this CPU. The model copies tensors between
  // the two memories where layers of the other one read them, each once. Layers with variables
  // stay on the CPU. Both memories have an arena of the same size. Not together with `backend`.
  std::shared_ptr<const Backend> device = {};
  // What preparing and running may take. What exceeds it is refused before it is allocated.
  Limits limits = {};
  // An error if there is no such layer, routine or kernel, or if the routine does not accept the
  // layer.
  std::vector<RoutineChoice> routines = {};
};

// A caller's buffer for one input or output: dense, row-major, any alignment. The type and the
// number of bytes must be exactly the model's.
struct InputBuffer {
  const void* data = nullptr;
  size_t bytes = 0;
  Type type = Type::kInt8;
};
struct OutputBuffer {
  void* data = nullptr;
  size_t bytes = 0;
  Type type = Type::kInt8;
};
template <class T>
InputBuffer MakeInput(std::span<const T> values) {
  return {values.data(), values.size_bytes(), TypeOf<T>};
}
template <class T>
OutputBuffer MakeOutput(std::span<T> values) {
  return {values.data(), values.size_bytes(), TypeOf<T>};
}
// Takes any vector, array or similar range, which must outlive the buffer.
template <std::ranges::contiguous_range Range>
InputBuffer MakeInput(const Range& values) {
  return MakeInput(std::span<const std::ranges::range_value_t<Range>>(values));
}
template <std::ranges::contiguous_range Range>
requires std::ranges::borrowed_range<Range> OutputBuffer MakeOutput(Range&& values) {
  return MakeOutput(
      std::span<std::remove_reference_t<std::ranges::range_reference_t<Range>>>(values));
}

// What Model::Update gives a tensor of a prepared model.
struct TensorUpdate {
  TensorId tensor = kNoTensor;
  // Other elements for a constant, dense, row-major and as many bytes as it has. They are copied.
  // Null: it keeps its own.
  const void* data = nullptr;
  size_t bytes = 0;
  // Other scales and zero points; no value: it keeps its own.
  std::optional<Quantization> quantization = std::nullopt;
};

// Where a tensor lies in the arena, and from which layer's run to which it is alive. Layers count
// from 0; inputs of the graph are alive from -1, outputs to the number of layers.
struct Placement {
  TensorId tensor = kNoTensor;
  size_t offset = 0;
  size_t bytes = 0;  // from the first to the last
  int first = 0;
  int last = 0;
  // If this is not 0, the tensor lies line by line inside the result of a concatenation. It is the
  // number of bytes from one line of its last dimension to the next. The bytes between belong to
  // other tensors.
  size_t stride = 0;
};

// What was decided for a layer.
struct LayerInfo {
  std::string label;
  std::string operator_name;  // "CONV_2D"
  std::string routine;        // "cpu:qint8/gemm"
  std::string kernel = {};    // the micro-kernel of a packed layer, else empty
  int64_t macs = 0;           // multiply-accumulates of one run; a loop counts one round
  int64_t work = 0;           // steps of all kinds, as Limits::max_work counts them
  size_t constant_bytes = 0;  // packed weights, tables, multipliers
  size_t scratch_bytes = 0;   // in the arena, during this layer; others may have the same
  size_t scratch_offset = 0;
  bool in_place = false;        // the first output takes the memory of an input, or of all
  TensorId output = kNoTensor;  // the first output: shape and type stand in graph().tensors
};

// After fork(), the child has a copy of every model, which it may run, share and destroy. The rules
// for contexts (gemm/context.h) apply to models too. Share works even if another thread of the
// parent was running the model at that moment. Backends of a device may promise less.
class Model {
 public:
  // Takes the graph (pass std::move). Errors name the layer and the offending value.
  static Result<Model> Prepare(Graph graph, const PrepareOptions& options = {});

  // As above, but does not pack again what any of `earlier` has packed of the same constants in the
  // same form. The results are the same. Graphs have the same constants if they are copies.
  static Result<Model> Prepare(Graph graph, const PrepareOptions& options,
                               std::span<const Model* const> earlier);

  // A second instance of the same model, with an arena and threads of its own, which shares
  // everything constant. Instances may run at once; one instance serves one caller at a time.
  Result<Model> Share() const;

  // Gives the inputs other shapes, as ResizeInputs (nn/passes/infer_shapes.h) does, and prepares
  // this instance for them as Prepare would prepare the new graph, within the same limits. Packed
  // weights are not packed again where the new shapes use them in the same form. Variables start
  // anew. Tensors keep their ids, but layers may be fewer or more.
  //
  // An error leaves the instance as it was. So both arenas exist for a moment. Bound buffers are an
  // error: unbind them before, and bind buffers of the new sizes after it. Pointers from InputData,
  // OutputData and TensorData become invalid. Instances that Share made keep their shapes; those
  // that it makes later have the new ones.
  Status Resize(const std::vector<Shape>& input_shapes);

  // Gives constants other elements, and tensors other quantizations, as training changes them from
  // step to step. Then this instance gives the bits that Prepare gives with the changed graph. Only
  // the layers that read or write one of these tensors are prepared anew. Threads stay, and so does
  // the plan of memory, unless such a layer now wants other memory. The state starts anew.
  //
  // An error leaves the instance as it was. Bound buffers are an error: unbind them before.
  // Pointers from InputData, OutputData and TensorData become invalid. Instances that Share made
  // keep their constants; those that it makes later have the new ones. Works only on the CPU.
  Status Update(std::span<const TensorUpdate> updates);

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  // Inputs and outputs are in the graph's order. Run returns an error if any buffer is bound. It
  // allocates nothing, except in layers whose weights are activations, if they are depthwise,
  // transposed, or of float32 or int16. The first run also makes the context start its threads and
  // make their scratch, unless WarmUp came before.
  //
  // If `layer_times` is not empty, it must have one element per layer, which receives the time of
  // that layer; on a backend that only enqueues, the time to enqueue it. With
  // PrepareOptions::device, each layer on the device is waited for then, and copies between the
  // memories count for no layer. An error leaves the outputs undefined and the model usable.
  Status Run(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
             std::span<std::chrono::nanoseconds> layer_times = {});

  // Binds a buffer of the caller that RunBound uses in place, without a copy. The buffer must live
  // until it is unbound, by a buffer whose data is null. Its address must be a multiple of the size
  // of its type; any other address is an error. Bound inputs are only read. Layers may write bound
  // outputs at any time during a run. No bound output may overlap another bound buffer, but inputs
  // may overlap each other. Binding works only on the CPU. Instances that Share makes have their
  // own bindings.
  //
  // All inputs are used in place. So are all outputs, except those that are also constants,
  // variables, inputs or other outputs, and those that lie among the lines of a larger tensor.
  // These are copied.
  Status BindInput(size_t i, const InputBuffer& buffer);
  Status BindOutput(size_t i, const OutputBuffer& buffer);

  // Returns the bound buffer or, if none is bound, the model's own memory. Write all inputs before
  // each RunBound, because a run may overwrite those in the model's memory. Read outputs after it,
  // before the next run. Binding any buffer may move the model's memory. The result is null on any
  // backend except the CPU.
  void* InputData(size_t i);
  const void* OutputData(size_t i) const;

  // Like Run, but on the bound buffers and the memory of InputData and OutputData.
  Status RunBound(std::span<std::chrono::nanoseconds> layer_times = {});

  // Runs the layers alone, so that a caller can time them. They run on whatever the arena holds, so
  // the results mean nothing. A backend that only enqueues is not waited for.
  Status RunLayersForTiming();

  // Runs once on zeros, so that Run finds all that it needs, and resets the state. Bound buffers
  // are neither read nor written. A layer that refuses zeros (a division, or an index into nothing)
  // is no error here, and the layers behind it still run. A loop takes 16 rounds at most. It is an
  // error only if the first Run would lack something in any case: memory, or the backend.
  Status WarmUp();

  // Gives the variables of this instance their first values: those that a sequence starts with.
  // Runs that follow each other continue it. After a run that failed, reset before the next.
  void ResetState();

  const Graph& graph() const;
  size_t input_count() const { return graph().inputs.size(); }
  size_t output_count() const { return graph().outputs.size(); }
  const Tensor& input(size_t i) const {
    return graph().tensors[static_cast<size_t>(graph().inputs[i])];
  }
  const Tensor& output(size_t i) const {
    return graph().tensors[static_cast<size_t>(graph().outputs[i])];
  }

  // One per layer of the graph, in its order.
  const std::vector<LayerInfo>& layers() const;

  // The candidates for a layer's routine, in order of preference, with the reason why those that do
  // not accept the layer do not. Only for layers that there are.
  std::vector<CandidateInfo> ListRoutines(size_t layer) const;

  // The memory plan, known before the first run: the arena is all the memory that tensors and
  // routines use; the context's scratch for threads comes on top. If layers run on a device, its
  // arena counts, too.
  size_t arena_bytes() const;
  const std::vector<Placement>& placements() const;

  // Packed weights, tables and multipliers of all layers.
  size_t constant_bytes() const;

  // The quantities that Limits count: the memory that preparing took, including the arena; how much
  // was allowed; and the steps of a run.
  size_t taken_bytes() const;
  size_t max_bytes() const;
  int64_t work() const;

  // How products of float32 are added: fused if that was asked for and the kernel's CPUs all have
  // fused multiply-adds. Models with the same answer give the same bits.
  FloatSums float_sums() const;

  // The elements of a tensor after a run, in the backend's memory. Only for constants, which lie in
  // the host's memory, variables and outputs of the graph, and with keep_all_tensors for all
  // tensors. Null for the rest.
  const void* TensorData(TensorId tensor) const;

 private:
  Status RunLayers(std::span<std::chrono::nanoseconds> layer_times);
  Status CheckTimes(std::span<std::chrono::nanoseconds> layer_times) const;

  struct Prepared;  // immutable, shared
  struct Instance;  // arena, pointers, context
  explicit Model(std::unique_ptr<Instance> instance);
  std::unique_ptr<Instance> instance_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_RUNTIME_MODEL_H_
