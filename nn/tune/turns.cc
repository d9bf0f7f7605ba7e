#include "intaglio/nn/tune/turns.h"

#include <algorithm>
#include <utility>

namespace intaglio::nn::tune {

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

size_t PickNetwork(const Turns& turns, const std::vector<Contender>& contenders) {
  size_t best = contenders.size();
  for (const bool bounded : {false, true}) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (contenders[i].bounded != bounded || !contenders[i].fits) continue;
      if (best == contenders.size() || turns.Ratio(i, best).high < 1) best = i;
    }
  }
  return best;
}

}  // namespace intaglio::nn::tune
