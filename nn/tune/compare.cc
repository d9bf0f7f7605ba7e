#include "intaglio/nn/tune/compare.h"

#include <cmath>

#include "intaglio/nn/tune/timing_key.h"

namespace intaglio::nn::tune {

std::vector<Contender> Comparison::Contenders() const {
  std::vector<Contender> contenders;
  for (const Candidate& candidate : networks_.candidates()) {
    contenders.push_back({candidate.bounded, networks_.Fits(candidate)});
  }
  return contenders;
}

Result<size_t> Comparison::Pick() {
  const std::vector<double> known = Known();
  const Result<size_t> picked = known.empty() ? TakeTurns() : PickKnown(known, Contenders());
  if (!picked.ok() || *picked < networks_.candidates().size()) return picked;
  return Unsupported("no way was found to keep within " +
                     std::to_string(job_.options.memory_bytes) + " bytes: the least was " +
                     std::to_string(networks_.least_bytes()));
}

// What too few turns left open is known to the same tuning alone: others may have more time.
std::string Comparison::KeyOf(const Candidate& candidate, bool is_clear) const {
  return NetworkKey(is_clear ? kCompared : kUndecided, job_.graph(),
                    is_clear ? digests_.network : digests_.tuning, candidate.composed.choices,
                    candidate.composed.converted_layers, job_.options.prepare);
}

const Timing* Comparison::Find(const Candidate& candidate) const {
  const KnownTimes& known = job_.measurer.known();
  const Timing* const timing = known.FindNetwork(KeyOf(candidate, true));
  if (timing != nullptr || !job_.measurer.leaves_unknown()) return timing;
  return known.FindNetwork(KeyOf(candidate, false));
}

// What was found out when the same networks were compared before. Empty: one of them was not.
std::vector<double> Comparison::Known() {
  std::vector<double> times;
  for (const Candidate& candidate : networks_.candidates()) {
    const Timing* const timing = Find(candidate);
    if (timing == nullptr) return {};
    times.push_back(timing->ns);
  }
  for (size_t i = 0; i < times.size(); ++i) Add(networks_.candidates()[i], times[i]);
  return times;
}

void Comparison::Add(const Candidate& candidate, double ns) {
  times_.push_back({candidate.name, ns, candidate.predicted_ns, networks_.BytesOf(candidate)});
}

Result<size_t> Comparison::TakeTurns() {
  const std::vector<Candidate>& candidates = networks_.candidates();
  TurnOptions options;
  options.contenders = Contenders();
  // The control is the untuned network again: by what it differs means nothing.
  const size_t control = candidates.size();
  options.now = [this] { return job_.schedule.Now(); };
  options.end = job_.schedule.EndOfTurns();
  options.run = [&](size_t i) {
    return job_.measurer.buffers().Run(i == control ? job_.measurer.control()
                                                    : networks_.ModelOf(candidates[i]));
  };
  options.progress = [&](size_t count) {
    job_.Show("comparing whole networks", static_cast<double>(count) / kMostTurns);
  };
  const Result<Turns> turns = tune::TakeTurns(options);
  if (!turns.ok()) return turns.status();
  const double floor = FloorOf(*turns, control);
  const std::vector<Verdict> verdicts = VerdictsOf(*turns, options.contenders, floor);
  for (size_t i = 0; i < candidates.size(); ++i) {
    Add(candidates[i], turns->Estimate(i));
    const bool is_clear = verdicts[i].turns > 0;
    job_.measurer.known().AddNetwork(
        KeyOf(candidates[i], is_clear),
        {std::round(verdicts[i].ns), networks_.BytesOf(candidates[i]), turns->count(i)});
  }
  return PickNetwork(*turns, options.contenders, floor);
}

}  // namespace intaglio::nn::tune
