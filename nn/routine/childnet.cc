#include "intaglio/nn/routine/childnet.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/routine/program.h"
#include "intaglio/nn/routine/routine_name.h"

namespace intaglio::nn {
namespace {

constexpr int kInside = -1;  // of the arena of the childnet
constexpr int kOutput = -2;

// Where each tensor of a childnet lies: at the layer's input with that number, at the layer's
// output, or inside the arena.
class Places {
 public:
  Places(const LayerView& layer, const Program& program)
      : program_(program), places_(program.graph().tensors.size(), kInside) {
    PlaceInputs(layer);
    PlaceOutput();
  }

  const std::vector<int>& of_tensors() const { return places_; }

 private:
  int& At(TensorId id) { return places_[static_cast<size_t>(id)]; }
  const Graph& graph() const { return program_.graph(); }

  // A reshaped input lies where the input lies. Whoever takes its memory in place does not: that is
  // another tensor, which stays inside.
  void PlaceInputs(const LayerView& layer) {
    size_t next = 0;
    for (size_t i = 0; i < layer.input_count() && next < graph().inputs.size(); ++i) {
      if (layer.has_input(i) && !layer.input(i).constant) {
        At(graph().inputs[next++]) = static_cast<int>(i);
      }
    }
    for (size_t i = 0; i < graph().layers.size(); ++i) {
      if (!IsAlias(i)) continue;
      const Layer& of_graph = graph().layers[i];
      if (At(of_graph.inputs[0]) >= 0) At(of_graph.outputs[0]) = At(of_graph.inputs[0]);
    }
  }

  // What is reshaped last lies where the output lies.
  void PlaceOutput() {
    const TensorId output = graph().outputs[0];
    if (InLines(output) || At(output) != kInside) return;
    if (graph().tensors[static_cast<size_t>(output)].constant) return;
    At(output) = kOutput;
    for (size_t i = graph().layers.size(); i-- > 0;) {
      if (!IsAlias(i)) continue;
      const Layer& of_graph = graph().layers[i];
      const TensorId from = of_graph.inputs[0];
      const bool may_move = At(from) == kInside && !InLines(from) &&
                            !graph().tensors[static_cast<size_t>(from)].constant;
      if (At(of_graph.outputs[0]) == kOutput && may_move) At(from) = kOutput;
    }
  }

  bool IsAlias(size_t i) const { return program_.layers()[i].alias; }

  // Whether tensors of the same block lie among the lines of a concatenation. They cannot move.
  bool InLines(TensorId id) const {
    const MemoryPlan& plan = program_.plan();
    const int block = plan.tensor_block[static_cast<size_t>(id)];
    for (size_t i = 0; i < plan.tensor_block.size(); ++i) {
      if (plan.tensor_block[i] == block && plan.tensor_stride[i] != 0) return true;
    }
    return false;
  }

