#include "intaglio/nn/passes/remove_transposes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/elementwise/map_bytes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/permutation.h"

namespace intaglio::nn {
namespace {

template <class... Ops>
bool IsAny(const Operator& op) {
  return (... || op.Is<Ops>());
}

bool IsUnary(const Operator& op) {
  return IsAny<Abs, Neg, Exp, Log, Sqrt, Rsqrt, Square, Floor, Ceil, Round, Sin, Cos, Logistic,
               Tanh, Relu, Relu6, ReluN1To1, HardSwish, Elu, Gelu, LeakyRelu, Cast, Quantize,
               Dequantize, LogicalNot>(op) ||
         IsAny<Erf, Reciprocal, Softplus, Softsign, Mish, Tan, Selu, Celu, Swish, HardSigmoid,
               ThresholdedRelu, Shrink, IsNan, IsInf, Sign, Clip, BitwiseNot, MapBytes>(op);
}

bool IsBroadcast(const Operator& op) {
  return IsAny<Add, Sub, Mul, QLinearAdd, QLinearMul, Div, Maximum, Minimum, SquaredDifference,
               FloorDiv, FloorMod, Fmod, Pow, Prelu, SelectV2>(op) ||
         IsAny<Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, LogicalAnd, LogicalOr,
               LogicalXor, BitwiseAnd, BitwiseOr, BitwiseXor>(op);
}

// A tensor that is the transpose of another, and has not been computed.
struct Moved {
  TensorId source;
  Permutation permutation;
};

// The same layer on sources: its operator, and the order of its outputs.
struct Rewritten {
  Operator op;
  Permutation permutation;
};

class TransposeRemover {
 public:
  explicit TransposeRemover(Graph& graph) : graph_(graph), moved_(graph.tensors.size()) {}

  RemovedTransposes Run() {
    RemovedTransposes counts;
    CountReaders();
    std::vector<Layer> layers;
    for (size_t i = 0; i < graph_.layers.size(); ++i) graph_.layers[i].label = LabelOf(graph_, i);
    layers.swap(graph_.layers);
    for (Layer& layer : layers) {
      counts.before += size_t{layer.op.Is<Transpose>()};
      Visit(std::move(layer));
    }
    for (const TensorId id : graph_.outputs) Compute(id);
    for (const Layer& layer : graph_.layers) counts.after += size_t{layer.op.Is<Transpose>()};
    if (graph_.folded_shapes != nullptr) graph_.folded_shapes = IncompleteShapes();
    return counts;
  }

 private:
  Tensor& At(TensorId id) { return graph_.tensors[static_cast<size_t>(id)]; }
  size_t RankOf(TensorId id) { return At(id).shape.size(); }

  const Moved* FindMoved(TensorId id) const {
    if (id == kNoTensor || !moved_[static_cast<size_t>(id)]) return nullptr;
    return &*moved_[static_cast<size_t>(id)];
  }
  void SetMoved(TensorId id, TensorId source, Permutation permutation) {
    moved_[static_cast<size_t>(id)] = Moved{source, std::move(permutation)};
  }

  void CountReaders() {
    readers_.assign(graph_.tensors.size(), 0);
    const auto count = [&](const std::vector<TensorId>& ids) {
      for (const TensorId id : ids) {
        if (id != kNoTensor) ++readers_[static_cast<size_t>(id)];
      }
    };
    for (const Layer& layer : graph_.layers) count(layer.inputs);
    count(graph_.outputs);
  }

  // Empties a constant whose only reader now reads another. Such weights may be most of a model.
  void EmptyIfReadOnce(TensorId id) {
    const auto place = static_cast<size_t>(id);
    if (place >= readers_.size() || readers_[place] != 1) return;
    Tensor& constant = At(id);
    constant.shape = {0};
    constant.quantization = {};
    constant.data = nullptr;
    constant.data_bytes = 0;
    constant.owner = nullptr;
  }

  TensorId AddTensor(Tensor tensor) {
    graph_.tensors.push_back(std::move(tensor));
    moved_.emplace_back();
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }

  void Emit(Operator op, std::vector<TensorId> inputs, std::vector<TensorId> outputs,
            const Layer& like) {
    graph_.layers.push_back(
        {std::move(op), std::move(inputs), std::move(outputs), like.label, like.numerics});
  }

