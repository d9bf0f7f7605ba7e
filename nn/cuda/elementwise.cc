// What works element by element: sums, padding, tables, and layers that only rename a shape.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/cuda/layers.h"
#include "intaglio/nn/model.h"
#include "intaglio/nn/operators.h"
#include "intaglio/nn/ops/byte_sum.h"
#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/moves.h"

namespace intaglio::nn::cuda {
namespace {

using intaglio::cuda::AddJob;
using intaglio::cuda::PadJob;
using intaglio::cuda::TableJob;

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

}  // namespace

Result<PreparedLayer> PrepareSum(const Stream& stream, const LayerView& layer, int sign) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  if (layer.input(0).shape != layer.input(1).shape) {
    return layer.Unsupported("the CUDA backend adds tensors of one shape only; these are " +
                             ToString(layer.input(0).shape) + " and " +
                             ToString(layer.input(1).shape));
  }
  const Activation activation = sign > 0 ? layer.op<Add>().activation : layer.op<Sub>().activation;
  const Result<ByteSum> sum = ByteSumOf(layer, activation, sign);
  if (!sum.ok()) return sum.status();
  AddJob job{};
  job.sum = sum->sum;
  job.output = sum->output;
  job.bytes = CountOf(layer.output());
  auto prepared = PrepareJob(stream, layer.output().type, sign > 0 ? "add" : "sub",
                             [job](const RunArguments& arguments) {
                               AddJob now = job;
                               now.a = static_cast<const uint8_t*>(arguments.inputs[0]);
                               now.b = static_cast<const uint8_t*>(arguments.inputs[1]);
                               now.out = static_cast<uint8_t*>(arguments.outputs[0]);
                               return now;
                             });
  prepared.in_place_inputs = 3;
  return prepared;
}

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
  const Result<std::vector<uint8_t>> table = TableOf(layer);
  if (!table.ok()) return table.status();
  TableJob job{};
  std::copy(table->begin(), table->end(), job.table);
  job.bytes = CountOf(layer.output());
  auto prepared =
      PrepareJob(stream, layer.input(0).type, "table", [job](const RunArguments& arguments) {
        TableJob now = job;
        now.in = static_cast<const uint8_t*>(arguments.inputs[0]);
        now.out = static_cast<uint8_t*>(arguments.outputs[0]);
        return now;
      });
  prepared.in_place_inputs = 1;
  return prepared;
}

}  // namespace intaglio::nn::cuda
