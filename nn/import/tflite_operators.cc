#include "intaglio/nn/import/tflite_operators.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "intaglio/nn/alone.h"
#include "intaglio/nn/import/item_updates.h"
#include "intaglio/nn/import/resources.h"
#include "intaglio/nn/import/tflite_registry.h"
#include "intaglio/nn/import/translate.h"
#include "intaglio/nn/model.h"
#include "intaglio/nn/operator_table.h"
#include "intaglio/nn/passes/fold_constants.h"
#include "intaglio/nn/printable.h"

namespace intaglio::nn {
namespace {

using Code = tflite::BuiltinOperator;

struct Row {
  Code code;
  // A version says which types and options a converter used; types and options are checked as such.
  // Above this version are ones that did not exist when the row was written.
  int max_version;
  Status (*translate)(Translation& t);
  const char* types = nullptr;  // of an operator that makes no layer
};

constexpr Row kRows[] = {
    {Code::CONV_2D, 8, TranslateConv2D},
    {Code::DEPTHWISE_CONV_2D, 7, TranslateDepthwiseConv2D},
    {Code::FULLY_CONNECTED, 14, TranslateFullyConnected},
    {Code::TRANSPOSE_CONV, 5, TranslateTransposeConv},
    {Code::BATCH_MATMUL, 4, TranslateBatchMatMul},
    {Code::ADD, 5, TranslateAdd},
    {Code::AVERAGE_POOL_2D, 3, TranslateAveragePool2D},
    {Code::MAX_POOL_2D, 3, TranslateMaxPool2D},
    {Code::L2_POOL_2D, 1, TranslateL2Pool2D},
    {Code::PAD, 6, TranslatePad},
    {Code::PADV2, 6, TranslatePadV2},
    {Code::RESHAPE, 1, TranslateReshape},
    {Code::SOFTMAX, 3, TranslateSoftmax},
    {Code::LOGISTIC, 3, TranslatePlain<Logistic>},
    {Code::TANH, 3, TranslatePlain<Tanh>},
    {Code::RELU, 3, TranslatePlain<Relu>},
    {Code::RELU6, 3, TranslatePlain<Relu6>},
    {Code::MEAN, 3, TranslateReduction<Mean>},
    {Code::CONCATENATION, 7, TranslateConcatenation},
    {Code::QUANTIZE, 6, TranslatePlain<Quantize>},
    {Code::DEQUANTIZE, 9, TranslatePlain<Dequantize>},
    {Code::ARG_MAX, 3, TranslateArgMax},
    {Code::ARG_MIN, 3, TranslateArgMin},
    {Code::BATCH_TO_SPACE_ND, 4, TranslateBatchToSpace},
    {Code::BROADCAST_TO, 4, TranslateBroadcastTo},
    {Code::CAST, 9, TranslatePlain<Cast>},
    {Code::CUMSUM, 1, TranslateCumsum},
    {Code::DEPTH_TO_SPACE, 2, TranslateDepthToSpace},
    {Code::EMBEDDING_LOOKUP, 5, TranslatePlain<EmbeddingLookup>},
    {Code::EXPAND_DIMS, 1, TranslateExpandDims},
    {Code::FILL, 5, TranslateFill},
    {Code::GATHER, 8, TranslateGather},
    {Code::GATHER_ND, 6, TranslatePlain<GatherNd>},
    {Code::MIRROR_PAD, 3, TranslateMirrorPad},
    {Code::ONE_HOT, 1, TranslateOneHot},
    {Code::PACK, 5, TranslatePack},
    {Code::RANGE, 2, TranslatePlain<Sequence>},
    {Code::RESIZE_BILINEAR, 4, TranslateResizeBilinear},
    {Code::RESIZE_NEAREST_NEIGHBOR, 4, TranslateResizeNearestNeighbor},
    {Code::REVERSE_V2, 4, TranslateReverse},
    {Code::SELECT, 4, TranslatePlain<Select>},
    {Code::SELECT_V2, 2, TranslatePlain<SelectV2>},
    {Code::SHAPE, 1, TranslatePlain<ShapeOf>},
    {Code::SLICE, 8, TranslateSlice},
    {Code::SPACE_TO_BATCH_ND, 4, TranslateSpaceToBatch},
    {Code::SPACE_TO_DEPTH, 2, TranslateSpaceToDepth},
    {Code::SPLIT, 5, TranslateSplit},
    {Code::SPLIT_V, 3, TranslateSplitV},
    {Code::SQUEEZE, 2, TranslateSqueeze},
    {Code::STRIDED_SLICE, 8, TranslateStridedSlice},
    {Code::TILE, 3, TranslateTile},
    {Code::TOPK_V2, 3, TranslateTopK},
    {Code::TRANSPOSE, 8, TranslateTranspose},
    {Code::UNPACK, 6, TranslateUnpack},
    {Code::SUB, 5, TranslateSub},
    {Code::MUL, 7, TranslateMul},
    {Code::DIV, 2, TranslateDiv},
    {Code::MAXIMUM, 4, TranslatePlain<Maximum>},
    {Code::MINIMUM, 4, TranslatePlain<Minimum>},
    {Code::SQUARED_DIFFERENCE, 2, TranslatePlain<SquaredDifference>},
    {Code::FLOOR_DIV, 3, TranslatePlain<FloorDiv>},
    {Code::FLOOR_MOD, 2, TranslatePlain<FloorMod>},
    {Code::POW, 1, TranslatePlain<Pow>},
    {Code::EQUAL, 5, TranslatePlain<Equal>},
    {Code::NOT_EQUAL, 4, TranslatePlain<NotEqual>},
    {Code::LESS, 3, TranslatePlain<Less>},
    {Code::LESS_EQUAL, 2, TranslatePlain<LessEqual>},
    {Code::GREATER, 2, TranslatePlain<Greater>},
    {Code::GREATER_EQUAL, 3, TranslatePlain<GreaterEqual>},
    {Code::LOGICAL_AND, 1, TranslatePlain<LogicalAnd>},
    {Code::LOGICAL_OR, 1, TranslatePlain<LogicalOr>},
    {Code::LOGICAL_NOT, 1, TranslatePlain<LogicalNot>},
    {Code::ABS, 5, TranslatePlain<Abs>},
    {Code::NEG, 2, TranslatePlain<Neg>},
    {Code::EXP, 2, TranslatePlain<Exp>},
    {Code::LOG, 2, TranslatePlain<Log>},
    {Code::SQRT, 2, TranslatePlain<Sqrt>},
    {Code::RSQRT, 3, TranslatePlain<Rsqrt>},
    {Code::SQUARE, 1, TranslatePlain<Square>},
    {Code::FLOOR, 2, TranslatePlain<Floor>},
    {Code::CEIL, 2, TranslatePlain<Ceil>},
    {Code::ROUND, 2, TranslatePlain<Round>},
    {Code::SIN, 2, TranslatePlain<Sin>},
    {Code::COS, 2, TranslatePlain<Cos>},
    {Code::RELU_N1_TO_1, 1, TranslatePlain<ReluN1To1>},
    {Code::HARD_SWISH, 1, TranslatePlain<HardSwish>},
    {Code::ELU, 1, TranslatePlain<Elu>},
    {Code::GELU, 2, TranslateGelu},
    {Code::LEAKY_RELU, 2, TranslateLeakyRelu},
    {Code::PRELU, 1, TranslatePlain<Prelu>},
    {Code::LOG_SOFTMAX, 2, TranslatePlain<LogSoftmax>},
    {Code::L2_NORMALIZATION, 2, TranslateL2Normalization},
    {Code::LOCAL_RESPONSE_NORMALIZATION, 1, TranslateLocalResponseNormalization},
    {Code::SUM, 2, TranslateReduction<Sum>},
    {Code::REDUCE_MAX, 3, TranslateReduction<ReduceMax>},
    {Code::REDUCE_MIN, 3, TranslateReduction<ReduceMin>},
    {Code::REDUCE_PROD, 2, TranslateReduction<ReduceProd>},
    {Code::REDUCE_ANY, 1, TranslateReduction<ReduceAny>},
    {Code::REDUCE_ALL, 1, TranslateReduction<ReduceAll>},
    {Code::LSTM, 4, TranslateLstm},
    {Code::RNN, 3, TranslateRnn},
    {Code::SVDF, 4, TranslateSvdf},
    {Code::UNIDIRECTIONAL_SEQUENCE_LSTM, 4, TranslateUnidirectionalSequenceLstm},
    {Code::UNIDIRECTIONAL_SEQUENCE_RNN, 3, TranslateUnidirectionalSequenceRnn},
    {Code::VAR_HANDLE, 1, TranslateVarHandle, "resource"},
    {Code::READ_VARIABLE, 1, TranslateReadVariable},
    {Code::ASSIGN_VARIABLE, 1, TranslateAssignVariable},
    {Code::CALL_ONCE, 1, TranslateCallOnce, "resource"},
    {Code::DYNAMIC_UPDATE_SLICE, 3, TranslatePlain<DynamicUpdateSlice>},
    {Code::SCATTER_ND, 1, TranslateScatterNd},
    {Code::WHILE, 1, TranslateWhile},
    {Code::IF, 1, TranslateIf},
};

// Custom operators, by name; of version 1.
struct CustomRow {
  const char* name;
  Status (*translate)(Translation& t);
};

constexpr CustomRow kCustomRows[] = {
    {"TFLite_Detection_PostProcess", TranslateDetectionPostProcess},
};

// Files before 2020-07 have the code in a byte only; newer ones have it in both where it fits.
Code CodeOf(const tflite::OperatorCode& code) {
  return static_cast<Code>(
      std::max(int32_t{code.deprecated_builtin_code()}, static_cast<int32_t>(code.builtin_code())));
}

using Translate = Status (*)(Translation& t);

// Null for an operator or version that is not known.
Translate FindTranslate(const tflite::OperatorCode& code) {
  for (const Row& row : kRows) {
    if (row.code != CodeOf(code)) continue;
    return code.version() >= 1 && code.version() <= row.max_version ? row.translate : nullptr;
  }
  if (CodeOf(code) != Code::CUSTOM || code.version() != 1) return nullptr;
  for (const CustomRow& row : kCustomRows) {
    if (Printable(code.custom_code()) == row.name) return row.translate;
  }
  return nullptr;
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
  if (FindTranslate(code) == nullptr) return Unsupported(Describe(index, code) + ": not supported");
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
    Translation translation(file, budget, graph, from, resources, folder, layer);
    INTAGLIO_RETURN_IF_ERROR(FindTranslate(CodeOf(file, from))(translation));
    if (translation.dropped()) {
      graph.layers.pop_back();
    } else {
      folder.FoldParameters(graph.layers.size() - 1);
    }
    return {};
  }

