#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include "intaglio/nn/ops/loops.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

class PadRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    auto* const out = static_cast<std::byte*>(arguments.outputs[0]);
    const auto* const in = static_cast<const std::byte*>(arguments.inputs[0]);
    Fill(out);
    const size_t row = static_cast<size_t>(loops.inner_extent()) * element;
    loops.Run([&](const Loops<2>::Offsets& offsets) {
      std::memcpy(out + static_cast<size_t>(offsets[1] + start) * element,
                  in + static_cast<size_t>(offsets[0]) * element, row);
    });
    return {};
  }

  Loops<2> loops;       // the input, its place in the output
  ptrdiff_t start = 0;  // the place of the input's first element
  size_t element = 1;   // bytes
  size_t bytes = 0;     // of the output
  std::byte value[8] = {};

 private:
  void Fill(std::byte* out) const {
    if (element == 1) {
      std::memset(out, std::to_integer<int>(value[0]), bytes);
      return;
    }
    for (size_t i = 0; i < bytes; i += element) std::memcpy(out + i, value, element);
  }
};

// The filling element: the stated number, the output's zero point, or 0 without quantization.
Result<int32_t> ValueOf(const LayerView& layer) {
  const Pad& op = layer.op<Pad>();
  const Tensor& out = layer.output();
  if (out.type == Type::kFloat32 || out.type == Type::kInt64 || out.type == Type::kBool) {
    if (op.has_value && op.value != 0) {
      return layer.Unsupported(std::string("padding ") + NameOf(out.type) +
                               " with another value than 0 is not supported");
    }
    return 0;
  }
  if (op.has_value) {
    const Range range = RangeOf(out.type);
    if (op.value >= range.min && op.value <= range.max) return op.value;
    return layer.Invalid("the padding value " + std::to_string(op.value) + " is no " +
                         NameOf(out.type));
  }
  if (!out.quantization.quantized()) return 0;
  const Result<Affine> q = AffineOf(layer, out);
  if (!q.ok()) return q.status();
  return q->zero_point;
}

}  // namespace

ShapesResult InferPad(const LayerView& layer) {
  const Pad& op = layer.op<Pad>();
  Shape shape = layer.input(0).shape;
  if (op.paddings.size() != shape.size()) {
    return layer.Invalid("has paddings for " + std::to_string(op.paddings.size()) +
                         " dimensions; the input's shape is " + ToString(shape));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto [before, after] = op.paddings[i];
    const int64_t extent = int64_t{shape[i]} + before + after;
    if (before < 0 || after < 0 || extent > std::numeric_limits<int>::max()) {
      return layer.Invalid("cannot pad dimension " + std::to_string(i) + " of " + ToString(shape) +
                           " by " + std::to_string(before) + " and " + std::to_string(after));
    }
    shape[i] = static_cast<int>(extent);
  }
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PreparePad(const LayerView& layer, const LayerOptions&) {
  const Tensor& in = layer.input(0);
  const Tensor& out = layer.output();
  if (in.type != out.type) {
    return layer.Unsupported(std::string("the input is ") + NameOf(in.type) +
                             ", but the output is " + NameOf(out.type));
  }
  const Result<int32_t> value = ValueOf(layer);
  if (!value.ok()) return value.status();

  auto routine = std::make_shared<PadRoutine>();
  const std::vector<ptrdiff_t> in_strides = DenseStrides(in.shape);
  const std::vector<ptrdiff_t> out_strides = DenseStrides(out.shape);
  for (size_t i = 0; i < in.shape.size(); ++i) {
    routine->loops.Add(in.shape[i], {in_strides[i], out_strides[i]});
    routine->start += layer.op<Pad>().paddings[i].first * out_strides[i];
  }
  routine->loops.MakeInnerDense();
  routine->element = SizeOf(out.type);
  routine->bytes = *CountBytes(out.shape, out.type);
  std::memcpy(routine->value, &*value, std::min(sizeof(int32_t), routine->element));

  PreparedLayer prepared;
  prepared.routine = std::move(routine);
  prepared.name = RoutineName(out.type, "copy");
  return prepared;
}

}  // namespace intaglio::nn
