// WHILE and IF: layers that run graphs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/graph/nested_graphs.h"
#include "intaglio/nn/ops/control/nested.h"
#include "intaglio/nn/ops/control/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

const Tensor& OutputOf(const Graph& graph, size_t i) {
  return graph.tensors[static_cast<size_t>(graph.outputs[i])];
}

Status CheckCondition(const LayerView& layer, const Graph& condition) {
  if (condition.outputs.size() == 1) {
    const Tensor& answer = OutputOf(condition, 0);
    const Result<int64_t> elements = CountElements(answer.shape);
    if (answer.type == Type::kBool && elements.ok() && *elements == 1) return {};
  }
  return layer.Invalid("the condition does not make one bool");
}

// The state lives where the body has its inputs. A round's results go from the body's outputs,
// which may lie in the places of inputs that were read before, to the layer's, and back from there.
class Loop final : public Routine {
 public:
  Loop(Program condition, Program body)
      : condition_(std::move(condition)), body_(std::move(body)) {}

  size_t scratch_bytes() const { return Frame::CountBytes(body_) + Frame::CountBytes(condition_); }

  Status Run(const RunArguments& arguments) const override {
    auto* const memory = static_cast<std::byte*>(arguments.scratch);
    const Frame body(body_, memory);
    const Frame condition(condition_, memory + Frame::CountBytes(body_));
    for (size_t i = 0; i < arguments.inputs.size(); ++i)
      Copy(body, i, body.Input(i), arguments.inputs[i]);
    for (;;) {
      for (size_t i = 0; i < arguments.inputs.size(); ++i) condition.SetInput(i, body.Input(i));
      INTAGLIO_RETURN_IF_ERROR(condition.Run(arguments));
      if (*static_cast<const uint8_t*>(condition.Output(0)) == 0) break;
      if (arguments.rounds_left-- <= 0) {
        return InvalidArgument("takes more rounds than a run may");
      }
      INTAGLIO_RETURN_IF_ERROR(body.Run(arguments));
      KeepState(body, arguments);
    }
    for (size_t i = 0; i < arguments.outputs.size(); ++i)
      Copy(body, i, arguments.outputs[i], body.Input(i));
    return {};
  }

 private:
  static void Copy(const Frame& body, size_t i, void* to, const void* from) {
    if (body.InputBytes(i) > 0) std::memcpy(to, from, body.InputBytes(i));
  }

  static void KeepState(const Frame& body, const RunArguments& arguments) {
    const size_t count = arguments.outputs.size();
    for (size_t i = 0; i < count; ++i) {
      if (body.Output(i) != body.Input(i)) Copy(body, i, arguments.outputs[i], body.Output(i));
    }
    for (size_t i = 0; i < count; ++i) {
      if (body.Output(i) != body.Input(i)) Copy(body, i, body.Input(i), arguments.outputs[i]);
    }
  }

  Program condition_;
  Program body_;
};

class Branch final : public Routine {
 public:
  Branch(Program then_branch, Program else_branch)
      : then_(std::move(then_branch)), else_(std::move(else_branch)) {}

  size_t scratch_bytes() const {
    return std::max(Frame::CountBytes(then_), Frame::CountBytes(else_));
  }

  Status Run(const RunArguments& arguments) const override {
    const bool chosen = *static_cast<const uint8_t*>(arguments.inputs[0]) != 0;
    const Frame branch(chosen ? then_ : else_, arguments.scratch);
    for (size_t i = 1; i < arguments.inputs.size(); ++i) {
      branch.SetInput(i - 1, arguments.inputs[i]);
    }
    INTAGLIO_RETURN_IF_ERROR(branch.Run(arguments));
    for (size_t i = 0; i < arguments.outputs.size(); ++i) {
      const Tensor& tensor = OutputOf(branch.program().graph(), i);
      const size_t bytes = *CountBytes(tensor.shape, tensor.type);
      if (bytes > 0) std::memcpy(arguments.outputs[i], branch.Output(i), bytes);
    }
    return {};
  }

 private:
  Program then_;
  Program else_;
};

// Their inputs are those of the layer from `first` on.
Status CheckGraphs(const LayerView& layer, size_t first) {
  for (const NestedGraph& nested : NestedGraphsOf(layer.layer().op)) {
    INTAGLIO_RETURN_IF_ERROR(CheckNested(layer, nested.graph, nested.name, first));
  }
  return {};
}

Result<std::vector<Program>> PrepareGraphs(const LayerView& layer, const LayerOptions& options) {
  std::vector<Program> programs;
  for (const NestedGraph& nested : NestedGraphsOf(layer.layer().op)) {
    Result<Program> program = PrepareNested(layer, *nested.graph, nested.name, options);
    if (!program.ok()) return program.status();
    programs.push_back(std::move(*program));
  }
  return programs;
}

