// Compares two pieces of work by turns in pairs.
#ifndef INTAGLIO_NN_TUNE_PAIRS_H_
#define INTAGLIO_NN_TUNE_PAIRS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace intaglio::nn::tune {

// The median of ratios, and an interval that holds the true median in at least 95 of 100 cases,
// whatever the ratios' distribution is: the ranks n / 2 -+ sqrt(n).
struct MedianRatio {
  double median = 1;
  double low = 0;
  double high = 1e9;
};

inline MedianRatio MedianOf(std::vector<double> ratios) {
  const size_t n = ratios.size();
  if (n == 0) return {};
  std::sort(ratios.begin(), ratios.end());
  const auto reach = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  MedianRatio result;
  result.median = ratios[n / 2];
  if (n / 2 >= reach) result.low = ratios[n / 2 - reach];
  if (n / 2 + reach < n) result.high = ratios[n / 2 + reach];
  return result;
}

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_PAIRS_H_
