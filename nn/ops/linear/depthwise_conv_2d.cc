#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/depthwise.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/changing_weights.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/pack_matrix.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/window.h"

namespace intaglio::nn {
namespace {

Result<Window> WindowOf(const LayerView& layer) {
  const DepthwiseConv2D& op = layer.op<DepthwiseConv2D>();
  const Shape& filter = layer.input(1).shape;
  if (filter.size() != 4 || filter[0] != 1) {
    return layer.Invalid("the filter '" + layer.input(1).name + "' has the shape " +
                         ToString(filter) + "; [1, height, width, outputs] is needed");
  }
  return PlaceWindow(layer, {filter[1], filter[2]}, op.stride, op.dilation, op.padding);
}

// An image one pixel wide as the same image one pixel high, whose line holds all pixels; the taps
// keep their order.
Im2col AlongLines(Im2col view) {
  if (view.width != 1 || view.kernel_width != 1 || view.out_width != 1) return view;
  std::swap(view.height, view.width);
  std::swap(view.kernel_height, view.kernel_width);
  std::swap(view.stride_height, view.stride_width);
  std::swap(view.dilation_height, view.dilation_width);
  std::swap(view.pad_top, view.pad_left);
  std::swap(view.out_height, view.out_width);
  return view;
}

class DepthwiseRoutine final : public Routine {
 public:
  explicit DepthwiseRoutine(PackedDepthwise packed) : filters(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    Im2col source = view;
    source.data = arguments.inputs[0];
    return Depthwise(arguments.context, source, filters, arguments.outputs[0], pipeline,
                     arguments.output_stride);
  }

  LinearLayer linear;
  Multipliers multipliers;
  BoundPipeline pipeline;
  PackedDepthwise filters;
  Im2col view;
};

// One input channel: all outputs read the same taps, which is a matrix product.
class OneChannelRoutine final : public Routine {
 public:
  explicit OneChannelRoutine(PackedMatrix packed) : filters(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    Im2col source = view;
    source.data = arguments.inputs[0];
    const MutableMatrix dst{arguments.outputs[0],    linear.type,     Rows(view), filters.cols(),
                            arguments.output_stride, Order::kRowMajor};
    return Gemm(arguments.context, source, filters, dst, pipeline);
  }

