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

class TurnTaker {
 public:
  explicit TurnTaker(const TurnOptions& options)
      : options_(options),
        control_(options.contenders.size()),
        turns_(control_ + 1),
        is_out_(control_ + 1, false) {}

  Result<Turns> Run() {
    do {
      INTAGLIO_RETURN_IF_ERROR(TakeTurn());
      if (options_.contenders[0].fits) DropSlower();
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
      if (is_out_[i]) continue;
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
        if (!is_out_[i]) is_out_[i] = turns_.Estimate(i) >= cut.factor * turns_.Estimate(0);
      }
    }
  }

  // Whether no further turn could change what is picked.
  bool IsClear() const {
    if (turns_.count() >= kMostTurns) return true;
    const auto left = std::count(is_out_.begin() + 1, is_out_.end() - 1, false);
    if (left == 0) return turns_.count() >= kTurnsAlone;
    if (left > 1 || turns_.count() < kFewestTurns) return false;
    const auto last = std::find(is_out_.begin() + 1, is_out_.end() - 1, false) - is_out_.begin();
    const MedianRatio ratio = turns_.Ratio(static_cast<size_t>(last), 0);
    const double floor = FloorOf(turns_, control_);
    return ratio.high < 1 - std::max(floor, kLeastBoundedGain) || ratio.low > 1;
  }

  const TurnOptions& options_;
  const size_t control_;
  Turns turns_;
  std::vector<bool> is_out_;
};

}  // namespace

size_t Turns::count() const { return times_.empty() ? 0 : times_[0].size(); }

double Turns::Estimate(size_t network) const {
  std::vector<double> times = times_[network];
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  return times[times.size() / 5];
}

MedianRatio Turns::Ratio(size_t a, size_t b) const {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(times_[a].size(), times_[b].size()); ++i) {
    ratios.push_back(times_[a][i] / times_[b][i]);
  }
  return MedianOf(std::move(ratios));
}

Result<Turns> TakeTurns(const TurnOptions& options) { return TurnTaker(options).Run(); }

double FloorOf(const Turns& turns, size_t control) {
  return std::abs(turns.Ratio(control, 0).median - 1);
}

size_t PickNetwork(const Turns& turns, const std::vector<Contender>& contenders, double floor) {
  size_t best = contenders.size();
  for (const bool bounded : {false, true}) {
    const double least = bounded ? std::max(floor, kLeastBoundedGain) : floor;
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (contenders[i].bounded != bounded || !contenders[i].fits) continue;
      const bool convinces = best < contenders.size() && turns.count(i) >= kFewestTurns &&
                             turns.Ratio(i, best).high < 1 - least;
      if (best == contenders.size() || convinces) best = i;
    }
  }
  return best;
}

}  // namespace intaglio::nn::tune