  // Computes a tensor that has been moved or delayed, where it is, for a reader that needs it.
  void Compute(TensorId id) {
    if (const auto found = delayed_.find(id); found != delayed_.end()) {
      Layer layer = std::move(found->second);
      delayed_.erase(found);
      return EmitAsItIs(std::move(layer));
    }
    const Moved* const found = FindMoved(id);
    if (found == nullptr) return;
    const Moved moved = *found;
    moved_[static_cast<size_t>(id)].reset();
    Layer layer;
    layer.label = "TRANSPOSE '" + At(id).name + "'";
    if (KeepsOrder(moved.permutation, At(moved.source).shape)) {
      layer.op = Reshape{At(id).shape};
    } else {
      layer.op = Transpose{moved.permutation};
    }
    layer.inputs = {moved.source};
    layer.outputs = {id};
    graph_.layers.push_back(std::move(layer));
  }

  // The tensor that a reader reads in the place of this one.
  TensorId Resolve(TensorId id) {
    if (id == kNoTensor) return id;
    const Moved* const moved = FindMoved(id);
    if (moved != nullptr && IsIdentity(moved->permutation)) return moved->source;
    Compute(id);
    return id;
  }

  void EmitAsItIs(Layer layer) {
    for (TensorId& id : layer.inputs) id = Resolve(id);
    graph_.layers.push_back(std::move(layer));
  }

  void Visit(Layer layer) {
    if (layer.op.Is<Transpose>() && !At(layer.inputs[0]).variable) return VisitTranspose(layer);
    if (layer.op.Is<Reshape>() && VisitReshape(layer)) return;
    if (layer.op.Is<FullyConnected>() && VisitFlattened(layer)) return;
    if (layer.op.Is<BatchMatMul>()) layer = WithAdjoints(std::move(layer));
    if (TryRewrite(layer)) return;
    EmitAsItIs(std::move(layer));
  }

  void VisitTranspose(const Layer& layer) {
    const Permutation& own = layer.op.As<Transpose>()->permutation;
    const TensorId from = layer.inputs[0];
    const Moved* const moved = FindMoved(from);
    const TensorId source = moved == nullptr ? from : moved->source;
    SetMoved(layer.outputs[0], source, moved == nullptr ? own : Compose(moved->permutation, own));
  }

  // A reshape to the shape that a moved tensor has, which only gives it another quantization.
  void VisitSameShape(const Layer& layer, const Moved& moved) {
    Tensor tensor = At(layer.outputs[0]);
    tensor.shape = At(moved.source).shape;
    if (tensor.quantization.per_axis()) {
      tensor.quantization.axis = moved.permutation[static_cast<size_t>(tensor.quantization.axis)];
    }
    const Shape shape = tensor.shape;
    const TensorId same = AddTensor(std::move(tensor));
    Emit(Reshape{shape}, {moved.source}, {same}, layer);
    SetMoved(layer.outputs[0], same, moved.permutation);
  }

  // A reshape of a moved tensor is one of its source if it only adds and drops dimensions of
  // extent 1. The source then has those at its front, so that channels stay last.
  bool VisitReshape(const Layer& layer) {
    const Moved* const found = FindMoved(layer.inputs[0]);
    if (found == nullptr) return false;
    const Moved moved = *found;
    const TensorId out = layer.outputs[0];
    const Shape from = At(layer.inputs[0]).shape;
    const Shape to = At(out).shape;
    const Shape source = At(moved.source).shape;
    if (KeepsOrder(moved.permutation, source)) {
      Emit(Reshape{to}, {moved.source}, {out}, layer);
      return true;
    }
    if (from == to) {
      VisitSameShape(layer, moved);
      return true;
    }
    if (LongDimensions(from) != LongDimensions(to)) {
      const bool flattens = to.size() == 2 && moved.permutation[0] == 0 && to[0] == from[0];
      if (flattens) delayed_[out] = layer;
      return flattens;
    }
    const auto ones = static_cast<size_t>(std::count(to.begin(), to.end(), 1));
    Shape shape = LongDimensions(source);
    shape.insert(shape.begin(), ones, 1);
    Permutation permutation;
    size_t next = 0;  // dimension of the moved tensor
    int next_one = 0;
    for (const int extent : to) {
      if (extent == 1) {
        permutation.push_back(next_one++);
        continue;
      }
      while (from[next] == 1) ++next;
      const int dimension = moved.permutation[next++];
      const auto longer =
          std::count_if(source.begin(), source.begin() + dimension, [](int e) { return e != 1; });
      permutation.push_back(static_cast<int>(longer) + static_cast<int>(ones));
    }
    Tensor tensor = At(out);
    tensor.shape = shape;
    if (tensor.quantization.per_axis()) {
      tensor.quantization.axis = permutation[static_cast<size_t>(tensor.quantization.axis)];
    }
    const TensorId reshaped = AddTensor(std::move(tensor));
    Emit(Reshape{shape}, {moved.source}, {reshaped}, layer);
    SetMoved(out, reshaped, std::move(permutation));
    return true;
  }

