#include "intaglio/nn/formats/tflite/operators.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <new>
#include <utility>

#include "intaglio/nn/formats/tflite/custom.h"
#include "intaglio/nn/formats/tflite/registry.h"
#include "intaglio/nn/formats/tflite/resources.h"
#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/formats/tflite/tensor_list_set_item.h"
#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/fold_constants.h"
#include "intaglio/nn/passes/infer_shapes.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/routine/program.h"

namespace intaglio::nn {
namespace {

// Files before 2020-07 have the code in a byte only; newer ones have it in both where it fits.
Code CodeOf(const tflite::OperatorCode& code) {
  return static_cast<Code>(
      std::max(int32_t{code.deprecated_builtin_code()}, static_cast<int32_t>(code.builtin_code())));
}

const CustomOperator* FindCustom(const TfliteFile& file, const tflite::OperatorCode& code) {
  return CodeOf(code) == Code::CUSTOM ? FindCustom(file.custom_operators, code) : nullptr;
}

using Translate = Status (*)(Translation& t);

// Null for an operator or version that is not known.
Translate FindTranslate(const tflite::OperatorCode& code) {
  const TfliteRow* const row = FindRow([&](const TfliteRow& r) {
    return r.code == CodeOf(code) && r.read != nullptr &&
           (r.custom_name == nullptr || Printable(code.custom_code()) == r.custom_name);
  });
  const bool known = row != nullptr && code.version() >= 1 && code.version() <= row->max_version;
  return known ? row->read : nullptr;
}

bool IsKnown(const TfliteFile& file, const tflite::OperatorCode& code) {
  return FindCustom(file, code) != nullptr || FindTranslate(code) != nullptr;
}

// Only for an operator that is known.
Status TranslateBy(const TfliteFile& file, const tflite::OperatorCode& code, Translation& t) {
  const CustomOperator* const custom = FindCustom(file, code);
  return custom != nullptr ? ReadCustom(*custom, t) : FindTranslate(code)(t);
}

// "RESIZE_BILINEAR", "CUSTOM 'edgetpu-custom-op'"
std::string NameOf(const tflite::OperatorCode& code) {
  std::string name = tflite::EnumNameBuiltinOperator(CodeOf(code));
  if (name.empty()) name = "number " + std::to_string(static_cast<int32_t>(CodeOf(code)));
  if (CodeOf(code) == Code::CUSTOM) name += " '" + Printable(code.custom_code()) + "'";
  return name;
}

// "operator #12 RESIZE_BILINEAR v3"
std::string Describe(size_t index, const tflite::OperatorCode& code) {
  return "operator #" + std::to_string(index) + " " + NameOf(code) + " v" +
         std::to_string(code.version());
}

const tflite::OperatorCode& CodeOf(const TfliteFile& file, const tflite::Operator& op) {
  return *file.model->operator_codes()->Get(op.opcode_index());
}

Status CheckOperator(const TfliteFile& file, size_t index, const tflite::Operator& op) {
  const size_t codes = Length(file.model->operator_codes());
  if (op.opcode_index() >= codes) {
    return InvalidArgument("operator #" + std::to_string(index) + ": code index " +
                           std::to_string(op.opcode_index()) + " does not exist (there are " +
                           std::to_string(codes) + ")");
  }
  const tflite::OperatorCode& code = CodeOf(file, op);
  if (!IsKnown(file, code)) return Unsupported(Describe(index, code) + ": not supported");
  return {};
}

Status ReadIds(const flatbuffers::Vector<int32_t>* from, const Graph& graph, bool optional,
               const char* what, std::vector<TensorId>& to) {
  for (uint32_t i = 0; i < Length(from); ++i) {
    const int32_t id = from->Get(i);
    const bool exists = id >= 0 && std::cmp_less(id, graph.tensors.size());
    if (!exists && !(optional && id == kNoTensor)) {
      return InvalidArgument(std::string(what) + " " + std::to_string(i) + " is tensor #" +
                             std::to_string(id) + ", which does not exist (there are " +
                             std::to_string(graph.tensors.size()) + ")");
    }
    to.push_back(id);
  }
  return {};
}

Status CheckNotWritingWhatItReads(const Layer& layer) {
  for (const TensorId id : layer.outputs) {
    if (std::find(layer.inputs.begin(), layer.inputs.end(), id) != layer.inputs.end()) {
      return InvalidArgument("tensor #" + std::to_string(id) + " is both input and output");
    }
  }
  return {};
}

// What the operators of a subgraph are read with, one by one.
struct Reader {
  Reader(const TfliteFile& f, const tflite::SubGraph& s, Budget& b, Graph& g)
      : file(f),
        budget(b),
        graph(g),
        resources(f, b, g),
        updates(f, s, g),
        folder(g, b.folding()) {}

