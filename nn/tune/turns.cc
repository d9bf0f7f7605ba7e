#include "intaglio/nn/tune/turns.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

// A network is out if it takes so many times as long as the untuned one in so many turns.
struct Cut {
  size_t turns;
  double factor;
};
constexpr Cut kCuts[] = {{5, 1.5}, {9, 1.05}, {13, 1.0}};
// So many turns tell how long a network takes that is compared with none.
constexpr size_t kTurnsAlone = 5;
// So many turns tell which networks may drop out because there is no time for all.
constexpr size_t kTurnsToCompare = 5;
// A bounded network must be faster than every exact one beyond doubt, so an exact one drops out
// before a bounded one only if it is slower by this factor.
constexpr double kBoundedIsFaster = 1.1;

double LeastGain(bool bounded, double floor) {
  return bounded ? std::max(floor, kLeastBoundedGain) : floor;
}

class TurnTaker {
 public:
  explicit TurnTaker(const TurnOptions& options)
      : options_(options), control_(options.contenders.size()), turns_(control_ + 1) {}

  Result<Turns> Run() {
    do {
      INTAGLIO_RETURN_IF_ERROR(TakeTurn());
      if (options_.contenders[0].fits) {
        DropSlower();
        LeaveOutSlowest();
      }
      if (options_.progress) options_.progress(turns_.count());
    } while (!IsClear() && options_.now() < options_.end);
    return std::move(turns_);
  }

 private:
  // Starts elsewhere each time, so that no network always follows the same one.
  Status TakeTurn() {
    const size_t first = turns_.count();
    for (size_t k = 0; k <= control_; ++k) {
      const size_t i = (first + k) % (control_ + 1);
      if (turns_.IsOut(i)) continue;
      const nanoseconds begin = options_.now();
      INTAGLIO_RETURN_IF_ERROR(options_.run(i));
      turns_.Add(i, std::max(1.0, static_cast<double>((options_.now() - begin).count())));
    }
    return {};
  }

  void DropSlower() {
    for (const Cut& cut : kCuts) {
      if (turns_.count() != cut.turns) continue;
      for (size_t i = 1; i < control_; ++i) {
        if (turns_.Estimate(i) >= cut.factor * turns_.Estimate(0)) turns_.Drop(i);
      }
    }
  }

  bool IsInTurns(size_t network) const { return !turns_.IsOut(network); }

  // What a turn of all networks takes that have not dropped out.
  double TurnWithout(const std::vector<size_t>& left_out) const {
    double ns = 0;
    for (size_t i = 0; i <= control_; ++i) {
      const bool runs = IsInTurns(i) && std::count(left_out.begin(), left_out.end(), i) == 0;
      if (runs) ns += turns_.Median(i);
    }
    return ns;
  }

  // The networks but 0 that have not dropped out, the slowest first.
  std::vector<size_t> SlowestFirst() const {
    std::vector<size_t> networks;
    for (size_t i = 1; i < control_; ++i) {
      if (IsInTurns(i)) networks.push_back(i);
    }
    const auto time = [this](size_t i) {
      return turns_.Estimate(i) * (options_.contenders[i].bounded ? kBoundedIsFaster : 1);
    };
    std::stable_sort(networks.begin(), networks.end(),
                     [&](size_t a, size_t b) { return time(a) > time(b); });
    return networks;
  }

  // Leaves out as many networks as it takes to have time for enough turns of the others, but none
  // if that is not enough either.
  void LeaveOutSlowest() {
    if (turns_.count() < kTurnsToCompare || turns_.count() >= kFewestTurns) return;
    const std::vector<size_t> slowest = SlowestFirst();
    const auto turns = static_cast<double>(kFewestTurns - turns_.count());
    const auto left = static_cast<double>((options_.end - options_.now()).count());
    std::vector<size_t> left_out;
    while (turns * TurnWithout(left_out) > left) {
      if (left_out.size() + 1 >= slowest.size()) return;
      left_out.push_back(slowest[left_out.size()]);
    }
    for (const size_t network : left_out) turns_.LeaveOut(network);
  }