  static Shape LongDimensions(const Shape& shape) {
    Shape longer;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(longer),
                 [](int extent) { return extent != 1; });
    return longer;
  }

  // Images that are made lines, and multiplied by constants: the constants take the order of the
  // images' elements.
  bool VisitFlattened(const Layer& layer) {
    const auto found = delayed_.find(layer.inputs[0]);
    if (found == delayed_.end() || layer.inputs.size() < 2) return false;
    const Moved* const image_moved = FindMoved(found->second.inputs[0]);
    if (image_moved == nullptr) return false;
    const Moved moved = *image_moved;
    const Tensor& weights = At(layer.inputs[1]);
    const Shape image = At(moved.source).shape;
    Shape in_order;  // of a line of the weights, as they are
    for (size_t i = 1; i < image.size(); ++i) {
      in_order.push_back(image[static_cast<size_t>(moved.permutation[i])]);
    }
    const Shape line = At(layer.inputs[0]).shape;
    if (!weights.constant || weights.shape.size() != 2 || weights.shape[1] != line[1]) return false;
    Tensor apart = weights;
    apart.shape = {weights.shape[0]};
    apart.shape.insert(apart.shape.end(), in_order.begin(), in_order.end());
    Tensor ordered = Permuted(apart, InverseOf(moved.permutation));
    ordered.shape = weights.shape;
    EmptyIfReadOnce(layer.inputs[1]);
    const Layer reshape = found->second;
    Tensor tensor = At(layer.inputs[0]);
    Layer changed = layer;
    changed.inputs[0] = AddTensor(std::move(tensor));
    changed.inputs[1] = AddTensor(std::move(ordered));
    Emit(Reshape{line}, {moved.source}, {changed.inputs[0]}, reshape);
    EmitAsItIs(std::move(changed));
    return true;
  }

  static bool SwapsTheLastTwo(const Permutation& permutation) {
    Permutation swapped = permutation;
    if (swapped.size() < 2) return false;
    std::swap(swapped.back(), swapped[swapped.size() - 2]);
    return IsIdentity(swapped);
  }

  // Products take matrices that lie the other way round.
  Layer WithAdjoints(Layer layer) {
    BatchMatMul op = *layer.op.As<BatchMatMul>();
    for (size_t i = 0; i < 2; ++i) {
      const Moved* const moved = FindMoved(layer.inputs[i]);
      if (moved == nullptr || !SwapsTheLastTwo(moved->permutation)) continue;
      bool& adjoint = i == 0 ? op.adjoint_a : op.adjoint_b;
      adjoint = !adjoint;
      layer.inputs[i] = moved->source;
    }
    layer.op = op;
    return layer;
  }

  // The permutation of all moved inputs; none if there are several, or there is no moved input.
  const Permutation* CommonPermutation(const Layer& layer) const {
    const Permutation* common = nullptr;
    for (const TensorId id : layer.inputs) {
      const Moved* const moved = FindMoved(id);
      if (moved == nullptr) continue;
      if (common != nullptr && *common != moved->permutation) return nullptr;
      common = &moved->permutation;
    }
    return common;
  }

