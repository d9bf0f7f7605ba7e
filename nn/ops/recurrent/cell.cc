#include "intaglio/nn/ops/recurrent/cell.h"

#include <algorithm>
#include <limits>
#include <string>

#include "intaglio/nn/graph/input_advice.h"
#include "intaglio/nn/ops/linear/pack_matrix.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"

namespace intaglio::nn {
namespace {

template <class Function>
void ForEach(float* x, ptrdiff_t count, const Function& f) {
  for (ptrdiff_t i = 0; i < count; ++i) x[i] = f(x[i]);
}

std::vector<std::byte> Stacked(const LayerView& layer, const std::vector<size_t>& inputs) {
  std::vector<std::byte> stacked;
  for (const size_t i : inputs) {
    const auto* const data = static_cast<const std::byte*>(layer.input(i).data);
    stacked.insert(stacked.end(), data, data + layer.input(i).data_bytes);
  }
  return stacked;
}

}  // namespace

void Apply(const FloatLoops& floats, CellActivation activation, float* x, ptrdiff_t count) {
  switch (activation) {
    case CellActivation::kNone:
      return;
    case CellActivation::kRelu:
      return ForEach(x, count, [](float v) { return std::max(0.0f, v); });
    case CellActivation::kRelu6:
      return ForEach(x, count, [](float v) { return std::max(0.0f, std::min(v, 6.0f)); });
    case CellActivation::kReluN1To1:
      return ForEach(x, count, [](float v) { return std::max(-1.0f, std::min(v, 1.0f)); });
    case CellActivation::kTanh:
      return floats.tanh(x, count, x);
  }
}

Result<SequenceRows> RowsOf(const LayerView& layer, bool sequence, bool time_major) {
  const Shape& x = layer.input(0).shape;
  if (x.size() != (sequence ? 3 : 2)) {
    return layer.Invalid("the input's shape is " + ToString(x) + ", not " +
                         (!sequence    ? "[batch, depth]"
                          : time_major ? "[time, batch, depth]"
                                       : "[batch, time, depth]"));
  }
  if (!sequence) return SequenceRows{1, x[0], true};
  const SequenceRows rows{x[time_major ? 0 : 1], x[time_major ? 1 : 0], time_major};
  if (int64_t{rows.steps} * rows.batch > std::numeric_limits<int>::max()) {
    return layer.Unsupported("an input of " + ToString(x) + " has too many rows");
  }
  return rows;
}

Result<float> SymmetricScale(const LayerView& layer, const Tensor& tensor) {
  const Result<Affine> affine = AffineOf(layer, tensor);
  if (!affine.ok()) return affine.status();
  if (affine->zero_point == 0) return affine->scale;
  return layer.Unsupported("weights '" + tensor.name + "' have the zero point " +
                           std::to_string(affine->zero_point) + "; 0 is supported");
}

Result<std::vector<float>> RealNumbersOf(const LayerView& layer, size_t i, Type type) {
  const Tensor& tensor = layer.input(i);
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, tensor, type));
  if (type == Type::kFloat32) {
    const auto* const data = static_cast<const float*>(tensor.data);
    return std::vector<float>(data, data + tensor.data_bytes / sizeof(float));
  }
  const Result<float> scale = SymmetricScale(layer, tensor);
  if (!scale.ok()) return scale.status();
  const auto* const data = static_cast<const int8_t*>(tensor.data);
  std::vector<float> real(data, data + tensor.data_bytes);
  for (float& v : real) v *= *scale;
  return real;
}

Result<PackedOf<PackedMatrix>> PackCellWeights(const LayerView& layer,
                                               const std::vector<size_t>& inputs,
                                               const LayerOptions& options) {
  const int depth = layer.input(inputs[0]).shape[1];
  ConstMatrix matrix{nullptr, Type::kInt8, depth, 0, depth, Order::kColMajor, 0};
  PackedOnce::Key from;
  for (const size_t i : inputs) {
    matrix.cols += layer.input(i).shape[0];
    from.push_back(KeyOf(layer.input(i).data));
  }
  if (inputs.size() > 1) {
    return PackCopied(layer, options, matrix, from, [&] { return Stacked(layer, inputs); });
  }
  matrix.data = layer.input(inputs[0]).data;
  return PackMatrix(layer, options, matrix);
}

Status CheckConstant(const LayerView& layer, size_t i, const Shape& shape) {
  if (!layer.has_input(i)) return layer.Invalid("input " + std::to_string(i) + " is absent");
  const Tensor& tensor = layer.input(i);
  if (tensor.shape != shape) {
    return layer.Invalid("input " + std::to_string(i) + " '" + tensor.name + "' has the shape " +
                         ToString(tensor.shape) + ", not " + ToString(shape));
  }
  if (tensor.constant) return {};
  return layer.Unsupported("input " + std::to_string(i) + " '" + tensor.name + "' is not constant" +
                           AdviceForInput(layer, i));
}

Status CheckVariable(const LayerView& layer, size_t i, int64_t elements) {
  if (!layer.has_input(i)) return layer.Invalid("input " + std::to_string(i) + " is absent");
  const Tensor& tensor = layer.input(i);
  const std::string name = "the state '" + tensor.name + "'";
  if (!tensor.variable) return layer.Unsupported(name + " is not a variable");
  if (*CountElements(tensor.shape) == elements) return {};
  return layer.Invalid(name + " has the shape " + ToString(tensor.shape) + "; " +
                       std::to_string(elements) + " elements are needed");
}

Status CheckDepth(const LayerView& layer, int depth) {
  if (depth <= 1 << 15) return {};
  return layer.Unsupported("sums " + std::to_string(depth) + " products; at most 2^15");
}

Status CheckSizes(const LayerView& layer, int64_t rows, int64_t columns) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max() / 16;
  if (rows < 1 || columns < 1 || rows <= kMax / columns) return {};
  return layer.Unsupported("needs room for " + std::to_string(rows) + " x " +
                           std::to_string(columns) + " sums; at most 2^27 are supported");
}

}  // namespace intaglio::nn
