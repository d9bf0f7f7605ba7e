// DEPTHWISE_CONV_2D of quantized numbers with changing weights: each run packs the filters.
#include <cstddef>
#include <memory>
#include <utility>

#include "intaglio/gemm/depthwise.h"
#include "intaglio/nn/ops/linear/changing_weights.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear16.h"
#include "intaglio/nn/ops/linear/onnx.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/run_16x8.h"

namespace intaglio::nn {
namespace {

struct Filters {
  ConstMatrix matrix;  // without data
  int width = 0;
  int multiplier = 0;
  std::string kernel;

  Result<PackedDepthwise> Pack(const void* data) const {
    ConstMatrix with_data = matrix;
    with_data.data = data;
    return PackedDepthwise::Pack(with_data, width, multiplier, kernel);
  }
};

Filters FiltersOf(const LayerView& layer, const LayerOptions& options, int32_t zero_point) {
  const Tensor& filter = layer.input(1);
  const int outputs = filter.shape[3];
  return {{nullptr, filter.type, filter.shape[1] * filter.shape[2], outputs, outputs,
           Order::kRowMajor, zero_point},
          filter.shape[2],
          outputs / layer.input(0).shape[3],
          options.kernel};
}

class BytesRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const Result<PackedDepthwise> packed = filters.Pack(arguments.inputs[1]);
    if (!packed.ok()) return packed.status();
    Im2col source = view;
    source.data = arguments.inputs[0];
    const ptrdiff_t stride =
        arguments.output_stride / static_cast<ptrdiff_t>(SizeOf(linear.output_type));
    if (linear.output_type == Type::kFloat32) {
      RealTile tile = MakeRealTile(real_output, linear, 0);
      tile.SetBias(BiasOf(arguments), bias_type);
      return Depthwise(arguments.context, source, *packed, arguments.outputs[0], tile.pipeline(),
                       stride);
    }
    StandardPipeline pipeline = MakePipeline(linear, multipliers, 0);
    pipeline.bias = static_cast<const int32_t*>(BiasOf(arguments));
    return Depthwise(arguments.context, source, *packed, arguments.outputs[0], pipeline, stride);
  }

  Im2col view;
  LinearLayer linear;
  Multipliers multipliers;
  RealOutput real_output;  // of float32 outputs
  Type bias_type = Type::kInt32;
  Filters filters;
};

class Routine16 final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const Result<PackedDepthwise> packed = filters.Pack(arguments.inputs[1]);
    if (!packed.ok()) return packed.status();
    Linear16 with_bias = layer;
    INTAGLIO_RETURN_IF_ERROR(with_bias.SetBias(BiasOf(arguments)));
    return RunDepthwise16x8(arguments, view, with_bias, *packed);
  }

  Im2col view;
  Linear16 layer;
  Filters filters;
};

PreparedLayer Describe(const LayerView& layer, const LayerOptions& options, int64_t taps) {
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.macs = CountMacs(layer.output().shape, taps);
  prepared.strides_output = true;
  return prepared;
}

}  // namespace

Result<PreparedLayer> PrepareChangingDepthwise(const LayerView& layer, const LayerOptions& options,
                                               const Window& window) {
  const Placeholders placeholders(layer);
  const int64_t taps = int64_t{window.y.kernel} * window.x.kernel;
  auto routine = std::make_shared<BytesRoutine>();
  Result<LinearLayer> linear =
      CheckLinear(placeholders.layer(), layer.op<DepthwiseConv2D>().activation, 3,
                  layer.input(1).shape[3], taps);
  if (!linear.ok()) return linear.status();
  INTAGLIO_RETURN_IF_ERROR(CheckOneZeroPoint(layer, linear->weight_zero_points));
  Result<Multipliers> multipliers = MakeMultipliers(layer, *linear);
  if (!multipliers.ok()) return multipliers.status();
  const Result<Im2col> view = MakeView(layer, linear->type, linear->input.zero_point, window);
  if (!view.ok()) return view.status();
  if (linear->output_type == Type::kFloat32) {
    Result<RealOutput> real =
        MakeRealOutput(placeholders.layer(), options, *linear,
                       layer.op<DepthwiseConv2D>().activation, layer.input(1).shape[3]);
    if (!real.ok()) return real.status();
    routine->real_output = std::move(*real);
    if (layer.has_input(2)) routine->bias_type = layer.input(2).type;
  }
  routine->view = *view;
  routine->filters = FiltersOf(layer, options, linear->weight_zero_points[0]);
  routine->linear = std::move(*linear);
  routine->multipliers = std::move(*multipliers);
  PreparedLayer prepared = Describe(layer, options, taps);
  prepared.routine = std::move(routine);
  return prepared;
}

Result<PreparedLayer> PrepareChangingDepthwise16x8(const LayerView& layer,
                                                   const LayerOptions& options,
                                                   const Im2col& view) {
  const Placeholders placeholders(layer);
  const int64_t taps = int64_t{view.kernel_height} * view.kernel_width;
  Result<Linear16> linear =
      CheckLinear16(placeholders.layer(), layer.op<DepthwiseConv2D>().activation, 3,
                    layer.input(1).shape[3], taps);
  if (!linear.ok()) return linear.status();
  const Result<size_t> scratch = HalvesBytes(layer, *CountElements(layer.input(0).shape),
                                             *CountElements(layer.output().shape));
  if (!scratch.ok()) return scratch.status();
  auto routine = std::make_shared<Routine16>();
  routine->view = view;
  routine->filters = FiltersOf(layer, options, 0);
  routine->layer = std::move(*linear);
  PreparedLayer prepared = Describe(layer, options, taps);
  prepared.scratch_bytes = *scratch;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
