#include "intaglio/nn/tune/tune.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "intaglio/nn/tune/adapter_times.h"
#include "intaglio/nn/tune/compare.h"
#include "intaglio/nn/tune/device_ways.h"
#include "intaglio/nn/tune/differences.h"
#include "intaglio/nn/tune/hash.h"
#include "intaglio/nn/tune/job.h"
#include "intaglio/nn/tune/measure.h"
#include "intaglio/nn/tune/networks.h"
#include "intaglio/nn/tune/other_form.h"
#include "intaglio/nn/tune/schedule.h"
#include "intaglio/nn/tune/timing_key.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

class Tuner {
 public:
  Tuner(const OtherForm& form, const TuneOptions& options)
      : form_(form),
        options_(options),
        digest_(DigestOf(form.given())),
        threads_(std::max(1, options.prepare.threads)) {
    prepare_ = options.prepare;
    if (!prepare_.parallel_for) {
      // One pool for all models: the idle threads of another one would be in the way.
      prepare_.parallel_for = [this](int count, const std::function<void(int)>& task) {
        threads_.Run(count, task);
      };
    }
  }

  Result<Tuning> Run() {
    INTAGLIO_RETURN_IF_ERROR(CheckOptions());
    AddInputsWithinRanges();
    INTAGLIO_RETURN_IF_ERROR(measurer_.Begin());
    INTAGLIO_RETURN_IF_ERROR(networks_.CountGivenBytes());
    const Result<std::vector<size_t>> convertible = ConvertibleLayers();
    if (!convertible.ok()) return convertible.status();
    const bool both_forms = !convertible->empty();
    Effort effort = measurer_.effort();
    effort.both_forms = both_forms;
    effort.device = prepare_.device != nullptr;
    schedule_.Plan(effort);
    const std::string tuned = TunedKey(graph_, DigestOfTuning(), options_.budget, options_.prepare);
    if (measurer_.known().FindNetwork(tuned) != nullptr) measurer_.LeaveUnknown();
    INTAGLIO_RETURN_IF_ERROR(measurer_.MeasureOwnForm(schedule_.EndOfOwnForm()));
    if (both_forms) {
      INTAGLIO_RETURN_IF_ERROR(MeasureOtherForm(*convertible));
      INTAGLIO_RETURN_IF_ERROR(differences_.MeasureLayers());
    }
    INTAGLIO_RETURN_IF_ERROR(MeasureTransfers(both_forms));
    measurer_.KeepNoise();
    INTAGLIO_RETURN_IF_ERROR(
        networks_.Add(both_forms, adapters_, transfers_.has_value() ? &*transfers_ : nullptr));
    const Result<size_t> picked = comparison_.Pick();
    if (!picked.ok()) return picked.status();
    const auto budget = static_cast<double>((schedule_.end() - schedule_.begin()).count());
    measurer_.known().AddNetwork(tuned, {budget, 0, 1});
    return Finish(networks_.candidates()[*picked]);
  }

 private:
  std::vector<LayerReport>& reports() { return measurer_.reports(); }

  // Stands for the network and for what decides which ways are measured.
  uint64_t DigestOfTuning() const {
    Hash hash;
    hash.Add(digest_ ^ form_.digest());
    hash.Add(uint64_t{options_.allow_float32});
    hash.Add(uint64_t{options_.memory_bytes});
    hash.Add(std::bit_cast<uint64_t>(options_.max_difference));
    hash.Add(static_cast<uint64_t>(options_.budget.count()));
    if (prepare_.device != nullptr) hash.Add(DeviceName(prepare_));
    return hash.value();
  }

  Status CheckOptions() const {
    if (prepare_.backend != nullptr) {
      return InvalidArgument(
          "the tuner takes PrepareOptions::device for some layers, not a backend for all");
    }
    for (size_t i = 0; i < options_.inputs.size(); ++i) {
      const size_t bytes = options_.inputs[i].size();
      if (i >= graph_.inputs.size())
        return InvalidArgument("there are more inputs than the network has");
      const Tensor& tensor = graph_.tensors[static_cast<size_t>(graph_.inputs[i])];
      if (bytes == 0 || bytes == *CountBytes(tensor.shape, tensor.type)) continue;
      return InvalidArgument("input " + std::to_string(i) + " has " + std::to_string(bytes) +
                             " bytes, not those of its type and shape");
    }
    return {};
  }

