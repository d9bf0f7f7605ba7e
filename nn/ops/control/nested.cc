#include "intaglio/nn/ops/control/nested.h"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "intaglio/nn/routine/prepare.h"

namespace intaglio::nn {
namespace {

Status InNested(const LayerView& layer, const char* what, const Status& status) {
  return layer.Wrap({status.code(), std::string(what) + ": " + status.message()});
}

size_t Aligned(size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

size_t ReadBytes(const Program& program) { return program.read_count() * sizeof(const void*); }

}  // namespace

Status CheckLike(const LayerView& layer, const Tensor& tensor, const Tensor& expected,
                 const std::string& what) {
  if (tensor.type == expected.type && tensor.shape == expected.shape) return {};
  return layer.Invalid(what + " '" + tensor.name + "' is " + NameOf(tensor.type) + " " +
                       ToString(tensor.shape) + ", not " + NameOf(expected.type) + " " +
                       ToString(expected.shape));
}

Status CheckNested(const LayerView& layer, const Graph* graph, const char* what, size_t first) {
  if (graph == nullptr) return layer.Invalid(std::string("has no graph for ") + what);
  if (const Status status = Validate(*graph); !status.ok()) return InNested(layer, what, status);
  for (const Tensor& tensor : graph->tensors) {
    if (!tensor.variable) continue;
    return layer.Unsupported(std::string(what) + " has the variable '" + tensor.name +
                             "'; a graph inside a layer cannot");
  }
  const size_t count = layer.input_count() - first;
  if (graph->inputs.size() != count) {
    return layer.Invalid(std::string(what) + ": has " + std::to_string(graph->inputs.size()) +
                         " inputs; " + std::to_string(count) + " expected");
  }
  for (size_t i = 0; i < count; ++i) {
    if (!layer.has_input(first + i)) {
      return layer.Invalid("input " + std::to_string(first + i) + " is absent");
    }
    INTAGLIO_RETURN_IF_ERROR(CheckLike(layer, graph->tensors[static_cast<size_t>(graph->inputs[i])],
                                       layer.input(first + i),
                                       std::string(what) + ": input " + std::to_string(i)));
  }
  return {};
}

Result<Program> PrepareNested(const LayerView& layer, const Graph& graph, const char* what,
                              const LayerOptions& options) {
  LayerOptions nested = options;
  nested.routine.clear();  // it names the routine of the layer itself
  Result<Program> program = Program::Make(
      graph, [&](const Graph& g, size_t i) { return Prepare(LayerView(g, i), nested); }, false,
      nullptr, options.ledger.get());
  if (!program.ok()) return InNested(layer, what, program.status());
  // A layer adds up those of two.
  constexpr size_t kMostArena = std::numeric_limits<size_t>::max() / 8;
  if (program->plan().arena_bytes > kMostArena) {
    return InNested(layer, what,
                    OutOfMemory("an arena of " + std::to_string(program->plan().arena_bytes) +
                                " bytes does not fit the address space"));
  }
  return program;
}

size_t Frame::CountBytes(const Program& program) {
  return Aligned(program.plan().arena_bytes) +
         Aligned(ReadBytes(program) + program.write_count() * sizeof(void*));
}

Frame::Frame(const Program& program, void* memory)
    : program_(program), arena_(static_cast<std::byte*>(memory)) {
  std::byte* const addresses = arena_ + Aligned(program.plan().arena_bytes);
  addresses_.reads = reinterpret_cast<const void**>(addresses);
  addresses_.writes = reinterpret_cast<void**>(addresses + ReadBytes(program));
  program.Bind(arena_, addresses_);
}

bool Frame::Needs(size_t i) const {
  return program_.plan().last[static_cast<size_t>(program_.graph().inputs[i])] >= 0;
}

size_t Frame::InputBytes(size_t i) const {
  const Tensor& tensor = program_.graph().tensors[static_cast<size_t>(program_.graph().inputs[i])];
  return *nn::CountBytes(tensor.shape, tensor.type);
}

void Frame::SetInput(size_t i, const void* elements) const {
  if (Needs(i) && InputBytes(i) > 0) std::memcpy(Input(i), elements, InputBytes(i));
}

Status Frame::Run(const RunArguments& arguments) const {
  for (size_t i = 0; i < program_.layers().size(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(
        program_.RunLayer(i, arguments.context, addresses_, arguments.rounds_left));
  }
  return {};
}

}  // namespace intaglio::nn