  // Adds a layer, or none.
  Status Read(size_t place, const tflite::Operator& from) {
    source = nullptr;
    if (updates.Skips(place)) return {};
    Layer& layer = graph.layers.emplace_back();
    INTAGLIO_RETURN_IF_ERROR(ReadIds(from.inputs(), graph, true, "input", layer.inputs));
    INTAGLIO_RETURN_IF_ERROR(ReadIds(from.outputs(), graph, false, "output", layer.outputs));
    INTAGLIO_RETURN_IF_ERROR(CheckNotWritingWhatItReads(layer));
    if (const ItemUpdates::Update* const update = updates.Find(place); update != nullptr) {
      layer.inputs = {update->list, update->item, update->index};
      layer.op = DynamicUpdateSlice{.clamp = false};
      return {};
    }
    const Layer given = layer;
    bool follows_shapes = false;
    const FoldTensor fold = [&](TensorId id) {
      follows_shapes = follows_shapes || folder.FollowsShapes(id);
      return folder.Fold(id);
    };
    Translation translation(file, budget, graph, from, resources, fold, layer);
    INTAGLIO_RETURN_IF_ERROR(TranslateBy(file, CodeOf(file, from), translation));
    if (translation.dropped()) {
      graph.layers.pop_back();
      return {};
    }
    if (follows_shapes) source = SourceOf(from, given);
    folder.FoldParameters(graph.layers.size() - 1);
    return {};
  }

  // Translates the operator again, after shapes changed. It keeps the file alive. No operator that
  // uses resources takes parameters from constants.
  std::shared_ptr<const ParameterSource> SourceOf(const tflite::Operator& from,
                                                  const Layer& given) const {
    const auto take = [f = file, limits = budget.limits(), op = &from](
                          Graph& g, const FoldTensor& fold, Layer& layer) {
      Budget anew = BudgetOf(f, limits);
      Resources none(f, anew, g);
      Translation translation(f, anew, g, *op, none, fold, layer);
      return TranslateBy(f, CodeOf(f, *op), translation);
    };
    return std::make_shared<const ParameterSource>(
        ParameterSource{given.inputs, given.outputs, take});
  }

