#include "intaglio/nn/tune/networks.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "intaglio/nn/routine/candidates.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/nn/runtime/backend.h"

namespace intaglio::nn::tune {
namespace {

// Trade-offs that a limit chooses among, if it is one of differences, too, and those that are only
// shown.
constexpr size_t kTradeoffs = 256;
constexpr size_t kMostTradeoffs = 1024;
constexpr size_t kShownTradeoffs = 48;
constexpr int kMostTries = 16;
constexpr double kNoLimit = 1e18;
// Converted, a network whose layers are so much slower by known times is not worth preparing.
constexpr double kFarBehind = 1.25;

int64_t AsLimit(bool is_limited, double amount) {
  return static_cast<int64_t>(is_limited ? std::min(amount, kNoLimit) : kNoLimit);
}

}  // namespace

Status Networks::CountGivenBytes() {
  if (!job_.form.is_simplified() || job_.options.memory_bytes == 0) return {};
  const Result<Model> model = Model::Prepare(job_.form.given(), job_.prepare);
  if (!model.ok()) return model.status();
  given_bytes_ = model->constant_bytes() + model->arena_bytes();
  return {};
}

size_t Networks::BytesOf(const Candidate& candidate) const {
  if (candidate.model == nullptr && given_bytes_ > 0) return given_bytes_;
  return ModelOf(candidate).constant_bytes() + ModelOf(candidate).arena_bytes();
}

bool Networks::Fits(const Candidate& candidate) const {
  if (job_.limits_difference() && candidate.difference.relative > job_.options.max_difference)
    return false;
  return job_.options.memory_bytes == 0 || BytesOf(candidate) <= job_.options.memory_bytes;
}

// Whether a layer computes in the other form, or by another routine whose results
// are only within bounds.
bool Networks::ChangesBits(const Candidate& candidate) const {
  for (size_t i = 0; i < job_.reports().size(); ++i) {
    const TimedWay& way = job_.reports()[i].ways[candidate.ways[i]];
    if (way.converted) return true;
    const std::string_view name = CandidateIn(way.routine);
    if (name == CandidateIn(job_.reports()[i].ways[0].routine)) continue;
    for (const CandidateInfo& info : job_.measurer.untuned().ListRoutines(i)) {
      if (info.name == name && info.numeric == NumericClass::kBounded) return true;
    }
  }
  return false;
}

Result<Candidate> Networks::Prepare(const std::string& name, const NetworkProblem& network,
                                    const Selection& selection) {
  Candidate candidate{.name = name, .ways = WaysOf(network, selection)};
  for (size_t i = 0; i < job_.reports().size(); ++i) {
    if (job_.form.IsAdapter(i) && network.has_adapter_layers) continue;
    candidate.predicted_ns += job_.reports()[i].ways[candidate.ways[i]].ns;
  }
  for (const Copy& copy : selection.copies) {
    candidate.predicted_ns +=
        CrossingTimes{adapters_, transfers_}.Of(job_.form, copy.tensor, copy.from, copy.to);
  }
  Result<Composed> composed = Compose(job_.form, WaysFor(job_.reports(), candidate.ways));
  if (!composed.ok()) return composed.status();
  candidate.composed = std::move(*composed);
  for (const auto& [layer, why_not] : candidate.composed.refused) candidate.ways[layer] = 0;
  PrepareOptions options = job_.prepare;
  for (const RoutineChoice& choice : candidate.composed.choices) options.routines.push_back(choice);
  Result<Model> model =
      Model::Prepare(candidate.composed.network.graph, options, job_.measurer.kept());
  if (!model.ok()) return model.status();
  candidate.model = std::make_unique<Model>(std::move(*model));
  candidate.bounded = ChangesBits(candidate);
  if (!candidate.bounded) return candidate;
  const Result<Difference> difference = differences_.Of(*candidate.model);
  if (!difference.ok()) return difference.status();
  candidate.difference = *difference;
  return candidate;
}

// Adds a candidate unless there is one that is the same. A plan without converted layers is for
// the network as it was given, so no other network may stand for it.
void Networks::Keep(Candidate candidate) {
  if (job_.form.is_simplified() && candidate.composed.converted_layers.empty()) return;
  for (const Candidate& other : candidates_) {
    if (other.ways == candidate.ways) return;
  }
  candidates_.push_back(std::move(candidate));
}

NetworkProblem Networks::ProblemOf(bool both_forms, bool with_device, Resource resource) const {
  const CrossingTimes times{adapters_, with_device ? transfers_ : nullptr};
  return MakeProblem(job_.form, job_.reports(), times, both_forms, resource);
}

// The fastest selection, or the fastest that keeps the limits.
Status Networks::AddFastest(const std::string& name, bool both_forms, bool with_device) {
  const bool by_bytes = job_.options.memory_bytes > 0;
  const bool by_difference = both_forms && job_.limits_difference();
  const NetworkProblem network = ProblemOf(both_forms, with_device,
                                           !by_difference ? Resource::kBytes
                                           : by_bytes     ? Resource::kBoth
                                                          : Resource::kDifference);
  if (by_bytes || by_difference) return AddWithin(name, network, by_difference);
  const Result<Selection> selection = Select(network.problem);
  if (!selection.ok()) return selection.status();
  Result<Candidate> candidate = Prepare(name, network, *selection);
  if (!candidate.ok()) return candidate.status();
  Keep(std::move(*candidate));
  return {};
}

void Networks::KeepTradeoffs(bool both_forms) {
  for (const Resource resource : {Resource::kBytes, Resource::kDifference}) {
    const bool by_difference = resource == Resource::kDifference;
    if (by_difference && !both_forms) continue;
    const NetworkProblem network = ProblemOf(both_forms, true, resource);
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
Status Networks::AddWithin(const std::string& name, const NetworkProblem& network,
                           bool by_difference) {
  int64_t bytes =
      AsLimit(job_.options.memory_bytes > 0, static_cast<double>(job_.options.memory_bytes));
  int64_t units = AsLimit(by_difference, job_.options.max_difference * kDifferenceUnits);
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
      Keep(std::move(*candidate));
      return {};
    }
    const int64_t more_bytes = ExcessBytes(*candidate);
    const int64_t more_units = ExcessUnits(*candidate);
    if (more_bytes > 0) bytes = selection->bytes - more_bytes;
    if (more_units > 0) units = selection->difference - more_units;
  }
  return {};
}

// By how much a network is beyond a limit; 0: it is not.
int64_t Networks::ExcessBytes(const Candidate& candidate) const {
  const size_t most = job_.options.memory_bytes == 0 ? SIZE_MAX : job_.options.memory_bytes;
  return static_cast<int64_t>(std::max(BytesOf(candidate), most) - most);
}

int64_t Networks::ExcessUnits(const Candidate& candidate) const {
  const double excess = candidate.difference.relative - job_.options.max_difference;
  if (!job_.limits_difference() || excess <= 0) return 0;
  return 1 + static_cast<int64_t>(std::min(excess * kDifferenceUnits, kNoLimit));
}

// A network of these ways, one for each layer.
Status Networks::AddSelected(const std::string& name, const NetworkProblem& network,
                             const std::vector<size_t>& selected) {
  std::vector<int> options;
  for (size_t i = 0; i < selected.size(); ++i) {
    const std::vector<size_t>& ways = network.ways[i];
    const auto found = std::find(ways.begin(), ways.end(), selected[i]);
    options.push_back(found == ways.end() ? 0 : static_cast<int>(found - ways.begin()));
  }
  const Result<Selection> selection = Evaluate(network.problem, options);
  if (!selection.ok()) return selection.status();
  const bool far_behind = selection->nanoseconds > kFarBehind * candidates_[0].predicted_ns;
  if (!job_.measurer.measured() && far_behind) return {};
  Result<Candidate> candidate = Prepare(name, network, *selection);
  if (!candidate.ok()) return candidate.status();
  if (!job_.limits_difference() || Fits(*candidate)) Keep(std::move(*candidate));
  return {};
}

// Every layer that can computes in the other form.
Status Networks::AddAllConverted() {
  std::vector<size_t> ways;
  for (const LayerReport& report : job_.reports()) {
    const size_t converted = FastestOf(report, true);
    ways.push_back(converted < report.ways.size() ? converted : FastestOf(report, false));
  }
  return AddSelected(job_.form.other_name(), ProblemOf(true, false, Resource::kBytes), ways);
}

// Layers on the device that follow each other are not waited for one by one, as they are when they
// are measured. So this network may be faster than the sum of its layers says.
Status Networks::AddAllOnDevice() {
  std::vector<size_t> ways;
  for (const LayerReport& report : job_.reports()) {
    const size_t on_device = FastestOnDevice(report, false);
    ways.push_back(on_device < report.ways.size() ? on_device : FastestOf(report, false));
  }
  return AddSelected(job_.prepare.device->name(), ProblemOf(false, true, Resource::kBytes), ways);
}

Status Networks::Add(bool both_forms, const AdapterTimes& adapters,
                     const TransferTimes* transfers) {
  adapters_ = adapters;
  transfers_ = transfers;
  Candidate untuned{.name = "untuned", .ways = std::vector<size_t>(job_.reports().size(), 0)};
  for (const LayerReport& report : job_.reports()) untuned.predicted_ns += report.ways[0].ns;
  Result<Composed> composed = Compose(job_.form, WaysFor(job_.reports(), untuned.ways));
  if (!composed.ok()) return composed.status();
  untuned.composed = std::move(*composed);
  candidates_.push_back(std::move(untuned));
  KeepTradeoffs(both_forms);
  INTAGLIO_RETURN_IF_ERROR(AddFastest(job_.form.own_name(), false, false));
  if (transfers != nullptr) {
    const std::string both = std::string("cpu and ").append(job_.prepare.device->name());
    INTAGLIO_RETURN_IF_ERROR(AddFastest(both, false, true));
    INTAGLIO_RETURN_IF_ERROR(AddAllOnDevice());
  }
  if (!both_forms) return {};
  INTAGLIO_RETURN_IF_ERROR(AddFastest("mixed", true, true));
  return AddAllConverted();
}

size_t Networks::least_bytes() const { return std::min(least_bytes_, BytesOf(candidates_[0])); }

}  // namespace intaglio::nn::tune
