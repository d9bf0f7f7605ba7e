#include "intaglio/nn/tune/adapter_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/tune/model_stage.h"
#include "intaglio/nn/tune/times.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

constexpr int kMostRounds = 40;
constexpr int kLeastRounds = 6;

TensorId Add(Graph& graph, Type type, int64_t count) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = {static_cast<int>(count)};
  if (type != Type::kFloat32) tensor.quantization = PerTensor(0.1f, 3);
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

// Layers 2k and 2k + 1 are the adapters of key k.
void AddPair(Graph& graph, Type type, int64_t count) {
  const TensorId from = Add(graph, type, count);
  const TensorId reals = Add(graph, Type::kFloat32, count);
  const TensorId to = Add(graph, type, count);
  graph.inputs.push_back(from);
  graph.layers.push_back({.op = Dequantize{}, .inputs = {from}, .outputs = {reals}, .label = ""});
  graph.layers.push_back({.op = Quantize{}, .inputs = {reals}, .outputs = {to}, .label = ""});
  graph.outputs.push_back(to);
}

// The times of all layers, if they are known.
std::vector<double> AllKnown(const Model& model, const KnownTimes& known) {
  std::vector<double> times;
  for (size_t i = 0; i < model.layers().size(); ++i) {
    const Timing* const timing = known.Find(model, i, {});
    if (timing == nullptr) return {};
    times.push_back(timing->ns);
  }
  return times;
}

Result<std::vector<double>> MeasureAll(Model& model, KnownTimes& known, const Schedule& schedule,
                                       nanoseconds budget) {
  RunBuffers buffers(model);
  std::vector<nanoseconds> now(model.layers().size());
  std::vector<Times> times(now.size());
  const nanoseconds end = schedule.Now() + budget;
  for (int round = 0; round < kMostRounds; ++round) {
    INTAGLIO_RETURN_IF_ERROR(buffers.Run(model, now));
    for (size_t i = 0; i < now.size(); ++i) times[i].Add(static_cast<double>(now[i].count()));
    if (round >= kLeastRounds && schedule.Now() > end) break;
  }
  std::vector<double> estimates;
  for (size_t i = 0; i < now.size(); ++i) {
    estimates.push_back(std::max(1.0, std::round(times[i].estimate())));
    known.Add(model, i, {}, {estimates[i], model.layers()[i].constant_bytes, times[i].count()});
  }
  return estimates;
}

}  // namespace

AdapterTimes::Key AdapterTimes::KeyOf(const OtherForm& form, TensorId tensor) {
  const Tensor& t = form.graph().tensors[static_cast<size_t>(tensor)];
  return {form.IntegersOf(tensor), *CountElements(t.shape)};
}

double AdapterTimes::Of(const OtherForm& form, TensorId tensor, bool to_other) const {
  const auto found = times_.find(KeyOf(form, tensor));
  if (found == times_.end()) return 0;
  return to_other != form.is_int8() ? found->second.to_float : found->second.from_float;
}

Result<AdapterTimes> AdapterTimes::Measure(const OtherForm& form, const PrepareOptions& prepare,
                                           KnownTimes& known, const Schedule& schedule,
                                           nanoseconds budget) {
  AdapterTimes result;
  for (size_t i = 0; i < form.graph().tensors.size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    if (!form.HasForm(id)) continue;
    const Key key = KeyOf(form, id);
    const bool counts = key.second > 0 && key.second < std::numeric_limits<int>::max();
    if (counts) result.times_[key] = {};
  }
  if (result.times_.empty()) return result;
  Graph adapters;
  for (const auto& [key, pair] : result.times_) AddPair(adapters, key.first, key.second);
  Result<Model> model = Model::Prepare(std::move(adapters), prepare);
  if (!model.ok()) return model.status();
  Result<std::vector<double>> times = AllKnown(*model, known);
  if (times->empty()) times = MeasureAll(*model, known, schedule, budget);
  if (!times.ok()) return times.status();
  size_t i = 0;
  for (auto& [key, pair] : result.times_) {
    pair = {(*times)[i], (*times)[i + 1]};
    i += 2;
  }
  return result;
}

}  // namespace intaglio::nn::tune
