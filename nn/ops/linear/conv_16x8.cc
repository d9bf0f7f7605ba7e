// CONV_2D, FULLY_CONNECTED and DEPTHWISE_CONV_2D of int16 inputs and int8 weights: two products of
// 8 bits each (linear16.h).
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/gemm/depthwise.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear16.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/run_16x8.h"

namespace intaglio::nn {
namespace {

class ProductRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    return RunProduct16x8(arguments, shape, layer,
                          [&](int g) { return Operand(filters[static_cast<size_t>(g)]); });
  }

  ConvShape shape;
  Linear16 layer;
  std::vector<PackedMatrix> filters;  // per group
};

class DepthwiseRoutine final : public Routine {
 public:
  explicit DepthwiseRoutine(PackedDepthwise packed) : filters(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    return RunDepthwise16x8(arguments, view, layer, filters);
  }

  Im2col view;
  Linear16 layer;
  PackedDepthwise filters;
};

}  // namespace

Result<PreparedLayer> PrepareProduct16x8(const LayerView& layer, const LayerOptions& options,
                                         const ConvShape& shape) {
  Result<Linear16> linear = CheckLinear16(layer, shape.activation, 0, shape.outputs, shape.depth());
  if (!linear.ok()) return linear.status();
  auto filters = PackWeights(layer, linear->linear, options, shape.groups, shape.depth());
  if (!filters.ok()) return filters.status();
  const Result<size_t> scratch =
      HalvesBytes(layer, shape.inputs(), int64_t{shape.rows()} * shape.group_outputs());
  if (!scratch.ok()) return scratch.status();
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.macs = CountMacs({shape.rows(), shape.outputs}, shape.depth());
  prepared.scratch_bytes = *scratch;
  prepared.strides_output = true;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.constant_bytes = filters->new_bytes;
  auto routine = std::make_shared<ProductRoutine>();
  routine->shape = shape;
  routine->layer = std::move(*linear);
  routine->filters = std::move(filters->form);
  prepared.routine = std::move(routine);
  return prepared;
}

Result<PreparedLayer> PrepareDepthwise16x8(const LayerView& layer, const LayerOptions& options,
                                           const Im2col& view) {
  const Tensor& filter = layer.input(1);
  const int outputs = filter.shape[3];
  const int64_t taps = int64_t{filter.shape[1]} * filter.shape[2];
  Result<Linear16> linear =
      CheckLinear16(layer, layer.op<DepthwiseConv2D>().activation, 3, outputs, taps);
  if (!linear.ok()) return linear.status();
  Result<PackedOf<PackedDepthwise>> packed =
      PackDepthwise(layer, options, 0, filter.shape[2], outputs / view.channels);
  if (!packed.ok()) return packed.status();
  const Result<size_t> scratch = HalvesBytes(layer, *CountElements(layer.input(0).shape),
                                             *CountElements(layer.output().shape));
  if (!scratch.ok()) return scratch.status();
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.macs = CountMacs(layer.output().shape, taps);
  prepared.scratch_bytes = *scratch;
  prepared.strides_output = true;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.constant_bytes = packed->new_bytes;
  auto routine = std::make_shared<DepthwiseRoutine>(std::move(packed->form));
  routine->view = view;
  routine->layer = std::move(*linear);
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
