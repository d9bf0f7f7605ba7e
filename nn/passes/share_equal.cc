#include "intaglio/nn/passes/share_equal.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/graph_editor.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

// The parameters of an operator. Each binding names all of them: with one more it does not compile.
// No operator is here whose parameters are real numbers, because 0 and -0 would be equal.
auto ParametersOf(const Transpose& op) {
  const auto& [permutation] = op;
  return std::tie(permutation);
}
auto ParametersOf(const Reshape& op) {
  const auto& [shape] = op;
  return std::tie(shape);
}
auto ParametersOf(const Squeeze& op) {
  const auto& [axes] = op;
  return std::tie(axes);
}
auto ParametersOf(const ExpandDims& op) {
  const auto& [axis] = op;
  return std::tie(axis);
}
auto ParametersOf(const Concatenation& op) {
  const auto& [axis, activation] = op;
  return std::tie(axis, activation);
}
auto ParametersOf(const Slice& op) {
  const auto& [begin, size] = op;
  return std::tie(begin, size);
}
auto ParametersOf(const Add& op) {
  const auto& [activation, pot_scale, keeps_infinities] = op;
  return std::tie(activation, pot_scale, keeps_infinities);
}
auto ParametersOf(const Sub& op) {
  const auto& [activation, pot_scale, keeps_infinities] = op;
  return std::tie(activation, pot_scale, keeps_infinities);
}
auto ParametersOf(const Mul& op) {
  const auto& [activation, keeps_infinities] = op;
  return std::tie(activation, keeps_infinities);
}
auto ParametersOf(const Div& op) {
  const auto& [activation, keeps_infinities] = op;
  return std::tie(activation, keeps_infinities);
}
auto ParametersOf(const Mean& op) {
  const auto& [axes, keep_dims] = op;
  return std::tie(axes, keep_dims);
}

template <class... Ops>
bool HaveSameParameters(const Operator& a, const Operator& b) {
  return ((a.Is<Ops>() && ParametersOf(*a.As<Ops>()) == ParametersOf(*b.As<Ops>())) || ...);
}

bool HasNoParameters(const Layer& layer) {
  return IsAnyOf<Quantize, Dequantize, Cast, Relu, Relu6, Logistic, Tanh, HardSwish, Erf, Exp, Sqrt,
                 Rsqrt, Square, SquaredDifference, Neg, Abs, Pow>(layer);
}

bool MayBeEqual(const Layer& layer) {
  return HasNoParameters(layer) || IsAnyOf<Transpose, Reshape, Squeeze, ExpandDims, Concatenation,
                                           Slice, Add, Sub, Mul, Div, Mean>(layer);
}

// The layers must have one row.
bool AreEqual(const Layer& a, const Layer& b) {
  return a.numerics == b.numerics &&
         (HasNoParameters(a) ||
          HaveSameParameters<Transpose, Reshape, Squeeze, ExpandDims, Concatenation, Slice, Add,
                             Sub, Mul, Div, Mean>(a.op, b.op));
}

bool AreAlike(const Tensor& a, const Tensor& b) {
  return a.type == b.type && a.shape == b.shape && a.quantization.scales == b.quantization.scales &&
         a.quantization.zero_points == b.quantization.zero_points &&
         a.quantization.axis == b.quantization.axis;
}

class Sharer {
 public:
  explicit Sharer(Graph& graph) : editor_(graph) {}

  size_t Run() {
    for (Place place = editor_.layers().begin(); place != editor_.layers().end(); ++place) {
      editor_.Resolve(place);
      if (!MayBeEqual(*place) || ReadsVariable(*place)) continue;
      std::vector<const Layer*>& known = known_[{&place->op.row(), place->inputs}];
      const auto same = std::find_if(known.begin(), known.end(), [&](const Layer* other) {
        return AreEqual(*place, *other) &&
               AreAlike(editor_.At(place->outputs[0]), editor_.At(other->outputs[0]));
      });
      if (same == known.end()) {
        if (known.size() < kMostAlike) known.push_back(&*place);
      } else if (editor_.Alias(place->outputs[0], (*same)->outputs[0])) {
        shared_.insert(&*place);
      }
    }
    editor_.Finish([&](const Layer& layer) { return shared_.count(&layer) > 0; });
    return shared_.size();
  }

 private:
  // More layers on the same inputs are not compared, so that no file can make it slow.
  static constexpr size_t kMostAlike = 16;

  bool ReadsVariable(const Layer& layer) {
    return std::any_of(layer.inputs.begin(), layer.inputs.end(),
                       [&](TensorId id) { return id != kNoTensor && editor_.At(id).variable; });
  }

  GraphEditor editor_;
  std::map<std::pair<const OperatorRow*, std::vector<TensorId>>, std::vector<const Layer*>> known_;
  std::set<const Layer*> shared_;
};

}  // namespace

size_t ShareEqual(Graph& graph) {
  const size_t shared = Sharer(graph).Run();
  if (shared > 0 && graph.folded_shapes != nullptr) graph.folded_shapes = IncompleteShapes();
  return shared;
}

}  // namespace intaglio::nn
