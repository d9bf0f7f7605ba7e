#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/depthwise.h"
#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/changing_weights.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/onnx.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/pack_matrix.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/window.h"
#include "intaglio/nn/routine/prepare.h"

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

// What the routines of 8 bits with constant weights have.
class BytesRoutine : public Routine {
 public:
  Status Run(const RunArguments& arguments) const final {
    Im2col source = view;
    source.data = arguments.inputs[0];
    const ptrdiff_t stride =
        arguments.output_stride / static_cast<ptrdiff_t>(SizeOf(linear.output_type));
    if (linear.output_type != Type::kFloat32) {
      return Run(arguments.context, source, arguments.outputs[0], stride);
    }
    return RunToReal(arguments.context, source, arguments.outputs[0], stride);
  }

  LinearLayer linear;
  Multipliers multipliers;
  BoundPipeline pipeline;  // of integer outputs
  RealOutput real;         // of float32
  RealTile real_tile;
  Im2col view;

 private:
  // `stride` elements from one output pixel to the next.
  virtual Status Run(Context& context, const Im2col& source, void* out, ptrdiff_t stride) const = 0;
  virtual Status RunToReal(Context& context, const Im2col& source, void* out,
                           ptrdiff_t stride) const = 0;
};

class DepthwiseRoutine final : public BytesRoutine {
 public:
  explicit DepthwiseRoutine(PackedDepthwise packed) : filters(std::move(packed)) {}

  PackedDepthwise filters;

 private:
  Status Run(Context& context, const Im2col& source, void* out, ptrdiff_t stride) const override {
    return Depthwise(context, source, filters, out, pipeline, stride);
  }
  Status RunToReal(Context& context, const Im2col& source, void* out,
                   ptrdiff_t stride) const override {
    return Depthwise(context, source, filters, out, real_tile.pipeline(), stride);
  }
};

// One input channel: all outputs read the same taps, which is a matrix product.
class OneChannelRoutine final : public BytesRoutine {
 public:
  explicit OneChannelRoutine(PackedMatrix packed) : filters(std::move(packed)) {}

  PackedMatrix filters;

 private:
  MutableMatrix Output(void* out, ptrdiff_t stride) const {
    return {out, linear.output_type, Rows(view), filters.cols(), stride, Order::kRowMajor};
  }
  Status Run(Context& context, const Im2col& source, void* out, ptrdiff_t stride) const override {
    return Gemm(context, source, filters, Output(out, stride), pipeline);
  }
  Status RunToReal(Context& context, const Im2col& source, void* out,
                   ptrdiff_t stride) const override {
    return Gemm(context, source, filters, Output(out, stride), real_tile.pipeline());
  }
};

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

int64_t TapsOf(const LayerView& layer) {
  const Shape& filter = layer.input(1).shape;
  return *CountElements({filter[1], filter[2]});
}

// A layer of 8 bits with constant weights.
struct Bytes {
  LinearLayer linear;
  Multipliers multipliers;
  Im2col view;
};

Result<Bytes> CheckBytes(const LayerView& layer) {
  const Result<Window> window = WindowOf(layer);
  if (!window.ok()) return window.status();
  Result<LinearLayer> linear = CheckLinear(layer, layer.op<DepthwiseConv2D>().activation, 3,
                                           layer.input(1).shape[3], TapsOf(layer));
  if (!linear.ok()) return linear.status();
  Result<Multipliers> multipliers = MakeMultipliers(layer, *linear);
  if (!multipliers.ok()) return multipliers.status();
  const Result<Im2col> view = MakeView(layer, linear->type, linear->input.zero_point, *window);
  if (!view.ok()) return view.status();
  for (const int32_t zero_point : linear->weight_zero_points) {
    if (zero_point == linear->weight_zero_points[0]) continue;
    return layer.Unsupported("the filter has zero points that differ per channel");
  }
  return Bytes{std::move(*linear), std::move(*multipliers), AlongLines(*view)};
}

