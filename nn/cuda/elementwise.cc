// What works element by element on one tensor: functions of one number, the borders to real
// numbers, padding, SOFTMAX, and layers that only rename a shape.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/cuda/layers.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/reduce/softmax.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/line_pairs.h"
#include "intaglio/nn/ops/support/moves.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::cuda {
namespace {

long long CountOf(const Tensor& tensor) { return *CountElements(tensor.shape); }

// The CPU's result for every byte: a model of this layer alone, over a line of all of them.
Result<std::vector<uint8_t>> TableOf(const LayerView& layer) {
  Graph graph;
  for (const Tensor* tensor : {&layer.input(0), &layer.output()}) {
    Tensor line = *tensor;
    line.shape = {256};
    graph.tensors.push_back(std::move(line));
  }
  graph.layers.push_back({layer.layer().op, {0}, {1}, layer.layer().label});
  graph.inputs = {0};
  graph.outputs = {1};
  Result<Model> model = Model::Prepare(std::move(graph));
  if (!model.ok()) return layer.Wrap(model.status());
  std::vector<uint8_t> all(256);
  std::iota(all.begin(), all.end(), uint8_t{0});
  std::vector<uint8_t> table(256);
  const InputBuffer in{all.data(), all.size(), layer.input(0).type};
  const OutputBuffer out{table.data(), table.size(), layer.output().type};
  INTAGLIO_RETURN_IF_ERROR(model->Run({&in, 1}, {&out, 1}));
  return table;
}

// out = f(in), element by element. `kept` owns what f points to.
template <class Function>
PreparedLayer PrepareMap(const Stream& stream, const LayerView& layer, const Function& f,
                         std::shared_ptr<const void> kept = nullptr) {
  const device::MapJob<Function> job{f, nullptr, nullptr, CountOf(layer.output())};
  return PrepareUnary(stream, job, std::move(kept));
}

// One scale and zero point for each index of an axis.
Result<PreparedLayer> PrepareDequantizeAxis(const Stream& stream, const LayerView& layer) {
  const Tensor& input = layer.input(0);
  const Quantization& q = input.quantization;
  const Result<size_t> inner = QuantizedStride(layer);
  if (!inner.ok()) return inner.status();
  const auto scales = Upload(stream, q.scales.data(), q.scales.size());
  if (!scales.ok()) return layer.Wrap(scales.status());
  const auto zero_points = Upload(stream, q.zero_points.data(), q.zero_points.size());
  if (!zero_points.ok()) return layer.Wrap(zero_points.status());
  device::AxisToRealJob job{};
  job.scales = scales->get();
  job.zero_points = zero_points->get();
  job.is_signed = input.type == Type::kInt8;
  job.elements = CountOf(input);
  job.inner = static_cast<long long>(*inner);
  job.extent = static_cast<int>(q.scales.size());
  auto kept =
      std::make_shared<const std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
          *scales, *zero_points);
  PreparedLayer prepared = PrepareUnary(stream, job, std::move(kept));
  prepared.constant_bytes = q.scales.size() * (sizeof(float) + sizeof(int32_t));
  return prepared;
}

}  // namespace

Result<PreparedLayer> PreparePad(const Stream& stream, const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Result<Element> fill = PaddingOf(layer);
  if (!fill.ok()) return fill.status();
  const Shape& in = layer.input(0).shape;
  const Shape& out = layer.output().shape;
  if (in.size() > device::PadJob::kRank) {
    return layer.Unsupported("the CUDA backend pads 4 dimensions at most");
  }
  device::PadJob job{};
  const size_t missing = device::PadJob::kRank - in.size();
  for (size_t d = 0; d < device::PadJob::kRank; ++d) {
    const bool there = d >= missing;
    job.in_extent[d] = there ? in[d - missing] : 1;
    job.out_extent[d] = there ? out[d - missing] : 1;
    job.before[d] = there ? layer.op<Pad>().paddings[d - missing].first : 0;
  }
  job.fill = static_cast<uint8_t>(fill->bytes[0]);
  return PrepareUnary(stream, job);
}

Result<PreparedLayer> PrepareAlias(const Stream& stream, const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  PreparedLayer prepared;
  prepared.routine = RoutineOf([stream, bytes = static_cast<size_t>(CountOf(layer.output()))](
                                   const RunArguments& arguments) -> Status {
    if (arguments.outputs[0] == arguments.inputs[0]) return {};
    return device::Copy(stream, arguments.outputs[0], arguments.inputs[0], bytes);
  });
  prepared.alias = true;
  return prepared;
}

Result<PreparedLayer> PrepareTable(const Stream& stream, const LayerView& layer) {
  const Result<std::vector<uint8_t>> values = TableOf(layer);
  if (!values.ok()) return values.status();
  const auto table = Upload(stream, values->data(), values->size());
  if (!table.ok()) return layer.Wrap(table.status());
  PreparedLayer prepared = PrepareMap(stream, layer, device::Lookup{table->get()}, *table);
  prepared.constant_bytes = values->size();
  prepared.in_place_inputs = 1;
  return prepared;
}

Result<PreparedLayer> PrepareQuantize(const Stream& stream, const LayerView& layer) {
  const Result<Affine> to = AffineOf(layer, layer.output());
  if (!to.ok()) return to.status();
  const Type type = layer.output().type;
  return PrepareMap(stream, layer,
                    device::FromReal{to->scale, MakeLineOutput(type, *to, RangeOf(type))});
}

Result<PreparedLayer> PrepareDequantize(const Stream& stream, const LayerView& layer) {
  if (layer.input(0).quantization.per_axis()) return PrepareDequantizeAxis(stream, layer);
  const Result<Affine> from = AffineOf(layer, layer.input(0));
  if (!from.ok()) return from.status();
  const bool is_signed = layer.input(0).type == Type::kInt8;
  return PrepareMap(stream, layer, device::ToReal{is_signed, from->zero_point, from->scale});
}

Result<PreparedLayer> PrepareSoftmax(const Stream& stream, const LayerView& layer) {
  const auto values = SoftmaxExpsOf(layer);
  if (!values.ok()) return values.status();
  const auto exps = Upload(stream, values->data(), values->size());
  if (!exps.ok()) return layer.Wrap(exps.status());
  device::SoftmaxJob job{};
  job.exps = exps->get();
  job.depth = layer.input(0).shape.back();
  job.rows = job.depth == 0 ? 0 : CountOf(layer.input(0)) / job.depth;
  job.is_signed = layer.input(0).type == Type::kInt8;
  PreparedLayer prepared = PrepareUnary(stream, job, *exps);
  prepared.constant_bytes = sizeof *values;
  prepared.in_place_inputs = 1;  // a lane reads and writes the same elements
  return prepared;
}

}  // namespace intaglio::nn::cuda
