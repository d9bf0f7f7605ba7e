// Depthwise convolutions, pools and means.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/cuda/layers.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/reduce/mean.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/window.h"
#include "intaglio/nn/ops/window/pool_2d.h"

namespace intaglio::nn::cuda {
namespace {

// The epilogue's parameters of a depthwise convolution. Its zero points are taken off before the
// products are summed: what is left is the bias.
std::vector<PanelParams> MakeParams(const LinearLayer& linear, const Multipliers& multipliers,
                                    int channels) {
  constexpr int kGroup = device::kChannelGroup;
  std::vector<PanelParams> params(static_cast<size_t>(device::DivideUp(channels, kGroup)));
  device::ParamsJob job{};
  job.channels = channels;
  job.batch = 1;
  job.bias = linear.bias.empty() ? nullptr : linear.bias.data();
  job.scaling = Scaling::kDoubleRounding;
  job.form = ScalingForm::kDoubleRounding;
  job.per_channel = multipliers.mantissa.size() > 1;
  job.mantissa = multipliers.mantissa.data();
  job.exponent = multipliers.exponent.data();
  job.one = {multipliers.mantissa[0], multipliers.exponent[0], 0};
  job.params = params.data();
  for (int i = 0; i < static_cast<int>(params.size()) * kGroup; ++i) {
    FillParams(job, 0, i / kGroup, i % kGroup);
  }
  return params;
}

class DepthwiseRoutine final : public Routine {
 public:
  explicit DepthwiseRoutine(const Stream& on) : stream(on) {}

  Status Run(const RunArguments& arguments) const override {
    device::DepthwiseJob now = job;
    now.p.image.data = arguments.inputs[0];
    now.p.dst = arguments.outputs[0];
    return Enqueue(stream, now);
  }

  Stream stream;
  device::DepthwiseJob job{};
  std::shared_ptr<const uint8_t> filters;
  std::shared_ptr<const PanelParams> params;
};

Result<PreparedLayer> PreparePool(const Stream& stream, const LayerView& layer,
                                  const Result<PoolShape>& pool, bool average) {
  if (!pool.ok()) return pool.status();
  const Type type = layer.output().type;
  const Result<Im2col> view = MakeView(layer, type, 0, pool->window);
  if (!view.ok()) return view.status();
  device::PoolJob job{};
  job.image = *view;
  job.average = average;
  job.output = {type == Type::kInt8, 0, pool->clamp.min, pool->clamp.max};
  return PrepareJob(stream, [job](const RunArguments& arguments) {
    device::PoolJob now = job;
    now.image.data = arguments.inputs[0];
    now.out = static_cast<uint8_t*>(arguments.outputs[0]);
    return now;
  });
}

}  // namespace

Result<PreparedLayer> PrepareDepthwiseConv2D(const Stream& stream, const LayerView& layer) {
  const DepthwiseConv2D& op = layer.op<DepthwiseConv2D>();
  const Shape& filter = layer.input(1).shape;
  const Result<Window> window =
      PlaceWindow(layer, {filter[1], filter[2]}, op.stride, op.dilation, op.padding);
  if (!window.ok()) return window.status();
  const int64_t taps = int64_t{filter[1]} * filter[2];
  const Result<LinearLayer> linear = CheckLinear(layer, op.activation, 3, filter[3], taps);
  if (!linear.ok()) return linear.status();
  for (const int32_t zero_point : linear->weight_zero_points) {
    if (zero_point == linear->weight_zero_points[0]) continue;
    return layer.Unsupported("the filter has zero points that differ per channel");
  }
  const Result<Multipliers> multipliers = MakeMultipliers(layer, *linear);
  if (!multipliers.ok()) return multipliers.status();
  const Result<Im2col> view = MakeView(layer, linear->type, linear->input.zero_point, *window);
  if (!view.ok()) return view.status();

  const Tensor& weights = layer.input(1);
  auto routine = std::make_shared<DepthwiseRoutine>(stream);
  auto filters = Upload(stream, static_cast<const uint8_t*>(weights.data), weights.data_bytes);
  if (!filters.ok()) return layer.Wrap(filters.status());
  const std::vector<PanelParams> host = MakeParams(*linear, *multipliers, filter[3]);
  auto params = Upload(stream, host.data(), host.size());
  if (!params.ok()) return layer.Wrap(params.status());
  routine->filters = *filters;
  routine->params = *params;
  device::DepthwiseJob& job = routine->job;
  job.filters = routine->filters.get();
  job.filter_zero_point = linear->weight_zero_points[0];
  job.multiplier = filter[3] / layer.input(0).shape[3];
  job.epilogue = {linear->type, linear->output.zero_point, linear->clamp.min, linear->clamp.max};
  job.p.rows_are_signed = linear->type == Type::kInt8;
  job.p.rows_are_image = true;
  job.p.image = *view;
  job.p.row_count = Rows(*view);
  job.p.channel_count = filter[3];
  job.p.params = routine->params.get();
  job.p.dst_row_stride = filter[3];
  job.p.dst_channel_stride = 1;
  job.p.wide_stores = filter[3] % 4 == 0;

  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.output().shape, taps);
  prepared.constant_bytes = weights.data_bytes + host.size() * sizeof(PanelParams);
  prepared.routine = std::move(routine);
  return prepared;
}

Result<PreparedLayer> PrepareAveragePool2D(const Stream& stream, const LayerView& layer) {
  return PreparePool(stream, layer, ShapeOfAveragePool2D(layer), true);
}
Result<PreparedLayer> PrepareMaxPool2D(const Stream& stream, const LayerView& layer) {
  return PreparePool(stream, layer, ShapeOfMaxPool2D(layer), false);
}

Result<PreparedLayer> PrepareMean(const Stream& stream, const LayerView& layer) {
  const std::vector<int>& axes = layer.op<Mean>().axes;
  const Result<QuantizedSum> sum = QuantizedSumOf(layer, axes, true);
  if (!sum.ok()) return sum.status();
  const Result<std::vector<bool>> reduced = AxesOf(layer, axes);
  if (!reduced.ok()) return reduced.status();
  const Shape& shape = layer.input(0).shape;
  const Type type = layer.output().type;
  device::MeanJob job{};
  job.outer = job.reduced = job.inner = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if ((*reduced)[i] && job.inner > 1) {
      return layer.Unsupported("the CUDA backend averages over neighbouring axes only");
    }
    const bool before = job.reduced == 1 && !(*reduced)[i];
    ((*reduced)[i] ? job.reduced : before ? job.outer : job.inner) *= shape[i];
  }
  job.zero_sum = sum->zero_sum;
  job.multiplier = sum->multiplier;
  const Range range = RangeOf(type);
  job.output = {type == Type::kInt8, sum->out.zero_point, range.min, range.max};
  return PrepareUnary(stream, job);
}

}  // namespace intaglio::nn::cuda