  // Random numbers of [-1, 1) would say little about tensors whose ranges are known.
  void AddInputsWithinRanges() {
    std::mt19937 random(2);
    options_.inputs.resize(graph_.inputs.size());
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const std::optional<NamedRange> range = form_.RangeOf(graph_.inputs[i]);
      std::vector<uint8_t>& bytes = options_.inputs[i];
      if (!bytes.empty() || !range.has_value()) continue;
      const Tensor& tensor = graph_.tensors[static_cast<size_t>(graph_.inputs[i])];
      std::uniform_real_distribution<double> real(range->min, range->max);
      bytes.resize(*CountBytes(tensor.shape, tensor.type));
      for (size_t k = 0; k + sizeof(float) <= bytes.size(); k += sizeof(float)) {
        const auto value = static_cast<float>(real(random));
        std::memcpy(&bytes[k], &value, sizeof(value));
      }
    }
  }

  Result<std::vector<size_t>> ConvertibleLayers() {
    if (!options_.allow_float32 && !form_.is_int8()) return std::vector<size_t>();
    Result<std::vector<size_t>> layers = form_.List();
    if (!layers.ok()) return layers.status();
    if (layers->empty() && form_.is_int8()) {
      return InvalidArgument(
          "with these ranges, no layer of the network can compute with int8 instead of float32");
    }
    for (const size_t layer : *layers) reports()[layer].convertible = true;
    return layers;
  }

  Status MeasureOtherForm(const std::vector<size_t>& layers) {
    const Result<Conversion> all = form_.Convert(layers);
    if (!all.ok()) return all.status();
    INTAGLIO_RETURN_IF_ERROR(
        measurer_.MeasureOtherForm(all->network, form_.other_name(), schedule_.EndOfOtherForm()));
    for (size_t i = 0; i < reports().size(); ++i) {
      if (!reports()[i].convertible || !form_.Vanishes(i)) continue;
      reports()[i].ways.push_back({kVanishes, "", 0, 1, 0, true});
    }
    const nanoseconds left = schedule_.EndOfTurns() - schedule_.Now();
    Result<AdapterTimes> adapters =
        AdapterTimes::Measure(form_, prepare_, measurer_.known(), schedule_, left / 20);
    if (!adapters.ok()) return adapters.status();
    adapters_ = std::move(*adapters);
    return {};
  }

  Status MeasureTransfers(bool both_forms) {
    if (prepare_.device == nullptr) return {};
    const nanoseconds left = schedule_.EndOfTurns() - schedule_.Now();
    Result<TransferTimes> transfers =
        TransferTimes::Measure(SizesOfCrossings(form_, both_forms), *prepare_.device,
                               measurer_.known(), schedule_, left / 20);
    if (!transfers.ok()) return transfers.status();
    transfers_ = std::move(*transfers);
    return {};
  }

  Result<Tuning> Finish(const Candidate& picked) {
    Tuning tuning;
    Plan& plan = tuning.plan;
    plan.model = options_.name;
    plan.digest = digest_;
    plan.machine = ThisMachine();
    plan.threads = options_.prepare.threads;
    plan.networks = comparison_.times();
    plan.adapters = picked.composed.adapters;
    for (const NetworkTime& network : comparison_.times()) {
      if (network.name == "untuned") plan.untuned_ns = network.ns;
      if (network.name == picked.name) plan.tuned_ns = network.ns;
    }
    plan.predicted_ns = picked.predicted_ns;
    for (size_t i = 0; i < reports().size(); ++i) {
      LayerReport& report = reports()[i];
      report.chosen = picked.ways[i];
      if (report.chosen == 0) continue;
      plan.layers.push_back(
          {i, report.label, report.operator_name, report.ways[report.chosen], report.ways[0],
           report.noise, report.ways[report.chosen].converted ? report.difference : Difference()});
      if (RunsOnDevice(report.ways[report.chosen].routine)) plan.device = DeviceName(prepare_);
    }
    plan.difference = picked.difference;
    if (!picked.composed.converted_layers.empty()) plan.ranges = options_.ranges;
    if (!plan.ranges.empty()) plan.accepted = AcceptedKey(plan, graph_);
    tuning.accuracy = std::move(networks_.accuracy());
    tuning.layers = std::move(reports());
    tuning.tradeoffs = std::move(networks_.tradeoffs());
    return tuning;
  }

  const OtherForm& form_;
  const Graph& graph_ = form_.graph();
  TuneOptions options_;
  const uint64_t digest_;
  Context threads_;
  PrepareOptions prepare_;
  Schedule schedule_{options_.budget, options_.clock};
  Measurer measurer_{graph_, options_, prepare_, schedule_};
  AdapterTimes adapters_;
  std::optional<TransferTimes> transfers_;  // only with a device
  const Job job_{form_, options_, prepare_, schedule_, measurer_};
  Differences differences_{job_};
  Networks networks_{job_, differences_};
  Comparison comparison_{job_, networks_, {digest_ ^ form_.digest(), DigestOfTuning()}};
};

}  // namespace

Result<Tuning> Tune(const Graph& graph, const TuneOptions& options) try {
  const Result<OtherForm> form = options.ranges.empty()
                                     ? Result<OtherForm>(OtherForm::Float32(graph))
                                     : OtherForm::Int8(graph, options.ranges);
  if (!form.ok()) return form.status();
  return Tuner(*form, options).Run();
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while the network was tuned");
}

}  // namespace intaglio::nn::tune
