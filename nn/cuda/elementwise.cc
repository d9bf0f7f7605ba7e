// What works element by element on one tensor: functions of one number, the borders to real
// numbers, padding, SOFTMAX, and layers that only rename a shape.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/cuda/layers.h"
#include "intaglio/nn/model.h"
#include "intaglio/nn/operators.h"
#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/line_pairs.h"
#include "intaglio/nn/ops/moves.h"
#include "intaglio/nn/ops/softmax.h"

namespace intaglio::nn::cuda {
namespace {

using intaglio::cuda::FromReal;
using intaglio::cuda::Lookup;
using intaglio::cuda::MapJob;
using intaglio::cuda::PadJob;
using intaglio::cuda::SoftmaxJob;
using intaglio::cuda::ToReal;

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
                         const char* algorithm, std::shared_ptr<const void> kept = nullptr) {
  using Job = MapJob<Function>;
  return PrepareJob(stream, layer.input(0).type, algorithm,
                    [f, kept = std::move(kept),
                     elements = CountOf(layer.output())](const RunArguments& arguments) {
                      return Job{
                          f, static_cast<const typename Function::From*>(arguments.inputs[0]),
                          static_cast<typename Function::To*>(arguments.outputs[0]), elements};
                    });
}

}  // namespace

Result<PreparedLayer> PreparePad(const Stream& stream, const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Result<Element> fill = PaddingOf(layer);
  if (!fill.ok()) return fill.status();
  const Shape& in = layer.input(0).shape;
  const Shape& out = layer.output().shape;
  if (in.size() > PadJob::kRank) {
    return layer.Unsupported("the CUDA backend pads 4 dimensions at most");
  }
  PadJob job{};
  const size_t missing = PadJob::kRank - in.size();
  for (size_t d = 0; d < PadJob::kRank; ++d) {
    const bool there = d >= missing;
    job.in_extent[d] = there ? in[d - missing] : 1;
    job.out_extent[d] = there ? out[d - missing] : 1;
    job.before[d] = there ? layer.op<Pad>().paddings[d - missing].first : 0;
  }
  job.fill = static_cast<uint8_t>(fill->bytes[0]);
  return PrepareJob(stream, layer.output().type, "pad", [job](const RunArguments& arguments) {
    PadJob now = job;
    now.in = static_cast<const uint8_t*>(arguments.inputs[0]);
    now.out = static_cast<uint8_t*>(arguments.outputs[0]);
    return now;
  });
}

Result<PreparedLayer> PrepareAlias(const Stream& stream, const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  PreparedLayer prepared;
  prepared.routine = RoutineOf([stream, bytes = static_cast<size_t>(CountOf(layer.output()))](
                                   const RunArguments& arguments) -> Status {
    if (arguments.outputs[0] == arguments.inputs[0]) return {};
    return intaglio::cuda::Copy(stream, arguments.outputs[0], arguments.inputs[0], bytes);
  });
  prepared.name = DeviceRoutineName(layer.output().type, "copy");
  prepared.alias = true;
  return prepared;
}

Result<PreparedLayer> PrepareTable(const Stream& stream, const LayerView& layer) {
  const Result<std::vector<uint8_t>> values = TableOf(layer);
  if (!values.ok()) return values.status();
  const auto table = Upload(stream, values->data(), values->size());
  if (!table.ok()) return layer.Wrap(table.status());
  PreparedLayer prepared = PrepareMap(stream, layer, Lookup{table->get()}, "table", *table);
  prepared.constant_bytes = values->size();
  prepared.in_place_inputs = 1;
  return prepared;
}

Result<PreparedLayer> PrepareQuantize(const Stream& stream, const LayerView& layer) {
  if (layer.input(0).type != Type::kFloat32) return PrepareTable(stream, layer);
  const Result<Affine> to = AffineOf(layer, layer.output());
  if (!to.ok()) return to.status();
  const Type type = layer.output().type;
  return PrepareMap(stream, layer, FromReal{to->scale, MakeLineOutput(type, *to, RangeOf(type))},
                    "quantize");
}

Result<PreparedLayer> PrepareDequantize(const Stream& stream, const LayerView& layer) {
  const Result<Affine> from = AffineOf(layer, layer.input(0));
  if (!from.ok()) return from.status();
  const bool is_signed = layer.input(0).type == Type::kInt8;
  return PrepareMap(stream, layer, ToReal{is_signed, from->zero_point, from->scale}, "dequantize");
}

Result<PreparedLayer> PrepareSoftmax(const Stream& stream, const LayerView& layer) {
  const auto values = SoftmaxExpsOf(layer);
  if (!values.ok()) return values.status();
  const auto exps = Upload(stream, values->data(), values->size());
  if (!exps.ok()) return layer.Wrap(exps.status());
  SoftmaxJob job{};
  job.exps = exps->get();
  job.depth = layer.input(0).shape.back();
  job.rows = job.depth == 0 ? 0 : CountOf(layer.input(0)) / job.depth;
  job.is_signed = layer.input(0).type == Type::kInt8;
  PreparedLayer prepared = PrepareJob(stream, layer.input(0).type, "softmax",
                                      [job, kept = *exps](const RunArguments& arguments) {
                                        SoftmaxJob now = job;
                                        now.in = static_cast<const uint8_t*>(arguments.inputs[0]);
                                        now.out = static_cast<uint8_t*>(arguments.outputs[0]);
                                        return now;
                                      });
  prepared.constant_bytes = sizeof *values;
  prepared.in_place_inputs = 1;  // a lane reads and writes the same elements
  return prepared;
}

}  // namespace intaglio::nn::cuda