  const TfliteFile& file;
  Budget& budget;
  Graph& graph;
  Resources resources;
  ItemUpdates updates;
  ConstantFolder folder;
  std::shared_ptr<const ParameterSource> source;  // of the last layer
};

// Says on the last layer what TFLite's rules are.
void SetNumerics(Graph& graph) {
  const LayerView layer(graph, graph.layers.size() - 1);
  if (layer.layer().op.row().numerics != nullptr) graph.layers.back().numerics = layer.numerics();
}

constexpr size_t kLabelBytes = 192;  // the most for a layer's label

// The label of the last layer, with its place in the file.
std::string LabelAt(const Graph& graph, size_t place) {
  const Layer& layer = graph.layers.back();
  std::string label = std::string(NameOf(layer.op)) + " #" + std::to_string(place);
  if (layer.outputs.empty()) return label;
  return label + " '" + ShortName(graph.tensors[static_cast<size_t>(layer.outputs[0])].name) + "'";
}

// What stands before the messages of a layer that is tried by itself.
constexpr char kNoLabel[] = "-";

Status WithoutLabel(const Status& status) {
  const std::string prefix = std::string(kNoLabel) + ": ";
  if (status.message().rfind(prefix, 0) != 0) return status;
  return {status.code(), status.message().substr(prefix.size())};
}

// Prepares the last layer, alone.
Status Try(const Graph& graph, const Limits& limits) try {
  Graph alone = Alone(graph, graph.layers.back());
  for (size_t i = 0; i < alone.layers[0].inputs.size(); ++i) {
    const TensorId id = alone.layers[0].inputs[i];
    if (id == kNoTensor) continue;
    const Tensor& tensor = alone.tensors[static_cast<size_t>(id)];
    if (!tensor.constant && !tensor.variable) alone.inputs.push_back(id);
  }
  INTAGLIO_RETURN_IF_ERROR(Validate(alone));
  const auto ledger = std::make_shared<Ledger>(limits, CountConstants(alone));
  const LayerOptions options{.kernel = BestKernel(), .ledger = ledger};
  const Result<Program> program = Program::Make(
      std::move(alone), [&](const Graph& g, size_t i) { return Prepare(LayerView(g, i), options); },
      false, nullptr, ledger.get());
  if (!program.ok()) return program.status();
  INTAGLIO_RETURN_IF_ERROR(CheckWork(*program, limits));
  const Status arena = ledger->Charge(program->plan().arena_bytes);
  return arena.ok() ? arena : Status(arena.code(), "the arena: " + arena.message());
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while the layer was prepared");
}

// Adds the operator's layer to the graph, if it can be translated, and tries it.
Status TryOperator(size_t place, const tflite::Operator& op, const Limits& limits, Reader& reader) {
  Graph& graph = reader.graph;
  const size_t before = graph.layers.size();
  Status status = reader.Read(place, op);
  if (status.ok() && graph.layers.size() == before) return {};
  if (status.ok()) {
    graph.layers.back().label = kNoLabel;
    status = SetOutputShapes(graph, before);
  }
  if (!status.ok()) {
    graph.layers.resize(before);
    return WithoutLabel(status);
  }
  status = WithoutLabel(Try(graph, limits));
  if (status.ok()) reader.folder.Add(before, reader.source);
  return status;
}

// The type as the file has it: "int8", "complex64". Empty if there is no such tensor.
std::string TypeOfFirstInput(const tflite::Operator& op, const tflite::SubGraph& subgraph) {
  const int32_t id = Length(op.inputs()) == 0 ? kNoTensor : op.inputs()->Get(0);
  if (id < 0 || std::cmp_greater_equal(id, Length(subgraph.tensors()))) return {};
  const tflite::TensorType type = subgraph.tensors()->Get(static_cast<uint32_t>(id))->type();
  std::string name = tflite::EnumNameTensorType(type);
  if (name.empty()) return "number " + std::to_string(static_cast<int>(type));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

// Says why a tensor of the operator could not be read. Ids that do not exist are checked elsewhere.
Status CheckTensors(const tflite::Operator& op, const std::vector<Status>& tensors) {
  for (const flatbuffers::Vector<int32_t>* const ids : {op.inputs(), op.outputs()}) {
    for (uint32_t i = 0; i < Length(ids); ++i) {
      const int32_t id = ids->Get(i);
      if (id < 0 || std::cmp_greater_equal(id, tensors.size())) continue;
      const Status& status = tensors[static_cast<size_t>(id)];
      if (!status.ok()) return {status.code(), "one of its tensors: " + status.message()};
    }
  }
  return {};
}

}  // namespace

Result<std::vector<SurveyedOperator>> SurveyOperators(const TfliteFile& file,
                                                      const tflite::SubGraph& subgraph,
                                                      const std::vector<Status>& tensors,
                                                      const Limits& limits, Budget& budget,
                                                      Graph& graph) {
  std::vector<SurveyedOperator> operators;
  Reader reader(file, subgraph, budget, graph);
  for (uint32_t i = 0; i < Length(subgraph.operators()); ++i) {
    const tflite::Operator& op = *subgraph.operators()->Get(i);
    if (op.opcode_index() >= Length(file.model->operator_codes())) {
      return CheckOperator(file, i, op);
    }
    const tflite::OperatorCode& code = CodeOf(file, op);
    SurveyedOperator row{NameOf(code), code.version(), TypeOfFirstInput(op, subgraph), {}};
    row.status = IsKnown(file, code) ? CheckTensors(op, tensors) : Unsupported("not supported");
    if (row.status.ok()) row.status = TryOperator(i, op, limits, reader);
    operators.push_back(std::move(row));
  }
  return operators;
}

std::vector<TfliteOperator> ListTfliteOperators() {
  std::vector<TfliteOperator> operators;
  FindRow([&](const TfliteRow& row) {
    if (row.read == nullptr) return false;
    const char* const name =
        row.custom_name != nullptr ? row.custom_name : tflite::EnumNameBuiltinOperator(row.code);
    operators.push_back({name, row.max_version,
                         row.types != nullptr ? row.types : ListTypes(row.op->types),
                         row.op == nullptr ? "" : row.op->remark});
    return false;
  });
  std::sort(operators.begin(), operators.end(),
            [](const TfliteOperator& a, const TfliteOperator& b) { return a.name < b.name; });
  return operators;
}

Result<Code> CodeAt(const TfliteFile& file, const tflite::Operator& op) {
  if (op.opcode_index() >= Length(file.model->operator_codes())) {
    return InvalidArgument("operator code " + std::to_string(op.opcode_index()) +
                           " does not exist");
  }
  return CodeOf(CodeOf(file, op));
}

Status CheckOperators(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget) {
  for (uint32_t i = 0; i < Length(subgraph.operators()); ++i) {
    const tflite::Operator& op = *subgraph.operators()->Get(i);
    INTAGLIO_RETURN_IF_ERROR(budget.Charge(1, sizeof(Layer) + kLabelBytes));
    INTAGLIO_RETURN_IF_ERROR(
        budget.Charge(Length(op.inputs()) + Length(op.outputs()), sizeof(TensorId)));
    INTAGLIO_RETURN_IF_ERROR(CheckOperator(file, i, op));
  }
  return {};
}

Status ReadOperators(const TfliteFile& file, const tflite::SubGraph& subgraph, Budget& budget,
                     Graph& graph) {
  bool dropped = false;
  Reader reader(file, subgraph, budget, graph);
  for (uint32_t i = 0; i < Length(subgraph.operators()); ++i) {
    const tflite::Operator& op = *subgraph.operators()->Get(i);
    const size_t before = graph.layers.size();
    const Status status = reader.Read(i, op);
    if (!status.ok()) {
      return {status.code(), Describe(i, CodeOf(file, op)) + ": " + status.message()};
    }
    if (graph.layers.size() == before) {
      dropped = true;
      continue;
    }
    // Once a layer is gone, the others would lose their place in the file.
    if (dropped) graph.layers.back().label = LabelAt(graph, i);
    INTAGLIO_RETURN_IF_ERROR(SetOutputShapes(graph, before));
    SetNumerics(graph);
    reader.folder.Add(before, reader.source);
  }
  reader.folder.Finish();
  return reader.resources.CheckHandles(subgraph);
}

}  // namespace intaglio::nn