// Binds the pipeline of packed filters, and describes the layer.
template <class R>
Result<PreparedLayer> Finish(const LayerView& layer, const LayerOptions& options,
                             std::shared_ptr<R> routine, Bytes bytes, size_t new_bytes) {
  routine->linear = std::move(bytes.linear);
  routine->multipliers = std::move(bytes.multipliers);
  routine->view = bytes.view;
  if (routine->linear.output_type == Type::kFloat32) {
    Result<RealOutput> real =
        MakeRealOutput(layer, options, routine->linear, layer.op<DepthwiseConv2D>().activation,
                       layer.input(1).shape[3]);
    if (!real.ok()) return real.status();
    routine->real = std::move(*real);
    routine->real_tile = MakeRealTile(routine->real, routine->linear, 0);
  } else {
    Result<BoundPipeline> bound = BoundPipeline::Bind(
        routine->filters, MakePipeline(routine->linear, routine->multipliers, 0), bytes.view.type,
        bytes.view.zero_point, {.fit = options.fit, .rows = Rows(bytes.view)});
    if (!bound.ok()) return layer.Wrap(bound.status());
    routine->pipeline = std::move(*bound);
  }
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.strides_output = true;
  prepared.macs = CountMacs(layer.output().shape, TapsOf(layer));
  prepared.constant_bytes = new_bytes + routine->pipeline.bytes();
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.routine = std::move(routine);
  return prepared;
}

const char* NeedsOwnZeroPoints(const LayerView& layer, const LayerOptions&) {
  if (!IsOnnx(layer.numerics().scaling)) return "only ONNX has zero points per channel";
  const std::vector<int32_t>& zeros = layer.input(1).quantization.zero_points;
  const bool differ =
      std::adjacent_find(zeros.begin(), zeros.end(), std::not_equal_to<>()) != zeros.end();
  return differ ? nullptr : "the filters have one zero point";
}

// [KH, KW, O] filters as [O, KH, KW].
std::shared_ptr<const std::vector<std::byte>> ChannelsFirst(const Tensor& filter) {
  const auto* const from = static_cast<const std::byte*>(filter.data);
  const auto outputs = static_cast<size_t>(filter.shape[3]);
  const size_t taps = filter.data_bytes / std::max<size_t>(1, outputs);
  std::vector<std::byte> to(filter.data_bytes);
  for (size_t tap = 0; tap < taps; ++tap) {
    for (size_t o = 0; o < outputs; ++o) to[o * taps + tap] = from[tap * outputs + o];
  }
  return std::make_shared<const std::vector<std::byte>>(std::move(to));
}

// Depthwise kernels take one zero point for all filters. So each channel is a group of its own of a
// convolution, which is slow, but hardly any model has such filters.
Result<PreparedLayer> PrepareByGroups(const LayerView& layer, const LayerOptions& options) {
  Graph alone = Alone(layer.graph(), layer.layer());
  const DepthwiseConv2D& op = layer.op<DepthwiseConv2D>();
  Layer& conv = alone.layers[0];
  conv.label = layer.label();
  conv.numerics = layer.numerics();
  conv.op = Conv2D{op.stride, op.dilation, op.padding, op.activation};
  Tensor& filter = alone.tensors[static_cast<size_t>(conv.inputs[1])];
  const auto filters = ChannelsFirst(filter);
  filter.owner = filters;
  filter.data = filters->data();
  filter.shape = {filter.shape[3], filter.shape[1], filter.shape[2], 1};
  filter.quantization.axis = 0;
  LayerOptions plain = options;
  plain.packed = nullptr;  // which knows constants by their addresses
  plain.ledger = nullptr;  // charged already
  plain.routine = {};
  return Prepare(LayerView(alone, 0), plain);
}

const char* NeedsOneChannel(const LayerView& layer, const LayerOptions&) {
  return layer.input(0).shape[3] == 1 ? nullptr : "the input has more than one channel";
}

