// Functions of one or two dequantized tensors, element by element.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/elementwise/map_bytes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/passes/fold_constants.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

constexpr size_t kMostLayers = 32;
constexpr int kNumbers = 256;

bool IsFunction(const Layer& layer) {
  return IsAnyOf<Abs, Neg, Exp, Log, Sqrt, Rsqrt, Square, Floor, Ceil, Round, Sin, Cos, Logistic,
                 Tanh, Relu, Relu6, ReluN1To1, HardSwish, Elu, Gelu, LeakyRelu, Erf, Reciprocal,
                 Softplus, Softsign, Mish, Selu, Celu, Swish, HardSigmoid, ThresholdedRelu, Clip,
                 Sign, Add, Sub, Mul, Div, Maximum, Minimum, SquaredDifference, Pow, Prelu>(layer);
}

bool IsOneElement(const Tensor& tensor) {
  const Result<int64_t> count = CountElements(tensor.shape);
  return count.ok() && *count == 1;
}

// A CAST of numbers that need more than 8 bits.
bool IsWideCast(GraphEditor& editor, const Layer& layer) {
  const auto is_wide = [&](TensorId id) {
    const Type type = editor.At(id).type;
    return type == Type::kFloat32 || type == Type::kInt32 || type == Type::kInt16 ||
           type == Type::kUInt16;
  };
  return layer.op.Is<Cast>() && is_wide(layer.inputs[0]) && is_wide(layer.outputs[0]);
}

// A CAST of numbers of 8 bits to such ones.
bool IsWideningCast(GraphEditor& editor, const Layer& layer) {
  return layer.op.Is<Cast>() && IsByte(editor.At(layer.inputs[0]).type) &&
         !IsByte(editor.At(layer.outputs[0]).type);
}

// The layers between a QUANTIZE or a CAST and the only tensor of 8 bits that they follow from.
class Function {
 public:
  explicit Function(GraphEditor& editor) : editor_(editor) {}

  // Finds the layers that make this tensor. Fails where they read something else.
  bool Find(TensorId result) {
    std::vector<TensorId> open = {result};
    while (!open.empty()) {
      const TensorId id = open.back();
      open.pop_back();
      if (!Visit(id, open)) return false;
    }
    return source_ != kNoTensor && AllIsReadInside(result);
  }

  TensorId source() const { return source_; }
  bool empty() const { return layers_.empty(); }