  bool TryRewrite(const Layer& layer) {
    const Permutation* const common = CommonPermutation(layer);
    if (common == nullptr) return false;
    const Permutation permutation = *common;
    const std::optional<Rewritten> rewritten = Rewrite(layer, permutation);
    if (!rewritten || !OutputsFit(layer, rewritten->permutation)) return false;
    std::optional<std::vector<TensorId>> inputs = SourcesOf(layer, permutation);
    if (!inputs) return false;
    if (IsIdentity(rewritten->permutation)) {
      Emit(rewritten->op, std::move(*inputs), layer.outputs, layer);
      return true;
    }
    std::vector<TensorId> outputs;
    for (const TensorId id : layer.outputs) {
      Tensor tensor = At(id);
      tensor.shape = InSourceOrder(tensor.shape, rewritten->permutation);
      if (tensor.quantization.per_axis()) {
        const auto axis = static_cast<size_t>(tensor.quantization.axis);
        tensor.quantization.axis = rewritten->permutation[axis];
      }
      outputs.push_back(AddTensor(std::move(tensor)));
      SetMoved(id, outputs.back(), rewritten->permutation);
    }
    Emit(rewritten->op, std::move(*inputs), std::move(outputs), layer);
    return true;
  }

  bool OutputsFit(const Layer& layer, const Permutation& permutation) {
    return std::all_of(layer.outputs.begin(), layer.outputs.end(), [&](TensorId id) {
      return RankOf(id) == permutation.size() && !At(id).constant && !At(id).variable;
    });
  }

  // The inputs in the source's order; none if that would take another transpose.
  std::optional<std::vector<TensorId>> SourcesOf(const Layer& layer,
                                                 const Permutation& permutation) {
    std::vector<TensorId> inputs;
    for (const TensorId id : layer.inputs) {
      const Moved* const moved = FindMoved(id);
      if (moved != nullptr) {
        inputs.push_back(moved->source);
        continue;
      }
      if (id == kNoTensor || !FollowsOrder(layer.op)) {
        inputs.push_back(Resolve(id));
        continue;
      }
      const std::optional<TensorId> ordered = Ordered(id, permutation);
      if (!ordered) return std::nullopt;
      inputs.push_back(*ordered);
    }
    return inputs;
  }

  // Whether an input has the dimensions of the others, or broadcasts to them.
  static bool FollowsOrder(const Operator& op) { return IsBroadcast(op) || op.Is<Concatenation>(); }

  // A tensor that broadcasts to the moved ones, in the source's order.
  std::optional<TensorId> Ordered(TensorId id, const Permutation& permutation) {
    Shape shape = At(id).shape;
    if (shape.size() > permutation.size()) return std::nullopt;
    if (std::all_of(shape.begin(), shape.end(), [](int extent) { return extent == 1; })) {
      return Resolve(id);
    }
    if (!At(id).constant) return std::nullopt;
    const auto known = ordered_.find({id, permutation});
    if (known != ordered_.end()) return known->second;
    Tensor wide = At(id);
    if (wide.quantization.per_axis()) {
      wide.quantization.axis += static_cast<int>(permutation.size() - shape.size());
    }
    wide.shape.insert(wide.shape.begin(), permutation.size() - shape.size(), 1);
    const TensorId ordered = AddTensor(Permuted(wide, InverseOf(permutation)));
    ordered_[{id, permutation}] = ordered;
    return ordered;
  }