  // Whether no further turn could change what is picked: one network gains enough, or none does,
  // and the others cannot gain what they must.
  bool IsClear() const {
    if (turns_.count() >= kMostTurns) return true;
    bool is_alone = true;
    for (size_t i = 1; i < control_; ++i) is_alone = is_alone && turns_.IsOut(i);
    if (is_alone) return turns_.count() >= kTurnsAlone;
    if (turns_.count() < kFewestTurns) return false;
    const double floor = FloorOf(turns_, control_);
    int gain = 0;
    for (size_t i = 1; i < control_; ++i) {
      if (turns_.IsOut(i)) continue;
      const MedianRatio ratio = turns_.Ratio(i, 0);
      const double least = options_.contenders[i].bounded ? kLeastBoundedGain : kLeastExactGain;
      if (ratio.high < 1 - std::max(floor, least)) {
        ++gain;
      } else if (ratio.low < 1 - least) {
        return false;
      }
    }
    return gain <= 1;
  }

  const TurnOptions& options_;
  const size_t control_;
  Turns turns_;
};

// The networks that count. One that was left out had few turns, which a faster one could beat by a
// great gain only. It was among the slowest, so it counts only if none that stayed gains anything.
std::vector<bool> ThatCount(const Turns& turns, const std::vector<Contender>& contenders,
                            double floor) {
  bool gains = false;
  for (size_t i = 1; i < contenders.size(); ++i) {
    const bool stayed = contenders[i].fits && !turns.IsOut(i);
    gains = gains || (stayed && turns.IsFaster(i, 0, LeastGain(contenders[i].bounded, floor)));
  }
  std::vector<bool> count(contenders.size());
  for (size_t i = 0; i < count.size(); ++i) {
    count[i] = !gains || !turns.IsOut(i) || turns.IsSlower(i);
  }
  return count;
}

}  // namespace

size_t Turns::count() const { return times_.empty() ? 0 : times_[0].size(); }

double Turns::Estimate(size_t network) const {
  std::vector<double> times = times_[network];
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  return times[times.size() / 5];
}

double Turns::Median(size_t network) const {
  return times_[network].empty() ? 0 : MedianOf(times_[network]).median;
}

MedianRatio Turns::Ratio(size_t a, size_t b) const {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(times_[a].size(), times_[b].size()); ++i) {
    ratios.push_back(times_[a][i] / times_[b][i]);
  }
  return MedianOf(std::move(ratios));
}

bool Turns::IsFaster(size_t a, size_t b, double least) const {
  const size_t count = std::min(times_[a].size(), times_[b].size());
  return Ratio(a, b).high < std::min(ConvincingRatio(count), 1 - least);
}

Result<Turns> TakeTurns(const TurnOptions& options) { return TurnTaker(options).Run(); }

double FloorOf(const Turns& turns, size_t control) {
  return std::abs(turns.Ratio(control, 0).median - 1);
}

size_t PickNetwork(const Turns& turns, const std::vector<Contender>& contenders, double floor) {
  const std::vector<bool> counts = ThatCount(turns, contenders, floor);
  size_t best = contenders.size();
  for (const bool bounded : {false, true}) {
    const double least = LeastGain(bounded, floor);
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (contenders[i].bounded != bounded || !contenders[i].fits || !counts[i]) continue;
      const bool convinces = best < contenders.size() && turns.IsFaster(i, best, least);
      if (best == contenders.size() || convinces) best = i;
    }
  }
  return best;
}

std::vector<Verdict> VerdictsOf(const Turns& turns, const std::vector<Contender>& contenders,
                                double floor) {
  const std::vector<bool> counts = ThatCount(turns, contenders, floor);
  const double untuned = turns.Estimate(0);
  std::vector<Verdict> verdicts = {{untuned, turns.count(0)}};
  for (size_t i = 1; i < contenders.size(); ++i) {
    const MedianRatio ratio = turns.Ratio(i, 0);
    const double least = LeastGain(contenders[i].bounded, floor);
    const bool is_faster = counts[i] && turns.IsFaster(i, 0, least);
    const bool is_enough = is_faster || turns.count(i) >= kFewestTurns;
    const double ns = is_faster ? std::min(turns.Estimate(i), untuned * ratio.median)
                                : std::max(turns.Estimate(i), untuned);
    verdicts.push_back({ns, is_enough || turns.IsSlower(i) ? turns.count(i) : 0});
  }
  return verdicts;
}

size_t PickKnown(const std::vector<double>& ns, const std::vector<Contender>& contenders) {
  size_t best = contenders.size();
  for (const bool bounded : {false, true}) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (contenders[i].bounded != bounded || !contenders[i].fits) continue;
      if (best == contenders.size() || ns[i] < ns[best] * (1 - LeastGain(bounded, 0))) best = i;
    }
  }
  return best;
}

}  // namespace intaglio::nn::tune