  // A graph that computes the result for all numbers of the source's type, and then `quantize`.
  Graph OfAllNumbers(const Layer& quantize) {
    Graph graph;
    const Tensor& source = editor_.At(source_);
    Tensor numbers;
    numbers.type = source.type;
    numbers.quantization = source.quantization;
    numbers.shape = {kNumbers};
    auto bytes = std::make_shared<std::vector<uint8_t>>(kNumbers);
    for (int i = 0; i < kNumbers; ++i) (*bytes)[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
    numbers.constant = true;
    numbers.data = bytes->data();
    numbers.data_bytes = bytes->size();
    numbers.owner = std::move(bytes);
    graph.tensors.push_back(std::move(numbers));
    ids_ = {{source_, 0}};
    for (const Place place : InOrder()) Copy(*place, graph);
    Copy(quantize, graph);
    graph.outputs = graph.layers.back().outputs;
    return graph;
  }

 private:
  bool Visit(TensorId id, std::vector<TensorId>& open) {
    if (id == kNoTensor) return true;
    const std::optional<Place> maker = editor_.MakerOf(id);
    if (!maker.has_value()) return editor_.At(id).constant && IsOneElement(editor_.At(id));
    if (const TensorId from = DequantizedFrom(editor_, id); from != kNoTensor) {
      const Tensor& tensor = editor_.At(from);
      const bool is_constant = tensor.constant && IsOneElement(tensor);
      if (!is_constant && !IsSource(from, id)) return false;
    } else if (IsWideningCast(editor_, **maker)) {
      if (!IsSource((*maker)->inputs[0])) return false;
    } else if (!IsFunction(**maker) && !IsWideCast(editor_, **maker)) {
      return false;
    }
    if (!places_.insert(&**maker).second) return true;
    layers_.push_back(*maker);
    if (layers_.size() > kMostLayers) return false;
    if (!IsFirst(**maker)) {
      open.insert(open.end(), (*maker)->inputs.begin(), (*maker)->inputs.end());
    }
    return true;
  }

  // Whether a layer reads the source, or a constant in its place.
  bool IsFirst(const Layer& layer) const {
    return IsDequantize(layer) || IsWideningCast(editor_, layer);
  }

  bool IsSource(TensorId from, TensorId real) {
    return DequantizedFromBytes(editor_, real) != kNoTensor && IsSource(from);
  }

  bool IsSource(TensorId from) {
    if (source_ == kNoTensor) source_ = from;
    return source_ == from;
  }

  // Results of all layers but the first ones are read by these layers alone, and each element
  // follows from one of the source.
  bool AllIsReadInside(TensorId result) {
    std::map<TensorId, int> readers = {{result, 1}};
    for (const Place place : layers_) {
      for (const TensorId id : place->inputs) ++readers[id];
    }
    return std::all_of(layers_.begin(), layers_.end(), [&](Place place) {
      const TensorId id = place->outputs[0];
      const Shape& shape = editor_.At(id).shape;
      const bool fits = shape == editor_.At(source_).shape || IsOneElement(editor_.At(id));
      return fits && (IsFirst(*place) || editor_.ReadersOf(id) == readers[id]);
    });
  }

  // The layers in an order in which they can run.
  std::vector<Place> InOrder() const {
    std::vector<Place> order;
    std::set<const Layer*> left = places_;
    while (!left.empty()) {
      for (const Place place : layers_) {
        const bool waits =
            std::any_of(place->inputs.begin(), place->inputs.end(), [&](TensorId id) {
              if (id == kNoTensor) return false;
              const std::optional<Place> maker = editor_.MakerOf(id);
              return maker.has_value() && left.count(&**maker) > 0;
            });
        if (!waits && left.erase(&*place) > 0) order.push_back(place);
      }
    }
    return order;
  }

  void Copy(const Layer& layer, Graph& graph) {
    Layer copy = layer;
    bool is_constant = true;
    for (TensorId& id : copy.inputs) {
      if (id == kNoTensor) continue;
      if (ids_.count(id) == 0) {
        Tensor constant = editor_.At(id);
        constant.shape = {};
        ids_[id] = static_cast<TensorId>(graph.tensors.size());
        graph.tensors.push_back(std::move(constant));
      }
      id = ids_[id];
      is_constant = is_constant && graph.tensors[static_cast<size_t>(id)].shape.empty();
    }
    const Tensor& output = editor_.At(copy.outputs[0]);
    Tensor result;
    result.type = output.type;
    result.quantization = output.quantization;
    if (!is_constant) result.shape = {kNumbers};
    ids_[copy.outputs[0]] = static_cast<TensorId>(graph.tensors.size());
    copy.outputs[0] = ids_[copy.outputs[0]];
    graph.tensors.push_back(std::move(result));
    graph.layers.push_back(std::move(copy));
  }

  GraphEditor& editor_;
  TensorId source_ = kNoTensor;
  std::vector<Place> layers_;
  std::set<const Layer*> places_;
  std::map<TensorId, TensorId> ids_;
};

}  // namespace

bool FuseTable(GraphEditor& editor, Place last) {
  const Tensor& out = editor.At(last->outputs[0]);
  const bool is_cast = last->op.Is<Cast>();
  if (!IsByte(out.type) || (!is_cast && out.quantization.scales.size() != 1)) return false;
  Function function(editor);
  if (!function.Find(last->inputs[0])) return false;
  const TensorId source = function.source();
  if (editor.At(source).shape != out.shape) return false;
  Graph graph = function.OfAllNumbers(*last);
  const TensorId result = graph.outputs[0];
  constexpr uint64_t kBudget = 1 << 24;
  FoldBudget budget(kBudget, kBudget);
  FoldConstants(graph, budget);
  const Tensor& table = graph.tensors[static_cast<size_t>(result)];
  if (!table.constant || table.data_bytes != kNumbers) return false;
  MapBytes map;
  std::copy_n(static_cast<const uint8_t*>(table.data), kNumbers, map.table.begin());
  Layer layer{std::move(map), {source}, {}, last->label};
  editor.ReplaceGroup(last, std::move(layer));
  return true;
}