  static int InSource(int axis, const Permutation& permutation) {
    const int rank = static_cast<int>(permutation.size());
    return permutation[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
  }

  template <class Op>
  static Rewritten WithAxis(const Op& op, const Permutation& permutation) {
    Op changed = op;
    changed.axis = InSource(op.axis, permutation);
    return {changed, permutation};
  }

  template <class Op>
  static Rewritten WithPaddings(const Op& op, const Permutation& permutation) {
    Op changed = op;
    changed.paddings = InSourceOrder(op.paddings, permutation);
    return {changed, permutation};
  }

  // What keeps its meaning where the last dimension stays the last.
  static std::optional<Rewritten> AlongTheLast(const Operator& op, const Permutation& permutation) {
    if (permutation.back() != static_cast<int>(permutation.size()) - 1) return std::nullopt;
    return Rewritten{op, permutation};
  }

  template <class Op>
  static Rewritten Reduced(const Op& op, const Permutation& permutation) {
    Op changed = op;
    std::vector<bool> gone(permutation.size(), false);
    for (int& axis : changed.axes) {
      axis = InSource(axis, permutation);
      gone[static_cast<size_t>(axis)] = true;
    }
    if (op.keep_dims || op.axes.empty()) return {changed, permutation};
    Permutation kept;
    for (const int dimension : permutation) {
      if (gone[static_cast<size_t>(dimension)]) continue;
      kept.push_back(dimension -
                     static_cast<int>(std::count(gone.begin(), gone.begin() + dimension, true)));
    }
    return {changed, kept};
  }

  static std::optional<Rewritten> StridedInSource(const StridedSlice& op,
                                                  const Permutation& permutation) {
    if (op.begin.size() != permutation.size() || op.ellipsis_mask != 0 || op.new_axis_mask != 0 ||
        op.shrink_axis_mask != 0) {
      return std::nullopt;
    }
    StridedSlice changed = op;
    changed.begin = InSourceOrder(op.begin, permutation);
    changed.end = InSourceOrder(op.end, permutation);
    changed.strides = InSourceOrder(op.strides, permutation);
    changed.begin_mask = changed.end_mask = 0;
    for (size_t i = 0; i < permutation.size(); ++i) {
      changed.begin_mask |= (op.begin_mask >> i & 1u) << permutation[i];
      changed.end_mask |= (op.end_mask >> i & 1u) << permutation[i];
    }
    return Rewritten{changed, permutation};
  }

  // The layer on the sources of its inputs, if it can be had.
  std::optional<Rewritten> Rewrite(const Layer& layer, const Permutation& permutation) {
    const Operator& op = layer.op;
    if (IsUnary(op) || IsBroadcast(op)) return Rewritten{op, permutation};
    if (op.Is<Softmax>() || op.Is<LogSoftmax>()) return AlongTheLast(op, permutation);
    if (const auto* const join = op.As<Concatenation>()) return WithAxis(*join, permutation);
    if (const auto* const split = op.As<Split>()) return WithAxis(*split, permutation);
    if (const auto* const split = op.As<SplitV>()) return WithAxis(*split, permutation);
    if (const auto* const pad = op.As<Pad>()) return WithPaddings(*pad, permutation);
    if (const auto* const pad = op.As<MirrorPad>()) return WithPaddings(*pad, permutation);
    if (const auto* const mean = op.As<Mean>()) return Reduced(*mean, permutation);
    if (const auto* const mean = op.As<QLinearMean>()) return Reduced(*mean, permutation);
    if (const auto* const sum = op.As<Sum>()) return Reduced(*sum, permutation);
    if (const auto* const max = op.As<ReduceMax>()) return Reduced(*max, permutation);
    if (const auto* const min = op.As<ReduceMin>()) return Reduced(*min, permutation);
    if (const auto* const strided = op.As<StridedSlice>()) {
      return StridedInSource(*strided, permutation);
    }
    if (const auto* const slice = op.As<Slice>()) {
      return Rewritten{
          Slice{InSourceOrder(slice->begin, permutation), InSourceOrder(slice->size, permutation)},
          permutation};
    }
    if (const auto* const gather = op.As<Gather>()) {
      const bool simple = gather->batch_dims == 0 && RankOf(layer.inputs[1]) == 1 &&
                          FindMoved(layer.inputs[1]) == nullptr;
      return simple ? std::optional(WithAxis(*gather, permutation)) : std::nullopt;
    }
    return std::nullopt;
  }

  Graph& graph_;
  std::vector<std::optional<Moved>> moved_;  // per tensor
  std::vector<int> readers_;                 // per tensor of the graph as it was
  // Reshapes of moved tensors to lines, by what they make, that no reader has needed yet.
  std::map<TensorId, Layer> delayed_;
  std::map<std::pair<TensorId, Permutation>, TensorId> ordered_;
};

}  // namespace

RemovedTransposes RemoveTransposes(Graph& graph) { return TransposeRemover(graph).Run(); }

}  // namespace intaglio::nn
