#include "intaglio/nn/passes/merge_tables.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/elementwise/map_bytes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/fold_constants.h"
#include "intaglio/nn/passes/graph_editor.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

using Table = std::array<uint8_t, 256>;

// A tensor as a function of another one.
struct Function {
  TensorId source = kNoTensor;
  Table table;
};

bool IsPair(const Layer& layer) {
  const bool by_onnx =
      layer.numerics.has_value() && layer.numerics->scaling == Scaling::kFloatHalfEven;
  return by_onnx && IsAnyOf<Add, Sub, Mul, QLinearAdd, QLinearMul>(layer);
}

// A constant with the type and the quantization of a tensor.
Tensor Constant(const Tensor& like, const Table& elements) {
  Tensor constant;
  constant.type = like.type;
  constant.quantization = like.quantization;
  constant.shape = {static_cast<int>(elements.size())};
  constant.constant = true;
  auto bytes = std::make_shared<const Table>(elements);
  constant.data = bytes->data();
  constant.data_bytes = bytes->size();
  constant.owner = std::move(bytes);
  return constant;
}

class Merger {
 public:
  explicit Merger(Graph& graph) : editor_(graph) {}

  size_t Run() {
    size_t merged = 0;
    for (Place place = editor_.layers().begin(); place != editor_.layers().end(); ++place) {
      if (Visit(place)) ++merged;
    }
    editor_.Finish([](const Layer&) { return false; });
    return merged;
  }

 private:
  // Returns whether the layer reads another tensor now, or has become a table.
  bool Visit(Place place) {
    const bool is_table = place->op.Is<MapBytes>();
    if (!is_table && !IsPair(*place)) return false;
    std::optional<Function> function = is_table ? OfTable(*place) : OfPair(*place);
    if (!function.has_value()) return false;
    functions_[place->outputs[0]] = *function;
    if (is_table && function->source == place->inputs[0]) return false;
    editor_.ReplaceGroup(
        place, {MapBytes{function->table}, {function->source}, {}, place->label, std::nullopt});
    return true;
  }

  // The function that makes a tensor of 8 bits; of itself, if nothing else is known.
  Function FunctionOf(TensorId id) {
    const auto known = functions_.find(id);
    if (known != functions_.end()) return known->second;
    Function same{id, {}};
    for (size_t i = 0; i < same.table.size(); ++i) same.table[i] = static_cast<uint8_t>(i);
    return same;
  }

  std::optional<Function> OfTable(const Layer& layer) {
    Function function = FunctionOf(layer.inputs[0]);
    const Table& table = layer.op.As<MapBytes>()->table;
    for (uint8_t& number : function.table) number = table[number];
    return function;
  }

  std::optional<Function> OfPair(const Layer& layer) {
    TensorId source = kNoTensor;
    Graph graph;
    for (const TensorId id : layer.inputs) {
      const Tensor& tensor = editor_.At(id);
      if (!IsByte(tensor.type)) return {};
      if (tensor.constant && tensor.data_bytes == 1) {
        graph.tensors.push_back(tensor);
        graph.tensors.back().shape = {};
        continue;
      }
      const Function function = FunctionOf(id);
      const bool fits = tensor.shape == editor_.At(layer.outputs[0]).shape &&
                        (source == kNoTensor || source == function.source);
      if (!fits || tensor.constant) return {};
      source = function.source;
      graph.tensors.push_back(Constant(tensor, function.table));
    }
    if (source == kNoTensor) return {};
    const std::optional<Table> table = Compute(std::move(graph), layer);
    if (!table.has_value()) return {};
    return Function{source, *table};
  }

  // What the layer makes of its inputs, which are the tensors of the graph.
  std::optional<Table> Compute(Graph graph, const Layer& layer) {
    const Tensor& out = editor_.At(layer.outputs[0]);
    Tensor result;
    result.type = out.type;
    result.quantization = out.quantization;
    result.shape = {static_cast<int>(Table().size())};
    graph.tensors.push_back(std::move(result));
    graph.layers.push_back({layer.op, {0, 1}, {2}, layer.label, layer.numerics});
    graph.outputs = {2};
    constexpr uint64_t kBudget = 1 << 20;
    FoldBudget budget(kBudget, kBudget);
    FoldConstants(graph, budget);
    const Tensor& folded = graph.tensors[2];
    Table table;
    if (!folded.constant || folded.data_bytes != table.size()) return {};
    std::copy_n(static_cast<const uint8_t*>(folded.data), table.size(), table.begin());
    return table;
  }

  GraphEditor editor_;
  std::map<TensorId, Function> functions_;
};

}  // namespace

size_t MergeTables(Graph& graph) {
  const size_t merged = Merger(graph).Run();
  if (merged > 0 && graph.folded_shapes != nullptr) graph.folded_shapes = IncompleteShapes();
  return merged;
}

}  // namespace intaglio::nn
