#include "intaglio/nn/quantize/calibrate.h"

#include <memory>
#include <optional>
#include <utility>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn::quantize {
namespace {

Status InSample(size_t sample, const Status& status) {
  return {status.code(), "sample " + std::to_string(sample) + ": " + status.message()};
}

// The observers of all tensors of float32 that a run writes.
class Watch {
 public:
  Watch(const Graph& graph, const CalibrationOptions& options) : observers_(graph.tensors.size()) {
    const auto add = [&](TensorId id) {
      const auto i = static_cast<size_t>(id);
      const Tensor& tensor = graph.tensors[i];
      if (tensor.type != Type::kFloat32 || tensor.constant) return;
      observers_[i].emplace(options.observers[options.observers.size() > 1 ? i : 0]);
    };
    for (const TensorId id : graph.inputs) add(id);
    for (const Layer& layer : graph.layers) {
      for (const TensorId id : layer.outputs) add(id);
    }
    problems_.resize(observers_.size());
  }

  void Observe(const Model& model, size_t sample) {
    for (size_t i = 0; i < observers_.size(); ++i) {
      if (!observers_[i].has_value() || !problems_[i].empty()) continue;
      const Tensor& tensor = model.graph().tensors[i];
      const auto* const data =
          static_cast<const float*>(model.TensorData(static_cast<TensorId>(i)));
      const Result<int64_t> count = CountElements(tensor.shape);
      if (data == nullptr || !count.ok()) continue;
      const Status status =
          observers_[i]->Observe({data, static_cast<size_t>(*count)}, tensor.name);
      if (!status.ok()) problems_[i] = InSample(sample, status).message();
    }
  }

  // By a function from observers to ranges.
  template <class Function>
  Ranges Get(const Function& range_of) const {
    Ranges ranges(observers_.size());
    for (size_t i = 0; i < observers_.size(); ++i) {
      if (!observers_[i].has_value()) continue;
      ranges[i].problem = problems_[i];
      if (problems_[i].empty()) ranges[i].range = range_of(*observers_[i]);
    }
    return ranges;
  }

 private:
  std::vector<std::optional<Observer>> observers_;
  std::vector<std::string> problems_;
};

Status CheckOptions(const Graph& graph, const CalibrationOptions& options) {
  const size_t count = options.observers.size();
  if (count != 1 && count != graph.tensors.size()) {
    return InvalidArgument("there are options for " + std::to_string(count) + " of " +
                           std::to_string(graph.tensors.size()) + " tensors");
  }
  for (const ObserverOptions& observer : options.observers) {
    INTAGLIO_RETURN_IF_ERROR(Check(observer));
  }
  return {};
}

}  // namespace

Result<InputBytes> BuffersFor(const Graph& graph, const std::vector<TensorId>& tensors) {
  InputBytes buffers;
  for (const TensorId id : tensors) {
    const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
    const Result<size_t> bytes = CountBytes(tensor.shape, tensor.type);
    if (!bytes.ok()) return bytes.status();
    buffers.emplace_back(*bytes);
  }
  return buffers;
}

Status RunOn(Model& model, const InputBytes& inputs, InputBytes& outputs) {
  std::vector<InputBuffer> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back({inputs[i].data(), inputs[i].size(), model.input(i).type});
  }
  Result<InputBytes> made = BuffersFor(model.graph(), model.graph().outputs);
  if (!made.ok()) return made.status();
  outputs = std::move(*made);
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.push_back({outputs[i].data(), outputs[i].size(), model.output(i).type});
  }
  return model.Run(in, out);
}

Result<size_t> RunOnSamples(const Graph& graph, const NextSample& next, const PassOptions& options,
                            const std::function<Status(const Model& model, size_t sample)>& watch) {
  Result<Model> model = Model::Prepare(
      graph, {.threads = options.threads, .keep_all_tensors = true, .limits = options.limits});
  if (!model.ok()) return model.status();
  Result<InputBytes> inputs = BuffersFor(graph, graph.inputs);
  if (!inputs.ok()) return inputs.status();
  InputBytes outputs;
  for (size_t sample = 0; true; ++sample) {
    const Result<bool> more = next(*inputs);
    if (!more.ok()) return InSample(sample, more.status());
    if (!*more) return sample;
    const Status status = RunOn(*model, *inputs, outputs);
    if (!status.ok()) return InSample(sample, status);
    INTAGLIO_RETURN_IF_ERROR(watch(*model, sample));
    if (options.progress) options.progress(sample + 1);
  }
}

Result<Calibration> Calibrate(const Graph& graph, const NextSample& next,
                              const CalibrationOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckOptions(graph, options));
  Watch watch(graph, options);
  const Result<size_t> samples =
      RunOnSamples(graph, next, {options.threads, options.limits, options.progress},
                   [&](const Model& model, size_t sample) {
                     watch.Observe(model, sample);
                     return Status();
                   });
  if (!samples.ok()) return samples.status();
  if (*samples == 0) return InvalidArgument("there is no sample to calibrate with");
  return Calibration{watch.Get([](const Observer& o) { return o.Range(); }),
                     watch.Get([](const Observer& o) { return o.extremes(); }), *samples};
}

}  // namespace intaglio::nn::quantize
