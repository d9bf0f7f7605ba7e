#include "intaglio/nn/tune/turns.h"

#include <algorithm>
#include <utility>

namespace intaglio::nn::tune {

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

size_t PickNetwork(const Turns& turns, const std::vector<Contender>& contenders, double floor) {
  size_t best = contenders.size();
  for (const bool bounded : {false, true}) {
    const double least = bounded ? std::max(floor, kLeastBoundedGain) : floor;
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (contenders[i].bounded != bounded || !contenders[i].fits) continue;
      if (best == contenders.size() || turns.Ratio(i, best).high < 1 - least) best = i;
    }
  }
  return best;
}

}  // namespace intaglio::nn::tune