  const TfliteFile& file;
  Budget& budget;
  Graph& graph;
  Resources resources;
  ItemUpdates updates;
  ConstantFolder folder;
};

Status SetOutputShapes(Graph& graph) {
  const size_t index = graph.layers.size() - 1;
  Result<std::vector<Shape>> shapes = InferShapes(graph, index);
  if (!shapes.ok()) return shapes.status();
  const std::vector<TensorId>& outputs = graph.layers[index].outputs;
  for (size_t i = 0; i < std::min(outputs.size(), shapes->size()); ++i) {
    Tensor& output = graph.tensors[static_cast<size_t>(outputs[i])];
    if (!output.constant) output.shape = std::move((*shapes)[i]);
  }
  return {};
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
Status Try(const Graph& graph, const Limits& limits) {
  Graph alone = Alone(graph, graph.layers.back());
  for (size_t i = 0; i < alone.layers[0].inputs.size(); ++i) {
    const TensorId id = alone.layers[0].inputs[i];
    if (id == kNoTensor) continue;
    const Tensor& tensor = alone.tensors[static_cast<size_t>(id)];
    if (!tensor.constant && !tensor.variable) alone.inputs.push_back(id);
  }
  return Model::Prepare(std::move(alone), {.limits = limits}).status();
}

// Adds the operator's layer to the graph, if it can be translated, and tries it.
Status TryOperator(size_t place, const tflite::Operator& op, const Limits& limits, Reader& reader) {
  Graph& graph = reader.graph;
  const size_t before = graph.layers.size();
  Status status = reader.Read(place, op);
  if (status.ok() && graph.layers.size() == before) return {};
  if (status.ok()) {
    graph.layers.back().label = kNoLabel;
    status = SetOutputShapes(graph);
  }
  if (!status.ok()) {
    graph.layers.resize(before);
    return WithoutLabel(status);
  }
  status = WithoutLabel(Try(graph, limits));
  if (status.ok()) reader.folder.Add(before);
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
    row.status =
        FindTranslate(code) == nullptr ? Unsupported("not supported") : CheckTensors(op, tensors);
    if (row.status.ok()) row.status = TryOperator(i, op, limits, reader);
    operators.push_back(std::move(row));
  }
  return operators;
}

std::vector<TfliteOperator> ListTfliteOperators() {
  std::vector<TfliteOperator> operators;
  for (const Row& row : kRows) {
    const std::string name = tflite::EnumNameBuiltinOperator(row.code);
    const OperatorRow* const op = FindRow(row.code == Code::PADV2 ? "PAD" : name);
    operators.push_back({name, row.max_version,
                         row.types != nullptr ? row.types
                         : op == nullptr      ? ""
                                              : ListTypes(op->types),
                         op == nullptr ? "" : op->remark});
  }
  for (const CustomRow& row : kCustomRows) {
    const OperatorRow* const op = FindRow(row.name);
    operators.push_back(
        {row.name, 1, op == nullptr ? "" : ListTypes(op->types), op == nullptr ? "" : op->remark});
  }
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
    INTAGLIO_RETURN_IF_ERROR(SetOutputShapes(graph));
    reader.folder.Add(before);
  }
  reader.folder.Finish();
  return reader.resources.CheckHandles(subgraph);
}

}  // namespace intaglio::nn
