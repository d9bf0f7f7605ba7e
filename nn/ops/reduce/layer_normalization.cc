// LAYER_NORMALIZATION and RMS_NORMALIZATION: over the last dimensions, which are one row here.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/support/broadcast.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// Scale or bias of all rows: a dense row, or one that must be spread out first.
struct Parameter {
  size_t input = 0;
  bool present = false;
  bool dense = true;
  Loops<2> spread = {};      // from the input to the row
  ptrdiff_t scratch_at = 0;  // floats; of the row
};

// Drops leading dimensions of extent 1 until no more than `rank` are left.
Shape WithRank(Shape shape, size_t rank) {
  while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}

Result<Parameter> ParameterOf(const LayerView& layer, size_t input, const Shape& row) {
  Parameter parameter{.input = input, .present = layer.has_input(input)};
  if (!parameter.present) return parameter;
  const Shape shape = WithRank(layer.input(input).shape, row.size());
  bool valid = shape.size() <= row.size();
  for (size_t back = 1; valid && back <= shape.size(); ++back) {
    const int extent = shape[shape.size() - back];
    valid = extent == 1 || extent == row[row.size() - back];
  }
  if (!valid) {
    return layer.Invalid("input " + std::to_string(input) + " of the shape " +
                         ToString(layer.input(input).shape) + " does not broadcast to rows of " +
                         ToString(row));
  }
  parameter.dense = *CountElements(shape) == *CountElements(row);
  const std::vector<ptrdiff_t> from = BroadcastStrides(shape, row);
  const std::vector<ptrdiff_t> to = DenseStrides(row);
  for (size_t i = 0; i < row.size(); ++i) parameter.spread.Add(row[i], {from[i], to[i]});
  return parameter;
}

// The parameter's row in this run; null where there is none.
const float* RowOf(const Parameter& parameter, const RunArguments& arguments) {
  if (!parameter.present) return nullptr;
  const auto* const from = static_cast<const float*>(arguments.inputs[parameter.input]);
  if (parameter.dense) return from;
  float* const row = static_cast<float*>(arguments.scratch) + parameter.scratch_at;
  const Loops<2>::Offsets steps = parameter.spread.inner_strides();
  parameter.spread.Run([&](const Loops<2>::Offsets& at) {
    for (ptrdiff_t i = 0; i < parameter.spread.inner_extent(); ++i) {
      row[at[1] + i * steps[1]] = from[at[0] + i * steps[0]];
    }
  });
  return row;
}

template <class Op>
ShapesResult InferNormalization(const LayerView& layer) {
  const Shape& shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, layer.op<Op>().axis, shape.size());
  if (!axis.ok()) return axis.status();
  return std::vector<Shape>{shape};
}

template <class Op, bool kCenters>
Result<PreparedLayer> PrepareNormalization(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Op& op = layer.op<Op>();
  const Shape& shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, op.axis, shape.size());
  if (!axis.ok()) return axis.status();
  const auto middle = shape.begin() + static_cast<ptrdiff_t>(*axis);
  const Shape row(middle, shape.end());
  const auto depth = static_cast<ptrdiff_t>(*CountElements(row));
  const auto rows = static_cast<ptrdiff_t>(*CountElements(Shape(shape.begin(), middle)));
  Result<Parameter> scale = ParameterOf(layer, 1, row);
  if (!scale.ok()) return scale.status();
  Result<Parameter> bias = ParameterOf(layer, 2, row);
  if (!bias.ok()) return bias.status();
  bias->scratch_at = scale->dense ? 0 : depth;

  PreparedLayer prepared;
  prepared.in_place_inputs = 1;
  for (const Parameter& parameter : {*scale, *bias}) {
    if (!parameter.dense) prepared.scratch_bytes += static_cast<size_t>(depth) * sizeof(float);
  }
  prepared.routine = RoutineOf(
      [=, scale = std::move(*scale), bias = std::move(*bias), epsilon = op.epsilon,
       normalize = FloatLoopsOf(options.kernel).normalize](const RunArguments& arguments) {
        if (depth == 0) return;
        const RowNormalizer n{kCenters, epsilon, RowOf(scale, arguments), RowOf(bias, arguments)};
        const auto* const in = static_cast<const float*>(arguments.inputs[0]);
        auto* const out = static_cast<float*>(arguments.outputs[0]);
        ForParts(arguments.context, rows,
                 kLeastBytesOfThread / (depth * ptrdiff_t{sizeof(float)}) + 1,
                 [&](ptrdiff_t begin, ptrdiff_t end) {
                   for (ptrdiff_t r = begin; r < end; ++r) {
                     normalize(n, in + r * depth, depth, out + r * depth);
                   }
                 });
      });
  return prepared;
}

}  // namespace

constinit const OperatorRow LayerNormalization::kRow = {
    .name = "LAYER_NORMALIZATION",
    .min_inputs = 1,
    .max_inputs = 3,
    .types = kFloat,
    .infer = InferNormalization<LayerNormalization>,
    .candidates = Candidate{"normalize", PrepareNormalization<LayerNormalization, true>},
    .parameters = kWeightsAndBias};

constinit const OperatorRow RmsNormalization::kRow = {
    .name = "RMS_NORMALIZATION",
    .min_inputs = 1,
    .max_inputs = 2,
    .types = kFloat,
    .infer = InferNormalization<RmsNormalization>,
    .candidates = Candidate{"normalize", PrepareNormalization<RmsNormalization, false>},
    .parameters = kWeights};

}  // namespace intaglio::nn
