// Products whose quantization each run tells: what tools write as INTEGER_MATMUL, a cast to
// float32, a multiplication by the scales and the addition of a bias is one layer.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/linear/integer_products.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/quantized_groups.h"

namespace intaglio::nn {
namespace {

constexpr size_t kScale = 4;
constexpr size_t kBias = 5;

TensorId InputAt(const Layer& layer, size_t input) {
  return input < layer.inputs.size() ? layer.inputs[input] : kNoTensor;
}

// The layer that makes a tensor which only one other reads, if its operator is this one.
template <class Op>
std::optional<Place> OnlyFor(GraphEditor& editor, TensorId id) {
  if (id == kNoTensor || editor.ReadersOf(id) != 1) return {};
  const std::optional<Place> maker = editor.MakerOf(id);
  return maker.has_value() && (*maker)->op.Is<Op>() ? maker : std::nullopt;
}

bool HasElements(const Tensor& tensor, int64_t count) {
  const Result<int64_t> elements = CountElements(tensor.shape);
  return elements.ok() && *elements == count;
}

// The constants along the columns of the result: one, or one for each.
std::optional<std::vector<float>> AlongColumns(GraphEditor& editor, TensorId id, int columns) {
  const Tensor* const tensor = ConstantBehind(editor, id);
  if (tensor == nullptr || tensor->type != Type::kFloat32) return {};
  const bool is_row = HasElements(*tensor, columns) && !editor.At(id).shape.empty() &&
                      editor.At(id).shape.back() == columns;
  if (!HasElements(*tensor, 1) && !is_row) return {};
  std::vector<float> values(tensor->data_bytes / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor->data, tensor->data_bytes);
  return values;
}

// The scale of x and those of the weights.
struct Scales {
  TensorId x = kNoTensor;
  std::vector<float> weights;
};

std::optional<Scales> ScalesBehind(GraphEditor& editor, TensorId id, int columns) {
  const std::optional<Place> maker = editor.MakerOf(id);
  if (!maker.has_value() || !(*maker)->op.Is<Mul>()) return {};
  for (size_t i = 0; i < 2; ++i) {
    const TensorId x = (*maker)->inputs[i];
    std::optional<std::vector<float>> weights =
        AlongColumns(editor, (*maker)->inputs[1 - i], columns);
    const bool is_one = editor.At(x).type == Type::kFloat32 && HasElements(editor.At(x), 1);
    if (weights.has_value() && is_one) return Scales{x, std::move(*weights)};
  }
  return {};
}

// The weights with these scales, and the zero points that they have.
TensorId WithScales(GraphEditor& editor, TensorId weights, std::vector<float> scales) {
  Tensor tensor = editor.At(weights);
  const std::vector<int32_t> zero_points = tensor.quantization.zero_points;
  Quantization q;
  const size_t count = std::max(scales.size(), zero_points.size());
  for (size_t i = 0; i < count; ++i) {
    q.scales.push_back(scales[scales.size() > 1 ? i : 0]);
    q.zero_points.push_back(zero_points.empty() ? 0 : zero_points[zero_points.size() > 1 ? i : 0]);
  }
  q.axis = static_cast<int>(tensor.shape.size()) - 1;
  tensor.quantization = std::move(q);
  return editor.Add(std::move(tensor));
}

bool TakesScales(GraphEditor& editor, const Layer& layer, int columns) {
  const Tensor& weights = editor.At(layer.inputs[1]);
  const size_t zero_points = weights.quantization.zero_points.size();
  const bool fits = zero_points <= 1 || std::cmp_equal(zero_points, columns);
  return weights.constant && fits && InputAt(layer, kScale) == kNoTensor;
}

// (a float32 of the sums) * (scale of x * scales of the weights)
bool FuseScales(GraphEditor& editor, Place mul) {
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<Place> cast = OnlyFor<Cast>(editor, mul->inputs[i]);
    if (!cast.has_value() || editor.At(mul->inputs[i]).type != Type::kFloat32) continue;
    const std::optional<Place> product = OnlyFor<IntegerMatMul>(editor, (*cast)->inputs[0]);
    if (!product.has_value()) continue;
    const Tensor& sums = editor.At((*product)->outputs[0]);
    if (sums.shape != editor.At(mul->outputs[0]).shape) continue;
    const int columns = sums.shape.back();
    std::optional<Scales> scales = ScalesBehind(editor, mul->inputs[1 - i], columns);
    if (!scales.has_value() || !TakesScales(editor, **product, columns)) continue;
    Layer layer = **product;
    layer.inputs[1] = WithScales(editor, layer.inputs[1], std::move(scales->weights));
    layer.inputs.resize(kScale + 1, kNoTensor);
    layer.inputs[kScale] = scales->x;
    editor.ReplaceGroup(mul, std::move(layer));
    return true;
  }
  return false;
}

bool FuseBias(GraphEditor& editor, Place add) {
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<Place> product = OnlyFor<IntegerMatMul>(editor, add->inputs[i]);
    if (!product.has_value() || InputAt(**product, kScale) == kNoTensor ||
        InputAt(**product, kBias) != kNoTensor) {
      continue;
    }
    const Shape& shape = editor.At((*product)->outputs[0]).shape;
    const TensorId bias = add->inputs[1 - i];
    const Tensor* const values = ConstantBehind(editor, bias);
    const bool is_row = values != nullptr && HasElements(*values, shape.back()) &&
                        !editor.At(bias).shape.empty() &&
                        editor.At(bias).shape.back() == shape.back();
    if (!is_row || shape != editor.At(add->outputs[0]).shape) continue;
    Layer layer = **product;
    layer.inputs.resize(kBias + 1, kNoTensor);
    layer.inputs[kBias] = bias;
    editor.ReplaceGroup(add, std::move(layer));
    return true;
  }
  return false;
}

}  // namespace

size_t FuseDynamicProducts(GraphEditor& editor) {
  size_t fused = 0;
  for (Place place = editor.layers().begin(); place != editor.layers().end(); ++place) {
    const auto* const add = place->op.As<Add>();
    const auto* const mul = place->op.As<Mul>();
    if (mul != nullptr && mul->activation == Activation::kNone && FuseScales(editor, place)) {
      ++fused;
    }
    if (add != nullptr && add->activation == Activation::kNone) FuseBias(editor, place);
  }
  return fused;
}

}  // namespace intaglio::nn
