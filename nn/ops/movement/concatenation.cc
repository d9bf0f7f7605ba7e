#include "intaglio/nn/ops/movement/concatenation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/pack/copy_lines.h"

namespace intaglio::nn {
namespace {

class ConcatenationRoutine final : public Routine {
 public:
  explicit ConcatenationRoutine(JoinedParts joined) : joined_(std::move(joined)) {}

  Status Run(const RunArguments& arguments) const override {
    if (IsInPlace(arguments)) return {};
    ForParts(arguments.context, joined_.steps,
             kLeastBytesOfThread / std::max<ptrdiff_t>(1, joined_.stride) + 1,
             [&](ptrdiff_t first, ptrdiff_t last) { CopySteps(arguments, first, last); });
    return {};
  }

 private:
  static constexpr ptrdiff_t kBlockBytes = 16 << 10;

  // Whether every part was written where it belongs.
  bool IsInPlace(const RunArguments& arguments) const {
    const auto* out = static_cast<const std::byte*>(arguments.outputs[0]);
    for (size_t i = 0; i < joined_.parts.size(); ++i) {
      if (arguments.inputs[i] != out) return false;
      out += joined_.parts[i].bytes;
    }
    return true;
  }

  // In blocks that stay in the cache until every part of their lines is there.
  void CopySteps(const RunArguments& arguments, ptrdiff_t first, ptrdiff_t last) const {
    const ptrdiff_t most = kBlockBytes / std::max<ptrdiff_t>(1, joined_.stride) + 1;
    for (; first < last; first += most) CopyBlock(arguments, first, std::min(most, last - first));
  }

  void CopyBlock(const RunArguments& arguments, ptrdiff_t first, ptrdiff_t steps) const {
    const ptrdiff_t stride = joined_.by_lines ? arguments.output_stride : joined_.stride;
    auto* out = static_cast<std::byte*>(arguments.outputs[0]);
    LineCopy before{};  // yet to be made
    for (size_t i = 0; i < joined_.parts.size(); ++i) {
      const JoinedPart& part = joined_.parts[i];
      const auto bytes = static_cast<ptrdiff_t>(part.bytes);
      const auto* const in = static_cast<const std::byte*>(arguments.inputs[i]);
      const LineCopy copy{in + first * bytes, bytes, out + first * stride, stride, bytes, steps};
      const bool is_there = in == out;  // written where it belongs
      out += bytes;
      if (is_there) continue;
      if (part.table.has_value()) {
        Convert(*part.table, copy);
      } else if (before.lines > 0) {
        CopyLinePairs(before, copy);
        before = {};
      } else {
        before = copy;
      }
    }
    CopyLines(before);
  }

  static void Convert(const ByteTable& table, LineCopy copy) {
    for (; copy.lines > 0; --copy.lines) {
      Apply(table, copy.in, copy.out, static_cast<size_t>(copy.bytes));
      copy.in += copy.in_stride;
      copy.out += copy.out_stride;
    }
  }