template <class R>
PreparedLayer PreparedOf(std::vector<Program> programs) {
  PreparedLayer prepared;
  for (const Program& program : programs) {
    prepared.constant_bytes += program.constant_bytes();
    prepared.round_work = std::max(prepared.round_work, program.round_work());
  }
  const bool is_loop = std::is_same_v<R, Loop>;
  const auto one_of = [](int64_t a, int64_t b) {
    return is_loop ? AddSaturated(a, b) : std::max(a, b);
  };
  prepared.macs = one_of(programs[0].macs(), programs[1].macs());
  prepared.work = one_of(programs[0].work(), programs[1].work());
  if (is_loop) prepared.round_work = std::max(prepared.round_work, prepared.work);
  const auto routine = std::make_shared<const R>(std::move(programs[0]), std::move(programs[1]));
  prepared.scratch_bytes = routine->scratch_bytes();
  prepared.routine = routine;
  return prepared;
}

ShapesResult InferWhile(const LayerView& layer) {
  const While& op = layer.op<While>();
  INTAGLIO_RETURN_IF_ERROR(CheckGraphs(layer, 0));
  INTAGLIO_RETURN_IF_ERROR(CheckCondition(layer, *op.condition));
  if (op.body->outputs.size() != layer.input_count()) {
    return layer.Invalid("the body has " + std::to_string(op.body->outputs.size()) + " outputs; " +
                         std::to_string(layer.input_count()) + " expected");
  }
  std::vector<Shape> shapes;
  for (size_t i = 0; i < layer.input_count(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(CheckLike(layer, OutputOf(*op.body, i), layer.input(i),
                                       "the body: output " + std::to_string(i)));
    shapes.push_back(layer.input(i).shape);
  }
  return shapes;
}

ShapesResult InferIf(const LayerView& layer) {
  const If& op = layer.op<If>();
  const Result<int64_t> elements = CountElements(layer.input(0).shape);
  if (!elements.ok() || *elements != 1) return layer.Invalid("the condition is not one bool");
  INTAGLIO_RETURN_IF_ERROR(CheckGraphs(layer, 1));
  const size_t outputs = op.then_branch->outputs.size();
  if (op.else_branch->outputs.size() != outputs) {
    return layer.Invalid("the branches have " + std::to_string(outputs) + " and " +
                         std::to_string(op.else_branch->outputs.size()) + " outputs");
  }
  std::vector<Shape> shapes;
  for (size_t i = 0; i < outputs; ++i) {
    const Tensor& expected = OutputOf(*op.then_branch, i);
    INTAGLIO_RETURN_IF_ERROR(CheckLike(layer, OutputOf(*op.else_branch, i), expected,
                                       "the second branch: output " + std::to_string(i)));
    shapes.push_back(expected.shape);
  }
  return shapes;
}

Result<PreparedLayer> PrepareWhile(const LayerView& layer, const LayerOptions& options) {
  for (size_t i = 0; i < layer.input_count(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(i), layer.input(i).type));
  }
  Result<std::vector<Program>> programs = PrepareGraphs(layer, options);
  if (!programs.ok()) return programs.status();
  return PreparedOf<Loop>(std::move(*programs));
}

Result<PreparedLayer> PrepareIf(const LayerView& layer, const LayerOptions& options) {
  const Graph& chosen = *layer.op<If>().then_branch;
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(i), OutputOf(chosen, i).type));
  }
  Result<std::vector<Program>> programs = PrepareGraphs(layer, options);
  if (!programs.ok()) return programs.status();
  return PreparedOf<Branch>(std::move(*programs));
}

std::vector<NestedGraph> GraphsOfWhile(const Operator& op) {
  const While& loop = *op.As<While>();
  return {{"the condition", loop.condition.get()}, {"the body", loop.body.get()}};
}

std::vector<NestedGraph> GraphsOfIf(const Operator& op) {
  const If& choice = *op.As<If>();
  return {{"the first branch", choice.then_branch.get()},
          {"the second branch", choice.else_branch.get()}};
}

}  // namespace

constinit const OperatorRow While::kRow = {
    .name = "WHILE",
    .min_inputs = 1,
    .max_inputs = kMany,
    .types = kAnyType,
    .infer = InferWhile,
    .candidates = Candidate{.algorithm = "loop", .prepare = PrepareWhile, .kind = "graph"},
    .remark = "any state whose shapes stay; PrepareOptions bounds the rounds of a run",
    .nested_graphs = GraphsOfWhile};

constinit const OperatorRow If::kRow = {
    .name = "IF",
    .min_inputs = 1,
    .max_inputs = kMany,
    .types = kBool,
    .infer = InferIf,
    .candidates = Candidate{.algorithm = "branch", .prepare = PrepareIf, .kind = "graph"},
    .remark = "the condition; branches of the same shapes",
    .nested_graphs = GraphsOfIf};

}  // namespace intaglio::nn