bool FuseLookup(GraphEditor& editor, Place gather) {
  const auto* const op = gather->op.As<Gather>();
  if (op == nullptr || op->axis != 0 || op->batch_dims != 0) return false;
  const Tensor& table = editor.At(gather->inputs[0]);
  if (!table.constant || !IsByte(table.type) || table.shape != Shape{kNumbers}) return false;
  const std::optional<Place> cast = editor.MakerOf(gather->inputs[1]);
  if (!cast.has_value() || !(*cast)->op.Is<Cast>()) return false;
  const TensorId source = (*cast)->inputs[0];
  // The bits of a negative number are those of the place that it has from the end.
  const Type type = editor.At(source).type;
  if (type != Type::kUInt8 && !(type == Type::kInt8 && op->from_end)) return false;
  MapBytes map;
  std::copy_n(static_cast<const uint8_t*>(table.data), kNumbers, map.table.begin());
  editor.ReplaceGroup(gather, {std::move(map), {source}, {}, gather->label});
  return true;
}

namespace {

bool HasClamp(const Tail& tail, Type type) {
  const Range range = RangeOf(type);
  return tail.numerics.clamp_min > range.min || tail.numerics.clamp_max < range.max;
}

// Whether no number of these 8 bits is infinite once it is dequantized.
bool AreFinite(const Tensor& bytes) {
  constexpr float kFarthest = 255;  // from a zero point
  return std::isfinite(bytes.quantization.scales[0] * kFarthest);
}

}  // namespace

bool FusePair(GraphEditor& editor, Place quantize) {
  const std::optional<Tail> tail = TailOf(editor, quantize);
  if (!tail.has_value() || !IsByte(editor.At(quantize->outputs[0]).type)) return false;
  const Place place = *editor.MakerOf(tail->from);
  if (!IsAnyOf<Add, Sub, Mul>(*place)) return false;
  if (ActivationOf<Add, Sub, Mul>(*place) != Activation::kNone) return false;
  // NaN, as of two infinities, becomes another number if clamps are part of the quantization.
  const bool must_be_finite = HasClamp(*tail, editor.At(quantize->outputs[0]).type);
  Layer layer = *place;
  for (TensorId& id : layer.inputs) {
    id = DequantizedFromBytes(editor, id);
    if (id == kNoTensor || (must_be_finite && !AreFinite(editor.At(id)))) return false;
  }
  layer.numerics = tail->numerics;
  editor.ReplaceGroup(quantize, std::move(layer));
  return true;
}

bool FuseRealPair(GraphEditor& editor, Place quantize) {
  const std::optional<Tail> tail = TailOf(editor, quantize);
  if (!tail.has_value() || !IsByte(editor.At(quantize->outputs[0]).type)) return false;
  const Place place = *editor.MakerOf(tail->from);
  if (!IsAnyOf<Add, Mul>(*place) || ActivationOf<Add, Mul>(*place) != Activation::kNone) {
    return false;
  }
  for (size_t i = 0; i < 2; ++i) {
    const TensorId bytes = DequantizedFromBytes(editor, place->inputs[i]);
    if (bytes == kNoTensor) continue;
    const TensorId real = place->inputs[1 - i];
    // The same holds for NaN here.
    const std::optional<Place> maker = editor.MakerOf(real);
    const bool is_number =
        AreFinite(editor.At(bytes)) && maker.has_value() &&
        (IsFiniteProductOfBytes(editor, *maker) || AreScaledSums(editor, *maker));
    if (HasClamp(*tail, editor.At(quantize->outputs[0]).type) && !is_number) continue;
    Layer layer = *place;
    layer.inputs = {bytes, real};  // a + b is b + a, to the bit
    layer.numerics = tail->numerics;
    editor.ReplaceGroup(quantize, std::move(layer));
    return true;
  }
  return false;
}

bool FuseOrtPair(GraphEditor& editor, Place quantize) {
  const std::optional<Tail> tail = TailOf(editor, quantize);
  if (!tail.has_value()) return false;
  const Place place = *editor.MakerOf(tail->from);
  if (!IsAnyOf<Add, Mul>(*place) || ActivationOf<Add, Mul>(*place) != Activation::kNone) {
    return false;
  }
  const Type type = editor.At(quantize->outputs[0]).type;
  if (HasClamp(*tail, type)) return false;
  Layer layer = *place;
  for (TensorId& id : layer.inputs) {
    id = DequantizedFromBytes(editor, id);
    if (id == kNoTensor || editor.At(id).type != type) return false;
  }
  layer.op = place->op.Is<Add>() ? Operator(QLinearAdd{}) : Operator(QLinearMul{});
  layer.numerics = tail->numerics;
  editor.ReplaceGroup(quantize, std::move(layer));
  return true;
}

}  // namespace intaglio::nn