  const Program& program_;
  std::vector<int> places_;
};

size_t Aligned(size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// The scratch holds the arena, and then the addresses of all tensors.
class ChildnetRoutine final : public Routine {
 public:
  ChildnetRoutine(const LayerView& layer, Program program)
      : program_(std::move(program)), places_(Places(layer, program_).of_tensors()) {
    const Graph& graph = program_.graph();
    const auto output = static_cast<size_t>(graph.outputs[0]);
    if (places_[output] != kOutput)
      copied_bytes_ = *CountBytes(graph.tensors[output].shape, graph.tensors[output].type);
  }

  size_t scratch_bytes() const {
    const size_t pointers = program_.read_count() + program_.write_count() + places_.size();
    return Aligned(program_.plan().arena_bytes) + pointers * sizeof(void*);
  }
  const Program& program() const { return program_; }

  Status Run(const RunArguments& arguments) const override {
    auto* const arena = static_cast<std::byte*>(arguments.scratch);
    auto** const pointers = reinterpret_cast<void**>(arena + Aligned(program_.plan().arena_bytes));
    const Addresses addresses{const_cast<const void**>(pointers), pointers + program_.read_count()};
    Bind(arguments, addresses);
    for (size_t i = 0; i < program_.layers().size(); ++i) {
      INTAGLIO_RETURN_IF_ERROR(
          program_.RunLayer(i, arguments.context, addresses, arguments.rounds_left));
    }
    if (copied_bytes_ > 0) {
      const TensorId output = program_.graph().outputs[0];
      const int place = places_[static_cast<size_t>(output)];
      const void* const from =
          place >= 0 ? arguments.inputs[static_cast<size_t>(place)] : program_.Read(arena, output);
      std::memcpy(arguments.outputs[0], from, copied_bytes_);
    }
    return {};
  }

 private:
  void Bind(const RunArguments& arguments, const Addresses& addresses) const {
    auto** const moved = reinterpret_cast<std::byte**>(addresses.writes + program_.write_count());
    for (size_t i = 0; i < places_.size(); ++i) {
      const int place = places_[i];
      // Layers only read inputs; the pointer has the type of other tensors' memory.
      void* const to = place >= 0 ? const_cast<void*>(arguments.inputs[static_cast<size_t>(place)])
                       : place == kOutput ? arguments.outputs[0]
                                          : nullptr;
      moved[i] = static_cast<std::byte*>(to);
    }
    program_.Bind(static_cast<std::byte*>(arguments.scratch), addresses, {moved, places_.size()});
  }

  Program program_;
  std::vector<int> places_;
  size_t copied_bytes_ = 0;  // of the output, if no layer writes it where it belongs
};

// One for each layer of the graph.
Result<std::vector<LayerChoice>> ChoicesFor(const LayerView& layer, const Graph& graph,
                                            const std::string& routine) {
  const Result<std::vector<ChildChoice>> named = ChildChoicesIn(routine);
  if (!named.ok()) return layer.Wrap(named.status());
  std::vector<LayerChoice> choices(graph.layers.size());
  std::vector<bool> is_named(graph.layers.size());
  for (const ChildChoice& child : *named) {
    if (child.layer >= choices.size() || is_named[child.layer]) {
      return layer.Unsupported("the childnet of '" + std::string(CandidateIn(routine)) + "' has " +
                               std::to_string(choices.size()) + " layers; a choice for layer " +
                               std::to_string(child.layer) +
                               (child.layer < choices.size() ? " comes twice" : " is too many"));
    }
    is_named[child.layer] = true;
    choices[child.layer] = child.choice;
  }
  return choices;
}

// Whether a tensor of a childnet is a constant that the layer which it stands for does not have.
bool IsOwnConstant(const Tensor& tensor, const LayerView& of) {
  for (size_t i = 0; i < of.input_count(); ++i) {
    if (of.has_input(i) && of.input(i).data == tensor.data) return false;
  }
  return tensor.constant;
}

bool HasOwnConstants(const LayerView& child, const LayerView& of) {
  for (size_t i = 0; i < child.input_count(); ++i) {
    if (child.has_input(i) && IsOwnConstant(child.input(i), of)) return true;
  }
  return false;
}

Result<PreparedLayer> PrepareChild(const LayerView& child, const LayerView& of,
                                   const LayerOptions& outer, const LayerChoice& choice) {
  LayerOptions options = outer;
  options.routine = choice.routine;
  if (!choice.kernel.empty()) {
    const Result<const Kernel*> kernel = KernelNamed(choice.kernel);
    if (!kernel.ok()) return child.Wrap(kernel.status());
    options.kernel = (*kernel)->name;
  }
  // Others may find constants that were made for this childnet alone at the same address later.
  if (HasOwnConstants(child, of)) options.packed = nullptr;
  Result<PreparedLayer> prepared = Prepare(child, options);
  if (prepared.ok()) prepared->threads = choice.threads;
  return prepared;
}

Status CheckEnds(const LayerView& layer, const Graph& graph) {
  size_t inputs = 0;
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (layer.has_input(i) && !layer.input(i).constant) ++inputs;
  }
  const bool fits = graph.inputs.size() == inputs && graph.outputs.size() == 1 &&
                    layer.layer().outputs.size() == 1 && !graph.layers.empty();
  return fits ? Status() : layer.Unsupported("its childnet has other inputs and outputs");
}

// Whether the layers of a childnet that read a constant have all packed it.
bool IsPacked(const Program& program, const Tensor& constant) {
  bool packed = false;
  for (size_t i = 0; i < program.layers().size(); ++i) {
    const std::vector<TensorId>& inputs = program.graph().layers[i].inputs;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k] == kNoTensor) continue;
      if (program.graph().tensors[static_cast<size_t>(inputs[k])].data != constant.data) continue;
      if (k >= 32 || (program.layers()[i].packed_inputs >> k & 1) == 0) return false;
      packed = true;
    }
  }
  return packed;
}

size_t OwnConstantBytes(const LayerView& layer, const Graph& graph) {
  size_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (IsOwnConstant(tensor, layer)) bytes += tensor.data_bytes;
  }
  return bytes;
}

}  // namespace

Result<PreparedLayer> PrepareChildnet(const LayerView& layer, const LayerOptions& options,
                                      Graph graph) {
  if (const Status s = Validate(graph); !s.ok()) return layer.Wrap(s);
  INTAGLIO_RETURN_IF_ERROR(CheckEnds(layer, graph));
  const Result<std::vector<LayerChoice>> choices = ChoicesFor(layer, graph, options.routine);
  if (!choices.ok()) return choices.status();
  Result<Program> program = Program::Make(
      std::move(graph),
      [&](const Graph& g, size_t i) {
        return PrepareChild(LayerView(g, i), layer, options, (*choices)[i]);
      },
      false, nullptr, options.ledger.get());
  if (!program.ok()) return layer.Wrap(program.status());
  const auto routine = std::make_shared<ChildnetRoutine>(layer, std::move(*program));
  const Program& made = routine->program();
  PreparedLayer prepared;
  prepared.macs = made.macs();
  prepared.work = made.work();
  prepared.round_work = made.round_work();
  prepared.constant_bytes = made.constant_bytes() + OwnConstantBytes(layer, made.graph());
  prepared.scratch_bytes = routine->scratch_bytes();
  for (const PreparedLayer& child : made.layers()) {
    if (!child.kernel.empty()) prepared.kernel = options.kernel;
  }
  for (size_t i = 0; i < std::min<size_t>(layer.input_count(), 32); ++i) {
    const bool packed =
        layer.has_input(i) && layer.input(i).constant && IsPacked(made, layer.input(i));
    if (packed) prepared.packed_inputs |= 1u << i;
  }
  prepared.routine = routine;
  return prepared;
}

}  // namespace intaglio::nn
