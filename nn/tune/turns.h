// Whole networks that run in turns, and which of them to take.
#ifndef INTAGLIO_NN_TUNE_TURNS_H_
#define INTAGLIO_NN_TUNE_TURNS_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/tune/pairs.h"

namespace intaglio::nn::tune {

inline constexpr size_t kFewestTurns = 31;
inline constexpr size_t kMostTurns = 201;

// The times of networks, in nanoseconds; turn i of each lies next to turn i of the others.
class Turns {
 public:
  explicit Turns(size_t networks) : times_(networks) {}

  void Add(size_t network, double ns) { times_[network].push_back(ns); }
  // The turns of network 0, which the others may have dropped out of.
  size_t count() const;
  // The value below which a fifth of the times lie.
  double Estimate(size_t network) const;
  // The median of network a's time over b's.
  MedianRatio Ratio(size_t a, size_t b) const;

 private:
  std::vector<std::vector<double>> times_;
};

struct Contender {
  bool bounded = false;  // its results have other bits than those of network 0
  bool fits = true;      // it keeps the limits
};

// What bounded results must gain at least.
inline constexpr double kLeastBoundedGain = 0.02;

// The network to take: the first that fits, unless a later one that fits is faster than it beyond
// doubt, and by more than `floor`, the share by which equal networks differ. All exact ones are
// tried before those that are bounded. The number of networks if none fits.
size_t PickNetwork(const Turns& turns, const std::vector<Contender>& contenders, double floor);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_TURNS_H_