  LinearLayer linear;
  Multipliers multipliers;
  BoundPipeline pipeline;
  PackedMatrix filters;
  Im2col view;
};

// Binds the pipeline of packed filters, and describes the layer.
template <class R>
Result<PreparedLayer> Finish(const LayerView& layer, const LayerOptions& options,
                             std::shared_ptr<R> routine, LinearLayer linear,
                             Multipliers multipliers, const Im2col& view, int64_t taps,
                             size_t new_bytes) {
  routine->linear = std::move(linear);
  routine->multipliers = std::move(multipliers);
  routine->view = view;
  Result<BoundPipeline> bound =
      BoundPipeline::Bind(routine->filters, MakePipeline(routine->linear, routine->multipliers, 0),
                          view.type, view.zero_point, {.fit = options.fit, .rows = Rows(view)});
  if (!bound.ok()) return layer.Wrap(bound.status());
  routine->pipeline = std::move(*bound);
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.strides_output = true;
  prepared.macs = CountMacs(layer.output().shape, taps);
  prepared.constant_bytes = new_bytes + routine->pipeline.bytes();
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.routine = std::move(routine);
  return prepared;
}

ShapesResult InferDepthwiseConv2D(const LayerView& layer) {
  const Result<Window> window = WindowOf(layer);
  if (!window.ok()) return window.status();
  const int channels = layer.input(0).shape[3];
  const int outputs = layer.input(1).shape[3];
  if (channels < 1 || outputs < 1 || outputs % channels != 0) {
    return layer.Invalid("the filter has " + std::to_string(outputs) +
                         " outputs, which is no multiple of the " + std::to_string(channels) +
                         " channels of the input");
  }
  return std::vector<Shape>{{layer.input(0).shape[0], window->y.out, window->x.out, outputs}};
}

Result<PreparedLayer> PrepareDepthwiseConv2D(const LayerView& layer, const LayerOptions& options) {
  const Result<Window> window = WindowOf(layer);
  if (!window.ok()) return window.status();
  const Tensor& filter = layer.input(1);
  const int outputs = filter.shape[3];
  const int64_t taps = *CountElements({filter.shape[1], filter.shape[2]});
  const Type type = layer.input(0).type;
  const bool changing = HasChangingWeights(layer);
  if (changing && type == Type::kFloat32) {
    return PrepareChanging(layer, options, PrepareDepthwiseConv2D);
  }
  if (type == Type::kInt16 || type == Type::kFloat32) {
    const Result<Im2col> plain = MakeView(layer, Type::kInt8, 0, *window);
    if (!plain.ok()) return plain.status();
    if (type == Type::kFloat32 && filter.type == Type::kInt8) {
      return PrepareDepthwiseHybrid(layer, options, *plain);
    }
    if (type == Type::kFloat32) return PrepareDepthwiseFloat(layer, options, *plain);
    return changing ? PrepareChangingDepthwise16x8(layer, options, *plain)
                    : PrepareDepthwise16x8(layer, options, *plain);
  }
  if (changing) return PrepareChangingDepthwise(layer, options, *window);

  Result<LinearLayer> linear =
      CheckLinear(layer, layer.op<DepthwiseConv2D>().activation, 3, outputs, taps);
  if (!linear.ok()) return linear.status();
  Result<Multipliers> multipliers =
      MakeMultipliers(layer, RealMultipliers(*linear, linear->type == Type::kUInt8));
  if (!multipliers.ok()) return multipliers.status();
  const Result<Im2col> made = MakeView(layer, linear->type, linear->input.zero_point, *window);
  if (!made.ok()) return made.status();
  const Im2col view = AlongLines(*made);

  for (const int32_t zero_point : linear->weight_zero_points) {
    if (zero_point == linear->weight_zero_points[0]) continue;
    return layer.Unsupported("the filter has zero points that differ per channel");
  }

  const char* const algorithm = layer.input(0).shape[3] == 1 ? "gemm" : "depthwise";
  const std::string name = RoutineName(linear->type, algorithm);
  Result<PreparedLayer> prepared = PreparedLayer();
  if (layer.input(0).shape[3] == 1) {
    const ConstMatrix matrix{filter.data, filter.type,      static_cast<int>(taps),       outputs,
                             outputs,     Order::kRowMajor, linear->weight_zero_points[0]};
    Result<PackedOf<PackedMatrix>> packed = PackMatrix(layer, options, matrix);
    if (!packed.ok()) return packed.status();
    prepared = Finish(layer, options, std::make_shared<OneChannelRoutine>(std::move(packed->form)),
                      std::move(*linear), std::move(*multipliers), view, taps, packed->new_bytes);
  } else {
    Result<PackedOf<PackedDepthwise>> packed =
        PackDepthwise(layer, options, linear->weight_zero_points[0], view.kernel_width,
                      outputs / layer.input(0).shape[3]);
    if (!packed.ok()) return packed.status();
    prepared = Finish(layer, options, std::make_shared<DepthwiseRoutine>(std::move(packed->form)),
                      std::move(*linear), std::move(*multipliers), view, taps, packed->new_bytes);
  }
  if (prepared.ok()) prepared->name = name;
  return prepared;
}

}  // namespace

// Filters of channels that do not fill a vector are kept once for each place in it.
constexpr int64_t kCopies = 12;

constinit const OperatorRow DepthwiseConv2D::kRow = {
    .name = "DEPTHWISE_CONV_2D",
    .min_inputs = 2,
    .max_inputs = 3,
    .types = kQuantized | kFloat,
    .infer = InferDepthwiseConv2D,
    .prepare = PrepareDepthwiseConv2D,
    .remark = "weights int8 with int16, also int8 with float32",
    .parameters = kWeightsAndBias,
    .packing = {.matrices = ColumnsAsChannels, .packs_activations = true, .copies = kCopies}};

}  // namespace intaglio::nn