  JoinedParts joined_;
};

Result<size_t> AxisOf(const LayerView& layer) {
  return AxisOf(layer, layer.op<Concatenation>().axis, layer.input(0).shape.size());
}

// TFLite requantizes uint8 in float32, element by element; this is that for all 256 elements.
ByteTable RequantizingTable(const Affine& from, const Affine& to) {
  const float inverse_scale = 1.0f / to.scale;
  const float scale = from.scale * inverse_scale;
  const float bias = static_cast<float>(-from.zero_point) * scale;
  return MakeTable(Type::kUInt8, [&](int32_t x) {
    const float product = static_cast<float>(x) * scale;
    const float value = std::round(product + bias) + static_cast<float>(to.zero_point);
    return static_cast<int32_t>(std::fmin(std::fmax(value, 0.0f), 255.0f));
  });
}

Result<JoinedPart> MakePart(const LayerView& layer, size_t i, size_t bytes) {
  JoinedPart part;
  part.bytes = bytes;
  const Type type = layer.output().type;
  if (layer.input(i).type != type) {
    return layer.Unsupported("input " + std::to_string(i) + " is " + NameOf(layer.input(i).type) +
                             ", but the output is " + NameOf(type));
  }
  if (type != Type::kInt8 && type != Type::kUInt8) return part;
  const bool is_plain =
      !layer.input(i).quantization.quantized() && !layer.output().quantization.quantized();
  if (is_plain) return part;
  const Result<Affine> from = AffineOf(layer, layer.input(i));
  if (!from.ok()) return from.status();
  const Result<Affine> to = AffineOf(layer, layer.output());
  if (!to.ok()) return to.status();
  if (*from == *to) return part;
  if (type == Type::kInt8) {
    return layer.Unsupported("the quantizations of input " + std::to_string(i) +
                             " and of the output differ");
  }
  part.table = RequantizingTable(*from, *to);
  return part;
}

ShapesResult InferConcatenation(const LayerView& layer) {
  const Result<size_t> axis = AxisOf(layer);
  if (!axis.ok()) return axis.status();
  Shape shape = layer.input(0).shape;
  int64_t extent = 0;
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (!layer.has_input(i)) return layer.Invalid("input " + std::to_string(i) + " is absent");
    Shape other = layer.input(i).shape;
    if (other.size() == shape.size()) {
      extent += other[*axis];
      other[*axis] = shape[*axis];
    }
    if (other != shape) {
      return layer.Invalid("the shapes " + ToString(shape) + " and " +
                           ToString(layer.input(i).shape) + " cannot be joined along axis " +
                           std::to_string(*axis));
    }
  }
  if (extent > std::numeric_limits<int>::max()) {
    return layer.Invalid("the output has " + std::to_string(extent) + " elements along axis " +
                         std::to_string(*axis));
  }
  shape[*axis] = static_cast<int>(extent);
  return std::vector<Shape>{shape};
}

}  // namespace

Result<JoinedParts> JoinedPartsOf(const LayerView& layer) {
  const Result<size_t> axis = AxisOf(layer);
  if (!axis.ok()) return axis.status();
  if (layer.op<Concatenation>().activation != Activation::kNone) {
    return layer.Unsupported("a fused activation is not supported");
  }
  JoinedParts joined;
  joined.axis = static_cast<int>(*axis);
  joined.by_lines = *axis + 1 == layer.input(0).shape.size();
  for (size_t i = 0; i < layer.input_count(); ++i) {
    const Shape& shape = layer.input(i).shape;
    const Shape outer(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(*axis));
    const Shape inner(shape.begin() + static_cast<ptrdiff_t>(*axis), shape.end());
    const Result<size_t> bytes = CountBytes(inner, layer.output().type);
    const Result<int64_t> steps = CountElements(outer);
    if (!bytes.ok()) return layer.Wrap(bytes.status());
    if (!steps.ok()) return layer.Wrap(steps.status());
    Result<JoinedPart> part = MakePart(layer, i, *bytes);
    if (!part.ok()) return part.status();
    joined.parts.push_back(std::move(*part));
    joined.steps = static_cast<ptrdiff_t>(*steps);
    joined.stride += static_cast<ptrdiff_t>(*bytes);
  }
  return joined;
}

namespace {

Result<PreparedLayer> PrepareConcatenation(const LayerView& layer, const LayerOptions&) {
  Result<JoinedParts> joined = JoinedPartsOf(layer);
  if (!joined.ok()) return joined.status();
  PreparedLayer prepared;
  for (const JoinedPart& part : joined->parts) {
    if (part.table.has_value()) prepared.constant_bytes += sizeof(ByteTable);
  }
  prepared.strides_output = joined->by_lines;
  prepared.joined_axis = joined->axis;
  prepared.routine = std::make_shared<const ConcatenationRoutine>(std::move(*joined));
  return prepared;
}

}  // namespace

constinit const OperatorRow Concatenation::kRow = {
    .name = "CONCATENATION",
    .min_inputs = 1,
    .max_inputs = kMany,
    .types = kAnyType,
    .infer = InferConcatenation,
    .candidates = Moves("copy", PrepareConcatenation),
    .remark = "uint8 is requantized where quantizations differ; other types need one"};

}  // namespace intaglio::nn
