// Samples of times on a machine that is never quiet, and what they say.
#ifndef INTAGLIO_NN_TUNE_TIMES_H_
#define INTAGLIO_NN_TUNE_TIMES_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace intaglio::nn::tune {

// Times of one piece of work, in nanoseconds. What disturbs a run makes it longer, hardly ever
// shorter. So the lower fifth of the samples says how long the work itself takes, even where a good
// part of the samples is disturbed.
class Times {
 public:
  void Add(double ns) {
    samples_.insert(std::lower_bound(samples_.begin(), samples_.end(), ns), ns);
  }

  size_t count() const { return samples_.size(); }
  // Both need a sample.
  double least() const { return samples_.front(); }
  double estimate() const { return samples_[samples_.size() / 5]; }

 private:
  std::vector<double> samples_;  // in order
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_TIMES_H_
