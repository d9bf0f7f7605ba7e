#include "intaglio/nn/tune/tune.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "intaglio/nn/routine/candidates.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/nn/tune/choose.h"
#include "intaglio/nn/tune/difference.h"
#include "intaglio/nn/tune/measure.h"
#include "intaglio/nn/tune/other_form.h"
#include "intaglio/nn/tune/schedule.h"
#include "intaglio/nn/tune/timing_key.h"
#include "intaglio/nn/tune/turns.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

// Trade-offs that a limit chooses among, if it is one of differences, too, and those that are only
// shown.
constexpr size_t kTradeoffs = 256;
constexpr size_t kMostTradeoffs = 1024;
constexpr size_t kShownTradeoffs = 48;
constexpr int kMostTries = 16;
constexpr double kNoLimit = 1e18;
// Converted, a network whose layers are so much slower by known times is not worth preparing.
constexpr double kFarBehind = 1.25;

// A way through the whole network.
struct Candidate {
  std::string name;
  std::vector<size_t> ways;  // by layer: which of its report's
  double predicted_ns = 0;
  Composed composed = {};
  std::unique_ptr<Model> model = {};
  bool bounded = false;        // its results have other bits than those of the untuned network
  Difference difference = {};  // of outputs, if it is bounded
};

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
    INTAGLIO_RETURN_IF_ERROR(CountGivenBytes());
    const Result<std::vector<size_t>> convertible = ConvertibleLayers();
    if (!convertible.ok()) return convertible.status();
    const bool both_forms = !convertible->empty();
    Effort effort = measurer_.effort();
    effort.both_forms = both_forms;
    schedule_.Plan(effort);
    INTAGLIO_RETURN_IF_ERROR(measurer_.MeasureOwnForm(schedule_.EndOfOwnForm()));
    if (both_forms) {
      INTAGLIO_RETURN_IF_ERROR(MeasureOtherForm(*convertible));
      INTAGLIO_RETURN_IF_ERROR(MeasureDifferences());
    }
    measurer_.KeepNoise();
    INTAGLIO_RETURN_IF_ERROR(AddCandidates(both_forms));
    const Result<size_t> picked = Compare();
    if (!picked.ok()) return picked.status();
    return Finish(candidates_[*picked]);
  }

 private:
  std::vector<LayerReport>& reports() { return measurer_.reports(); }

  bool limits_difference() const { return options_.max_difference >= 0; }

  Status CheckOptions() const {
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

  Status AddCandidates(bool both_forms) {
    Candidate untuned{.name = "untuned", .ways = std::vector<size_t>(reports().size(), 0)};
    for (const LayerReport& report : reports()) untuned.predicted_ns += report.ways[0].ns;
    Result<Composed> composed = Compose(form_, WaysFor(reports(), untuned.ways));
    if (!composed.ok()) return composed.status();
    untuned.composed = std::move(*composed);
    candidates_.push_back(std::move(untuned));
    INTAGLIO_RETURN_IF_ERROR(AddFastest(form_.own_name(), false, !both_forms));
    if (!both_forms) return {};
    INTAGLIO_RETURN_IF_ERROR(AddFastest("mixed", true, true));
    return AddAllConverted();
  }

  Model& ModelOf(const Candidate& candidate) {
    return candidate.model == nullptr ? measurer_.untuned() : *candidate.model;
  }

  // Whether a layer computes in the other form, or by another routine whose results
  // are only within bounds.
  bool ChangesBits(const Candidate& candidate) {
    for (size_t i = 0; i < reports().size(); ++i) {
      const TimedWay& way = reports()[i].ways[candidate.ways[i]];
      if (way.converted) return true;
      const std::string_view name = CandidateIn(way.routine);
      if (name == CandidateIn(reports()[i].ways[0].routine)) continue;
      for (const CandidateInfo& info : measurer_.untuned().ListRoutines(i)) {
        if (info.name == name && info.numeric == NumericClass::kBounded) return true;
      }
    }
    return false;
  }

  // Where the plan is empty, the network runs as it was given.
  Status CountGivenBytes() {
    if (!form_.is_simplified() || options_.memory_bytes == 0) return {};
    const Result<Model> model = Model::Prepare(form_.given(), prepare_);
    if (!model.ok()) return model.status();
    given_bytes_ = model->constant_bytes() + model->arena_bytes();
    return {};
  }

  size_t BytesOf(const Candidate& candidate) {
    if (candidate.model == nullptr && given_bytes_ > 0) return given_bytes_;
    return ModelOf(candidate).constant_bytes() + ModelOf(candidate).arena_bytes();
  }
  bool Fits(const Candidate& candidate) {
    if (limits_difference() && candidate.difference.relative > options_.max_difference)
      return false;
    return options_.memory_bytes == 0 || BytesOf(candidate) <= options_.memory_bytes;
  }

  Result<Candidate> Prepare(const std::string& name, const NetworkProblem& network,
                            const Selection& selection) {
    Candidate candidate{.name = name, .ways = WaysOf(network, selection)};
    for (size_t i = 0; i < reports().size(); ++i) {
      if (form_.IsAdapter(i)) continue;
      candidate.predicted_ns += reports()[i].ways[candidate.ways[i]].ns;
    }
    for (const Copy& copy : selection.copies) {
      candidate.predicted_ns += adapters_.Of(form_, copy.tensor, copy.to == 1);
    }
    Result<Composed> composed = Compose(form_, WaysFor(reports(), candidate.ways));
    if (!composed.ok()) return composed.status();
    candidate.composed = std::move(*composed);
    for (const auto& [layer, why_not] : candidate.composed.refused) candidate.ways[layer] = 0;
    PrepareOptions options = prepare_;
    for (const RoutineChoice& choice : candidate.composed.choices)
      options.routines.push_back(choice);
    Result<Model> model =
        Model::Prepare(candidate.composed.network.graph, options, measurer_.kept());
    if (!model.ok()) return model.status();
    candidate.model = std::make_unique<Model>(std::move(*model));
    candidate.bounded = ChangesBits(candidate);
    if (!candidate.bounded) return candidate;
    const Result<Difference> difference = DifferenceFrom(*candidate.model);
    if (!difference.ok()) return difference.status();
    candidate.difference = *difference;
    return candidate;
  }

  // Adds a candidate unless there is one that is the same. A plan without converted layers is for
  // the network as it was given, so no other network may stand for it.
  void Add(Candidate candidate) {
    if (form_.is_simplified() && candidate.composed.converted_layers.empty()) return;
    for (const Candidate& other : candidates_) {
      if (other.ways == candidate.ways) return;
    }
    candidates_.push_back(std::move(candidate));
  }

  // The fastest selection, or the fastest that keeps the limits.
  Status AddFastest(const std::string& name, bool both_forms, bool is_last) {
    const bool by_bytes = options_.memory_bytes > 0;
    const bool by_difference = both_forms && limits_difference();
    if (is_last) KeepTradeoffs(both_forms);
    const NetworkProblem network = MakeProblem(form_, reports(), adapters_, both_forms,
                                               !by_difference ? Resource::kBytes
                                               : by_bytes     ? Resource::kBoth
                                                              : Resource::kDifference);
    if (by_bytes || by_difference) return AddWithin(name, network, by_difference);
    const Result<Selection> selection = Select(network.problem);
    if (!selection.ok()) return selection.status();
    Result<Candidate> candidate = Prepare(name, network, *selection);
    if (!candidate.ok()) return candidate.status();
    Add(std::move(*candidate));
    return {};
  }

  // Time and each amount without limits, for reports.
  void KeepTradeoffs(bool both_forms) {
    for (const Resource resource : {Resource::kBytes, Resource::kDifference}) {
      const bool by_difference = resource == Resource::kDifference;
      if (by_difference && !both_forms) continue;
      const NetworkProblem network = MakeProblem(form_, reports(), adapters_, both_forms, resource);
      const Result<Tradeoffs> tradeoffs =
          SelectTradeoffs(network.problem, {.max_front = kShownTradeoffs});
      if (!tradeoffs.ok()) continue;
      for (const Selection& selection : tradeoffs->selections) {
        const double difference = static_cast<double>(selection.difference) / kDifferenceUnits;
        (by_difference ? accuracy_ : tradeoffs_)
            .push_back({selection.nanoseconds, static_cast<size_t>(selection.bytes), difference});
      }
    }
  }

  // A network takes more than its options say: the arena, and what layers share; and differences
  // need not add up. So what is selected is prepared, and what it takes too much is taken off the
  // limits of the next try.
  Status AddWithin(const std::string& name, const NetworkProblem& network, bool by_difference) {
    int64_t bytes = AsLimit(options_.memory_bytes > 0, static_cast<double>(options_.memory_bytes));
    int64_t units = AsLimit(by_difference, options_.max_difference * kDifferenceUnits);
    const Result<Tradeoffs> tradeoffs =
        SelectTradeoffs(network.problem, {.max_front = by_difference ? kMostTradeoffs : kTradeoffs,
                                          .max_bytes = bytes,
                                          .max_difference = units});
    if (tradeoffs.status().code() == StatusCode::kUnsupported) return {};  // nothing is so small
    if (!tradeoffs.ok()) return tradeoffs.status();
    for (int i = 0; i < kMostTries; ++i) {
      const Result<Selection> selection = FastestWithin(*tradeoffs, bytes, units);
      if (!selection.ok()) break;
      Result<Candidate> candidate = Prepare(name, network, *selection);
      if (!candidate.ok()) return candidate.status();
      least_bytes_ = std::min(least_bytes_, BytesOf(*candidate));
      if (Fits(*candidate)) {
        Add(std::move(*candidate));
        return {};
      }
      const int64_t more_bytes = ExcessBytes(*candidate);
      const int64_t more_units = ExcessUnits(*candidate);
      if (more_bytes > 0) bytes = selection->bytes - more_bytes;
      if (more_units > 0) units = selection->difference - more_units;
    }
    return {};
  }

  static int64_t AsLimit(bool is_limited, double amount) {
    return static_cast<int64_t>(is_limited ? std::min(amount, kNoLimit) : kNoLimit);
  }
  // By how much a network is beyond a limit; 0: it is not.
  int64_t ExcessBytes(const Candidate& candidate) {
    const size_t most = options_.memory_bytes == 0 ? SIZE_MAX : options_.memory_bytes;
    return static_cast<int64_t>(std::max(BytesOf(candidate), most) - most);
  }
  int64_t ExcessUnits(const Candidate& candidate) const {
    const double excess = candidate.difference.relative - options_.max_difference;
    if (!limits_difference() || excess <= 0) return 0;
    return 1 + static_cast<int64_t>(std::min(excess * kDifferenceUnits, kNoLimit));
  }

  // Every layer that can computes in the other form.
  Status AddAllConverted() {
    const NetworkProblem network = MakeProblem(form_, reports(), adapters_, true);
    std::vector<int> options;
    for (size_t i = 0; i < reports().size(); ++i) {
      const size_t converted = FastestOf(reports()[i], true);
      const size_t way =
          converted < reports()[i].ways.size() ? converted : FastestOf(reports()[i], false);
      const std::vector<size_t>& ways = network.ways[i];
      const auto found = std::find(ways.begin(), ways.end(), way);
      options.push_back(found == ways.end() ? 0 : static_cast<int>(found - ways.begin()));
    }
    const Result<Selection> selection = Evaluate(network.problem, options);
    if (!selection.ok()) return selection.status();
    const bool far_behind = selection->nanoseconds > kFarBehind * candidates_[0].predicted_ns;
    if (!measurer_.measured() && far_behind) return {};
    Result<Candidate> candidate = Prepare(form_.other_name(), network, *selection);
    if (!candidate.ok()) return candidate.status();
    if (!limits_difference() || Fits(*candidate)) Add(std::move(*candidate));
    return {};
  }

  std::vector<Contender> Contenders() {
    std::vector<Contender> contenders;
    for (const Candidate& candidate : candidates_) {
      contenders.push_back({candidate.bounded, Fits(candidate)});
    }
    return contenders;
  }

  Result<size_t> Compare() {
    const std::vector<double> known = KnownNetworks();
    const Result<size_t> picked = known.empty() ? CompareInTurns() : PickKnown(known, Contenders());
    if (!picked.ok() || *picked < candidates_.size()) return picked;
    return Unsupported("no way was found to keep within " + std::to_string(options_.memory_bytes) +
                       " bytes: the least was " +
                       std::to_string(std::min(least_bytes_, BytesOf(candidates_[0]))));
  }

  std::string KeyOf(const Candidate& candidate) const {
    return NetworkKey(graph_, digest_ ^ form_.digest(), candidate.composed.choices,
                      candidate.composed.converted_layers, options_.prepare);
  }

  // What was found out when the same networks were compared before. Empty: one of them was not.
  std::vector<double> KnownNetworks() {
    std::vector<double> times;
    for (const Candidate& candidate : candidates_) {
      const Timing* const timing = measurer_.known().FindNetwork(KeyOf(candidate));
      if (timing == nullptr) return {};
      times.push_back(timing->ns);
    }
    for (size_t i = 0; i < times.size(); ++i) AddNetwork(candidates_[i], times[i]);
    return times;
  }

  void AddNetwork(const Candidate& candidate, double ns) {
    networks_.push_back({candidate.name, ns, candidate.predicted_ns, BytesOf(candidate)});
  }

  Result<size_t> CompareInTurns() {
    TurnOptions options;
    options.contenders = Contenders();
    // The control is the untuned network again: by what it differs means nothing.
    const size_t control = candidates_.size();
    options.now = [this] { return schedule_.Now(); };
    options.end = schedule_.EndOfTurns();
    options.run = [&](size_t i) {
      return measurer_.buffers().Run(i == control ? measurer_.control() : ModelOf(candidates_[i]));
    };
    options.progress = [&](size_t count) {
      Show("comparing whole networks", static_cast<double>(count) / kMostTurns);
    };
    const Result<Turns> turns = TakeTurns(options);
    if (!turns.ok()) return turns.status();
    const double floor = FloorOf(*turns, control);
    const std::vector<Verdict> verdicts = VerdictsOf(*turns, options.contenders, floor);
    for (size_t i = 0; i < candidates_.size(); ++i) {
      AddNetwork(candidates_[i], turns->Estimate(i));
      measurer_.known().AddNetwork(
          KeyOf(candidates_[i]),
          {std::round(verdicts[i].ns), BytesOf(candidates_[i]), verdicts[i].turns});
    }
    return PickNetwork(*turns, options.contenders, floor);
  }

  // Runs a network once on the inputs of all others.
  Result<Difference> DifferenceFrom(Model& model) {
    RunBuffers& buffers = measurer_.buffers();
    if (expected_.empty()) {
      INTAGLIO_RETURN_IF_ERROR(buffers.Run(measurer_.untuned()));
      expected_.assign(buffers.outputs().begin(), buffers.outputs().end());
    }
    INTAGLIO_RETURN_IF_ERROR(buffers.Run(model));
    return DifferenceOf(graph_, expected_, buffers.outputs());
  }

  // What a layer changes if it alone computes in the other form. The whole network is prepared for
  // it.
  Status MeasureDifference(size_t layer) {
    std::vector<LayerWay> ways(graph_.layers.size());
    ways[layer].converted = true;
    const Result<Composed> composed = Compose(form_, ways);
    if (!composed.ok()) return composed.status();
    if (!composed->refused.empty()) return {};  // it needs converted neighbours
    Result<Model> model = Model::Prepare(composed->network.graph, prepare_, measurer_.kept());
    if (!model.ok()) return model.status();
    const Result<Difference> difference = DifferenceFrom(*model);
    if (!difference.ok()) return difference.status();
    reports()[layer].difference = *difference;
    return {};
  }

  // Those of layers that may gain, the greatest gain first, as long as there is time. Where all
  // times are known, a tuning shall be quick, and only a limit asks for them.
  Status MeasureDifferences() {
    if (!measurer_.measured() && !limits_difference()) return {};
    std::vector<std::pair<double, size_t>> gains;
    for (size_t i = 0; i < reports().size(); ++i) {
      const LayerReport& report = reports()[i];
      const size_t converted = FastestOf(report, true);
      if (converted == report.ways.size() || IsFarBehind(report)) continue;
      gains.push_back({report.ways[converted].ns - report.ways[FastestOf(report, false)].ns, i});
    }
    std::sort(gains.begin(), gains.end());
    for (size_t k = 0; k < gains.size(); ++k) {
      if (schedule_.Now() >= schedule_.EndOfDifferences()) break;
      Show("differences of single layers",
           static_cast<double>(k) / static_cast<double>(gains.size()));
      INTAGLIO_RETURN_IF_ERROR(MeasureDifference(gains[k].second));
    }
    return {};
  }

  Result<Tuning> Finish(const Candidate& picked) {
    Tuning tuning;
    Plan& plan = tuning.plan;
    plan.model = options_.name;
    plan.digest = digest_;
    plan.machine = ThisMachine();
    plan.threads = options_.prepare.threads;
    plan.networks = networks_;
    plan.adapters = picked.composed.adapters;
    for (const NetworkTime& network : networks_) {
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
    }
    plan.difference = picked.difference;
    if (!picked.composed.converted_layers.empty()) plan.ranges = options_.ranges;
    tuning.accuracy = std::move(accuracy_);
    tuning.layers = std::move(reports());
    tuning.tradeoffs = std::move(tradeoffs_);
    return tuning;
  }

  void Show(const std::string& what, double share) const {
    if (options_.progress) options_.progress(what, std::min(1.0, share));
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
  std::vector<Candidate> candidates_;  // the untuned network first
  std::vector<NetworkTime> networks_;  // of the candidates
  std::vector<Tradeoff> tradeoffs_;
  std::vector<Tradeoff> accuracy_;
  std::vector<std::vector<uint8_t>> expected_;  // outputs of the untuned network
  size_t least_bytes_ = static_cast<size_t>(-1);
  size_t given_bytes_ = 0;  // of the network as it was given; 0: those of the untuned one
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