Result<PreparedLayer> PrepareOneChannel(const LayerView& layer, const LayerOptions& options) {
  Result<Bytes> bytes = CheckBytes(layer);
  if (!bytes.ok()) return bytes.status();
  const Tensor& filter = layer.input(1);
  const int outputs = filter.shape[3];
  const ConstMatrix matrix{
      filter.data, filter.type,      static_cast<int>(TapsOf(layer)),    outputs,
      outputs,     Order::kRowMajor, bytes->linear.weight_zero_points[0]};
  Result<PackedOf<PackedMatrix>> packed = PackMatrix(layer, options, matrix);
  if (!packed.ok()) return packed.status();
  return Finish(layer, options, std::make_shared<OneChannelRoutine>(std::move(packed->form)),
                std::move(*bytes), packed->new_bytes);
}

Result<PreparedLayer> PrepareBytes(const LayerView& layer, const LayerOptions& options) {
  Result<Bytes> bytes = CheckBytes(layer);
  if (!bytes.ok()) return bytes.status();
  Result<PackedOf<PackedDepthwise>> packed =
      PackDepthwise(layer, options, bytes->linear.weight_zero_points[0], bytes->view.kernel_width,
                    layer.input(1).shape[3] / layer.input(0).shape[3]);
  if (!packed.ok()) return packed.status();
  return Finish(layer, options, std::make_shared<DepthwiseRoutine>(std::move(packed->form)),
                std::move(*bytes), packed->new_bytes);
}

Result<PreparedLayer> PrepareChangingBytes(const LayerView& layer, const LayerOptions& options) {
  const Result<Window> window = WindowOf(layer);
  if (!window.ok()) return window.status();
  return PrepareChangingDepthwise(layer, options, *window);
}

// A candidate's prepare, of a function that wants the view.
template <auto kPrepare>
Result<PreparedLayer> PrepareViewed(const LayerView& layer, const LayerOptions& options) {
  const Result<Window> window = WindowOf(layer);
  if (!window.ok()) return window.status();
  const Result<Im2col> view = MakeView(layer, Type::kInt8, 0, *window);
  if (!view.ok()) return view.status();
  return kPrepare(layer, options, *view);
}

constexpr auto kViewedHybrid = PrepareViewed<PrepareDepthwiseHybrid>;
constexpr auto kViewedFloat = PrepareViewed<PrepareDepthwiseFloat>;

constexpr Candidate kDepthwiseConv2DWays[] = {
    {"gemm-by-groups", PrepareByGroups, kEightBit, FirstReason<NeedsConstants, NeedsOwnZeroPoints>},
    {"gemm", PrepareOneChannel, kEightBit, FirstReason<NeedsConstants, NeedsOneChannel>},
    {"depthwise", PrepareBytes, kEightBit, NeedsConstants},
    {"depthwise-unpacked", PrepareChangingBytes, kEightBit},
    {"depthwise", PrepareViewed<PrepareDepthwise16x8>, kInt16, NeedsConstants},
    {"depthwise-unpacked", PrepareViewed<PrepareChangingDepthwise16x8>, kInt16},
    HybridCandidate<NeedsConstants>("depthwise", kViewedHybrid),
    HybridCandidate<>("depthwise-unpacked", PrepareUnpacked<kViewedHybrid>),
    FloatCandidate<NeedsConstants>("depthwise", kViewedFloat),
    FloatCandidate<>("depthwise-unpacked", PrepareUnpacked<kViewedFloat>)};

}  // namespace

// Filters of channels that do not fill a vector are kept once for each place in it.
constexpr int64_t kCopies = 12;

constinit const OperatorRow DepthwiseConv2D::kRow = {
    .name = "DEPTHWISE_CONV_2D",
    .min_inputs = 2,
    .max_inputs = 3,
    .types = kQuantized | kFloat,
    .infer = InferDepthwiseConv2D,
    .candidates = kDepthwiseConv2DWays,
    .remark = "weights int8 with int16, also int8 with float32",
    .parameters = kWeightsAndBias,
    .numerics = NumericsOfConvolution,
    .packing = {.matrices = ColumnsAsChannels, .packs_activations = true, .copies = kCopies}};

}  // namespace intaglio::nn
